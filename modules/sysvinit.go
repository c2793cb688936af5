package modules

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// sysvinitArgs are the arguments of sysvinit.
type sysvinitArgs struct {
	Name      string   `arg:"name,required,aliases=service" doc:"the script in /etc/init.d"`
	State     *string  `arg:"state,choices=started|stopped|restarted|reloaded" doc:"what the service shall do"`
	Enabled   *bool    `arg:"enabled" doc:"whether the service starts at boot"`
	Sleep     int      `arg:"sleep,default=1" doc:"seconds between stop and start of a restart"`
	Pattern   *string  `arg:"pattern" doc:"text in the process list that shows that the service runs"`
	Arguments *string  `arg:"arguments,aliases=args" doc:"further words for the script"`
	Runlevels []string `arg:"runlevels" doc:"the runlevels to be enabled in"`
	Daemonize bool     `arg:"daemonize,default=no" doc:"detach the script from this process"`
}

// Rules relates the arguments.
func (sysvinitArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredOneOf: [][]string{{"state", "enabled"}}}
}

func sysvinit() Module {
	return Define("sysvinit", "Manage services of System V's init", runSysvinit)
}

// sysvScript is one init script on its way to the wanted state.
type sysvScript struct {
	*Call
	*sysvinitArgs
	path     string
	warnings []string
}

func runSysvinit(c *Call, args *sysvinitArgs) (*Result, error) {
	s := &sysvScript{Call: c, sysvinitArgs: args, path: "/etc/init.d/" + args.Name}
	if !exists(s.path) {
		return nil, Failf("Could not find the requested service %s: ", args.Name)
	}
	enabled, err := s.enable()
	if err != nil {
		return nil, err
	}
	acted, err := s.act()
	if err != nil {
		return nil, err
	}
	var state any
	if args.State != nil {
		state = *args.State
	}
	status := value.DictOf("enabled", enabled)
	if err := status.SetKey(state, acted); err != nil {
		return nil, err
	}
	out := NewResult(isTrue(enabled, "changed") || isTrue(acted, "changed")).With("name", args.Name).With("status", status)
	if len(s.warnings) > 0 {
		out.Set("warnings", stringList(s.warnings))
	}
	return out, nil
}

func isTrue(d *value.Dict, key string) bool {
	v, _ := d.Get(key)
	return v == true
}

// sysvStep is the report of one half of the work.
func sysvStep() *value.Dict {
	return value.DictOf("changed", false, "rc", nil, "stdout", nil, "stderr", nil)
}

func (s *sysvScript) enable() (*value.Dict, error) {
	step := sysvStep()
	if s.Enabled == nil {
		return step, nil
	}
	if len(s.Runlevels) > 0 {
		step.Set("runlevels", stringList(s.Runlevels))
	}
	if *s.Enabled == s.isEnabled() {
		return step, nil
	}
	step.Set("changed", true)
	if s.Check {
		return step, nil
	}
	verb := "disable"
	if *s.Enabled {
		verb = "enable"
	}
	for _, argv := range s.enabler(verb) {
		out, err := s.tool(argv...)
		if err != nil {
			return nil, err
		}
		step.Set("rc", out.rc)
		step.Set("stdout", out.out)
		step.Set("stderr", out.errOut)
		if out.failed() {
			return nil, &Failure{Msg: "Failed to " + verb + " service: " + s.Name, With: value.DictOf(
				"rc", out.rc, "stdout", out.out, "stderr", out.errOut)}
		}
	}
	return step, nil
}

// isEnabled tells whether the script is started at boot, in all of the wanted
// runlevels when some are.
func (s *sysvScript) isEnabled() bool {
	if len(s.Runlevels) == 0 {
		return sysvStartsAtBoot(s.Name)
	}
	for _, level := range s.Runlevels {
		found, err := filepath.Glob("/etc/rc" + level + ".d/S??" + s.Name)
		if err != nil || len(found) == 0 {
			return false
		}
	}
	return true
}

// enabler returns the commands of this system that enable or disable a script.
func (s *sysvScript) enabler(verb string) [][]string {
	switch {
	case s.findTool("chkconfig") != "":
		on := map[string]string{"enable": "on", "disable": "off"}[verb]
		if len(s.Runlevels) > 0 {
			return [][]string{{"chkconfig", "--level", strings.Join(s.Runlevels, ""), s.Name, on}}
		}
		return [][]string{{"chkconfig", s.Name, on}}
	case len(s.Runlevels) > 0:
		argv := append([]string{"update-rc.d", s.Name, verb}, s.Runlevels...)
		return [][]string{argv}
	case verb == "enable":
		return [][]string{{"update-rc.d", s.Name, "defaults"}, {"update-rc.d", s.Name, verb}}
	}
	return [][]string{{"update-rc.d", s.Name, verb}}
}

