package modules

import (
	"context"
	"os"
	"path"
	"strings"
	"time"

	"play/modules/facts"
	"play/modules/process"
	"play/modules/value"
)

// setupArgs are the arguments of setup.
type setupArgs struct {
	Subset   []string `arg:"gather_subset,default=all" doc:"kinds of facts, with ! in front to leave out"`
	Timeout  int      `arg:"gather_timeout,default=10" doc:"seconds that one kind of facts may take"`
	Filter   []string `arg:"filter" doc:"patterns of the facts to return"`
	FactPath string   `arg:"fact_path,type=path,default=/etc/ansible/facts.d" doc:"folder of local facts"`
}

func setup() Module {
	return Define("setup", "Gather facts about the target", runSetup)
}

func runSetup(c *Call, args *setupArgs) (*Result, error) {
	h := &facts.Host{
		Env: c.Env, Now: time.Now, UID: os.Getuid(), GID: os.Getgid(), FactPath: c.abs(args.FactPath),
		Run: func(ctx context.Context, argv ...string) (string, bool) {
			out, err := process.Run(ctx, process.Command{Argv: argv, Env: withLocaleC(c.Env)})
			if err != nil || out.RC != 0 {
				return "", false
			}
			return string(out.Stdout), true
		},
	}
	found, err := facts.Gather(c, h, args.Subset, time.Duration(args.Timeout)*time.Second)
	if err != nil {
		return nil, Failf("%v", err)
	}
	shown := value.NewDict()
	for k, v := range found.Facts.All() {
		name := k.(string)
		if !strings.HasPrefix(name, "facter_") && !strings.HasPrefix(name, "ohai_") {
			name = "ansible_" + name
		}
		keepFact(shown, args.Filter, name, v)
	}
	keepFact(shown, args.Filter, "gather_subset", stringList(args.Subset))
	keepFact(shown, args.Filter, "module_setup", true)
	out := &Result{value.DictOf("ansible_facts", shown)}
	if len(found.Warnings) > 0 {
		out.Set("warnings", stringList(found.Warnings))
	}
	return out, nil
}

// keepFact stores a fact whose name, with or without "ansible_", matches one of
// the patterns; no pattern matches all.
func keepFact(d *value.Dict, patterns []string, name string, v any) {
	keep := len(patterns) == 0
	for _, p := range patterns {
		if p == "" || p == "*" {
			keep = true
		}
		for _, candidate := range []string{name, strings.TrimPrefix(name, "ansible_")} {
			ok, err := path.Match(p, candidate)
			keep = keep || ok && err == nil
		}
	}
	if keep {
		d.Set(name, v)
	}
}
