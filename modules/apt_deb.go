package modules

import (
	"path/filepath"
	"strings"
)

// installDeb installs a package file, which may be at a URL, with what it
// depends on.
func (a *aptRun) installDeb() (*Result, error) {
	path := a.get.abs(a.Deb)
	if strings.Contains(a.Deb, "://") {
		path = filepath.Join(a.get.TmpDir, "package-"+randomName()+".deb")
		if err := fetchURL(a.get.Call, a.Deb, true, path); err != nil {
			return nil, Failf("Failure downloading %s, %v", a.Deb, err)
		}
	}
	if !exists(path) {
		return nil, Failf("Unable to install package: E:Could not open file %s - open (2: No such file or directory)", path)
	}
	name, version, err := a.debName(path)
	if err != nil {
		return nil, err
	}
	cache, err := readApt(a.get.Call, "", nil)
	if err != nil {
		return nil, err
	}
	if have := cache.get(name).installed; have != "" {
		switch order := compareDebVersions(have, version); {
		case order == 0 && !a.Force:
			return NewResult(false).With("stdout", "").With("stderr", "").With("diff", ""), nil
		case order > 0 && !a.Downgrade && !a.Force:
			return nil, Failf("A later version is already installed")
		}
	}
	l := a.installLine()
	l.add("install")
	l.quoted([]string{path})
	a.installOptions(l)
	out, err := a.runLine(l)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, out.failf("%s failed", l.text.String())
	}
	return a.done(out, true), nil
}

// debName reads a package file's name, with its architecture, and version.
func (a *aptRun) debName(path string) (name, version string, err error) {
	deb, err := pkgProgram(a.get.Call, "dpkg-deb")
	if err != nil {
		return "", "", err
	}
	out, err := deb.run("--show", "--showformat=${Package}\n${Architecture}\n${Version}\n", path)
	if err != nil {
		return "", "", err
	}
	f := outLines(out.Stdout)
	if out.RC != 0 || len(f) != 3 {
		return "", "", Failf("Unable to install package: %s", strings.TrimSpace(out.Stderr))
	}
	if f[1] == "all" {
		return f[0], f[2], nil
	}
	return f[0] + ":" + f[1], f[2], nil
}
