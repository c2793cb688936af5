package modules

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
)

// homebrewArgs are the arguments of homebrew.
type homebrewArgs struct {
	Name           []string `arg:"name,aliases=pkg|package|formula" doc:"the packages"`
	Path           string   `arg:"path,type=path,default=/usr/local/bin:/opt/homebrew/bin:/home/linuxbrew/.linuxbrew/bin" doc:"folders to look for brew in, separated by colons"`
	State          string   `arg:"state,default=present,choices=present|installed|latest|upgraded|head|linked|unlinked|absent|removed|uninstalled" doc:"the state that they shall have"`
	Update         bool     `arg:"update_homebrew,default=no" doc:"update Homebrew itself first"`
	UpgradeAll     bool     `arg:"upgrade_all,default=no,aliases=upgrade" doc:"upgrade all packages"`
	InstallOptions []string `arg:"install_options,aliases=options" doc:"further options, without the dashes"`
	UpgradeOptions []string `arg:"upgrade_options" doc:"further options of upgrade_all, without the dashes"`
}

func homebrew() Module {
	return Define("homebrew", "Manage packages with Homebrew", runHomebrew).In("community.general", "community.general.packaging.os")
}

// brewRun is one run of homebrew.
type brewRun struct {
	*Call
	*homebrewArgs
	path          string
	options       []string
	changed       bool
	message       string
	moved, stayed []string // packages that were changed, and that were not
}

// brewEnd ends a run in check mode: what follows the first change is not looked at.
type brewEnd struct{}

func (brewEnd) Error() string { return "a change was found" }

func runHomebrew(c *Call, args *homebrewArgs) (*Result, error) {
	own := *c
	if !args.Update {
		own.Env = append(own.Env[:len(own.Env):len(own.Env)], "HOMEBREW_NO_AUTO_UPDATE=True")
	}
	b := &brewRun{Call: &own, homebrewArgs: args, options: dashed(args.InstallOptions)}
	for _, folder := range strings.Split(args.Path, ":") {
		if path := filepath.Join(folder, "brew"); b.path == "" && folder != "" && exists(path) && !isDir(path) && accessible(path, 1) {
			b.path = path
		}
	}
	if b.path == "" {
		var err error
		if b.path, err = c.needTool("brew"); err != nil {
			return nil, err
		}
	}
	if err := b.act(); err != nil && err != (brewEnd{}) {
		return nil, err
	}
	if n := len(b.moved) + len(b.stayed); n > 1 {
		b.message = fmt.Sprintf("Changed: %d, Unchanged: %d", len(b.moved), len(b.stayed))
	}
	return NewResult(b.changed).With("msg", b.message).With("changed_pkgs", stringList(b.moved)).With("unchanged_pkgs", stringList(b.stayed)), nil
}

func dashed(options []string) (out []string) {
	for _, o := range options {
		out = append(out, "--"+o)
	}
	return out
}

func (b *brewRun) brew(words ...string) (*toolOutcome, error) {
	return b.tool(append([]string{b.path}, words...)...)
}

func (b *brewRun) act() error {
	if b.Update {
		if err := b.update(); err != nil {
			return err
		}
	}
	if b.UpgradeAll {
		if err := b.upgradeAll(); err != nil {
			return err
		}
	}
	for _, name := range b.Name {
		if strings.IndexFunc(name, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./+-:@", r)
		}) >= 0 {
			return Failf("Invalid package: %s.", name)
		}
		if err := b.one(name); err != nil {
			return err
		}
	}
	return nil
}

// wouldChange notes a change; in check mode it ends the run.
func (b *brewRun) wouldChange(format string, args ...any) error {
	if !b.Check {
		return nil
	}
	b.changed, b.message = true, fmt.Sprintf(format, args...)
	return brewEnd{}
}

