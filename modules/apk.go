package modules

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"play/modules/argspec"
)

// apkArgs are the arguments of apk.
type apkArgs struct {
	State       string   `arg:"state,default=present,choices=present|installed|absent|removed|latest" doc:"the state the packages shall have"`
	Name        []string `arg:"name" doc:"packages"`
	NoCache     bool     `arg:"no_cache,default=no" doc:"keep nothing of what is fetched"`
	Repository  []string `arg:"repository" doc:"the only repositories to use"`
	UpdateCache bool     `arg:"update_cache,default=no" doc:"update the indexes first"`
	Upgrade     bool     `arg:"upgrade,default=no" doc:"upgrade all packages"`
	Available   bool     `arg:"available,default=no" doc:"with upgrade: replace what is no longer in a repository"`
	World       string   `arg:"world,default=/etc/apk/world" doc:"the file of explicitly installed packages"`
}

// Rules relates the arguments.
func (apkArgs) Rules() argspec.Rules {
	return argspec.Rules{
		RequiredOneOf:     [][]string{{"name", "update_cache", "upgrade"}},
		MutuallyExclusive: [][]string{{"name", "upgrade"}},
	}
}

func apk() Module {
	return Define("apk", "Manage packages on Alpine", runApk).In("community.general", "community.general.packaging.os")
}

// apkRun is one run of apk.
type apkRun struct {
	*apkArgs
	apk    *pkgTool
	global []string // options of every command
}

func runApk(c *Call, args *apkArgs) (*Result, error) {
	tool, err := pkgProgram(c, "apk")
	if err != nil {
		return nil, err
	}
	a := &apkRun{apkArgs: args, apk: tool}
	if args.NoCache {
		a.global = append(a.global, "--no-cache")
	}
	for _, r := range args.Repository {
		a.global = append(a.global, "--repository", r, "--repositories-file", "/dev/null")
	}
	if args.UpdateCache {
		out, err := a.run("update")
		if err != nil {
			return nil, err
		}
		if out.RC != 0 {
			return nil, out.failf("could not update package db")
		}
		if len(args.Name) == 0 && !args.Upgrade {
			return a.result(true, "updated repository indexes", out, false), nil
		}
	}
	if args.Upgrade {
		return a.upgrade()
	}
	if len(args.Name) == 0 {
		return nil, Failf("cannot tell what to do: name has no package")
	}
	switch args.State {
	case "absent", "removed":
		return a.remove()
	}
	return a.install()
}

func (a *apkRun) run(args ...string) (*pkgOutcome, error) {
	return a.apk.run(append(slices.Clone(a.global), args...)...)
}

// simulated is an operation's name with the options of check mode.
func (a *apkRun) simulated(words ...string) []string {
	if a.apk.Check {
		words = append(words, "--simulate")
	}
	return words
}

var apkStep = regexp.MustCompile(`^\(\d+/\d+\) \S+ (\S+) \S+$`)

// result reports an operation, with the packages that apk names where wanted.
func (a *apkRun) result(changed bool, msg string, out *pkgOutcome, packages bool) *Result {
	r := NewResult(changed).With("msg", msg).With("stdout", out.Stdout).With("stderr", out.Stderr)
	if packages {
		r.Set("packages", stringList(apkSteps(out.Stdout)))
	}
	return r
}

func apkSteps(text string) []string {
	var names []string
	for _, line := range outLines(text) {
		if m := apkStep.FindStringSubmatch(line); m != nil {
			names = append(names, m[1])
		}
	}
	return names
}

func (a *apkRun) failed(out *pkgOutcome, msg string) error {
	f := a.result(false, msg, out, true)
	f.Delete("changed")
	return &Failure{Msg: msg, With: f.Dict}
}

func (a *apkRun) upgrade() (*Result, error) {
	words := a.simulated("upgrade")
	if a.Available {
		words = append(words, "--available")
	}
	out, err := a.run(words...)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, a.failed(out, "failed to upgrade packages")
	}
	if strings.HasPrefix(strings.TrimSpace(out.Stdout), "OK") {
		return a.result(false, "packages already upgraded", out, true), nil
	}
	return a.result(true, "upgraded packages", out, true), nil
}

// install adds what is missing and, for latest, upgrades what is old.
func (a *apkRun) install() (*Result, error) {
	var missing, old []string
	for _, name := range a.Name {
		known, err := a.run("-v", "info", "--description", name)
		if err != nil {
			return nil, err
		}
		installed := false
		if known.RC == 0 {
			installed, err = a.listed(name)
			if err != nil {
				return nil, err
			}
		}
		switch {
		case !installed:
			missing = append(missing, name)
		case a.State == "latest":
			newer, err := a.outdated(name)
			if err != nil {
				return nil, err
			}
			if newer {
				old = append(old, name)
			}
		}
	}
	if len(missing) == 0 && len(old) == 0 {
		return NewResult(false).With("msg", "package(s) already installed"), nil
	}
	words := []string{"add"}
	if len(old) > 0 {
		words = append(words, "--upgrade")
	}
	names := append(missing, old...)
	out, err := a.run(append(a.simulated(words...), names...)...)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, a.failed(out, "failed to install "+strings.Join(names, " "))
	}
	return a.result(true, "installed "+strings.Join(names, " ")+" package(s)", out, true), nil
}

// listed tells whether a package stands in the world file, which has what was
// asked for, not what came along.
func (a *apkRun) listed(name string) (bool, error) {
	data, err := os.ReadFile(a.apk.abs(a.World))
	if err != nil {
		return false, Failf("%s", osTextString(err, a.World))
	}
	return slices.Contains(strings.Fields(string(data)), name), nil
}

func (a *apkRun) outdated(name string) (bool, error) {
	out, err := a.run("version", name)
	if err != nil {
		return false, err
	}
	for _, line := range outLines(out.Stdout) {
		if strings.Contains(line, " < ") && strings.HasPrefix(line, name) {
			return true, nil
		}
	}
	return false, nil
}

func (a *apkRun) remove() (*Result, error) {
	var there []string
	for _, name := range a.Name {
		out, err := a.run("-v", "info", "--installed", name)
		if err != nil {
			return nil, err
		}
		if out.RC == 0 {
			there = append(there, name)
		}
	}
	if len(there) == 0 {
		return NewResult(false).With("msg", "package(s) already removed"), nil
	}
	names := strings.Join(there, " ")
	out, err := a.run(append(a.simulated("del", "--purge"), there...)...)
	if err != nil {
		return nil, err
	}
	for _, name := range there { // apk leaves what others depend on, without an error
		left, err := a.run("-v", "info", "--installed", name)
		if err != nil {
			return nil, err
		}
		if out.RC != 0 || left.RC == 0 && !a.apk.Check {
			return nil, a.failed(out, "failed to remove "+names+" package(s)")
		}
	}
	return a.result(true, "removed "+names+" package(s)", out, true), nil
}
