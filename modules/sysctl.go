package modules

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"

	"play/modules/argspec"
	"play/modules/atomicfile"
)

// sysctlArgs are the arguments of sysctl.
type sysctlArgs struct {
	Name         string  `arg:"name,required,aliases=key" doc:"the kernel parameter, with dots"`
	Value        *string `arg:"value,aliases=val" doc:"its value"`
	State        string  `arg:"state,default=present,choices=present|absent" doc:"whether the file shall have it"`
	Reload       bool    `arg:"reload,default=yes" doc:"load the file when something changed"`
	SysctlSet    bool    `arg:"sysctl_set,default=no" doc:"set the running kernel's parameter too"`
	IgnoreErrors bool    `arg:"ignoreerrors,default=no" doc:"pass over unknown parameters"`
	File         string  `arg:"sysctl_file,type=path,default=/etc/sysctl.conf" doc:"the file"`
}

// Rules relates the arguments.
func (sysctlArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredIf: []argspec.RequiredIf{{Name: "state", Value: "present", Needs: []string{"value"}}}}
}

func sysctl() Module {
	return Define("sysctl", "Manage kernel parameters and their file", runSysctl).In("ansible.posix")
}

func runSysctl(c *Call, args *sysctlArgs) (*Result, error) {
	if args.Name == "" {
		return nil, Failf("name cannot be blank")
	}
	if args.State == "present" && *args.Value == "" {
		return nil, Failf("value cannot be blank")
	}
	s := &kernelParameter{Call: c, sysctlArgs: args, path: c.abs(args.File)}
	if args.Value != nil {
		s.want = sysctlValue(*args.Value)
	}
	if err := s.read(); err != nil {
		return nil, err
	}
	writeFile, setLive, changed := s.plan()
	if c.Check || !changed {
		return NewResult(changed), nil
	}
	return NewResult(true), s.act(writeFile, setLive)
}

// kernelParameter is one parameter on its way to the wanted value.
type kernelParameter struct {
	*Call
	*sysctlArgs
	path   string
	want   string
	live   string
	lines  []string
	inFile string
	listed bool // the file has the parameter
}

// sysctlValue is a value as the kernel takes it: truth as a digit.
func sysctlValue(text string) string {
	text = strings.TrimSpace(text)
	switch strings.ToLower(text) {
	case "y", "yes", "on", "true", "t":
		return "1"
	case "n", "no", "off", "false", "f":
		return "0"
	}
	return text
}

func (s *kernelParameter) read() error {
	out, err := s.tool("sysctl", "-e", "-n", s.Name)
	if err != nil {
		return err
	}
	if !out.failed() {
		s.live = out.out
	}
	data, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Failf("Failed to open %s: %v", s.path, err)
	}
	s.lines = cronLines(string(data))
	for _, line := range s.lines {
		if name, val, ok := sysctlLine(line); ok && name == s.Name {
			s.inFile, s.listed = val, true
		}
	}
	return nil
}

// sysctlLine reads a line of the file; it is false for comments and others.
func sysctlLine(line string) (name, val string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' || line[0] == ';' || !strings.Contains(line, "=") {
		return "", "", false
	}
	name, val, _ = strings.Cut(line, "=")
	return strings.TrimSpace(name), strings.TrimSpace(val), true
}

// plan tells what has to be done.
func (s *kernelParameter) plan() (writeFile, setLive, changed bool) {
	if s.State == "absent" {
		return s.listed, false, s.listed
	}
	differs := !sameWords(s.live, s.want)
	writeFile = !s.listed || s.inFile != s.want
	setLive = s.SysctlSet && differs
	return writeFile, setLive, writeFile || setLive || s.Reload && differs
}

// sameWords compares values whose words are separated by any white space.
func sameWords(a, b string) bool {
	return strings.Join(strings.Fields(a), " ") == strings.Join(strings.Fields(b), " ")
}

func (s *kernelParameter) act(writeFile, setLive bool) error {
	if setLive {
		if err := s.set(); err != nil {
			return err
		}
	}
	if writeFile {
		if err := atomicfile.Write(s.path, strings.NewReader(s.render()), atomicfile.Options{}); err != nil {
			return Failf("%v", err)
		}
	}
	if !s.Reload {
		return nil
	}
	out, err := s.tool(s.command("-p", s.path)...)
	if err == nil && (out.failed() || sysctlRefused(out.errOut)) {
		err = Failf("Failed to reload sysctl: %s", out.out+out.errOut)
	}
	return err
}

func (s *kernelParameter) command(words ...string) []string {
	argv := []string{"sysctl"}
	if s.IgnoreErrors {
		argv = append(argv, "-e")
	}
	return append(argv, words...)
}

func (s *kernelParameter) set() error {
	out, err := s.tool(s.command("-w", s.Name+"="+s.want)...)
	if err == nil && (out.failed() || sysctlRefused(out.errOut)) {
		err = Failf("setting %s failed: %s", s.Name, out.out+out.errOut)
	}
	return err
}

// sysctlRefused finds a refusal that old versions of sysctl report with status 0.
func sysctlRefused(text string) bool {
	return regexp.MustCompile(`(?m)^sysctl: setting key "[^"]+": (Invalid argument|Read-only file system)$`).MatchString(text)
}

// render is the new text of the file: each parameter once, comments kept.
func (s *kernelParameter) render() string {
	seen := map[string]bool{}
	var b strings.Builder
	for _, line := range s.lines {
		name, val, ok := sysctlLine(line)
		switch {
		case !ok:
			b.WriteString(line + "\n")
			continue
		case seen[name], name == s.Name && s.State == "absent":
			continue
		case name == s.Name:
			val = s.want
		}
		seen[name] = true
		b.WriteString(name + "=" + val + "\n")
	}
	if !seen[s.Name] && s.State == "present" {
		b.WriteString(s.Name + "=" + s.want + "\n")
	}
	return b.String()
}
