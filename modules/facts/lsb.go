package facts

import (
	"context"
	"strings"

	"play/modules/value"
)

// lsb is what the Linux Standard Base's file or program tells.
func lsb(ctx context.Context, h *Host) *value.Dict {
	fields := value.NewDict()
	if h.exists("/etc/lsb-release") {
		for _, line := range h.lines("/etc/lsb-release") {
			key, val, _ := strings.Cut(line, "=")
			if name, ok := map[string]string{"DISTRIB_ID": "id", "DISTRIB_RELEASE": "release",
				"DISTRIB_DESCRIPTION": "description", "DISTRIB_CODENAME": "codename"}[key]; ok {
				fields.Set(name, strings.Trim(strings.TrimSpace(val), `"'`))
			}
		}
	} else {
		for line := range strings.Lines(h.ask(ctx, "lsb_release", "-a")) {
			key, val, _ := strings.Cut(strings.TrimSpace(line), ":")
			if name, ok := map[string]string{"Distributor ID": "id", "Release": "release", "LSB Version": "release",
				"Description": "description", "Codename": "codename"}[key]; ok {
				fields.Set(name, strings.Trim(strings.TrimSpace(val), `"'`))
			}
		}
	}
	if r, ok := fields.Get("release"); ok {
		major, _, _ := strings.Cut(r.(string), ".")
		fields.Set("major_release", major)
	}
	return value.DictOf("lsb", fields)
}
