package modules

import (
	"regexp"
	"strings"

	"play/modules/value"
)

// options are the global options of dnf that the arguments ask for.
func (d *dnfRun) options() []string {
	var o []string
	add := func(on bool, words ...string) {
		if on {
			o = append(o, words...)
		}
	}
	add(d.ConfFile != "", "-c", d.ConfFile)
	add(d.Installroot != "/", "--installroot="+d.Installroot)
	add(d.Releasever != "", "--releasever="+d.Releasever)
	for _, list := range []struct {
		flag  string
		items []string
	}{
		{"--disablerepo=", d.Disablerepo}, {"--enablerepo=", d.Enablerepo}, {"--exclude=", d.Exclude},
		{"--disableplugin=", d.DisablePlugin}, {"--enableplugin=", d.EnablePlugin},
	} {
		for _, item := range list.items {
			add(true, list.flag+item)
		}
	}
	add(d.DisableExcludes != "", "--disableexcludes="+d.DisableExcludes)
	add(d.DisableGPG, "--nogpgcheck")
	add(d.Cacheonly, "-C")
	add(d.UpdateCache && !d.dnf.Check, "--refresh")
	add(!d.WeakDeps, "--setopt=install_weak_deps=False")
	add(!d.SSLVerify, "--setopt=sslverify=False")
	return o
}

// makeCache fetches the metadata of the repositories.
func (d *dnfRun) makeCache() error {
	if d.dnf.Check {
		return nil
	}
	out, err := d.dnf.run(append(d.options(), "makecache")...)
	if err == nil && out.RC != 0 {
		err = d.failed("Failed to download metadata", out, nil)
	}
	return err
}

// transaction runs one operation of dnf and notes what it did.
func (d *dnfRun) transaction(operation string, names []string, flags ...string) error {
	args := []string{"-y"}
	if d.dnf.Check {
		args = []string{"--assumeno"}
	}
	args = append(args, d.options()...)
	add := func(on bool, words ...string) {
		if on {
			args = append(args, words...)
		}
	}
	installs := operation == "install" || operation == "upgrade"
	add(installs && d.Nobest, "--nobest")
	add(installs && d.Allowerasing, "--allowerasing")
	add(installs && d.SkipBroken, "--skip-broken")
	add(installs && d.DownloadOnly, "--downloadonly")
	add(installs && d.DownloadDir != "", "--downloaddir="+d.DownloadDir)
	add(operation == "upgrade" && d.Security, "--security")
	add(operation == "upgrade" && d.Bugfix, "--bugfix")
	add(operation == "remove" && !d.Autoremove, "--setopt=clean_requirements_on_remove=False")
	args = append(args, operation)
	if strings.HasSuffix(d.dnf.Path, "dnf5") { // dnf4 allows an older version unasked
		args = append(args, flags...)
	}
	out, err := d.dnf.run(append(args, names...)...)
	if err != nil {
		return err
	}
	nothing := strings.Contains(out.Stdout+out.Stderr, "Nothing to do")
	aborted := d.dnf.Check && strings.Contains(out.Stdout+out.Stderr, "Operation aborted")
	if missing := dnfMissing(out); len(missing) > 0 && operation != "remove" && !d.SkipBroken {
		return d.failed("Failed to install some of the specified packages", out, missing)
	}
	if out.RC != 0 && !aborted && !nothing {
		return d.failed(dnfReason(out), out, nil)
	}
	d.changed = d.changed || !nothing
	d.results = append(d.results, dnfResults(out.Stdout)...)
	return nil
}

// failed makes a failure with the names that dnf does not know.
func (d *dnfRun) failed(msg string, out *pkgOutcome, missing []string) error {
	failures := value.NewList()
	for _, name := range missing {
		failures.Append("No package " + name + " available.")
	}
	rc := out.RC
	if rc == 0 {
		rc = 1
	}
	return &Failure{Msg: msg, With: value.DictOf("failures", failures, "results", stringList(d.results), "rc", rc,
		"stdout", out.Stdout, "stderr", out.Stderr)}
}

var noMatch = regexp.MustCompile(`(?m)^(?:No match for argument: |No package )(\S+)(?: available\.?)?\s*$`)

// dnfMissing are the names that dnf or yum found no package for.
func dnfMissing(out *pkgOutcome) []string {
	var names []string
	for _, m := range noMatch.FindAllStringSubmatch(out.Stdout+"\n"+out.Stderr, -1) {
		names = append(names, m[1])
	}
	return names
}

// dnfReason is the first error that dnf reported.
func dnfReason(out *pkgOutcome) string {
	for _, line := range outLines(out.Stderr + "\n" + out.Stdout) {
		if text, ok := strings.CutPrefix(line, "Error: "); ok {
			return "Failed to run dnf: " + strings.TrimSpace(text)
		}
	}
	return "Failed to run dnf: " + strings.TrimSpace(out.Stderr)
}

var dnfSection = regexp.MustCompile(`^(Installed|Upgraded|Updated|Downgraded|Reinstalled|Removed|Replaced|Dependency Installed|Dependency Updated):$`)

// dnfResults reads the lists at the end of a transaction: a heading, then
// indented names.
func dnfResults(text string) []string {
	var results []string
	verb := ""
	for line := range strings.SplitSeq(text, "\n") {
		switch m := dnfSection.FindStringSubmatch(strings.TrimRight(line, " ")); {
		case m != nil:
			verb = strings.TrimPrefix(m[1], "Dependency ")
		case verb == "" || strings.TrimSpace(line) == "":
			verb = ""
		default:
			for _, name := range strings.Fields(line) {
				results = append(results, verb+": "+name)
			}
		}
	}
	return results
}
