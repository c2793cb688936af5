// Package report makes a page of a run. Flowing in: a run of the history.
// Flowing out: one HTML file that needs nothing else: it asks for nothing from
// anywhere, and its security policy lets no script run but its own, so that
// what hosts said is only ever shown. The command line calls it.
package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"strings"

	"play/engine/history"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

//go:embed page.html
var body string

// Write writes the page of a run.
func Write(w io.Writer, r *history.Run) error {
	data, err := json.Marshal(pageOf(r)) // escapes <, > and &, so it cannot end its element
	if err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	sum := sha256.Sum256([]byte(script))
	policy := "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	for _, part := range []string{
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		"<meta http-equiv=\"Content-Security-Policy\" content=\"" + policy + "\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n",
		"<title>" + html.EscapeString(title(r)) + "</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>\n", style, "</style>\n</head>\n<body>\n", body,
		"<script type=\"application/json\" id=\"data\">", string(data), "</script>\n<script>", script, "</script>\n</body>\n</html>\n",
	} {
		if _, err := io.WriteString(w, part); err != nil {
			return fmt.Errorf("cannot write the report: %w", err)
		}
	}
	return nil
}

func title(r *history.Run) string {
	return fmt.Sprintf("%s · run %d", strings.Join(names(r), ", "), r.ID)
}

// names are the names of the playbooks without their folders.
func names(r *history.Run) []string {
	var out []string
	for _, p := range r.Options.Playbooks {
		out = append(out, filepath.Base(p))
	}
	return out
}

// page is what the script gets: numbers and texts as compactly as is simple.
type page struct {
	ID       int64             `json:"id"`
	Kind     string            `json:"kind"`
	Names    []string          `json:"names"`
	Options  history.Options   `json:"options"`
	User     string            `json:"user"`
	Dir      string            `json:"dir"`
	Version  string            `json:"version"`
	Start    int64             `json:"start"` // milliseconds since 1970
	Took     int64             `json:"took"`  // milliseconds
	Finished bool              `json:"finished"`
	Code     int               `json:"code"`
	Hosts    []string          `json:"hosts"`
	Counts   [][7]int          `json:"counts"` // ok, changed, unreachable, failed, skipped, rescued, ignored
	Plays    []string          `json:"plays"`
	Tasks    []task            `json:"tasks"`
	Details  []*history.Detail `json:"details"`
	Path     [][4]int64        `json:"path"` // the critical path: task, host, start, took
	Findings []finding         `json:"findings"`
}

type task struct {
	Play    int     `json:"play"`
	Name    string  `json:"name"`
	Action  string  `json:"action"`
	Place   string  `json:"place"`
	Handler bool    `json:"handler,omitempty"`
	Start   int64   `json:"start"` // milliseconds since the run's start
	Took    int64   `json:"took"`
	Ends    string  `json:"ends"`    // one letter for each host; "." where it did not run
	Times   []int64 `json:"times"`   // milliseconds, of the hosts where it ran, in order
	Details []int   `json:"details"` // pairs: host, index into the page's details
}

type finding struct {
	history.Finding
	Since int64 `json:"since"`
	New   bool  `json:"new"`
}

// letters stand for how a task ended.
var letters = map[history.Status]byte{
	history.OK: 'o', history.Changed: 'c', history.Failed: 'f', history.Ignored: 'i', history.Skipped: 's', history.Unreachable: 'u',
}

func pageOf(r *history.Run) *page {
	p := &page{ID: r.ID, Kind: r.Kind, Names: names(r), Options: r.Options, User: r.User, Dir: r.Dir, Version: r.Version, Start: r.Start.UnixMilli(),
		Took: r.Took().Milliseconds(), Finished: r.Finished(), Code: r.Code, Hosts: []string{}, Tasks: []task{}, Details: []*history.Detail{}, Path: [][4]int64{}, Findings: []finding{}}
	for _, h := range r.Hosts {
		p.Hosts = append(p.Hosts, h.Name)
		p.Counts = append(p.Counts, [7]int{h.OK, h.Changed, h.Unreachable, h.Failed, h.Skipped, h.Rescued, h.Ignored})
	}
	for _, pl := range r.Plays {
		p.Plays = append(p.Plays, pl.Name)
	}
	for _, t := range r.Tasks {
		p.Tasks = append(p.Tasks, task{Play: t.Play, Name: t.Name, Action: t.Action, Place: short(t.Place), Handler: t.Handler,
			Start: t.Start.Milliseconds(), Took: t.Took.Milliseconds(), Times: []int64{}, Details: []int{}})
	}
	p.results(r)
	for _, step := range criticalPath(r.Results) {
		p.Path = append(p.Path, [4]int64{int64(step.Task), int64(step.Host), step.Start.Milliseconds(), step.Took.Milliseconds()})
	}
	for _, f := range r.Findings {
		p.Findings = append(p.Findings, finding{Finding: f, Since: f.First.UnixMilli(), New: !f.First.Before(r.Start)})
	}
	return p
}

// results spreads the results over the tasks.
func (p *page) results(r *history.Run) {
	ends := make([][]byte, len(p.Tasks))
	for i := range ends {
		ends[i] = []byte(strings.Repeat(".", len(p.Hosts)))
	}
	index := map[*history.Detail]int{}
	for _, res := range r.Results {
		if res.Task >= len(p.Tasks) || res.Host >= len(p.Hosts) {
			continue
		}
		t := &p.Tasks[res.Task]
		ends[res.Task][res.Host] = letters[res.Status]
		t.Times = append(t.Times, res.Took.Milliseconds())
		if res.Detail == nil {
			continue
		}
		n, ok := index[res.Detail]
		if !ok {
			n = len(p.Details)
			index[res.Detail] = n
			p.Details = append(p.Details, res.Detail)
		}
		t.Details = append(t.Details, res.Host, n)
	}
	for i := range p.Tasks {
		p.Tasks[i].Ends = string(ends[i])
	}
}

// short is a place without its folders but the last.
func short(place string) string {
	dir, file := filepath.Split(place)
	if dir == "" || dir == "/" {
		return file
	}
	return filepath.Join(filepath.Base(dir), file)
}
