package output

import (
	"fmt"
	"sort"
	"strings"

	"play/engine/event"
	"play/modules/value"
)

// recapLine shows one host's counts.
func (s *screen) recapLine(host string, c event.Counts) string {
	c1 := s.Colors
	return s.recapHost(printable(host), c) + " : " + strings.Join([]string{
		s.count("ok", c.OK, c1.OK),
		s.count("changed", c.Changed, c1.Changed),
		s.count("unreachable", c.Unreachable, c1.Unreachable),
		s.count("failed", c.Failed, c1.Error),
		s.count("skipped", c.Skipped, c1.Skip),
		s.count("rescued", c.Rescued, c1.OK),
		s.count("ignored", c.Ignored, c1.Warn),
	}, " ")
}

// recapHost pads the host's name; with colour the escape codes count too.
func (s *screen) recapHost(host string, c event.Counts) string {
	if !s.Color {
		return fmt.Sprintf("%-26s", host)
	}
	color := s.Colors.OK
	switch {
	case c.Failed > 0 || c.Unreachable > 0:
		color = s.Colors.Error
	case c.Changed > 0:
		color = s.Colors.Changed
	}
	return fmt.Sprintf("%-37s", paint(host, color))
}

func (s *screen) count(word string, n int, color string) string {
	text := fmt.Sprintf("%s=%-4d", word, n)
	if s.Color && n != 0 {
		return paint(text, color)
	}
	return text
}

// customStats shows what set_stats gathered: per host, then for the whole run.
func (s *screen) customStats(custom *value.Dict) {
	s.banner("CUSTOM STATS: ")
	var hosts []string
	for k := range custom.All() {
		if name, ok := k.(string); ok && name != "_run" {
			hosts = append(hosts, name)
		}
	}
	sort.Strings(hosts)
	for _, h := range hosts {
		v, _ := custom.Get(h)
		s.line("\t"+printable(h)+": "+statsJSON(v), "")
	}
	if v, ok := custom.Get("_run"); ok {
		s.line("", "")
		s.line("\tRUN: "+statsJSON(v), "")
	}
	s.line("", "")
}

func statsJSON(v any) string { return strings.ReplaceAll(toJSON(v, 1), "\n", "") }
