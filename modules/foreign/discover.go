package foreign

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"play/modules/process"
	"play/modules/value"
)

// Discover tells what an interpreter is chosen by: which of the programs exist,
// as absolute paths, and the distribution's id and version.
func Discover(programs []string, env []string) *value.Dict {
	found := value.NewList()
	for _, name := range programs {
		path, err := process.Look(name, "", env)
		if err != nil || !filepath.IsAbs(path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			found.Append(path)
		}
	}
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		text, _ = os.ReadFile("/usr/lib/os-release") // without either the distribution is not known
	}
	return value.DictOf("changed", false, "found", found, "platform", runtime.GOOS,
		"distribution", setting(string(text), "ID"), "version", setting(string(text), "VERSION_ID"))
}

// setting is a value of os-release, without quotes.
func setting(text, name string) string {
	for _, line := range strings.Split(text, "\n") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return strings.Trim(v, `"'`)
		}
	}
	return ""
}
