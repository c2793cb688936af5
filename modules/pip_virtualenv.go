package modules

import (
	"path/filepath"
	"slices"
	"strings"

	"play/modules/shellquote"
)

// needVirtualenv makes the virtual environment when it is not there; made is
// false in check mode, where nothing more can be found out.
func (p *pipRun) needVirtualenv() (made bool, err error) {
	env := p.abs(*p.Virtualenv)
	if exists(filepath.Join(env, "bin", "activate")) {
		return true, nil
	}
	if p.Check {
		return false, nil
	}
	argv, err := p.virtualenvCommand(env)
	if err != nil {
		return false, err
	}
	t := &pkgTool{Call: p.Call, Path: argv[0], Dir: p.dir}
	out, err := t.run(argv[1:]...)
	if err != nil {
		return false, err
	}
	if out.RC != 0 {
		return false, p.failed(argv, out.Stdout, out.Stderr)
	}
	p.out, p.errOut = out.Stdout, out.Stderr
	return true, nil
}

// virtualenvCommand is the command line that makes an environment.
func (p *pipRun) virtualenvCommand(env string) ([]string, error) {
	argv, err := shellquote.Split(p.VenvCommand)
	if err != nil || len(argv) == 0 {
		return nil, Failf("cannot read virtualenv_command '%s'", p.VenvCommand)
	}
	if argv[0], err = p.needTool(argv[0]); err != nil {
		return nil, err
	}
	venv := isVenvCommand(argv)
	if p.SitePackages {
		argv = append(argv, "--system-site-packages")
	} else {
		help, err := (&pkgTool{Call: p.Call, Path: argv[0]}).run("--help")
		if err != nil {
			return nil, err
		}
		if help.RC != 0 {
			return nil, Failf("Could not get output from %s --help: %s", argv[0], help.Stdout+help.Stderr)
		}
		if slices.Contains(strings.Fields(help.Stdout), "--no-site-packages") {
			argv = append(argv, "--no-site-packages")
		}
	}
	switch {
	case p.VenvPython == nil || *p.VenvPython == "":
	case venv:
		return nil, Failf("virtualenv_python should not be used when using the venv module or pyvenv as virtualenv_command")
	default:
		argv = append(argv, "-p"+*p.VenvPython)
	}
	return append(argv, env), nil
}

// isVenvCommand tells python3 -m venv and pyvenv from virtualenv.
func isVenvCommand(argv []string) bool {
	if filepath.Base(argv[0]) == "pyvenv" {
		return true
	}
	i := slices.Index(argv, "-m")
	return i >= 0 && i+1 < len(argv) && argv[i+1] == "venv"
}
