package modules

import (
	"slices"
	"strings"

	"play/modules/value"
	"play/modules/xmltree"
)

// zypperArgs are the arguments of zypper.
type zypperArgs struct {
	Name              []string `arg:"name,required,aliases=pkg" doc:"packages, with versions, globs, files or URLs"`
	State             string   `arg:"state,default=present,choices=absent|installed|latest|present|removed|dist-upgrade" doc:"the state they shall have"`
	Type              string   `arg:"type,default=package,choices=package|patch|pattern|product|srcpackage|application" doc:"what the names stand for"`
	ExtraPrecommand   string   `arg:"extra_args_precommand" doc:"further global options"`
	DisableGPG        bool     `arg:"disable_gpg_check,default=no" doc:"do not check signatures"`
	DisableRecommends bool     `arg:"disable_recommends,default=yes" doc:"leave recommended packages out"`
	Force             bool     `arg:"force,default=no" doc:"pass --force"`
	ForceResolution   bool     `arg:"force_resolution,default=no" doc:"let the solver choose"`
	UpdateCache       bool     `arg:"update_cache,default=no,aliases=refresh" doc:"refresh the repositories first"`
	Oldpackage        bool     `arg:"oldpackage,default=no" doc:"allow an older version"`
	ExtraArgs         string   `arg:"extra_args" doc:"further options"`
	VendorChange      bool     `arg:"allow_vendor_change,default=no" doc:"let dist-upgrade change vendors"`
	Replacefiles      bool     `arg:"replacefiles,default=no" doc:"install in spite of conflicting files"`
	CleanDeps         bool     `arg:"clean_deps,default=no" doc:"remove dependencies too"`
}

func zypper() Module {
	return Define("zypper", "Manage packages on SUSE systems", runZypper).In("community.general", "community.general.packaging.os")
}

// zypperRun is one run of zypper.
type zypperRun struct {
	*zypperArgs
	*Result
	zypper *pkgTool
}

func runZypper(c *Call, args *zypperArgs) (*Result, error) {
	tool, err := pkgProgram(c, "zypper")
	if err != nil {
		return nil, err
	}
	names := slices.DeleteFunc(slices.Clone(args.Name), func(n string) bool { return n == "" })
	z := &zypperRun{zypperArgs: args, zypper: tool, Result: &Result{value.DictOf(
		"name", stringList(names), "state", args.State, "update_cache", args.UpdateCache, "rc", 0, "changed", false)}}
	if args.UpdateCache && !c.Check {
		if _, err := z.run([]string{"refresh"}); err != nil {
			return nil, err
		}
		z.forget()
	}
	if err := z.act(names); err != nil {
		return nil, err
	}
	if changed, _ := z.Get("changed"); changed != true {
		z.forget()
	}
	return z.Result, nil
}

// forget drops a command's outcome from the result.
func (z *zypperRun) forget() {
	for _, key := range []string{"stdout", "stderr"} {
		z.Delete(key)
	}
}

func (z *zypperRun) act(names []string) error {
	all := len(names) == 1 && names[0] == "*"
	switch {
	case z.State == "dist-upgrade":
		return z.change(append(z.command("dist-upgrade"), z.updateOptions()...))
	case all && z.State == "latest":
		operation := "update"
		if z.Type == "patch" {
			operation = "patch"
		}
		return z.change(append(z.command(operation), z.updateOptions()...))
	}
	return z.packages(zypperSpecs(names))
}

// updateOptions are the options of an upgrade of all packages.
func (z *zypperRun) updateOptions() []string {
	var o []string
	if z.State == "dist-upgrade" && z.VendorChange {
		o = append(o, "--allow-vendor-change")
	}
	return o
}

// zypperSpec is one asked package.
type zypperSpec struct {
	text, name string
	version    string // with its operator; "": any
	remove     bool   // asked for as -name
	address    bool   // a file or URL, of which zypper's search knows nothing
}

func zypperSpecs(names []string) []zypperSpec {
	var specs []zypperSpec
	for _, text := range names {
		s := zypperSpec{text: text, name: text}
		if s.address = strings.Contains(text, "://") || strings.HasSuffix(text, ".rpm"); !s.address {
			s.remove = strings.HasPrefix(text, "-") || strings.HasPrefix(text, "~") || strings.HasPrefix(text, "!")
			s.name = strings.TrimLeft(text, "-~!+")
			if i := strings.IndexAny(s.name, "<>="); i > 0 {
				s.name, s.version = s.name[:i], s.name[i:]
			}
		}
		specs = append(specs, s)
	}
	return specs
}

// packages installs and removes what is not as it shall be.
func (z *zypperRun) packages(specs []zypperSpec) error {
	absent := z.State == "absent" || z.State == "removed"
	there, err := z.installed(specs, absent)
	if err != nil {
		return err
	}
	var install, remove []string
	old := false
	for _, s := range specs {
		label := s.name + s.version
		switch {
		case s.address && !absent:
			install = append(install, s.text)
		case absent || s.remove:
			if there[s.name] || s.address {
				remove = append(remove, label)
			}
		case z.State == "latest" || s.version != "" || !there[s.name]:
			install = append(install, "+"+label)
			old = old || s.version != ""
		}
	}
	if len(install) == 0 && len(remove) == 0 {
		return nil
	}
	if absent {
		return z.change(append(z.command("remove"), remove...))
	}
	argv := z.command("install")
	if old && !z.Oldpackage {
		argv = insertBefore(argv, z.extra(), "--oldpackage")
	}
	argv = append(append(argv, "--"), install...)
	for _, name := range remove {
		argv = append(argv, "-"+name)
	}
	return z.change(argv)
}

