package drift

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"play/engine/history"
)

// WriteText writes the night for people: what is new first, then what is still
// there, gone, unknown and failed. Findings that many hosts share are told once.
func (n *Night) WriteText(w io.Writer, diffs bool) error {
	b := &strings.Builder{}
	fmt.Fprintln(b, n.headline())
	if n.Compared {
		b.WriteString(entries("NEW", n.with(New), diffs, false))
		b.WriteString(entries("STILL THERE", n.with(Still), diffs, true))
		b.WriteString(entries("DRIFT ON HOSTS WITHOUT AN EARLIER NIGHT", n.with(""), diffs, false))
	} else {
		b.WriteString(entries("DRIFT", n.with(""), diffs, false))
	}
	b.WriteString(entries("GONE", n.Gone, false, true))
	b.WriteString(grouped("UNKNOWN (check mode cannot tell)", n.Unknown))
	b.WriteString(grouped("FAILED", n.Failed))
	b.WriteString(grouped("UNREACHABLE", n.Unreachable))
	_, err := io.WriteString(w, b.String())
	return err
}

func (n *Night) with(state string) []history.Finding {
	var found []history.Finding
	for _, e := range n.Drift {
		if e.State == state {
			found = append(found, e.Finding)
		}
	}
	return found
}

func (n *Night) headline() string {
	text := fmt.Sprintf("Drift of %s: %d on %d of %s", strings.Join(n.names(), ", "), len(n.Drift), n.DriftedHosts(), plural(n.Hosts, "host"))
	if n.Compared {
		text += fmt.Sprintf(" (%d new, %d still there, %d gone)", n.Count(New), n.Count(Still), len(n.Gone))
	}
	for _, part := range []struct {
		n    int
		text string
	}{{len(n.Unknown), "unknown"}, {n.Ignored, "ignored"}, {len(n.Failed), "failed"}, {len(n.Unreachable), "unreachable"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %d %s", part.n, part.text)
		}
	}
	return text
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// entries lists findings one by one, a task's diff once for all hosts that have
// the same.
func entries(title string, found []history.Finding, diffs, since bool) string {
	if len(found) == 0 {
		return ""
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, f := range found {
		fmt.Fprintf(b, "  %s  %s%s", f.Host, f.Task, item(&f))
		if f.Path != "" {
			fmt.Fprintf(b, "  %s", f.Path)
		}
		if since {
			fmt.Fprintf(b, "  since %s", f.First.Format(time.DateTime))
		}
		fmt.Fprintf(b, "  (%s)\n", place(f.Place))
		if diffs && f.Diff != "" {
			for line := range strings.Lines(f.Diff + "\n") {
				b.WriteString("      " + line)
			}
		}
	}
	return b.String()
}

func item(f *history.Finding) string {
	if f.Item == "" {
		return ""
	}
	return " (item=" + f.Item + ")"
}

// place is a place without its folder and column.
func place(text string) string {
	if text == "" {
		return "no file"
	}
	parts := strings.Split(filepath.Base(text), ":")
	return strings.Join(parts[:min(2, len(parts))], ":")
}

// grouped lists findings by task and reason, with the hosts that share them.
func grouped(title string, found []history.Finding) string {
	if len(found) == 0 {
		return ""
	}
	type group struct{ task, reason, place string }
	hosts, order := map[group][]string{}, []group{}
	for _, f := range found {
		g := group{f.Task + item(&f), f.Reason, f.Place}
		if hosts[g] == nil {
			order = append(order, g)
		}
		hosts[g] = append(hosts[g], f.Host)
	}
	b := &strings.Builder{}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, g := range order {
		fmt.Fprintf(b, "  %s (%s): %s\n      on %s\n", g.task, place(g.place), g.reason, some(hosts[g]))
	}
	return b.String()
}

// some names hosts, of many the first ones.
func some(hosts []string) string {
	const most = 8
	if len(hosts) <= most {
		return strings.Join(hosts, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(hosts[:most], ", "), len(hosts)-most)
}
