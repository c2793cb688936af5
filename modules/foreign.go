package modules

import (
	"play/modules/foreign"
	"play/modules/value"
)

// foreignArgs are the arguments of _foreign, which action/foreign.go fills in.
// The module's file is the call's body, or is here already.
type foreignArgs struct {
	Name        string   `arg:"name" doc:"the module's own name"`
	Kind        string   `arg:"kind" doc:"how it takes its arguments; discover looks for interpreters"`
	Hash        string   `arg:"hash" doc:"SHA-256 of the file in hex"`
	Package     string   `arg:"package" doc:"the dotted name of a Python module in its zip"`
	Interpreter []string `arg:"interpreter" doc:"the program that runs it, or those to look for"`
	Args        any      `arg:"args,type=raw" doc:"the module's arguments"`
	Keep        bool     `arg:"keep" doc:"leave the scratch files"`
	Cold        bool     `arg:"cold" doc:"give a Python module a process of its own"`
}

// foreignModule runs modules that are not native.
func foreignModule() Module {
	m := Define("_foreign", "Run a module written in another language", runForeign)
	m.Complete = true
	return m
}

func runForeign(c *Call, args *foreignArgs) (*Result, error) {
	if args.Kind == "discover" {
		return &Result{foreign.Discover(args.Interpreter, c.Env)}, nil
	}
	file, found, err := foreign.Fetch(c.TmpDir, args.Hash, c.Body)
	if err != nil {
		return nil, err
	}
	if !found {
		return NewResult(false).With("needs_content", true), nil
	}
	given, ok := args.Args.(*value.Dict)
	if !ok {
		given = value.NewDict()
	}
	warm := c.Warm
	if args.Cold {
		warm = nil
	}
	out, err := foreign.Run(c, &foreign.Program{
		Name: args.Name, Kind: args.Kind, File: file, Package: args.Package, Interpreter: args.Interpreter,
		Args: given, Env: c.Env, Dir: c.Dir, TmpDir: c.TmpDir, Keep: args.Keep, Warm: warm,
	})
	if err != nil {
		return nil, err
	}
	return &Result{out}, nil
}
