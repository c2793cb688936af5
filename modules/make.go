package modules

import (
	"strconv"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// makeArgs are the arguments of make.
type makeArgs struct {
	Target *string     `arg:"target" doc:"the target"`
	Params *value.Dict `arg:"params" doc:"variables for make"`
	Chdir  string      `arg:"chdir,required,type=path" doc:"the folder to run in"`
	File   *string     `arg:"file,type=path" doc:"the makefile"`
	Make   *string     `arg:"make,type=path" doc:"the program; gmake where there is one, else make"`
	Jobs   *int        `arg:"jobs" doc:"how many jobs run at once"`
}

func makeModule() Module {
	return Define("make", "Run targets of a makefile", runMake).In("community.general", "community.general.system")
}

func runMake(c *Call, args *makeArgs) (*Result, error) {
	own := *c
	own.Dir = c.abs(args.Chdir)
	if !isDir(own.Dir) {
		return nil, Failf("cannot run make in %q: there is no such folder", own.Dir)
	}
	argv, err := args.command(c)
	if err != nil {
		return nil, err
	}
	out, err := own.tool(append(argv, "-q")...) // tells whether the target is up to date
	if err != nil {
		return nil, err
	}
	differs := out.failed()
	if differs && !c.Check {
		if out, err = own.mustTool(argv...); err != nil {
			return nil, err
		}
	}
	params := any(nil)
	if args.Params != nil {
		params = args.Params
	}
	return &Result{value.DictOf("changed", differs, "failed", false, "stdout", strings.TrimRight(out.out, "\r\n"), "stderr", strings.TrimRight(out.errOut, "\r\n"),
		"target", orNil(args.Target), "params", params, "chdir", args.Chdir, "file", orNil(args.File), "jobs", intOrNil(args.Jobs),
		"command", shellquote.Join(argv))}, nil
}

// command is the command line.
func (a *makeArgs) command(c *Call) ([]string, error) {
	program := c.findTool("gmake")
	if a.Make != nil {
		program = *a.Make
	}
	if program == "" {
		path, err := c.needTool("make")
		if err != nil {
			return nil, err
		}
		program = path
	}
	argv := []string{program}
	if a.Jobs != nil {
		argv = append(argv, "-j", strconv.Itoa(*a.Jobs))
	}
	if a.File != nil {
		argv = append(argv, "-f", *a.File)
	}
	if a.Target != nil {
		argv = append(argv, *a.Target)
	}
	if a.Params != nil {
		for k, v := range a.Params.All() {
			argv = append(argv, value.Str(k)+"="+value.Str(v))
		}
	}
	return argv, nil
}

// orNil is the text, or nil.
func orNil(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// intOrNil is the number, or nil.
func intOrNil(n *int) any {
	if n == nil {
		return nil
	}
	return *n
}
