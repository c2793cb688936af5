package modules

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/shellquote"
	"play/modules/value"
)

// pipArgs are the arguments of pip.
type pipArgs struct {
	State         string   `arg:"state,default=present,choices=present|absent|latest|forcereinstall" doc:"the state the libraries shall have"`
	Name          []string `arg:"name" doc:"libraries, with version specifiers, or addresses"`
	Version       *string  `arg:"version" doc:"the version of a single library"`
	Requirements  *string  `arg:"requirements" doc:"a requirements file"`
	Virtualenv    *string  `arg:"virtualenv,type=path" doc:"folder of a virtual environment, made if it is not there"`
	SitePackages  bool     `arg:"virtualenv_site_packages,default=no" doc:"let a new environment see the system's libraries"`
	VenvCommand   string   `arg:"virtualenv_command,type=path,default=virtualenv" doc:"the command that makes an environment"`
	VenvPython    *string  `arg:"virtualenv_python,type=str" doc:"the Python of a new environment"`
	ExtraArgs     string   `arg:"extra_args" doc:"further arguments of pip"`
	Editable      bool     `arg:"editable,default=no" doc:"pass -e"`
	Chdir         string   `arg:"chdir,type=path" doc:"the folder to run in"`
	Executable    *string  `arg:"executable,type=path" doc:"the pip to use"`
	Umask         *string  `arg:"umask,type=str" doc:"the umask meanwhile, as octal digits"`
	BreakPackages bool     `arg:"break_system_packages,hidden,default=no" doc:"install into an environment that the system manages"`
}

// Rules relates the arguments.
func (pipArgs) Rules() argspec.Rules {
	return argspec.Rules{
		RequiredOneOf:     [][]string{{"name", "requirements"}},
		MutuallyExclusive: [][]string{{"name", "requirements"}, {"executable", "virtualenv"}},
	}
}

func pip() Module {
	return Define("pip", "Manage Python libraries with pip", runPip)
}

// pipRun is one run of pip.
type pipRun struct {
	*Call
	*pipArgs
	pip         []string
	dir         string
	out, errOut string // of the virtual environment's making
	packages    []pythonRequirement
}

var pipOperations = map[string][]string{
	"present": {"install"}, "absent": {"uninstall", "-y"}, "latest": {"install", "-U"},
	"forcereinstall": {"install", "-U", "--force-reinstall"},
}

func runPip(c *Call, args *pipArgs) (*Result, error) {
	p := &pipRun{Call: c, pipArgs: args, dir: c.abs(args.Chdir)}
	if p.Umask != nil {
		if _, err := strconv.ParseUint(*p.Umask, 8, 12); err != nil {
			return nil, &Failure{Msg: "umask must be an octal integer", With: value.DictOf(
				"details", "invalid literal for int() with base 8: '"+*p.Umask+"'")}
		}
	}
	if p.State == "latest" && p.Version != nil {
		return nil, Failf("version is incompatible with state=latest")
	}
	if p.Virtualenv != nil {
		made, err := p.needVirtualenv()
		if err != nil {
			return nil, err
		}
		if !made {
			return NewResult(true), nil
		}
	}
	if err := p.find(); err != nil {
		return nil, err
	}
	if err := p.parseNames(); err != nil {
		return nil, err
	}
	if c.Check {
		return p.checked()
	}
	return p.install()
}

// find chooses the pip to run.
func (p *pipRun) find() error {
	if p.Virtualenv != nil {
		for _, name := range []string{"pip3", "pip"} {
			path := filepath.Join(p.abs(*p.Virtualenv), "bin", name)
			if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
				p.pip = []string{path}
				return nil
			}
		}
		return Failf("Unable to find pip in the virtualenv, %s, under any of these names: pip3, pip. Make sure pip is present in the virtualenv.", *p.Virtualenv)
	}
	if p.Executable != nil && filepath.IsAbs(*p.Executable) {
		p.pip = []string{*p.Executable}
		return nil
	}
	names := []string{"pip3"}
	if p.Executable != nil {
		names = []string{*p.Executable}
	}
	for _, name := range names {
		if path := p.findTool(name); path != "" {
			p.pip = []string{path}
			return nil
		}
	}
	if python := p.findTool("python3"); python != "" && p.Executable == nil {
		p.pip = []string{python, "-m", "pip"}
		return nil
	}
	return Failf("Unable to find any of %s to use.  pip needs to be installed.", strings.Join(names, ", "))
}

func (p *pipRun) parseNames() error {
	for _, name := range joinRequirements(p.Name) {
		p.packages = append(p.packages, parseRequirement(name))
	}
	if p.Version == nil || len(p.packages) == 0 {
		return nil
	}
	if len(p.packages) > 1 {
		return Failf("'version' argument is ambiguous when installing multiple package distributions. " +
			"Please specify version restrictions next to each package in 'name' argument.")
	}
	one := &p.packages[0]
	if len(one.specs) > 0 {
		return Failf("The 'version' argument conflicts with any version specifier provided along with a package name. " +
			"Please keep the version specifier, but remove the 'version' argument.")
	}
	*one = parseRequirement(one.text + versionSpecifier(*p.Version))
	return nil
}

