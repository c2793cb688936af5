package modules

import (
	"path"
	"slices"
	"strings"
)

// aptSpec is one asked package.
type aptSpec struct {
	text, name  string
	op, version string // op is "=", ">=" or ""
}

func aptSpecOf(text string) aptSpec {
	for _, op := range []string{">=", "="} {
		if name, version, ok := strings.Cut(text, op); ok {
			return aptSpec{text, name, op, version}
		}
	}
	return aptSpec{text: text, name: text}
}

// allows tells whether a version is one that the spec asks for.
func (s *aptSpec) allows(version string) bool {
	switch s.op {
	case "=":
		ok, err := path.Match(s.version, version)
		return err == nil && ok || s.version == version
	case ">=":
		return compareDebVersions(version, s.version) >= 0
	}
	return true
}

// aptPackage is what is known of one package.
type aptPackage struct {
	known     bool // some source or dpkg has a version of it
	installed string
	files     bool // removed, but configuration files are left
	candidate string
	versions  []string // the newest first
}

// aptCache answers questions about packages from dpkg-query and apt-cache.
type aptCache struct {
	cache    *pkgTool
	release  string
	arch     string // native
	packages map[string]*aptPackage
}

// readApt asks for the state of packages.
func readApt(c *Call, release string, names []string) (*aptCache, error) {
	cache, err := pkgProgram(c, "apt-cache")
	if err != nil {
		return nil, err
	}
	a := &aptCache{cache: cache, release: release, packages: map[string]*aptPackage{}}
	if err := a.readInstalled(c); err != nil {
		return nil, err
	}
	return a, a.readPolicy(names)
}

func (a *aptCache) readInstalled(c *Call) error {
	query, err := pkgProgram(c, "dpkg-query")
	if err != nil {
		return err
	}
	out, err := query.run("-W", "-f", `${db:Status-Abbrev}|${Package}|${Architecture}|${Version}|${Essential}\n`)
	if err != nil {
		return err
	}
	for _, line := range outLines(out.Stdout) {
		f := strings.Split(line, "|")
		if len(f) < 4 || len(f[0]) < 2 {
			continue
		}
		if f[1] == "dpkg" {
			a.arch = f[2]
		}
		state := &aptPackage{known: true}
		switch f[0][1] {
		case 'i', 'W', 't':
			state.installed = f[3]
		case 'n':
			continue
		default:
			state.files = true
		}
		for _, name := range []string{f[1], f[1] + ":" + f[2]} {
			if old := a.packages[name]; old == nil || old.installed == "" {
				a.packages[name] = state
			}
		}
	}
	return nil
}

// readPolicy adds the versions that the sources have.
func (a *aptCache) readPolicy(names []string) error {
	if len(names) == 0 {
		return nil
	}
	args := []string{"policy"}
	if a.release != "" {
		args = append(args, "-t", a.release)
	}
	out, err := a.cache.run(append(append(args, "--"), names...)...)
	if err != nil {
		return err
	}
	if out.RC != 0 {
		return Failf("%s", strings.TrimSpace(out.Stderr))
	}
	var p *aptPackage
	for line := range strings.SplitSeq(out.Stdout, "\n") {
		switch name, ok := strings.CutSuffix(line, ":"); {
		case line == "":
		case line[0] != ' ' && ok:
			p = a.at(name)
		case p != nil:
			p.policyLine(line)
		}
	}
	return nil
}

func (a *aptCache) at(name string) *aptPackage {
	p := a.packages[name]
	if p == nil {
		p = &aptPackage{}
		a.packages[name] = p
	}
	return p
}

// policyLine reads one line of apt-cache policy below the name.
func (p *aptPackage) policyLine(line string) {
	if v, ok := strings.CutPrefix(line, "  Candidate: "); ok && v != "(none)" {
		p.candidate, p.known = v, true
		return
	}
	if len(line) > 5 && line[4] == ' ' && line[5] != ' ' {
		if f := strings.Fields(line[5:]); len(f) == 2 && !slices.Contains(p.versions, f[0]) {
			p.versions = append(p.versions, f[0])
		}
	}
}

// get returns what is known of a name, which may have an architecture.
func (a *aptCache) get(name string) *aptPackage {
	for _, n := range []string{name, strings.TrimSuffix(name, ":"+a.arch), strings.TrimSuffix(name, ":any"), strings.TrimSuffix(name, ":native")} {
		if p := a.packages[n]; p != nil && p.known {
			if q := a.packages[name]; q != nil && p.candidate == "" {
				p.candidate, p.versions = q.candidate, q.versions
			}
			return p
		}
	}
	return &aptPackage{}
}

// best is the version that an installation would take, or "".
func (p *aptPackage) best(s *aptSpec) string {
	if s.op != "=" {
		if p.candidate != "" && s.allows(p.candidate) {
			return p.candidate
		}
		return ""
	}
	for _, v := range p.versions {
		if s.allows(v) {
			return v
		}
	}
	return ""
}

// providers are the packages that provide a virtual one.
func (a *aptCache) providers(name string) ([]string, error) {
	out, err := a.cache.run("showpkg", "--", name)
	if err != nil {
		return nil, err
	}
	_, list, _ := strings.Cut(out.Stdout, "\nReverse Provides: \n")
	var names []string
	for _, line := range outLines(list) {
		provider, _, _ := strings.Cut(line, " ")
		if !slices.Contains(names, provider) {
			names = append(names, provider)
		}
	}
	return names, nil
}

// expandApt replaces patterns by the names that match them.
func expandApt(c *Call, names []string) ([]string, error) {
	var out, all []string
	for _, text := range names {
		s := aptSpecOf(text)
		if !strings.ContainsAny(s.name, "*?[!]") {
			out = append(out, text)
			continue
		}
		if all == nil {
			cache, err := pkgProgram(c, "apt-cache")
			if err != nil {
				return nil, err
			}
			o, err := cache.run("pkgnames")
			if err != nil {
				return nil, err
			}
			all = outLines(o.Stdout)
			slices.Sort(all)
		}
		found := false
		for _, name := range all {
			if ok, err := path.Match(s.name, name); err == nil && ok {
				out, found = append(out, name), true
			}
		}
		if !found {
			return nil, Failf("No package(s) matching '%s' available", s.name)
		}
	}
	return out, nil
}
