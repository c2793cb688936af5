package modulefind

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// FindCore finds the installed Python package "ansible" by looking where Python
// packages are put: a virtual environment, the user's own, pipx's, the system's.
// It returns the package's folder, or "".
func FindCore(getenv func(string) string) string {
	patterns := filepath.SplitList(getenv("PYTHONPATH"))
	if venv := getenv("VIRTUAL_ENV"); venv != "" {
		patterns = append(patterns, venv+"/lib/python3*/site-packages")
	}
	if home := getenv("HOME"); home != "" {
		patterns = append(patterns, home+"/.local/lib/python3*/site-packages",
			home+"/.local/share/pipx/venvs/*/lib/python3*/site-packages", home+"/.local/pipx/venvs/*/lib/python3*/site-packages")
	}
	patterns = append(patterns, "/usr/local/lib/python3*/site-packages", "/usr/local/lib/python3*/dist-packages",
		"/usr/lib/python3/dist-packages", "/usr/lib/python3*/site-packages", "/opt/homebrew/lib/python3*/site-packages")
	for _, p := range patterns {
		found, _ := filepath.Glob(p) // a bad pattern finds nothing
		slices.Reverse(found)
		for _, dir := range found {
			if IsCore(filepath.Join(dir, "ansible")) {
				return filepath.Join(dir, "ansible")
			}
		}
	}
	return ""
}

// IsCore reports whether a folder is the Python package of ansible-core.
func IsCore(dir string) bool {
	return isFile(filepath.Join(dir, "release.py")) && isFile(filepath.Join(dir, "module_utils", "basic.py"))
}

var versionLine = regexp.MustCompile(`(?m)^__version__ *= *['"]([^'"]+)['"]`)

// Version is the version of the installed ansible-core, or "".
func (f *Finder) Version() string {
	text, err := os.ReadFile(filepath.Join(f.Core, "release.py"))
	if f.Core == "" || err != nil {
		return ""
	}
	if m := versionLine.FindSubmatch(text); m != nil {
		return strings.TrimSpace(string(m[1]))
	}
	return ""
}
