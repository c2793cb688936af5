package modules

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"play/modules/process"
	"play/modules/shellquote"
)

// scriptArgs are the arguments of script. The script itself is the call's body.
type scriptArgs struct {
	Raw        *string `arg:"_raw_params" doc:"the local script's path and its arguments"`
	Cmd        *string `arg:"cmd" doc:"the same, as an option"`
	Chdir      string  `arg:"chdir,type=path" doc:"change into this folder first; an absolute path"`
	Creates    *string `arg:"creates,type=path" doc:"do nothing when a path of this pattern exists"`
	Removes    *string `arg:"removes,type=path" doc:"do nothing when no path of this pattern exists"`
	Executable string  `arg:"executable" doc:"the interpreter to run it with"`
}

func script() Module {
	return Define("script", "Run a local script on the target", runScript)
}

func runScript(c *Call, args *scriptArgs) (*Result, error) {
	line := ""
	for _, t := range []*string{args.Raw, args.Cmd} {
		if t != nil {
			line = *t
		}
	}
	name, rest := cutWord(strings.TrimSpace(line))
	switch {
	case name == "":
		return nil, Failf("missing required arguments: cmd")
	case args.Chdir != "" && !filepath.IsAbs(args.Chdir):
		return nil, Failf("chdir %s must be an absolute path for a Unix-aware remote node", args.Chdir)
	}
	dir := commandDir(c, args.Chdir)
	if args.Creates != nil && pathMatches(dir, *args.Creates) {
		return NewResult(false).With("skipped", true).With("msg", *args.Creates+" exists, matching creates option"), nil
	}
	if args.Removes != nil && !pathMatches(dir, *args.Removes) {
		return NewResult(false).With("skipped", true).With("msg", *args.Removes+" does not exist, matching removes option"), nil
	}
	if c.Check {
		return checkedScript(args), nil
	}
	return args.run(c, dir, path.Base(name), rest)
}

// checkedScript is the result of check mode: only a guarded script would surely
// have run.
func checkedScript(args *scriptArgs) *Result {
	if args.Creates != nil || args.Removes != nil {
		return NewResult(true)
	}
	return NewResult(false).With("skipped", true).With("msg", "Check mode is not supported for this task.")
}

// cutWord splits off the first word, unquoted; the rest stays as it is, for the
// shell to read.
func cutWord(line string) (word, rest string) {
	for i := 0; i <= len(line); i++ {
		if i < len(line) && line[i] != ' ' && line[i] != '\t' && line[i] != '\n' {
			continue
		}
		words, err := shellquote.Split(line[:i])
		if err == nil && len(words) == 1 {
			return words[0], strings.TrimSpace(line[i:])
		}
	}
	return "", ""
}

func (args *scriptArgs) run(c *Call, dir, name, rest string) (*Result, error) {
	file, err := keepScript(c, name)
	if err != nil {
		return nil, Failf("cannot put the script on the target: %s", err)
	}
	defer os.RemoveAll(filepath.Dir(file))
	line := strings.TrimSpace(args.Executable + " " + shellquote.Quote(file) + " " + rest)
	if dir == "." {
		dir = ""
	}
	out, err := process.Run(c, process.Command{Argv: []string{"/bin/sh", "-c", line}, Dir: dir, Env: c.Env, Output: c.Output})
	if err != nil {
		return nil, err
	}
	r := NewResult(true).With("rc", out.RC).With("stdout", string(out.Stdout)).With("stderr", string(out.Stderr))
	warnDropped(r, out)
	if out.RC != 0 {
		return nil, &Failure{Msg: "non-zero return code", With: r.Dict}
	}
	return r, nil
}

// keepScript writes the call's body to a private file with the script's own
// name, which it may look at.
func keepScript(c *Call, name string) (string, error) {
	if c.Body == nil {
		return "", errors.New("it was not sent along")
	}
	dir, err := os.MkdirTemp(c.TmpDir, "script-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, name)
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err == nil {
		_, err = io.Copy(f, c.Body)
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", err
	}
	return file, nil
}
