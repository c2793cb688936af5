package modules

import (
	"strings"

	"play/modules/value"
)

func (a *aptRun) remove(names []string) (*Result, error) {
	names, err := expandApt(a.get.Call, names)
	if err != nil {
		return nil, err
	}
	cache, err := readApt(a.get.Call, "", nil)
	if err != nil {
		return nil, err
	}
	var there []string
	for _, text := range names {
		s := aptSpecOf(text)
		p := cache.get(s.name)
		if p.installed != "" && s.allows(p.installed) || p.files && a.Purge {
			there = append(there, text)
		}
	}
	if len(there) == 0 {
		return NewResult(false), nil
	}
	l := a.line("-q", "-y")
	l.flag(a.Purge, "--purge")
	l.flag(a.Force, "--force-yes")
	l.flag(a.Autoremove, "--auto-remove")
	l.flag(a.FailOnAutoremove, "--no-remove")
	l.flag(a.get.Check, "--simulate")
	l.add("remove")
	l.quoted(there)
	if a.ChangeHeld {
		l.add("--allow-change-held-packages")
	}
	out, err := a.runLine(l)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, out.failf("'apt-get remove '%s'' failed: %s", strings.Join(there, "' '"), out.Stderr)
	}
	return a.done(out, true), nil
}

func (a *aptRun) done(out *pkgOutcome, changed bool) *Result {
	return NewResult(changed).With("stdout", out.Stdout).With("stderr", out.Stderr).With("diff", aptDiff(a.get.Call, out.Stdout))
}

// cleanup runs autoremove or autoclean; sign is the text that shows a change.
func (a *aptRun) cleanup(operation, sign string) (*Result, error) {
	l := a.line("-y")
	l.flag(a.Purge, "--purge")
	l.flag(a.Force, "--force-yes")
	l.add(operation)
	l.flag(a.get.Check, "--simulate")
	out, err := a.runLine(l)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, out.failf("'apt-get %s' failed: %s", operation, out.Stderr)
	}
	return a.done(out, strings.Contains(out.Stdout, sign)), nil
}

// upgrade upgrades all packages, by aptitude where it is the way and is there.
func (a *aptRun) upgrade(mode string) (*Result, error) {
	tool, name := a.get, "apt-get"
	if path := a.get.findTool("aptitude"); path != "" && !a.ForceAptGet && mode != "dist" {
		other := *a.get
		other.Path = path
		tool, name = &other, "aptitude"
	}
	operation := upgradeOperation(mode, name)
	run := *a
	run.get = tool
	l := run.line("-y")
	l.flag(a.Force, "--force-yes")
	l.flag(a.FailOnAutoremove, "--no-remove")
	l.flag(a.Unauthenticated, "--allow-unauthenticated")
	l.flag(a.Downgrade, "--allow-downgrades")
	l.flag(tool.Check, "--simulate")
	l.add(operation...)
	l.flag(a.Autoremove && name == "apt-get", "--auto-remove")
	if a.DefaultRelease != "" {
		l.add("-t", a.DefaultRelease)
	}
	out, err := run.runLine(l)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, out.failf("'%s %s' failed: %s", name, strings.Join(operation, " "), out.Stderr)
	}
	if strings.Contains(out.Stdout, "\n0 upgraded, 0 newly installed, 0 to remove") ||
		strings.Contains(out.Stdout, "\n0 packages upgraded, 0 newly installed, 0 to remove") {
		return &Result{value.DictOf("changed", false, "msg", out.Stdout, "stdout", out.Stdout, "stderr", out.Stderr)}, nil
	}
	return run.done(out, true).With("msg", out.Stdout), nil
}

// upgradeOperation is the operation of apt-get or aptitude for an upgrade mode.
func upgradeOperation(mode, tool string) []string {
	switch {
	case mode == "dist", mode == "full" && tool == "apt-get":
		return []string{"dist-upgrade"}
	case mode == "full":
		return []string{"full-upgrade"}
	case tool == "apt-get":
		return []string{"upgrade", "--with-new-pkgs"}
	}
	return []string{"safe-upgrade"}
}
