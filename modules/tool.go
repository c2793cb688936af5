package modules

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/modules/process"
	"play/modules/shellquote"
	"play/modules/value"
)

// toolOutcome is how one of the system's programs ended, as text.
type toolOutcome struct {
	rc          int
	out, errOut string
}

// failed tells whether the program reported a failure.
func (o *toolOutcome) failed() bool { return o.rc != 0 }

// tool runs one of the system's programs in English. A program that is not
// there is a Failure; one that fails is the caller's to judge.
func (c *Call) tool(argv ...string) (*toolOutcome, error) {
	return c.toolStdin("", argv...)
}

// toolStdin is tool with text for the standard input; "" is none.
func (c *Call) toolStdin(stdin string, argv ...string) (*toolOutcome, error) {
	path, err := c.needTool(argv[0])
	if err != nil {
		return nil, err
	}
	cmd := process.Command{Argv: append([]string{path}, argv[1:]...), Dir: c.Dir, Env: withLocaleC(c.Env)}
	if stdin != "" {
		cmd.Stdin = strings.NewReader(stdin)
	}
	out, err := process.Run(c, cmd)
	var start *process.StartError
	if errors.As(err, &start) {
		return nil, &Failure{Msg: start.Error(), With: value.DictOf("rc", int(start.Errno), "cmd", strings.Join(argv, " "))}
	}
	if err != nil {
		return nil, err
	}
	return &toolOutcome{rc: out.RC, out: string(out.Stdout), errOut: string(out.Stderr)}, nil
}

// mustTool is tool for a program whose failure is the task's: the message is
// what it wrote to its standard error.
func (c *Call) mustTool(argv ...string) (*toolOutcome, error) {
	out, err := c.tool(argv...)
	if err != nil || !out.failed() {
		return out, err
	}
	shown := append([]string{c.findTool(argv[0])}, argv[1:]...)
	return nil, &Failure{Msg: strings.TrimSpace(out.errOut), With: value.DictOf(
		"cmd", shellquote.Join(shown), "rc", out.rc, "stdout", out.out, "stderr", out.errOut)}
}

// toolFolders are where programs are looked for, those for administrators too.
func (c *Call) toolFolders() []string {
	path, _ := c.Getenv("PATH")
	var folders []string
	for _, f := range filepath.SplitList(path) {
		if f != "" {
			folders = append(folders, f)
		}
	}
	for _, f := range []string{"/sbin", "/usr/sbin", "/usr/local/sbin"} {
		if !slices.Contains(folders, f) && exists(f) {
			folders = append(folders, f)
		}
	}
	return folders
}

// findTool finds a program by name, or "".
func (c *Call) findTool(name string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, f := range c.toolFolders() {
		path := filepath.Join(f, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// needTool is findTool for a program that the module cannot do without.
func (c *Call) needTool(name string) (string, error) {
	if path := c.findTool(name); path != "" {
		return path, nil
	}
	return "", Failf("Failed to find required executable \"%s\" in paths: %s", name, strings.Join(c.toolFolders(), ":"))
}
