package modules

import (
	"os"
	"slices"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// npmArgs are the arguments of npm.
type npmArgs struct {
	Name          string `arg:"name" doc:"the package; none: what package.json names"`
	Path          string `arg:"path,type=path" doc:"folder of the project"`
	Version       string `arg:"version" doc:"the package's version"`
	Production    bool   `arg:"production,default=no" doc:"leave development dependencies out"`
	Executable    string `arg:"executable,type=path" doc:"the npm to use"`
	Registry      string `arg:"registry" doc:"address of the registry"`
	State         string `arg:"state,default=present,choices=present|absent|latest" doc:"the state of the package"`
	IgnoreScripts bool   `arg:"ignore_scripts,default=no" doc:"run no scripts of packages"`
	UnsafePerm    bool   `arg:"unsafe_perm,default=no" doc:"let scripts run as root"`
	CI            bool   `arg:"ci,default=no" doc:"install exactly what package-lock.json says"`
	NoOptional    bool   `arg:"no_optional,default=no" doc:"leave optional dependencies out"`
	NoBinLinks    bool   `arg:"no_bin_links,default=no" doc:"make no links to programs"`
	Global        bool   `arg:"global,default=no" doc:"install for the whole system"`
}

func npm() Module {
	return Define("npm", "Manage node.js packages with npm", runNpm).In("community.general", "community.general.packaging.language")
}

// npmRun is one run of npm.
type npmRun struct {
	*npmArgs
	npm   *pkgTool
	words []string // of the executable, behind its path
	label string   // name, or name@version
}

func runNpm(c *Call, args *npmArgs) (*Result, error) {
	if args.Path == "" && !args.Global {
		return nil, Failf("path must be specified when not using global")
	}
	if args.State == "absent" && args.Name == "" {
		return nil, Failf("uninstalling a package is only available for named packages")
	}
	n := &npmRun{npmArgs: args, label: args.Name}
	if args.Version != "" {
		n.label += "@" + args.Version
	}
	words := []string{"npm"}
	if args.Executable != "" {
		var err error
		if words, err = shellquote.Split(args.Executable); err != nil || len(words) == 0 {
			return nil, Failf("cannot read executable '%s'", args.Executable)
		}
	}
	tool, err := pkgProgram(c, words[0])
	if err != nil {
		return nil, err
	}
	n.npm, n.words = tool, words[1:]
	return n.act()
}

// act does what the state asks for.
func (n *npmRun) act() (*Result, error) {
	if n.CI {
		return n.changed([]string{"ci"}, true)
	}
	installed, missing, err := n.list()
	if err != nil {
		return nil, err
	}
	if n.State == "absent" {
		if !slices.Contains(installed, n.Name) {
			return NewResult(false), nil
		}
		return n.changed([]string{"uninstall"}, true)
	}
	changed := len(missing) > 0
	if changed {
		if _, err := n.changed([]string{"install"}, true); err != nil {
			return nil, err
		}
	}
	if n.State == "latest" {
		outdated, err := n.run([]string{"outdated"}, true)
		if err != nil {
			return nil, err
		}
		if len(outLines(outdated.Stdout)) > 0 {
			return n.changed([]string{"update"}, true)
		}
	}
	return NewResult(changed), nil
}

// changed runs an operation, but not in check mode.
func (n *npmRun) changed(args []string, named bool) (*Result, error) {
	if n.npm.Check {
		return NewResult(true), nil
	}
	out, err := n.run(args, named && args[0] != "ci")
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, n.npm.failed(out, args...)
	}
	return NewResult(true), nil
}

// run runs npm in the project's folder, which it makes.
func (n *npmRun) run(args []string, named bool) (*pkgOutcome, error) {
	args = append(slices.Clone(n.words), args...)
	add := func(on bool, words ...string) {
		if on {
			args = append(args, words...)
		}
	}
	add(n.Global, "--global")
	add(n.Production && (slices.Contains(args, "install") || slices.Contains(args, "update")), "--production")
	add(n.IgnoreScripts, "--ignore-scripts")
	add(n.UnsafePerm, "--unsafe-perm")
	add(named && n.label != "", n.label)
	add(n.Registry != "", "--registry", n.Registry)
	add(n.NoOptional, "--no-optional")
	add(n.NoBinLinks, "--no-bin-links")
	t := *n.npm
	if n.Path != "" {
		t.Dir = n.npm.abs(n.Path)
		switch {
		case !exists(t.Dir) && n.npm.Check:
			return &pkgOutcome{}, nil
		case !exists(t.Dir):
			if err := os.MkdirAll(t.Dir, 0o777); err != nil {
				return nil, Failf("%s", osTextString(err, t.Dir))
			}
		case !isDir(t.Dir):
			return nil, Failf("path %s is not a directory", n.Path)
		}
	}
	return t.run(args...)
}

// list tells which packages are there, by name and by name@version, and which
// are missing.
func (n *npmRun) list() (installed, missing []string, err error) {
	out, err := n.run([]string{"list", "--json", "--long"}, false)
	if err != nil {
		return nil, nil, err
	}
	data := value.NewDict()
	if strings.TrimSpace(out.Stdout) != "" {
		v, err := value.DecodeJSON([]byte(out.Stdout))
		d, ok := v.(*value.Dict)
		if err != nil || !ok {
			return nil, nil, out.failf("Failed to parse NPM output with error cannot read it as JSON")
		}
		data = d
	}
	v, _ := data.Get("dependencies")
	packages, _ := v.(*value.Dict)
	for i := range packages.Len() {
		key, item := packages.At(i)
		name := value.Str(key)
		props, _ := item.(*value.Dict)
		if flagged(props, "missing") || flagged(props, "invalid") {
			missing = append(missing, name)
			continue
		}
		installed = append(installed, name)
		if v, ok := props.Get("version"); ok && value.Truth(v) {
			installed = append(installed, name+"@"+value.Str(v))
		}
	}
	if n.label != "" && !slices.Contains(installed, n.label) {
		missing = append(missing, n.Name)
	}
	return installed, missing, nil
}

func flagged(d *value.Dict, key string) bool {
	v, ok := d.Get(key)
	return ok && value.Truth(v)
}
