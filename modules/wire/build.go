package wire

import (
	"runtime/debug"
	"strings"
)

// Build names this program's version and commit, for hellos and messages.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	words := []string{info.Main.Version}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			words = append(words, s.Value)
		}
	}
	return strings.TrimSpace(strings.Join(words, " "))
}