// insertBefore puts a word before the tail of a command line.
func insertBefore(argv, tail []string, word string) []string {
	return slices.Insert(slices.Clone(argv), len(argv)-len(tail), word)
}

func (z *zypperRun) extra() []string { return strings.Fields(z.ExtraArgs) }

// precommand are the options before a query or an operation.
func (z *zypperRun) precommand() []string {
	return append([]string{"--quiet", "--non-interactive", "--xmlout"}, strings.Fields(z.ExtraPrecommand)...)
}

// command is the command line up to the names.
func (z *zypperRun) command(operation string) []string {
	argv := z.precommand()
	add := func(on bool, words ...string) {
		if on {
			argv = append(argv, words...)
		}
	}
	changes := operation != "remove"
	add(changes && z.DisableGPG, "--no-gpg-checks")
	add(true, operation)
	add(operation != "dist-upgrade" && operation != "patch", "--type", z.Type)
	add(z.zypper.Check, "--dry-run")
	add(!changes && z.CleanDeps, "--clean-deps")
	add(changes, "--auto-agree-with-licenses")
	add(changes && z.DisableRecommends, "--no-recommends")
	add(changes && z.Force, "--force")
	add(changes && z.ForceResolution, "--force-resolution")
	add(changes && z.Oldpackage, "--oldpackage")
	add(changes && z.Replacefiles, "--replacefiles")
	return append(argv, z.extra()...)
}

// installed tells which of the packages are there; it asks only when the answer
// matters.
func (z *zypperRun) installed(specs []zypperSpec, absent bool) (map[string]bool, error) {
	var names []string
	for _, s := range specs {
		if !s.address && (absent || s.remove || z.State != "latest" && s.version == "") {
			names = append(names, s.name)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	argv := append(z.precommand(), "--disable-repositories", "search", "--type", z.Type)
	argv = append(append(argv, z.extra()...), "--match-exact", "--details", "--installed-only")
	out, err := z.zypper.run(append(argv, names...)...)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 && out.RC != 104 { // 104: nothing found
		return nil, z.failed(append([]string{z.zypper.Path}, argv...), out)
	}
	reply, err := readZypper(out.Stdout)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	for _, s := range reply.All("search-result", "solvable-list", "solvable") {
		there[s.Attrs["name"]] = s.Attrs["status"] == "installed"
	}
	return there, nil
}

// readZypper reads what zypper prints with --xmlout.
func readZypper(text string) (*xmltree.Node, error) {
	reply, err := xmltree.Parse(text)
	if err != nil {
		return nil, Failf("Failed to parse zypper xml output: %v", err)
	}
	return reply, nil
}

// change runs an operation and notes what it did.
func (z *zypperRun) change(argv []string) error {
	reply, err := z.run(argv)
	if err != nil {
		return err
	}
	lines := ""
	for _, kind := range [][]string{{"installed", "to-install"}, {"removed", "to-remove"}, {"upgraded", "to-upgrade", "to-upgrade-change-vendor"},
		{"downgraded", "to-downgrade"}, {"reinstalled", "to-reinstall"}} {
		var names []string
		for _, list := range kind[1:] {
			for _, item := range reply.All("install-summary", list, "solvable") {
				names = append(names, item.Attrs["name"])
			}
		}
		slices.Sort(names)
		if len(names) > 0 {
			lines += kind[0] + ": " + strings.Join(names, ", ") + "\n"
		}
	}
	z.Changed(lines != "")
	if z.zypper.Diff && lines != "" {
		z.Set("diff", value.DictOf("prepared", lines))
	}
	return nil
}

// Exit codes that are no failures.
const (
	zypperRebootNeeded  = 102
	zypperRestartNeeded = 103 // zypper itself was updated
	zypperSkipped       = 106 // a repository could not be refreshed
)

// run runs an operation; zypper that updated itself is run again.
func (z *zypperRun) run(argv []string) (*xmltree.Node, error) {
	if argv[0] == "refresh" {
		argv = append(z.precommand(), argv...)
	}
	for again := true; ; again = false {
		out, err := z.zypper.run(argv...)
		if err != nil {
			return nil, err
		}
		cmd := append([]string{z.zypper.Path}, argv...)
		if out.RC != 0 && out.RC != zypperRebootNeeded && out.RC != zypperRestartNeeded && out.RC != zypperSkipped {
			return nil, z.failed(cmd, out)
		}
		z.With("rc", out.RC).With("stdout", out.Stdout).With("stderr", out.Stderr).With("cmd", stringList(cmd))
		if out.RC == zypperRestartNeeded && again && !z.zypper.Check {
			continue
		}
		reply, err := readZypper(out.Stdout)
		if err != nil {
			f := out.dict()
			f.Set("cmd", stringList(cmd))
			return nil, &Failure{Msg: err.Error(), With: f}
		}
		return reply, nil
	}
}

func (z *zypperRun) failed(cmd []string, out *pkgOutcome) error {
	f := out.dict()
	f.Set("cmd", stringList(cmd))
	return &Failure{Msg: "Zypper run command failed with return code " + value.Str(out.RC) + ".", With: f}
}
