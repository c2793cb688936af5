package modules

import (
	"strings"

	"play/modules/value"
)

// aptLine is a command line of apt-get: its words, and the text that stands in
// messages.
type aptLine struct {
	words []string
	text  strings.Builder
}

// add appends words; none leave a gap in the text, as in Ansible's messages.
func (l *aptLine) add(words ...string) {
	l.words = append(l.words, words...)
	l.text.WriteString(" " + strings.Join(words, " "))
}

// flag appends a word when it is wanted.
func (l *aptLine) flag(on bool, word string) {
	if on {
		l.add(word)
		return
	}
	l.add()
}

// quoted appends words that the text shows in single quotes.
func (l *aptLine) quoted(words []string) {
	l.words = append(l.words, words...)
	l.text.WriteString(" '" + strings.Join(words, "' '") + "'")
}

// dpkgOptions passes options on to dpkg.
func (l *aptLine) dpkgOptions(options string) {
	for option := range strings.SplitSeq(options, ",") {
		word := "Dpkg::Options::=--" + option
		l.words = append(l.words, "-o", word)
		l.text.WriteString(` -o "` + word + `"`)
	}
}

func (a *aptRun) line(words ...string) *aptLine {
	l := &aptLine{}
	l.text.WriteString(a.get.Path)
	l.add(words...)
	l.dpkgOptions(a.DpkgOptions)
	return l
}

// runLine executes a command line, with policy-rc.d in place.
func (a *aptRun) runLine(l *aptLine) (*pkgOutcome, error) {
	if a.get.Check {
		return a.get.run(l.words...)
	}
	restore, err := setPolicyRCD(a.PolicyRCD)
	if err != nil {
		return nil, err
	}
	out, err := a.get.aptLocked(a.LockTimeout, l.words...)
	if e := restore(); err == nil && e != nil {
		err = e
	}
	return out, err
}

func (a *aptRun) install(names []string) (*Result, error) {
	wanted, err := a.wanted(names)
	if err != nil {
		return nil, a.cacheFailure(err)
	}
	if len(wanted) == 0 {
		return a.withCache(NewResult(false)), nil
	}
	l := a.installLine()
	if a.State == "build-dep" {
		l.add("build-dep")
	} else {
		l.add("install")
	}
	l.quoted(wanted)
	a.installOptions(l)
	out, err := a.runLine(l)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		f := value.DictOf("stdout", out.Stdout, "stderr", out.Stderr, "rc", out.RC)
		return nil, a.cacheFailure(&Failure{Msg: "'" + l.text.String() + "' failed: " + out.Stderr, With: f})
	}
	r := NewResult(true).With("stdout", out.Stdout).With("stderr", out.Stderr).With("diff", aptDiff(a.get.Call, out.Stdout))
	return a.withCache(r), nil
}

// installLine is the command line up to the name of the operation.
func (a *aptRun) installLine() *aptLine {
	l := a.line("-y")
	l.flag(a.OnlyUpgrade, "--only-upgrade")
	l.flag(a.State == "fixed", "--fix-broken")
	l.flag(a.Force, "--force-yes")
	l.flag(a.Autoremove, "--auto-remove")
	l.flag(a.FailOnAutoremove, "--no-remove")
	l.flag(a.get.Check, "--simulate")
	return l
}

// installOptions are the options behind the names.
func (a *aptRun) installOptions(l *aptLine) {
	if a.DefaultRelease != "" {
		l.add("-t")
		l.quoted([]string{a.DefaultRelease})
	}
	if a.Recommends != nil {
		l.add("-o", "APT::Install-Recommends="+yesNo(*a.Recommends))
	}
	for _, o := range []struct {
		on   bool
		word string
	}{{a.Unauthenticated, "--allow-unauthenticated"}, {a.Downgrade, "--allow-downgrades"}, {a.ChangeHeld, "--allow-change-held-packages"}} {
		if o.on {
			l.add(o.word)
		}
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// wanted are the packages to pass to apt-get, with versions.
func (a *aptRun) wanted(names []string) ([]string, error) {
	names, err := expandApt(a.get.Call, names)
	if err != nil || a.State == "build-dep" || len(names) == 0 {
		return names, err
	}
	specs := make([]aptSpec, len(names))
	plain := make([]string, len(names))
	for i, text := range names {
		specs[i] = aptSpecOf(text)
		plain[i] = specs[i].name
	}
	cache, err := readApt(a.get.Call, a.DefaultRelease, plain)
	if err != nil {
		return nil, err
	}
	var out []string
	for i := range specs {
		word, err := a.wantedOne(cache, &specs[i])
		if err != nil {
			return nil, err
		}
		if word != "" {
			out = append(out, word)
		}
	}
	return out, nil
}

// wantedOne is what to pass for one package; "" when nothing is to be done.
func (a *aptRun) wantedOne(cache *aptCache, s *aptSpec) (string, error) {
	p := cache.get(s.name)
	if !p.known || p.candidate == "" && p.installed == "" && len(p.versions) == 0 {
		return a.wantedVirtual(cache, s)
	}
	best := p.best(s)
	ok := p.installed != "" && s.allows(p.installed)
	switch {
	case a.OnlyUpgrade && p.installed == "":
		return "", nil
	case ok && (a.State != "latest" || best == "" || best == p.installed):
		return "", nil
	case best == "":
		return "", &Failure{Msg: "no available installation candidate for " + s.text, With: value.NewDict()}
	}
	return s.name + "=" + best, nil
}

// wantedVirtual is wantedOne for a name that only other packages provide.
func (a *aptRun) wantedVirtual(cache *aptCache, s *aptSpec) (string, error) {
	providers, err := cache.providers(s.name)
	if err != nil {
		return "", err
	}
	if len(providers) == 0 {
		return "", Failf("No package matching '%s' is available", s.name)
	}
	if len(providers) == 1 && cache.get(providers[0]).installed != "" || a.OnlyUpgrade {
		return "", nil
	}
	return s.text, nil
}

// cacheFailure adds what is known of the lists to a failure that has values.
func (a *aptRun) cacheFailure(err error) error {
	if f, ok := err.(*Failure); ok && f.With != nil {
		a.withCache(&Result{f.With})
	}
	return err
}
