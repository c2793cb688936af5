package modules

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"play/modules/argspec"
	"play/modules/process"
	"play/modules/shellquote"
	"play/modules/value"
)

// commandArgs are the arguments of command and shell.
type commandArgs struct {
	Raw        *string  `arg:"_raw_params" doc:"the command as free-form text"`
	UsesShell  bool     `arg:"_uses_shell,default=no" doc:"run it by a shell (set by the shell action)"`
	Cmd        *string  `arg:"cmd,hidden" doc:"the command"`
	Argv       []string `arg:"argv" doc:"the command as a list of words"`
	Chdir      string   `arg:"chdir,type=path" doc:"change into this folder first"`
	Creates    *string  `arg:"creates,type=path" doc:"do nothing when a path of this pattern exists"`
	Removes    *string  `arg:"removes,type=path" doc:"do nothing when no path of this pattern exists"`
	Executable *string  `arg:"executable" doc:"the shell to use"`
	Stdin      *string  `arg:"stdin" doc:"text for the standard input"`
	AddNewline bool     `arg:"stdin_add_newline,default=yes" doc:"end stdin with a newline"`
	Strip      bool     `arg:"strip_empty_ends,default=yes" doc:"drop newlines at the end of the output"`
	Expand     bool     `arg:"expand_argument_vars,hidden,default=yes" doc:"replace $VAR and ~ in the words of command"`
	Warn       bool     `arg:"warn,hidden,default=no" doc:"accepted and without effect"`
}

func command() Module {
	return Define("command", "Run a command, without a shell", runCommand)
}

// commandRun is one run of command or shell on its way to a result.
type commandRun struct {
	*Result
	args *commandArgs
	argv []string
}

func runCommand(c *Call, args *commandArgs) (*Result, error) {
	r := &commandRun{Result: emptyCommandResult(), args: args}
	if err := r.words(c); err != nil {
		return nil, err
	}
	if info, err := os.Stat(commandDir(c, args.Chdir)); err != nil || !info.IsDir() {
		return nil, r.fail("Unable to change directory before execution: %s", chdirText(args.Chdir, err))
	}
	if why := commandSkip(commandDir(c, args.Chdir), args); why != "" {
		return r.skip(c, why), nil
	}
	if c.Check {
		return r.checked(), nil
	}
	return r.run(c)
}

// emptyCommandResult has all keys, in Ansible's order.
func emptyCommandResult() *Result {
	return &Result{value.DictOf("changed", false, "stdout", "", "stderr", "", "rc", nil, "cmd", nil,
		"start", nil, "end", nil, "delta", nil, "msg", "")}
}

func (r *commandRun) fail(format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	return &Failure{Msg: msg, With: r.Result.Dict}
}

// words finds out what to execute, and shows it under "cmd".
func (r *commandRun) words(c *Call) error {
	a := r.args
	text := ""
	for _, t := range []*string{a.Raw, a.Cmd} {
		if t != nil {
			text = *t
		}
	}
	if text != "" && len(a.Argv) > 0 {
		r.Set("rc", 256)
		return r.fail("only command or argv can be given, not both")
	}
	if strings.TrimSpace(text) == "" && len(a.Argv) == 0 {
		r.Set("rc", 256)
		return r.fail("no command given")
	}
	if a.UsesShell {
		return r.shellWords(text)
	}
	r.argv = a.Argv
	if len(a.Argv) == 0 {
		var err error
		if r.argv, err = shellquote.Split(text); err != nil {
			return Failf("%s", err)
		}
		if len(r.argv) == 0 {
			r.Set("rc", 256)
			return r.fail("no command given")
		}
	}
	r.Set("cmd", stringList(r.argv))
	if a.Expand {
		r.argv = expandWords(c, r.argv)
	}
	return nil
}

func (r *commandRun) shellWords(text string) error {
	shell := "/bin/sh"
	if r.args.Executable != nil && *r.args.Executable != "" {
		shell = *r.args.Executable
	}
	if len(r.args.Argv) > 0 {
		text = shellquote.Join(r.args.Argv)
	}
	r.argv = []string{shell, "-c", text}
	r.Set("cmd", text)
	return nil
}

func stringList(words []string) *value.List {
	l := value.NewList()
	for _, w := range words {
		l.Append(w)
	}
	return l
}

// expandWords replaces ~ and variables in each word.
func expandWords(c *Call, words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		if w == "~" || strings.HasPrefix(w, "~/") {
			w = c.Home + w[1:]
		}
		out[i] = argspec.ExpandVars(w, c.Getenv)
	}
	return out
}

// commandDir is the folder that the command runs in.
func commandDir(c *Call, chdir string) string {
	if chdir == "" {
		chdir = "."
	}
	if filepath.IsAbs(chdir) || c.Dir == "" {
		return chdir
	}
	return filepath.Join(c.Dir, chdir)
}

