package modules

import (
	"slices"
	"strings"

	"play/modules/argspec"
	"play/modules/shellquote"
	"play/modules/value"
)

// pacmanArgs are the arguments of pacman.
type pacmanArgs struct {
	Name             []string `arg:"name,aliases=package|pkg" doc:"packages, groups, files or URLs"`
	State            string   `arg:"state,default=present,choices=present|installed|latest|absent|removed" doc:"the state they shall have"`
	Force            bool     `arg:"force,default=no" doc:"remove in spite of dependencies; refresh twice"`
	RemoveNosave     bool     `arg:"remove_nosave,default=no" doc:"keep no changed configuration files"`
	Executable       string   `arg:"executable,default=pacman" doc:"the program to use"`
	ExtraArgs        string   `arg:"extra_args,default=" doc:"further options"`
	Upgrade          bool     `arg:"upgrade" doc:"upgrade all packages"`
	UpgradeExtraArgs string   `arg:"upgrade_extra_args,default=" doc:"further options of the upgrade"`
	UpdateCache      bool     `arg:"update_cache" doc:"refresh the package databases first"`
	UpdateExtraArgs  string   `arg:"update_cache_extra_args,default=" doc:"further options of the refresh"`
}

// Rules relates the arguments.
func (pacmanArgs) Rules() argspec.Rules {
	return argspec.Rules{
		RequiredOneOf:     [][]string{{"name", "update_cache", "upgrade"}},
		MutuallyExclusive: [][]string{{"name", "upgrade"}},
	}
}

func pacman() Module {
	return Define("pacman", "Manage packages on Arch Linux", runPacman).In("community.general", "community.general.packaging.os")
}

// pacmanRun is one run of pacman.
type pacmanRun struct {
	*pacmanArgs
	*Result
	pacman    *pkgTool
	messages  []string
	stdout    string
	listed    bool              // the databases were listed by the refresh
	available string            // what they have, as listed
	installed map[string]string // versions
	groups    map[string][]string
	upgrades  [][3]string // name, old and new version
}

func runPacman(c *Call, args *pacmanArgs) (*Result, error) {
	tool, err := pkgProgram(c, args.Executable)
	if err != nil {
		return nil, err
	}
	p := &pacmanRun{pacmanArgs: args, pacman: tool, Result: NewResult(false)}
	if args.UpdateCache {
		if err := p.refresh(); err != nil {
			return nil, err
		}
	}
	if args.Upgrade || len(args.Name) > 0 {
		if err := p.act(); err != nil {
			return nil, err
		}
	}
	if p.stdout != "" {
		p.Set("stdout", p.stdout)
	}
	return p.With("msg", strings.Join(p.messages, "\n")), nil
}

func (p *pacmanRun) act() error {
	if err := p.readState(); err != nil {
		return err
	}
	if p.Upgrade {
		return p.upgradeAll()
	}
	if p.State == "absent" || p.State == "removed" {
		return p.remove()
	}
	return p.install()
}

// must runs an operation that has to succeed; msg is for when it does not.
func (p *pacmanRun) must(msg string, args ...string) (*pkgOutcome, error) {
	out, err := p.pacman.run(args...)
	if err == nil && out.RC != 0 {
		with := out.dict()
		with.Set("cmd", stringList(append([]string{p.pacman.Path}, args...)))
		err = &Failure{Msg: msg, With: with}
	}
	return out, err
}

func (p *pacmanRun) say(msg string) { p.messages = append(p.messages, msg) }

func extraWords(text string) ([]string, error) {
	words, err := shellquote.Split(text)
	if err != nil {
		return nil, Failf("cannot read the extra arguments '%s': %v", text, err)
	}
	return words, nil
}

func (p *pacmanRun) refresh() error {
	if p.pacman.Check {
		p.Changed(true).With("cache_updated", true)
		p.say("Would have updated the package db")
		return nil
	}
	extra, err := extraWords(p.UpdateExtraArgs)
	if err != nil {
		return err
	}
	before, err := p.pacman.run("--sync", "--list")
	if err != nil {
		return err
	}
	args := []string{"--sync", "--refresh"}
	if p.Force {
		args = append(args, "--refresh")
	}
	out, err := p.must("could not update package db", append(args, extra...)...)
	if err != nil {
		return err
	}
	after, err := p.pacman.run("--sync", "--list")
	if err != nil {
		return err
	}
	p.listed, p.available = true, after.Stdout
	p.stdout += out.Stdout
	changed := before.Stdout != after.Stdout
	p.Changed(changed).With("cache_updated", changed)
	p.say("Updated package db")
	return nil
}

