package modules

import (
	"regexp"
	"slices"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// gemArgs are the arguments of gem.
type gemArgs struct {
	Executable   string  `arg:"executable,type=path" doc:"the gem to use"`
	GemSource    string  `arg:"gem_source,type=path" doc:"a gem file"`
	Dependencies bool    `arg:"include_dependencies,default=yes" doc:"install dependencies"`
	Name         string  `arg:"name,required" doc:"the gem"`
	Repository   string  `arg:"repository,aliases=source" doc:"address of the repository"`
	State        string  `arg:"state,default=present,choices=present|absent|latest" doc:"the state of the gem"`
	UserInstall  bool    `arg:"user_install,default=yes" doc:"install for the user"`
	InstallDir   string  `arg:"install_dir,type=path" doc:"where to install"`
	Bindir       string  `arg:"bindir,type=path" doc:"where to put programs"`
	Norc         bool    `arg:"norc,default=yes" doc:"read no .gemrc"`
	PreRelease   bool    `arg:"pre_release,default=no" doc:"accept versions before a release"`
	IncludeDoc   bool    `arg:"include_doc,default=no" doc:"install documentation"`
	EnvShebang   bool    `arg:"env_shebang,default=no" doc:"let programs find ruby by env"`
	Version      *string `arg:"version,type=str" doc:"the version"`
	BuildFlags   string  `arg:"build_flags,type=str" doc:"flags of the compiler"`
	Force        bool    `arg:"force,default=no" doc:"pass --force"`
}

func gem() Module {
	return Define("gem", "Manage Ruby gems", runGem).In("community.general", "community.general.packaging.language")
}

// gemRun is one run of gem.
type gemRun struct {
	*gemArgs
	gem   *pkgTool
	words []string // of the executable, behind its path
	norc  bool     // this gem knows --norc
}

func runGem(c *Call, args *gemArgs) (*Result, error) {
	switch {
	case args.Version != nil && args.State == "latest":
		return nil, Failf("Cannot specify version when state=latest")
	case args.GemSource != "" && args.State == "latest":
		return nil, Failf("Cannot maintain state=latest when installing from local source")
	case args.InstallDir != "" && args.UserInstall:
		return nil, Failf("install_dir requires user_install=false")
	}
	words := []string{"gem"}
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
	g := &gemRun{gemArgs: args, gem: tool, words: words[1:]}
	if err := g.readVersion(); err != nil {
		return nil, err
	}
	changed, err := g.act()
	if err != nil {
		return nil, err
	}
	out := &Result{value.DictOf("name", args.Name, "state", args.State)}
	if args.Version != nil {
		out.Set("version", *args.Version)
	}
	return out.Changed(changed), nil
}

func (g *gemRun) run(args ...string) (*pkgOutcome, error) {
	return g.gem.run(append(slices.Clone(g.words), args...)...)
}

// gemNorc is the first version that knows --norc.
const gemNorc = "2.5.2"

func (g *gemRun) readVersion() error {
	out, err := g.run("--version")
	if err != nil {
		return err
	}
	g.norc = g.Norc && comparePython(strings.TrimSpace(out.Stdout), gemNorc) >= 0
	return nil
}

// command is an operation with --norc where it is wanted.
func (g *gemRun) command(operation string) []string {
	if g.norc {
		return []string{operation, "--norc"}
	}
	return []string{operation}
}

func (g *gemRun) act() (bool, error) {
	if g.State == "latest" {
		remote, err := g.versions(true)
		if err != nil {
			return false, err
		}
		if len(remote) > 0 {
			g.Version = &remote[0]
		}
	}
	installed, err := g.versions(false)
	if err != nil {
		return false, err
	}
	there := len(installed) > 0 && (g.Version == nil || slices.Contains(installed, *g.Version))
	if there == (g.State != "absent") {
		return false, nil
	}
	if g.gem.Check {
		return true, nil
	}
	args := g.uninstallArgs()
	if g.State != "absent" {
		if args, err = g.installArgs(); err != nil {
			return false, err
		}
	}
	out, err := g.run(args...)
	if err == nil && out.RC != 0 {
		err = g.gem.failed(out, args...)
	}
	return true, err
}

var gemLine = regexp.MustCompile(`^\S+\s+\((?:default: )?(.+)\)`)

// versions are the gem's versions, here or in the repository.
func (g *gemRun) versions(remote bool) ([]string, error) {
	args := g.command("query")
	if remote {
		args = append(args, "--remote")
		if g.Repository != "" {
			args = append(args, "--source", g.Repository)
		}
	}
	out, err := g.run(append(args, "-n", "^"+g.Name+"$")...)
	if err != nil {
		return nil, err
	}
	var versions []string
	for _, line := range outLines(out.Stdout) {
		if m := gemLine.FindStringSubmatch(line); m != nil {
			for v := range strings.SplitSeq(m[1], ", ") {
				v, _, _ = strings.Cut(strings.TrimPrefix(v, "default: "), " ")
				versions = append(versions, v)
			}
		}
	}
	return versions, nil
}

func (g *gemRun) uninstallArgs() []string {
	args := g.command("uninstall")
	if g.InstallDir != "" {
		args = append(args, "--install-dir", g.InstallDir)
	}
	if g.Bindir != "" {
		args = append(args, "--bindir", g.Bindir)
	}
	if g.Version != nil {
		args = append(args, "--version", *g.Version)
	} else {
		args = append(args, "--all")
	}
	if args = append(args, "--executable"); g.Force {
		args = append(args, "--force")
	}
	return append(args, g.Name)
}

func (g *gemRun) installArgs() ([]string, error) {
	flags, err := shellquote.Split(g.BuildFlags)
	if err != nil {
		return nil, Failf("cannot read build_flags '%s': %v", g.BuildFlags, err)
	}
	args := g.command("install")
	add := func(on bool, words ...string) {
		if on {
			args = append(args, words...)
		}
	}
	if g.Version != nil {
		add(true, "--version", *g.Version)
	}
	add(g.Repository != "", "--source", g.Repository)
	add(!g.Dependencies, "--ignore-dependencies")
	add(g.UserInstall, "--user-install")
	add(!g.UserInstall, "--no-user-install")
	add(g.InstallDir != "", "--install-dir", g.InstallDir)
	add(g.Bindir != "", "--bindir", g.Bindir)
	add(g.PreRelease, "--pre")
	add(!g.IncludeDoc, "--no-document")
	add(g.EnvShebang, "--env-shebang")
	add(g.Force, "--force")
	if g.GemSource != "" {
		add(true, g.GemSource)
	} else {
		add(true, g.Name)
	}
	add(len(flags) > 0, "--")
	return append(args, flags...), nil
}
