package modules

import "play/modules/argspec"

// yumArgs are the arguments of yum: dnf's, with a choice of the program.
type yumArgs struct {
	dnfArgs
	UseBackend string `arg:"use_backend,default=auto,aliases=use,choices=auto|yum|yum4|dnf|dnf4|dnf5" doc:"the program to use"`
}

// Rules relates the arguments.
func (yumArgs) Rules() argspec.Rules { return dnfArgs{}.Rules() }

// yum works through the programs dnf or yum, and rpm. It was tested with
// stand-ins for them only.
func yum() Module {
	return Define("yum", "Manage packages with yum or dnf", runYum)
}

func runYum(c *Call, args *yumArgs) (*Result, error) {
	shared := args.dnfArgs
	shared.UseBackend = args.UseBackend
	return runDnf(c, &shared)
}