// readState asks for what is installed, available and outdated.
func (p *pacmanRun) readState() error {
	ask := [][]string{{"--query"}, {"--query", "--groups"}, {"--sync", "--list"}, {"--sync", "--groups", "--groups"},
		{"--query", "--upgrades"}, {"--query", "--explicit"}, {"--query", "--deps"}}
	answers := make([]string, len(ask))
	for i, args := range ask {
		if i == 2 && p.listed {
			answers[i] = p.available
			continue
		}
		out, err := p.pacman.run(args...)
		if err != nil {
			return err
		}
		answers[i] = out.Stdout
	}
	p.installed, p.groups, p.available = map[string]string{}, map[string][]string{}, answers[2]
	for _, line := range outLines(answers[0]) {
		name, version, _ := strings.Cut(line, " ")
		p.installed[name] = version
	}
	absent := p.State == "absent" || p.State == "removed"
	groups := answers[3]
	if absent {
		groups = answers[1]
	}
	for _, line := range outLines(groups) {
		if f := strings.Fields(line); len(f) == 2 {
			p.groups[f[0]] = append(p.groups[f[0]], f[1])
		}
	}
	for _, line := range outLines(answers[4]) {
		if f := strings.Fields(line); len(f) >= 4 && !strings.Contains(line, "[ignored]") {
			p.upgrades = append(p.upgrades, [3]string{f[0], f[1], f[3]})
		}
	}
	return nil
}

func (p *pacmanRun) upgradeAll() error {
	if len(p.upgrades) == 0 {
		p.say("Nothing to upgrade")
		p.Set("packages", stringList(nil))
		return nil
	}
	before, after := "", ""
	var names []string
	for _, u := range p.upgrades {
		names = append(names, u[0])
		before += u[0] + "-" + u[1] + "\n"
		after += u[0] + "-" + u[2] + "\n"
	}
	p.Changed(true).With("packages", stringList(names)).With("diff", value.DictOf("before", before, "after", after))
	if p.pacman.Check {
		p.say(value.Str(len(names)) + " packages would have been upgraded")
		return nil
	}
	extra, err := extraWords(p.UpgradeExtraArgs)
	if err != nil {
		return err
	}
	out, err := p.must("Could not upgrade", append([]string{"--sync", "--sysupgrade", "--quiet", "--noconfirm"}, extra...)...)
	if err != nil {
		return err
	}
	p.stdout += out.Stdout
	p.say("System upgraded")
	return nil
}

// pacmanTarget is one package to install, from the databases or a file.
type pacmanTarget struct {
	name, source string
	file         bool
}

// targets finds out what the asked names stand for.
func (p *pacmanRun) targets() ([]pacmanTarget, error) {
	known := map[string]bool{}
	for _, line := range outLines(p.available) {
		if f := strings.Fields(line); len(f) > 2 {
			known[f[1]] = true
		}
	}
	var targets []pacmanTarget
	for _, name := range p.Name {
		switch members := p.groups[name]; {
		case name == "":
		case len(members) > 0:
			for _, m := range members {
				targets = append(targets, pacmanTarget{m, m, false})
			}
		case known[name]:
			targets = append(targets, pacmanTarget{name, name, false})
		default:
			t, err := p.lookUp(name)
			if err != nil {
				return nil, err
			}
			targets = append(targets, t)
		}
	}
	return targets, nil
}