func (s *sysvScript) act() (*value.Dict, error) {
	step := sysvStep()
	if s.State == nil {
		return step, nil
	}
	running, err := s.running()
	if err != nil {
		return nil, err
	}
	var verbs []string
	switch *s.State {
	case "started":
		if !running {
			verbs = []string{"start"}
		}
	case "stopped":
		if running {
			verbs = []string{"stop"}
		}
	case "restarted":
		verbs = []string{"stop", "start"}
	case "reloaded":
		verbs = []string{"reload"}
		if !running {
			verbs = []string{"start"}
		}
	}
	if len(verbs) == 0 {
		return step, nil
	}
	step.Set("changed", true)
	if s.Check {
		return step, nil
	}
	return step, s.runScript(step, verbs)
}

// runScript runs the script once for each verb, with a pause between two.
func (s *sysvScript) runScript(step *value.Dict, verbs []string) error {
	for i, verb := range verbs {
		if i > 0 {
			select {
			case <-s.Done():
				return s.Err()
			case <-time.After(time.Duration(s.Sleep) * time.Second):
			}
		}
		argv := []string{s.path, verb}
		if s.Arguments != nil {
			argv = append(argv, strings.Fields(*s.Arguments)...)
		}
		out, err := s.tool(argv...)
		if err != nil {
			return err
		}
		step.Set("rc", out.rc)
		step.Set("stdout", out.out)
		step.Set("stderr", out.errOut)
		if out.failed() && !(verb == "stop" && len(verbs) > 1) {
			return &Failure{Msg: "Failed to " + verb + " service: " + s.Name, With: value.DictOf(
				"rc", out.rc, "stdout", out.out, "stderr", out.errOut)}
		}
	}
	return nil
}

// running finds out whether the service runs: by a pattern in the process list,
// else by what the script says of its status.
func (s *sysvScript) running() (bool, error) {
	if s.Pattern != nil {
		out, err := s.tool("ps", "auxww")
		if err != nil {
			return false, err
		}
		if !out.failed() && s.listed(out.out) {
			return true, nil
		}
		s.warnings = append(s.warnings, "Unable to determine if service is up, assuming it is down")
		return false, nil
	}
	out, err := s.tool(s.path, "status")
	if err != nil {
		return false, err
	}
	running, known := sysvStatus(out)
	if !known {
		s.warnings = append(s.warnings, "Unable to determine if service is up, assuming it is down")
	}
	return running, nil
}

// listed tells whether a line of the process list has the pattern; this
// process's own line does not count.
func (s *sysvScript) listed(list string) bool {
	self := filepath.Base(os.Args[0])
	for line := range strings.Lines(list) {
		if strings.Contains(line, *s.Pattern) && !strings.Contains(line, "pattern="+*s.Pattern) && !strings.Contains(line, self) {
			return true
		}
	}
	return false
}

// sysvStatus reads the answer to "status": the exit status where it means
// something (LSB), else the words of the output.
func sysvStatus(out *toolOutcome) (running, known bool) {
	text := strings.ToLower(out.out)
	switch {
	case strings.Contains(text, "not running"), strings.Contains(text, "is stopped"), strings.Contains(text, "dead"):
		return false, true
	case out.rc == 0:
		return true, true
	case out.rc == 1, out.rc == 2, out.rc == 3, out.rc == 4, out.rc == 69:
		return false, true
	case strings.Contains(text, "running"), strings.Contains(text, "start"):
		return true, true
	}
	return false, false
}

// serviceBySysvinit is service where System V's init runs the services.
func serviceBySysvinit(c *Call, a *serviceArgs) (*Result, error) {
	s := &sysvinitArgs{Name: *a.Name, State: a.State, Enabled: a.Enabled, Sleep: 1, Pattern: a.Pattern,
		Arguments: a.Arguments, Runlevels: a.Runlevels, Daemonize: a.Daemonize}
	if a.Sleep != nil {
		s.Sleep = *a.Sleep
	}
	if a.State == nil && a.Enabled == nil {
		return nil, &argspec.Error{Msg: "one of the following is required: state, enabled"}
	}
	return runSysvinit(c, s)
}
