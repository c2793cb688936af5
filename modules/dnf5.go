package modules

import "play/modules/argspec"

// dnf5Args are the arguments of dnf5: dnf's, with a few of its own.
type dnf5Args struct {
	dnfArgs
	AutoDeps   bool   `arg:"auto_install_module_deps,default=yes" doc:"let dnf5 install what it needs itself; without effect, since only the program is used"`
	Best       *bool  `arg:"best" doc:"insist on the best candidates; the opposite of nobest"`
	UseBackend string `arg:"use_backend,hidden,default=dnf5" doc:"accepted and without effect"`
}

// Rules relates the arguments.
func (dnf5Args) Rules() argspec.Rules {
	r := dnfArgs{}.Rules()
	r.MutuallyExclusive = append(r.MutuallyExclusive, []string{"best", "nobest"})
	return r
}

// dnf5 works through the programs dnf5 and rpm. It was tested with stand-ins for
// them only.
func dnf5() Module {
	return Define("dnf5", "Manage packages with dnf5", runDnf5)
}

func runDnf5(c *Call, args *dnf5Args) (*Result, error) {
	shared := args.dnfArgs
	shared.UseBackend = "dnf5"
	if args.Best != nil {
		shared.Nobest = !*args.Best
	}
	return runDnf(c, &shared)
}
