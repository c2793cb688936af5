package facts

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"play/modules/value"
)

// ethtool adds what the program of that name, where it is installed, tells of an
// interface: its features and its clocks.
func (h *Host) ethtool(ctx context.Context, name string, d *value.Dict) {
	if out := h.ask(ctx, "ethtool", "-k", name); out != "" {
		features := value.NewDict()
		for line := range strings.Lines(out) {
			key, state, ok := strings.Cut(strings.TrimSpace(line), ": ")
			if ok && state != "" {
				features.Set(strings.ReplaceAll(key, "-", "_"), strings.TrimSpace(state))
			}
		}
		d.Set("features", features)
	}
	if out := h.ask(ctx, "ethtool", "-T", name); out != "" {
		d.Set("timestamping", lowerMatches(`SOF_TIMESTAMPING_(\w+)`, out))
		d.Set("hw_timestamp_filters", lowerMatches(`HWTSTAMP_FILTER_(\w+)`, out))
		if m := regexp.MustCompile(`PTP Hardware Clock: (\d+)`).FindStringSubmatch(out); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				d.Set("phc_index", n)
			}
		}
	}
}

func lowerMatches(pattern, text string) *value.List {
	l := value.NewList()
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		l.Append(strings.ToLower(m[1]))
	}
	return l
}
