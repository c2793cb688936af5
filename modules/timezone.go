package modules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"play/modules/argspec"
	"play/modules/shellquote"
	"play/modules/value"
)

// timezoneArgs are the arguments of timezone.
type timezoneArgs struct {
	HWClock *string `arg:"hwclock,choices=local|UTC,aliases=rtc" doc:"what the hardware clock shows"`
	Name    *string `arg:"name" doc:"the time zone, such as Europe/Zurich"`
}

// Rules relates the arguments.
func (timezoneArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredOneOf: [][]string{{"hwclock", "name"}}}
}

func timezone() Module {
	return Define("timezone", "Set the time zone", runTimezone).In("community.general", "community.general.system")
}

const zoneFolder = "/usr/share/zoneinfo"

// clockSettings reads and sets the zone and the hardware clock.
type clockSettings struct {
	*Call
	*timezoneArgs
	ctl      bool // timedatectl works here
	messages []string
}

func runTimezone(c *Call, args *timezoneArgs) (*Result, error) {
	s := &clockSettings{Call: c, timezoneArgs: args}
	if c.findTool("timedatectl") != "" {
		out, err := c.tool("timedatectl")
		if err != nil {
			return nil, err
		}
		s.ctl = !out.failed()
	}
	if args.Name != nil && !exists(filepath.Join(zoneFolder, *args.Name)) {
		return nil, Failf("Error message:\ngiven timezone \"%s\" is not available", *args.Name)
	}
	before, err := s.read()
	if err != nil {
		return nil, err
	}
	wanted := value.NewDict()
	for name, v := range map[string]*string{"hwclock": args.HWClock, "name": args.Name} {
		if v != nil {
			wanted.Set(name, *v)
		}
	}
	changed := !value.Equal(before, wanted)
	if !c.Check {
		if err := s.set(before); err != nil {
			return nil, err
		}
		after, err := s.read()
		if err != nil {
			return nil, err
		}
		if !value.Equal(after, wanted) {
			return nil, s.unsettled(wanted, after)
		}
	}
	out := NewResult(changed).With("diff", value.DictOf("before", before, "after", wanted))
	if len(s.messages) > 0 {
		out.Set("msg", strings.Join(s.messages, "\n"))
	}
	return out, nil
}

func (s *clockSettings) unsettled(wanted, after *value.Dict) error {
	text := "Error message:\nstill not desired state, though changes have made - planned: " + value.Repr(wanted) + ", after: " + value.Repr(after)
	if len(s.messages) > 0 {
		text += "\nOther message(s):\n" + strings.Join(s.messages, "\n")
	}
	return Failf("%s", text)
}

// read returns the values of what the task names.
func (s *clockSettings) read() (*value.Dict, error) {
	zone, clock := "", "UTC"
	if s.ctl {
		out, err := s.mustTool("timedatectl", "status")
		if err != nil {
			return nil, err
		}
		if m := regexp.MustCompile(`(?m)^\s*Time ?zone\s*:\s*(\S+)`).FindStringSubmatch(out.out); m != nil {
			zone = m[1]
		}
		if regexp.MustCompile(`(?m)^\s*RTC in local TZ\s*:\s*yes`).MatchString(out.out) {
			clock = "local"
		}
	} else {
		zone, clock = s.readFiles()
	}
	have := value.NewDict()
	if s.HWClock != nil {
		have.Set("hwclock", clock)
	}
	if s.Name != nil {
		have.Set("name", zone)
	}
	return have, nil
}

// readFiles reads the settings where timedatectl does not work.
func (s *clockSettings) readFiles() (zone, clock string) {
	if target, err := os.Readlink("/etc/localtime"); err == nil {
		if _, name, ok := strings.Cut(target, "zoneinfo/"); ok {
			zone = name
		}
	}
	if data, err := os.ReadFile("/etc/timezone"); err == nil && zone == "" {
		zone = strings.TrimSpace(string(data))
	}
	clock = "UTC"
	data, err := os.ReadFile("/etc/adjtime")
	if lines := strings.Split(string(data), "\n"); err == nil && len(lines) > 2 && lines[2] == "LOCAL" {
		clock = "local"
	}
	return zone, clock
}

// set changes what differs.
func (s *clockSettings) set(before *value.Dict) error {
	if have, _ := before.Get("hwclock"); s.HWClock != nil && have != *s.HWClock {
		if err := s.setClock(); err != nil {
			return err
		}
	}
	if have, _ := before.Get("name"); s.Name != nil && have != *s.Name {
		return s.setZone()
	}
	return nil
}

func (s *clockSettings) setClock() error {
	if s.ctl {
		return s.run("timedatectl", "set-local-rtc", map[string]string{"local": "yes", "UTC": "no"}[*s.HWClock])
	}
	return s.run("hwclock", "--systohc", map[string]string{"local": "--localtime", "UTC": "--utc"}[*s.HWClock])
}

func (s *clockSettings) setZone() error {
	if s.ctl {
		return s.run("timedatectl", "set-timezone", *s.Name)
	}
	if err := s.run("ln", "-sf", filepath.Join(zoneFolder, *s.Name), "/etc/localtime"); err != nil {
		return err
	}
	if !exists("/etc/timezone") {
		return nil
	}
	if err := os.WriteFile("/etc/timezone", []byte(*s.Name+"\n"), 0o644); err != nil {
		return Failf("cannot write the time zone: %v", err)
	}
	return nil
}

func (s *clockSettings) run(argv ...string) error {
	if _, err := s.mustTool(argv...); err != nil {
		return err
	}
	shown := append([]string{s.findTool(argv[0])}, argv[1:]...)
	s.messages = append(s.messages, "executed `"+shellquote.Join(shown)+"`")
	return nil
}
