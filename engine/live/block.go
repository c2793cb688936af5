package live

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"play/engine/output"
)

const (
	mostRunning = 6  // hosts of which the block tells what they are at
	leastRows   = 4  // of a terminal that has a block
	leastCols   = 12 // the same
	widestBar   = 30
	widestHost  = 24
)

// Block is the status block for a terminal of that size: at most a third of its
// rows, each shorter than it is wide; nil when there is nothing to show.
func (v *View) Block(cols, rows int) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.begun.IsZero() || v.task == nil || cols < leastCols || rows < leastRows {
		return nil
	}
	now, room := v.o.Now(), max(1, rows/3)
	d := &drawing{Options: v.o, cols: cols - 1}
	lines := []string{d.dim(v.where(d)), v.progress(d), d.dim(v.times(d, now))}
	if room < len(lines) {
		lines = lines[1 : 1+min(room, 2)] // the bar says most
	}
	return append(lines, v.slowest(d, now, room-len(lines))...)
}

// drawing is the room and the look of a block.
type drawing struct {
	Options
	cols int
}

// fit cuts a line to the terminal.
func (d *drawing) fit(text string) string { return fit(text, d.cols, d.pick("…", ">")) }

func (d *drawing) pick(utf8, ascii string) string {
	if d.ASCII {
		return ascii
	}
	return utf8
}

func (d *drawing) paint(text, code string) string {
	if !d.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (d *drawing) dim(text string) string { return d.paint(text, "2") }

// where names the task, its number and its play.
func (v *View) where(d *drawing) string {
	kind := fmt.Sprintf("task %d of %d", v.number, max(v.planned, v.number))
	if v.task.Handler {
		kind = "handler"
	}
	text := kind + ": " + output.Printable(strings.TrimSpace(v.task.Name))
	if play := output.Printable(strings.TrimSpace(v.play)); play != "" {
		text += d.pick(" · play ", ", play ") + play
	}
	return d.fit(strings.ReplaceAll(text, "\n", " "))
}

// progress is the bar and the numbers of hosts.
func (v *View) progress(d *drawing) string {
	unit, all := "hosts", max(v.done, v.hosts-v.left(), 1)
	if v.task.Free {
		unit, all = "steps", max(v.done, v.hosts*max(v.planned, v.number), 1)
	}
	parts := []string{fmt.Sprintf("%d/%d %s done", v.done, all, unit), fmt.Sprintf("%d running", len(v.running))}
	failed := ""
	if n := len(v.failed); n > 0 {
		failed = fmt.Sprintf("%d failed", n)
	}
	text := strings.Join(parts, ", ")
	width := min(widestBar, d.cols-output.Columns(text)-len(failed)-5)
	if width < 5 {
		return d.fit(strings.TrimPrefix(text+", "+failed, ", "))
	}
	if failed != "" {
		failed = ", " + d.paint(failed, "31")
	}
	return d.bar(v.done, all, width) + " " + text + failed
}

// left counts the hosts that left the play before this task, which nobody waits
// for.
func (v *View) left() int {
	n := 0
	for _, task := range v.failed {
		if task != v.task.ID {
			n++
		}
	}
	return n
}

// bar shows a share of columns filled.
func (d *drawing) bar(done, all, width int) string {
	full := width * done / all
	return d.pick("▕", "[") + d.paint(strings.Repeat(d.pick("█", "#"), full), "32") +
		strings.Repeat(d.pick("░", "."), width-full) + d.pick("▏", "]")
}

// times tell how long the run and its task take, beside what they took before.
func (v *View) times(d *drawing, now time.Time) string {
	text := clock(now.Sub(v.begun)) + v.expected("", " of about ") +
		d.pick(" · ", ", ") + "this task " + clock(now.Sub(v.taskAt)) + v.expected(v.task.Name, ", before ")
	return d.fit(text)
}

func (v *View) expected(task, word string) string {
	if v.o.Expected == nil {
		return ""
	}
	before := v.o.Expected.Expected(v.book, task)
	if before <= 0 {
		return ""
	}
	return word + clock(before)
}

// slowest are the hosts that have been at their task longest.
func (v *View) slowest(d *drawing, now time.Time, room int) []string {
	all := make([]*running, 0, len(v.running))
	for _, r := range v.running {
		all = append(all, r)
	}
	sort.Slice(all, func(i, j int) bool {
		if !all[i].since.Equal(all[j].since) {
			return all[i].since.Before(all[j].since)
		}
		return all[i].host < all[j].host
	})
	n := min(len(all), mostRunning, max(0, room))
	width := 0
	for _, r := range all[:n] {
		width = max(width, output.Columns(output.Printable(r.host)))
	}
	lines := make([]string, 0, n)
	for _, r := range all[:n] {
		lines = append(lines, d.running(r, now, min(width, widestHost), v.task.Free))
	}
	return lines
}

// running tells what one host is at: for how long, the task when hosts run
// free, and the last line of its command.
func (d *drawing) running(r *running, now time.Time, width int, free bool) string {
	mark := d.pick("…", ">")
	text := "  " + pad(fit(output.Printable(r.host), width, mark), width) + "  " + fmt.Sprintf("%5s", clock(now.Sub(r.since)))
	if free {
		text += "  " + output.Printable(strings.TrimSpace(r.task.Name))
	}
	if r.line != "" {
		text += d.pick("  │ ", "  | ") + r.line
	}
	return d.fit(strings.ReplaceAll(text, "\n", " "))
}