// lookUp asks pacman for a name that is in no list: a provided one, with a
// repository before it, a file or a URL.
func (p *pacmanRun) lookUp(name string) (pacmanTarget, error) {
	out, err := p.pacman.run("--sync", "--print-format", "%n", name)
	if err != nil {
		return pacmanTarget{}, err
	}
	if lines := outLines(out.Stdout); out.RC == 0 && len(lines) > 0 {
		return pacmanTarget{lines[len(lines)-1], name, false}, nil
	}
	out, err = p.must("Failed to list package "+name, "--upgrade", "--print-format", "%n", name)
	if f, ok := err.(*Failure); ok {
		f.With.Delete("stdout")
	}
	if err != nil {
		return pacmanTarget{}, err
	}
	return pacmanTarget{strings.TrimSpace(out.Stdout), name, true}, nil
}

func (p *pacmanRun) install() error {
	targets, err := p.targets()
	if err != nil {
		return err
	}
	var names, files []string
	for _, t := range targets {
		_, there := p.installed[t.name]
		outdated := slices.ContainsFunc(p.upgrades, func(u [3]string) bool { return u[0] == t.name })
		switch {
		case there && (p.State != "latest" || !outdated) && !t.file:
		case there && t.file && p.State != "latest":
		case t.file:
			files = append(files, t.source)
		default:
			names = append(names, t.source)
		}
	}
	if len(names)+len(files) == 0 {
		p.say("package(s) already installed")
		p.Set("packages", stringList(nil))
		return nil
	}
	return p.installTargets(names, files)
}

func (p *pacmanRun) installTargets(names, files []string) error {
	extra, err := extraWords(p.ExtraArgs)
	if err != nil {
		return err
	}
	base := append([]string{"--noconfirm", "--noprogressbar", "--needed"}, extra...)
	var all []string
	before, after := "", ""
	for _, op := range []struct {
		flag  string
		names []string
	}{{"--sync", names}, {"--upgrade", files}} {
		if len(op.names) == 0 {
			continue
		}
		plan, err := p.must("Failed to list package(s) to install", slices.Concat(base, []string{op.flag, "--print-format", "%n %v"}, op.names)...)
		if err != nil {
			return err
		}
		for _, line := range outLines(plan.Stdout) {
			name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
			all = append(all, name)
			after += name + "-" + version + "\n"
			if old, ok := p.installed[name]; ok {
				before += name + "-" + old + "\n"
			}
		}
		if p.pacman.Check {
			continue
		}
		out, err := p.must("Failed to install package(s)", slices.Concat(base, []string{op.flag}, op.names)...)
		if err != nil {
			return err
		}
		p.stdout += out.Stdout
	}
	slices.Sort(all)
	p.Changed(true).With("packages", stringList(all)).With("diff", value.DictOf("before", before, "after", after))
	if p.pacman.Check {
		p.say("Would have installed " + value.Str(len(all)) + " packages")
	} else {
		p.say("Installed " + value.Str(len(all)) + " package(s)")
	}
	return nil
}

func (p *pacmanRun) remove() error {
	var names []string
	for _, name := range p.Name {
		members := p.groups[name]
		if len(members) == 0 {
			members = []string{name}
		}
		for _, m := range members {
			if _, there := p.installed[m]; there {
				names = append(names, m)
			}
		}
	}
	if len(names) == 0 {
		p.say("package(s) already absent")
		p.Set("packages", stringList(nil))
		return nil
	}
	extra, err := extraWords(p.ExtraArgs)
	if err != nil {
		return err
	}
	base := append([]string{"--remove", "--noconfirm", "--noprogressbar"}, extra...)
	if p.Force {
		base = append(base, "--nodeps", "--nodeps")
	}
	plan, err := p.must("failed to list package(s) to remove", slices.Concat(base, []string{"--print-format", "%n-%v"}, names)...)
	if err != nil {
		return err
	}
	gone := strings.Fields(plan.Stdout)
	p.Changed(true).With("packages", stringList(gone)).With("diff", value.DictOf("before", strings.Join(gone, "\n")+"\n", "after", ""))
	if p.pacman.Check {
		p.say("Would have removed " + value.Str(len(gone)) + " packages")
		return nil
	}
	if p.RemoveNosave {
		base = append(base, "--nosave")
	}
	out, err := p.must("failed to remove package(s)", append(base, names...)...)
	if err != nil {
		return err
	}
	p.stdout += out.Stdout
	p.say("Removed " + value.Str(len(gone)) + " package(s)")
	return nil
}
