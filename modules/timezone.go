package modules

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/atomicfile"
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
	clock = "UTC"
	zone = s.fileZone()
	if zone == "" || s.Name != nil && zone == *s.Name { // what programs read has to agree
		zone = linkedZone(zone)
	}
	data, err := os.ReadFile("/etc/adjtime")
	if lines := strings.Split(string(data), "\n"); err == nil && len(lines) > 2 && lines[2] == "LOCAL" {
		clock = "local"
	}
	return zone, clock
}

// debian tells whether the zone stands in /etc/timezone here.
func (s *clockSettings) debian() bool {
	return s.findTool("dpkg-reconfigure") != "" || exists("/etc/timezone")
}

// fileZone is the zone that /etc/timezone names; "n/a" is none, and "" tells
// that this system has no such file.
func (s *clockSettings) fileZone() string {
	if !s.debian() {
		return ""
	}
	data, err := os.ReadFile("/etc/timezone")
	if m := zoneLine.FindString(string(data)); err == nil && m != "" {
		return m
	}
	return "n/a"
}

var zoneLine = regexp.MustCompile(`(?m)^\S+`)

// linkedZone is the zone that programs read from /etc/localtime, or "n/a". A
// copy has no name: it is told whether it is the one that is expected.
func linkedZone(expected string) string {
	const local = "/etc/localtime"
	if !exists(local) {
		return "n/a"
	}
	if target, err := os.Readlink(local); err == nil {
		if _, name, ok := strings.Cut(target, "zoneinfo/"); ok {
			return name
		}
		return "n/a"
	}
	have, err := os.ReadFile(local)
	want, missing := os.ReadFile(filepath.Join(zoneFolder, expected))
	if err != nil || missing != nil || !bytes.Equal(have, want) {
		return "n/a"
	}
	return expected
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
	if !s.debian() {
		return s.run("ln", "-sf", filepath.Join(zoneFolder, *s.Name), "/etc/localtime")
	}
	if err := s.writeZone("/etc/timezone"); err != nil {
		return err
	}
	if _, err := s.mustTool("ln", "-sf", filepath.Join(zoneFolder, *s.Name), "/etc/localtime"); err != nil {
		return err
	}
	if s.findTool("dpkg-reconfigure") == "" {
		return nil
	}
	_, err := s.mustTool("dpkg-reconfigure", "--frontend", "noninteractive", "tzdata")
	return err
}

// writeZone puts the zone in place of the file's first line that names one, and
// takes the others out.
func (s *clockSettings) writeZone(path string) error {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Failf("cannot read %q: %v", path, err)
	}
	var lines []string
	at, gone := 0, 0
	for line := range strings.Lines(string(data)) {
		if !zoneLine.MatchString(line) {
			lines = append(lines, line)
			continue
		}
		if gone++; gone == 1 {
			at = len(lines)
		}
	}
	text := strings.Join(slices.Insert(lines, at, *s.Name+"\n"), "")
	if err := atomicfile.Write(realPath(path), strings.NewReader(text), atomicfile.Options{Unsafe: true}); err != nil {
		return Failf("cannot write the time zone: %v", err)
	}
	s.messages = append(s.messages, "Added 1 line and deleted "+strconv.Itoa(gone)+" line(s) on "+path)
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