func chdirText(chdir string, err error) string {
	errno := syscall.ENOTDIR
	_ = errors.As(err, &errno) // nil for what is there and no folder
	return process.ErrnoText(errno, chdir)
}

// commandSkip returns the path that makes the command needless, or "".
func commandSkip(dir string, a *commandArgs) (path string) {
	if a.Creates != nil && pathMatches(dir, *a.Creates) {
		return *a.Creates
	}
	if a.Removes != nil && !pathMatches(dir, *a.Removes) {
		return *a.Removes
	}
	return ""
}

// skip is the result when a path makes the command needless.
func (r *commandRun) skip(c *Call, path string) *Result {
	state, verb := "does not exist", "Did"
	if r.args.Creates != nil && path == *r.args.Creates {
		state = "exists"
	}
	if c.Check {
		verb = "Would"
	}
	r.With("stdout", fmt.Sprintf("skipped, since %s %s", path, state))
	return r.With("rc", 0).With("msg", fmt.Sprintf("%s not run command since '%s' %s", verb, path, state))
}

// pathMatches tells whether a path or pattern names something that exists.
func pathMatches(dir, pattern string) bool {
	if !filepath.IsAbs(pattern) {
		pattern = filepath.Join(dir, pattern)
	}
	if _, err := os.Lstat(pattern); err == nil {
		return true
	}
	found, err := filepath.Glob(pattern)
	return err == nil && len(found) > 0
}

// checked is the result of check mode: a guarded command would have run; of any
// other nothing can be said.
func (r *commandRun) checked() *Result {
	r.With("rc", 0).With("msg", "Command would have run if not in check mode")
	if r.args.Creates == nil && r.args.Removes == nil {
		return r.With("skipped", true)
	}
	return r.Changed(true)
}

func (r *commandRun) run(c *Call) (*Result, error) {
	cmd := process.Command{Argv: r.argv, Dir: commandDir(c, r.args.Chdir), Env: c.Env, Stdin: r.stdin(), Output: c.Output}
	if cmd.Dir == "." {
		cmd.Dir = ""
	}
	if r.args.Executable != nil && !r.args.UsesShell {
		r.With("warnings", value.NewList(fmt.Sprintf("As of Ansible 2.4, the parameter 'executable' is no longer supported with the 'command' module. Not using '%s'.", *r.args.Executable)))
	}
	out, err := process.Run(c, cmd)
	var failed *process.StartError
	if errors.As(err, &failed) {
		return nil, &Failure{Msg: failed.Error(), With: value.DictOf("rc", int(failed.Errno),
			"cmd", shellquote.Join(cmd.Argv), "stdout", "", "stderr", "")}
	}
	if err != nil {
		return nil, err
	}
	r.Changed(true).With("stdout", r.text(out.Stdout)).With("stderr", r.text(out.Stderr)).With("rc", out.RC)
	r.With("start", stamp(out.Start)).With("end", stamp(out.End)).With("delta", delta(out.End.Sub(out.Start)))
	warnDropped(r.Result, out)
	if out.RC != 0 {
		return nil, r.fail("non-zero return code")
	}
	return r.Result, nil
}

// warnDropped tells of output that was too much to keep.
func warnDropped(r *Result, out *process.Outcome) {
	if out.Dropped > 0 {
		r.With("warnings", value.NewList(fmt.Sprintf("the command printed %d bytes more than the %d that are kept", out.Dropped, process.MaxOutput)))
	}
}

func (r *commandRun) stdin() io.Reader {
	if r.args.Stdin == nil {
		return nil
	}
	text := *r.args.Stdin
	if r.args.AddNewline {
		text += "\n"
	}
	return strings.NewReader(text)
}

func (r *commandRun) text(out []byte) string {
	if r.args.Strip {
		return strings.TrimRight(string(out), "\r\n")
	}
	return string(out)
}

// stamp is a local time as Python's str(datetime) shows it.
func stamp(t time.Time) string { return t.Format("2006-01-02 15:04:05.000000") }

// delta is a duration as Python's str(timedelta) shows it: 1:02:03.000456.
func delta(d time.Duration) string {
	us := d.Microseconds()
	day := ""
	if n := us / 86_400_000_000; n > 0 {
		day = fmt.Sprintf("%d day, ", n)
		if n > 1 {
			day = fmt.Sprintf("%d days, ", n)
		}
		us %= 86_400_000_000
	}
	text := fmt.Sprintf("%s%d:%02d:%02d", day, us/3_600_000_000, us/60_000_000%60, us/1_000_000%60)
	if us%1_000_000 != 0 {
		text += fmt.Sprintf(".%06d", us%1_000_000)
	}
	return text
}