// versionSpecifier is what to put behind a name for a version argument, which
// may be a specifier itself.
func versionSpecifier(version string) string {
	if strings.ContainsAny(version[:min(1, len(version))], "<>=!~") {
		return version
	}
	return "==" + version
}

// run runs pip, or a command that has the same surroundings.
func (p *pipRun) run(argv []string) (*pkgOutcome, error) {
	vars := []string{}
	if p.Virtualenv != nil {
		search, _ := p.Getenv("PATH")
		vars = append(vars, "PATH="+filepath.Join(p.abs(*p.Virtualenv), "bin")+":"+search)
	}
	if p.BreakPackages {
		vars = append(vars, "PIP_BREAK_SYSTEM_PACKAGES=1")
	}
	if p.Umask != nil && exists(argv[0]) { // another call of this agent has its own umask
		argv = append([]string{"/bin/sh", "-c", `umask "$0" && exec "$@"`, *p.Umask}, argv...)
	}
	t := &pkgTool{Call: p.Call, Path: argv[0], Vars: vars, Dir: p.dir}
	return t.run(argv[1:]...)
}

// listed asks for what is installed.
func (p *pipRun) listed() (argv []string, out *pkgOutcome, err error) {
	for _, words := range [][]string{{"list", "--format=freeze"}, {"freeze"}} {
		argv = append(p.pip[:len(p.pip):len(p.pip)], words...)
		out, err = p.run(argv)
		if err != nil || out.RC == 0 {
			return argv, out, err
		}
	}
	return nil, nil, p.failed(argv, out.Stdout, out.Stderr)
}

func (p *pipRun) failed(argv []string, out, errOut string) error {
	msg := ""
	if out != "" {
		msg = "stdout: " + out
	}
	if errOut != "" {
		msg += "\n:stderr: " + errOut
	}
	return &Failure{Msg: msg, With: value.DictOf("cmd", stringList(argv))}
}

// checked tells what would be done.
func (p *pipRun) checked() (*Result, error) {
	if p.ExtraArgs != "" || p.Requirements != nil || p.State == "latest" || len(p.packages) == 0 || p.Editable {
		return NewResult(true), nil
	}
	argv, out, err := p.listed()
	if err != nil {
		return nil, err
	}
	changed := false
	for _, pkg := range p.packages {
		there := pkg.installed(outLines(out.Stdout))
		if p.State == "present" && !there || p.State == "absent" && there {
			changed = true
		}
	}
	return NewResult(changed).With("cmd", strings.Join(argv, " ")).With("stdout", out.Stdout).With("stderr", out.Stderr), nil
}

// argv is the whole command line.
func (p *pipRun) argv() ([]string, error) {
	argv := append(p.pip[:len(p.pip):len(p.pip)], pipOperations[p.State]...)
	extra, err := shellquote.Split(p.ExtraArgs)
	if err != nil {
		return nil, Failf("cannot read extra_args '%s': %v", p.ExtraArgs, err)
	}
	if p.Editable && !slices.Contains(extra, "-e") {
		extra = append(extra, "-e")
	}
	argv = append(argv, extra...)
	for _, pkg := range p.packages {
		argv = append(argv, pkg.String())
	}
	if p.Requirements != nil {
		argv = append(argv, "-r", *p.Requirements)
	}
	return argv, nil
}

func (p *pipRun) install() (*Result, error) {
	argv, err := p.argv()
	if err != nil {
		return nil, err
	}
	compare := p.Requirements != nil
	for _, pkg := range p.packages {
		compare = compare || pkg.fromSource()
	}
	var before, after *pkgOutcome
	if compare {
		if _, before, err = p.listed(); err != nil {
			return nil, err
		}
	}
	out, err := p.run(argv)
	if err != nil {
		if f, ok := err.(*Failure); ok && f.With != nil {
			f.With = value.DictOf("rc", 2, "stdout", "", "stderr", "", "cmd", shellquote.Join(argv))
		}
		return nil, err
	}
	gone := out.RC == 1 && p.State == "absent" && strings.Contains(out.Stdout+out.Stderr, "not installed")
	if out.RC != 0 && !gone {
		return nil, p.failed(argv, p.out+out.Stdout, p.errOut+out.Stderr)
	}
	changed := strings.Contains(out.Stdout, "Successfully installed")
	switch {
	case p.State == "absent":
		changed = strings.Contains(out.Stdout, "Successfully uninstalled")
	case compare:
		if _, after, err = p.listed(); err != nil {
			return nil, err
		}
		changed = before.Stdout != after.Stdout
	}
	return p.result(argv, changed || p.out != "" && p.Virtualenv != nil, out), nil
}

func (p *pipRun) result(argv []string, changed bool, out *pkgOutcome) *Result {
	var name any
	if len(p.Name) > 0 {
		name = stringList(p.Name)
	}
	return NewResult(changed).With("cmd", stringList(argv)).With("name", name).With("version", orNone(p.Version)).
		With("state", p.State).With("requirements", orNone(p.Requirements)).With("virtualenv", orNone(p.Virtualenv)).
		With("stdout", p.out+out.Stdout).With("stderr", p.errOut+out.Stderr)
}
