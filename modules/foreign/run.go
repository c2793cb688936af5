// Package foreign runs modules that are not native on the target: programs in
// any language that take arguments in one of Ansible's ways and print JSON. A
// module's file and its arguments flow in, the result found in its output flows
// out. The controller's half is action/foreign.go. It builds no zip, chooses no
// interpreter, and hands arguments to no command line.
package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"play/modules/process"
	"play/modules/shellquote"
	"play/modules/value"
)

// Program is one run of a module.
type Program struct {
	Name        string   // the module's own name, for its file and messages
	Kind        string   // python, jsonargs, want_json, binary, old
	File        string   // the module's text, program or zip on this host
	Package     string   // python: the module's dotted name inside the zip
	Interpreter []string // the program that runs it and its arguments; none for binary
	Args        *value.Dict
	Env         []string
	Dir         string // working directory; "": the agent's own
	TmpDir      string // a private folder for scratch files
	Keep        bool   // leave the scratch files
	Warm        *Warm  // for Python: interpreters to fork from; nil: a process of its own
}

// guard runs its arguments as a child, so that a module that kills its parent
// does not kill the agent.
const guard = `"$@"; exit $?`

// boot starts a module inside of a zip; the arguments come by standard input.
const boot = `import sys
zip, name = sys.argv[1:3]
data = getattr(sys.stdin, 'buffer', sys.stdin).read()
sys.path[:] = [zip] + [p for p in sys.path if p]
sys.argv[:] = [name]
from ansible.module_utils import basic
basic._ANSIBLE_ARGS = data
basic._ANSIBLE_PROFILE = 'legacy'
import runpy
runpy.run_module(name, {'_module_fqn': name, '_modlib_path': zip}, '__main__', True)
`

// Run runs the module and returns its result as Ansible reads it: what is no
// result becomes a failed one that shows what the module printed. The error is
// the end of ctx, or says why the module could not be started.
func Run(ctx context.Context, p *Program) (*value.Dict, error) {
	dir, err := os.MkdirTemp(p.TmpDir, "module-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder for the module %q: %w", p.Name, err)
	}
	if !p.Keep {
		defer os.RemoveAll(dir)
	}
	p.Args.Set("_ansible_tmpdir", dir)
	argv, stdin, err := p.prepare(dir)
	if err != nil {
		return nil, err
	}
	out, err := p.execute(ctx, argv, stdin)
	if err != nil {
		return nil, err
	}
	return p.read(out), nil
}

// execute runs the module in a fork of a warm interpreter, or as a process of
// its own.
func (p *Program) execute(ctx context.Context, argv []string, stdin []byte) (*process.Outcome, error) {
	if p.Kind == "python" {
		if out, err := p.Warm.run(ctx, p, stdin); err != errCold {
			return out, err
		}
	}
	command := process.Command{Argv: append([]string{"/bin/sh", "-c", guard, p.Name}, argv...), Dir: p.Dir, Env: p.Env}
	if stdin != nil {
		command.Stdin = bytes.NewReader(stdin)
	}
	return process.Run(ctx, command)
}

// prepare writes the files that the module needs into dir and returns its
// command line and standard input.
func (p *Program) prepare(dir string) (argv []string, stdin []byte, err error) {
	args, err := value.AppendJSON(nil, p.Args, value.JSONOptions{EnsureASCII: true}) // as json.dumps does: some modules read it by other means
	if err != nil {
		return nil, nil, fmt.Errorf("cannot send arguments to the module %q: %w", p.Name, err)
	}
	if p.Kind == "python" {
		params := append(append([]byte(`{"ANSIBLE_MODULE_ARGS": `), args...), '}')
		return append(p.interpreter(), "-c", boot, p.File, p.Package), params, nil
	}
	text, err := os.ReadFile(p.File)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the module %q: %w", p.Name, err)
	}
	argFile := filepath.Join(dir, "args")
	switch p.Kind {
	case "jsonargs":
		text = p.fill(text, args)
		argFile, args = "", nil
	case "old":
		args, err = keyValues(p.Args)
	case "binary":
		err = checkArch(text)
	case "want_json":
	default:
		err = fmt.Errorf("the agent knows no modules of kind %q", p.Kind)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot run the module %q: %w", p.Name, err)
	}
	file := filepath.Join(dir, p.Name)
	if err := write(file, text, argFile, args); err != nil {
		return nil, nil, fmt.Errorf("cannot put the module %q on the target: %w", p.Name, err)
	}
	argv = append(p.interpreter(), file)
	if argFile != "" {
		argv = append(argv, argFile)
	}
	return argv, nil, nil
}

func (p *Program) interpreter() []string {
	return append([]string(nil), p.Interpreter...)
}

// write makes the module's file and, where it has one, that of its arguments.
func write(file string, text []byte, argFile string, args []byte) error {
	if err := os.WriteFile(file, text, 0o700); err != nil || argFile == "" {
		return err
	}
	return os.WriteFile(argFile, args, 0o600)
}

// fill replaces the markers in the text of a jsonargs module.
func (p *Program) fill(text, args []byte) []byte {
	hint := func(name string) string {
		v, _ := p.Args.Get("_ansible_" + name)
		return value.Str(v)
	}
	var special []string
	if v, _ := p.Args.Get("_ansible_selinux_special_fs"); v != nil {
		if l, ok := v.(*value.List); ok {
			for _, item := range l.Items {
				special = append(special, value.Str(item))
			}
		}
	}
	for _, r := range [][2]string{
		{`"<<ANSIBLE_VERSION>>"`, value.Repr(hint("version"))},
		{`"<<INCLUDE_ANSIBLE_MODULE_COMPLEX_ARGS>>"`, "b" + value.Repr(string(args))}, // bytes, as ansible-core on Python 3 puts it
		{"<<SELINUX_SPECIAL_FILESYSTEMS>>", strings.Join(special, ",")},
		{"<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>", string(args)},
		{"syslog.LOG_USER", "syslog." + hint("syslog_facility")},
	} {
		text = bytes.ReplaceAll(text, []byte(r[0]), []byte(r[1]))
	}
	return text
}

// keyValues are the arguments of an old module: key=value, quoted for a shell.
func keyValues(args *value.Dict) ([]byte, error) {
	var b bytes.Buffer
	for k, v := range args.All() {
		text := value.Str(v)
		if strings.ContainsRune(text, 0) {
			return nil, errors.New("an argument has a NUL byte")
		}
		fmt.Fprintf(&b, "%s=%s ", value.Str(k), shellquote.Quote(text))
	}
	return b.Bytes(), nil
}
