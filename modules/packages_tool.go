package modules

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"play/modules/process"
	"play/modules/shellquote"
	"play/modules/value"
)

// pkgTool runs the programs of one package module.
type pkgTool struct {
	*Call
	Path string   // of the program
	Vars []string // NAME=value, on top of the call's environment and LC_ALL=C
	Dir  string   // "": the call's folder
}

// pkgProgram finds the program that a module cannot do without.
func pkgProgram(c *Call, name string) (*pkgTool, error) {
	path, err := c.needTool(name)
	if err != nil {
		return nil, err
	}
	return &pkgTool{Call: c, Path: path}, nil
}

// pkgOutcome is how a program ended, as text.
type pkgOutcome struct {
	Stdout, Stderr string
	RC             int
}

// run runs the program with arguments and returns how it ended; a program that
// cannot be started is the module's failure.
func (t *pkgTool) run(args ...string) (*pkgOutcome, error) { return t.feed("", args...) }

// feed is run with text for the standard input.
func (t *pkgTool) feed(stdin string, args ...string) (*pkgOutcome, error) {
	dir := t.Dir
	if dir == "" {
		dir = t.Call.Dir
	}
	env := append(slices.Clone(t.Env), "LANG=C", "LC_ALL=C", "LC_MESSAGES=C", "LC_CTYPE=C")
	cmd := process.Command{Argv: append([]string{t.Path}, args...), Dir: dir, Env: append(env, t.Vars...), Output: t.Output}
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	out, err := process.Run(t.Call, cmd)
	var start *process.StartError
	if errors.As(err, &start) {
		return nil, &Failure{Msg: start.Error(), With: value.DictOf("rc", int(start.Errno), "cmd", t.Path)}
	}
	if err != nil {
		return nil, err
	}
	return &pkgOutcome{string(out.Stdout), string(out.Stderr), out.RC}, nil
}

// dict is the outcome under Ansible's names.
func (o *pkgOutcome) dict() *value.Dict {
	return value.DictOf("rc", o.RC, "stdout", o.Stdout, "stderr", o.Stderr)
}

// failf makes a failure that carries the outcome.
func (o *pkgOutcome) failf(format string, args ...any) error {
	return &Failure{Msg: fmt.Sprintf(format, args...), With: o.dict()}
}

// outLines are the lines of a program's output without line ends and empty ones.
func outLines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
}

// failed is the failure of a program that had to succeed: its message is what
// the program wrote to its standard error.
func (t *pkgTool) failed(out *pkgOutcome, args ...string) error {
	with := out.dict()
	with.Set("cmd", shellquote.Join(append([]string{t.Path}, args...)))
	return &Failure{Msg: strings.TrimRight(out.Stderr, "\n"), With: with}
}
