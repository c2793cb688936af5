package drift

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"play/engine/history"
)

// WriteJSON writes the night as one JSON document.
func (n *Night) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(n)
}

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Suite    junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Time     string      `xml:"time,attr"`
	Stamp    string      `xml:"timestamp,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Failure *junitEnd `xml:"failure"`
	Error   *junitEnd `xml:"error"`
	Skipped *junitEnd `xml:"skipped"`
}

type junitEnd struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes a test case for each finding: drift as a failure, what
// failed and hosts that were not reached as errors, unknown as skipped; and one
// that passes for each host without any.
func (n *Night) WriteJUnit(w io.Writer) error {
	s := junitSuite{Name: "drift of " + strings.Join(n.names(), ", "), Time: fmt.Sprintf("%.3f", n.End.Sub(n.Start).Seconds()), Stamp: n.Start.UTC().Format("2006-01-02T15:04:05")}
	busy := map[string]bool{}
	add := func(f *history.Finding, c junitCase) {
		busy[f.Host] = true
		c.Class, c.Name = xmlText(f.Host), xmlText(strings.TrimSpace(f.Task+item(f)+" "+f.Path))
		s.Cases = append(s.Cases, c)
	}
	for _, e := range n.Drift {
		s.Failures++
		add(&e.Finding, junitCase{Failure: &junitEnd{xmlText(strings.TrimSpace("drift " + e.State)), xmlText(e.Diff)}})
	}
	for _, list := range [][]history.Finding{n.Failed, n.Unreachable} {
		for _, f := range list {
			s.Errors++
			add(&f, junitCase{Error: &junitEnd{f.Kind, xmlText(f.Reason)}})
		}
	}
	for _, f := range n.Unknown {
		s.Skipped++
		add(&f, junitCase{Skipped: &junitEnd{Message: xmlText(f.Reason)}})
	}
	for _, host := range n.reached {
		if !busy[host] {
			s.Cases = append(s.Cases, junitCase{Class: xmlText(host), Name: "no drift"})
		}
	}
	s.Tests = len(s.Cases)
	data, err := xml.MarshalIndent(junitSuites{Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Skipped: s.Skipped, Suite: s}, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(data)+"\n")
	return err
}

// xmlText takes out what no XML text can hold.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text)
}

func (n *Night) names() []string {
	var names []string
	for _, p := range n.Playbooks {
		names = append(names, filepath.Base(p))
	}
	return names
}

// WritePrometheus writes the night as metrics for the textfile collector of
// Prometheus' node exporter.
func (n *Night) WritePrometheus(w io.Writer) error {
	b := &strings.Builder{}
	label := `playbook="` + quoted(strings.Join(n.Playbooks, ",")) + `"`
	metric := func(name, help string) {
		fmt.Fprintf(b, "# HELP play_drift_%s %s\n# TYPE play_drift_%s gauge\n", name, help, name)
	}
	one := func(name, help string, v any) {
		metric(name, help)
		fmt.Fprintf(b, "play_drift_%s{%s} %v\n", name, label, v)
	}
	metric("findings", "Tasks that would change a host, by how they compare with the night before.")
	for _, s := range []struct {
		state string
		n     int
	}{{"new", n.Count(New)}, {"still", n.Count(Still)}, {"first", n.Count("")}, {"gone", len(n.Gone)}} {
		fmt.Fprintf(b, "play_drift_findings{%s,state=%q} %d\n", label, s.state, s.n)
	}
	one("unknown", "Tasks that check mode cannot predict.", len(n.Unknown))
	one("ignored", "Findings that a rule left out.", n.Ignored)
	one("hosts", "Hosts that the playbook is for.", n.Hosts)
	one("hosts_drifted", "Hosts with drift.", n.DriftedHosts())
	one("failed", "Tasks that failed.", len(n.Failed))
	one("hosts_unreachable", "Hosts that could not be reached.", len(n.Unreachable))
	one("exit_code", "The exit code of play drift.", n.ExitCode)
	one("duration_seconds", "How long the run took.", fmt.Sprintf("%.3f", n.End.Sub(n.Start).Seconds()))
	one("last_run_timestamp_seconds", "When the run ended.", n.End.Unix())
	n.byHost(b, label, metric)
	_, err := io.WriteString(w, b.String())
	return err
}

// byHost writes the number of findings of each host that was reached.
func (n *Night) byHost(b *strings.Builder, label string, metric func(name, help string)) {
	count := map[string]int{}
	for _, e := range n.Drift {
		count[e.Host]++
	}
	metric("host_findings", "Tasks that would change the host.")
	for _, host := range n.reached {
		fmt.Fprintf(b, "play_drift_host_findings{%s,host=\"%s\"} %d\n", label, quoted(host), count[host])
	}
}

// quoted escapes a label's value.
func quoted(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}