func (b *brewRun) update() error {
	if err := b.wouldChange("Homebrew would be updated."); err != nil {
		return err
	}
	out, err := b.brew("update")
	if err != nil {
		return err
	}
	if out.failed() {
		return Failf("%s", strings.TrimSpace(out.errOut))
	}
	b.message = "Homebrew already up-to-date."
	if !strings.Contains(strings.ToLower(out.out), "already up-to-date") && out.out != "" {
		b.changed, b.message = true, "Homebrew updated successfully."
	}
	return nil
}

func (b *brewRun) upgradeAll() error {
	if err := b.wouldChange("Homebrew packages would be upgraded."); err != nil {
		return err
	}
	out, err := b.brew(append([]string{"upgrade"}, dashed(b.UpgradeOptions)...)...)
	if err != nil {
		return err
	}
	if out.failed() {
		return Failf("%s", strings.TrimSpace(out.errOut))
	}
	b.message = "Homebrew packages already upgraded."
	if out.out != "" {
		b.changed, b.message = true, "Homebrew upgraded."
	}
	return nil
}

// installed reads whether a package is there; outdated is asked for with latest only.
func (b *brewRun) installed(name string) (bool, error) {
	out, err := b.brew("info", name)
	return err == nil && (strings.Contains(out.out, "Built from source") || strings.Contains(out.out, "Poured from bottle")), err
}

func (b *brewRun) outdated(name string) (bool, error) {
	out, err := b.brew("outdated", name)
	return err == nil && out.failed(), err
}

func (b *brewRun) one(name string) error {
	there, err := b.installed(name)
	if err != nil {
		return err
	}
	switch b.State {
	case "latest", "upgraded":
		return b.upgrade(name, there)
	case "linked":
		return b.link("link", "linked", name, there)
	case "unlinked":
		return b.link("unlink", "unlinked", name, there)
	case "absent", "removed", "uninstalled":
		if !there {
			return b.stay("Package already uninstalled: " + name)
		}
		return b.change("uninstalled", name, false, "uninstall", "--force")
	}
	if there {
		return b.stay("Package already installed: " + name)
	}
	return b.change("installed", name, true, "install")
}

// stay notes a package that needs nothing; the message ends with its name.
func (b *brewRun) stay(message string) error {
	b.message = message
	_, name, _ := strings.Cut(message, ": ")
	b.stayed = append(b.stayed, name)
	return nil
}

// change runs brew on one package, and looks whether it is there afterwards.
func (b *brewRun) change(done, name string, wanted bool, words ...string) error {
	if err := b.wouldChange("Package would be %s: %s", done, name); err != nil {
		return err
	}
	words = append(append(words, b.options...), name)
	if b.State == "head" {
		words = append(words, "--HEAD")
	}
	out, err := b.brew(words...)
	if err != nil {
		return err
	}
	there, err := b.installed(name)
	if err == nil && there && done == "upgraded" {
		var old bool
		old, err = b.outdated(name)
		there = !old
	}
	if err != nil {
		return err
	}
	if there != wanted {
		return Failf("%s", strings.TrimSpace(out.errOut))
	}
	return b.note(done, name)
}

func (b *brewRun) note(done, name string) error {
	b.changed, b.message = true, "Package "+done+": "+name
	b.moved = append(b.moved, name)
	return nil
}

func (b *brewRun) upgrade(name string, there bool) error {
	command := "install"
	if there {
		command = "upgrade"
		old, err := b.outdated(name)
		if err != nil {
			return err
		}
		if !old {
			return b.stay("Package is already upgraded: " + name)
		}
	}
	return b.change("upgraded", name, true, command)
}

// link links a package, or unlinks it.
func (b *brewRun) link(command, done, name string, there bool) error {
	if !there {
		return Failf("Package not installed: %s.", name)
	}
	if err := b.wouldChange("Package would be %s: %s", done, name); err != nil {
		return err
	}
	out, err := b.brew(append(append([]string{command}, b.options...), name)...)
	if err != nil {
		return err
	}
	if out.failed() {
		return Failf("Package could not be %s: %s.", done, name)
	}
	return b.note(done, name)
}
