package modules

import (
	"strings"
	"time"

	"play/modules/value"
)

// serviceTools manages a service by the programs of a system that has neither
// systemd nor only System V's scripts: OpenRC, upstart, or just "service".
type serviceTools struct {
	*Call
	*serviceArgs
	manager string
}

func runServiceTools(c *Call, args *serviceArgs, manager string) (*Result, error) {
	s := &serviceTools{Call: c, serviceArgs: args, manager: manager}
	out := NewResult(false).With("name", *args.Name)
	changed, err := s.enable()
	if err != nil {
		return nil, err
	}
	if args.Enabled != nil {
		out.Set("enabled", *args.Enabled)
	}
	if args.State != nil {
		acted, err := s.act()
		if err != nil {
			return nil, err
		}
		changed = changed || acted
		shown := *args.State
		if shown == "restarted" || shown == "reloaded" {
			shown = "started"
		}
		out.Set("state", shown)
	}
	return out.Changed(changed), nil
}

// script returns the command that runs one verb of the service.
func (s *serviceTools) script(verb string) []string {
	argv := []string{"service", *s.Name, verb}
	switch {
	case s.manager == "openrc" || s.findTool("rc-service") != "":
		argv = []string{"rc-service", *s.Name, verb}
	case s.manager == "upstart" && exists("/etc/init/"+*s.Name+".conf"):
		argv = []string{"initctl", verb, *s.Name}
	case s.findTool("service") == "":
		argv = []string{"/etc/init.d/" + *s.Name, verb}
	}
	if s.Arguments != nil {
		argv = append(argv, strings.Fields(*s.Arguments)...)
	}
	return argv
}

func (s *serviceTools) running() (bool, error) {
	if s.Pattern != nil {
		out, err := s.tool("ps", "auxww")
		if err != nil {
			return false, err
		}
		return (&sysvScript{Call: s.Call, sysvinitArgs: &sysvinitArgs{Pattern: s.Pattern}}).listed(out.out), nil
	}
	out, err := s.tool(s.script("status")...)
	if err != nil {
		return false, err
	}
	if strings.Contains(out.errOut, "does not exist") || strings.Contains(out.errOut, "unrecognized service") {
		return false, Failf("Could not find the requested service %s: host", *s.Name)
	}
	if strings.Contains(out.out, "start/running") || strings.Contains(out.out, "stop/waiting") {
		return strings.Contains(out.out, "start/running"), nil
	}
	running, _ := sysvStatus(out)
	return running, nil
}

func (s *serviceTools) act() (bool, error) {
	running, err := s.running()
	if err != nil {
		return false, err
	}
	verb := map[string]string{"started": "start", "stopped": "stop", "restarted": "restart", "reloaded": "reload"}[*s.State]
	if *s.State == "started" && running || *s.State == "stopped" && !running {
		return false, nil
	}
	if *s.State == "reloaded" && !running || *s.State == "restarted" && !running {
		verb = "start"
	}
	if s.Check {
		return true, nil
	}
	if verb == "restart" && s.Sleep != nil {
		return true, s.slowRestart()
	}
	return true, s.run(verb)
}

func (s *serviceTools) slowRestart() error {
	if err := s.run("stop"); err != nil {
		return err
	}
	select {
	case <-s.Done():
		return s.Err()
	case <-time.After(time.Duration(*s.Sleep) * time.Second):
	}
	return s.run("start")
}

func (s *serviceTools) run(verb string) error {
	out, err := s.tool(s.script(verb)...)
	if err != nil || !out.failed() {
		return err
	}
	text := out.errOut
	if text == "" {
		text = out.out
	}
	return &Failure{Msg: text, With: value.DictOf("rc", out.rc, "stdout", out.out, "stderr", out.errOut)}
}

func (s *serviceTools) enable() (bool, error) {
	if s.Enabled == nil {
		return false, nil
	}
	enabled, argv, err := s.enabler()
	if err != nil || enabled == *s.Enabled {
		return false, err
	}
	if s.Check {
		return true, nil
	}
	out, err := s.tool(argv...)
	if err == nil && out.failed() {
		err = &Failure{Msg: "Failure for " + *s.Name + ": rc=" + value.Str(out.rc) + " stdout=" + out.out + " stderr=" + out.errOut}
	}
	return true, err
}

// enabler finds out whether the service starts at boot, and the command that
// changes it.
func (s *serviceTools) enabler() (enabled bool, argv []string, err error) {
	switch {
	case s.findTool("rc-update") != "":
		verb := "delete"
		if *s.Enabled {
			verb = "add"
		}
		out, err := s.tool("rc-update", "show")
		if err != nil {
			return false, nil, err
		}
		return openrcEnabled(out.out, *s.Name, s.Runlevel), []string{"rc-update", verb, *s.Name, s.Runlevel}, nil
	case s.findTool("chkconfig") != "":
		out, err := s.tool("chkconfig", "--list", *s.Name)
		if err != nil {
			return false, nil, err
		}
		on := "off"
		if *s.Enabled {
			on = "on"
		}
		return strings.Contains(out.out, "3:on") && strings.Contains(out.out, "5:on"), []string{"chkconfig", *s.Name, on}, nil
	case s.findTool("update-rc.d") != "":
		verb := "disable"
		if *s.Enabled {
			verb = "enable"
		}
		return sysvStartsAtBoot(*s.Name), []string{"update-rc.d", *s.Name, verb}, nil
	}
	return false, nil, Failf("cannot detect command to enable service %s, typo or init system potentially unknown", *s.Name)
}

// openrcEnabled reads the output of "rc-update show": lines of "name | levels".
func openrcEnabled(list, name, level string) bool {
	for line := range strings.Lines(list) {
		service, levels, ok := strings.Cut(line, "|")
		if !ok || strings.TrimSpace(service) != name {
			continue
		}
		for _, l := range strings.Fields(levels) {
			if l == level {
				return true
			}
		}
	}
	return false
}
