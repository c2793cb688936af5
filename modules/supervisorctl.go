package modules

import (
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// supervisorctlArgs are the arguments of supervisorctl.
type supervisorctlArgs struct {
	Name     string  `arg:"name,required" doc:"the program, a group with : behind it, or all"`
	Config   *string `arg:"config,type=path" doc:"supervisor's configuration file"`
	Server   *string `arg:"server_url" doc:"where supervisord listens"`
	Username *string `arg:"username" doc:"user for that"`
	Password *string `arg:"password,nolog" doc:"password for that"`
	State    string  `arg:"state,required,choices=present|started|restarted|stopped|absent|signalled" doc:"the wanted state"`
	Path     *string `arg:"supervisorctl_path,type=path" doc:"the program supervisorctl"`
	Signal   *string `arg:"signal" doc:"with state=signalled: the signal"`
}

// Rules relates the arguments.
func (supervisorctlArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredIf: []argspec.RequiredIf{{Name: "state", Value: "signalled", Needs: []string{"signal"}}}}
}

func supervisorctl() Module {
	return Define("supervisorctl", "Manage programs of supervisor", runSupervisorctl).In("community.general", "community.general.web_infrastructure")
}

// supervised is a program or group of supervisor.
type supervised struct {
	*Call
	*supervisorctlArgs
	name  string
	group bool
}

func runSupervisorctl(c *Call, args *supervisorctlArgs) (*Result, error) {
	s := &supervised{Call: c, supervisorctlArgs: args, name: strings.TrimRight(args.Name, ":"), group: strings.HasSuffix(args.Name, ":")}
	if args.State == "restarted" {
		if _, err := s.ctl("update"); err != nil {
			return nil, err
		}
	}
	found, err := s.programs()
	if err != nil {
		return nil, err
	}
	switch args.State {
	case "present":
		return s.enlist("add", "added", len(found) == 0)
	case "absent":
		return s.enlist("remove", "removed", len(found) > 0)
	}
	if len(found) == 0 {
		return nil, &Failure{Msg: "ERROR (no such process)", With: value.DictOf("name", s.name)}
	}
	return s.steer(found)
}

func (s *supervised) ctl(words ...string) (*toolOutcome, error) {
	argv := []string{"supervisorctl"}
	if s.Path != nil {
		argv[0] = *s.Path
	}
	for _, o := range []struct {
		option string
		val    *string
	}{{"-c", s.Config}, {"-s", s.Server}, {"-u", s.Username}, {"-p", s.Password}} {
		if o.val != nil {
			argv = append(argv, o.option, *o.val)
		}
	}
	return s.tool(append(argv, words...)...)
}

// program is one line of supervisor's status.
type program struct{ name, status string }

// programs lists the programs that the name means.
func (s *supervised) programs() ([]program, error) {
	out, err := s.ctl("status")
	if err != nil {
		return nil, err
	}
	var found []program
	for line := range strings.Lines(out.out) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		group, _, _ := strings.Cut(fields[0], ":")
		if s.name == "all" || s.group && group == s.name || !s.group && fields[0] == s.name {
			found = append(found, program{fields[0], fields[1]})
		}
	}
	return found, nil
}

// enlist adds the program to supervisor's list or removes it.
func (s *supervised) enlist(verb, done string, needed bool) (*Result, error) {
	if !needed {
		return s.report(false, nil), nil
	}
	if s.Check {
		return NewResult(true), nil
	}
	if _, err := s.ctl("reread"); err != nil {
		return nil, err
	}
	out, err := s.ctl(verb, s.name)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(out.out, s.name+": "+done+" process group") {
		return nil, &Failure{Msg: out.out, With: value.DictOf("name", s.name, "state", s.State)}
	}
	return s.report(true, nil), nil
}

// steer starts, stops, restarts or signals each program that needs it.
func (s *supervised) steer(found []program) (*Result, error) {
	step := map[string]struct {
		verb, done string
		needed     func(status string) bool
	}{
		"started":   {"start", "started", func(status string) bool { return status != "RUNNING" && status != "STARTING" }},
		"stopped":   {"stop", "stopped", func(status string) bool { return status == "RUNNING" || status == "STARTING" }},
		"restarted": {"restart", "started", func(string) bool { return true }},
		"signalled": {"signal", "signalled", func(status string) bool { return status == "RUNNING" }},
	}[s.State]
	verb := step.verb
	if s.State == "signalled" {
		verb += " " + *s.Signal
	}
	var affected []string
	for _, p := range found {
		if !step.needed(p.status) {
			continue
		}
		if s.Check {
			return NewResult(true), nil
		}
		out, err := s.ctl(verb, p.name)
		if err != nil {
			return nil, err
		}
		if !strings.Contains(out.out, p.name+": "+step.done) {
			return nil, Failf("%s", out.out)
		}
		affected = append(affected, p.name)
	}
	return s.report(len(affected) > 0, affected), nil
}

func (s *supervised) report(changed bool, affected []string) *Result {
	out := NewResult(changed).With("name", s.name).With("state", s.State)
	if len(affected) > 0 {
		out.Set("affected", stringList(affected))
	}
	return out
}
