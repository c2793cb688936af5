package output

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"play/engine/event"
	"play/modules/value"
)

// timer tells after the recap how long the run took.
type timer struct {
	quiet
	start time.Time
}

// Stats tells the time.
func (t *timer) Stats([]string, map[string]event.Counts, *value.Dict) {
	defer t.flush()
	took := int(t.Now().Sub(t.start).Seconds())
	t.line(fmt.Sprintf("Playbook run took %d days, %d hours, %d minutes, %d seconds",
		took/86400, took/3600%24, took/60%60, took%60), "")
}

// clock knows when the run and its present task began.
type clock struct{ start, last time.Time }

func newClock(now time.Time) clock { return clock{now, now} }

// stamp is the line that tells the time of day, how long it is since the last
// such line, and since the start.
func (c *clock) stamp(now time.Time, zone *time.Location) string {
	text := fmt.Sprintf("%s (%s)       %s", now.In(zone).Format("Monday 02 January 2006  15:04:05 -0700"),
		hours(now.Sub(c.last)), hours(now.Sub(c.start)))
	c.last = now
	return stars(text, "*") + " "
}

// hours prints a duration as h:mm:ss.mmm.
func hours(d time.Duration) string {
	ms := max(d, 0).Milliseconds()
	return fmt.Sprintf("%d:%02d:%02d.%03d", ms/3600000, ms/60000%60, ms/1000%60, ms%1000)
}

// profileWidth is the width of a profile's lines.
const profileWidth = 79

// stars fills a line up to its width.
func stars(text, fill string) string {
	n := max(profileWidth-len(text)-1, 0)
	if text == "" {
		return strings.Repeat(fill, profileWidth)
	}
	return text + " " + strings.Repeat(fill, n)
}

// profile tells how long each task took, or all tasks of each role.
type profile struct {
	quiet
	clock
	c     Callbacks
	roles bool
	list  []*spent
	index map[string]*spent
	now   *spent // what the time that passes belongs to
}

type spent struct {
	name string
	took time.Duration
}

// TaskStart tells the time and begins to count for the task.
func (p *profile) TaskStart(t *event.Task) {
	defer p.flush()
	p.tick()
	key, name := t.ID, strings.TrimSpace(t.Name)
	if p.roles {
		name = roleOf(t)
		key = name
	}
	p.count(key, name)
}

// roleOf is the role of a task, or the task's action when it has none.
func roleOf(t *event.Task) string {
	own := t.Own
	if own == "" {
		own = bareAction(t)
	}
	if role, ok := strings.CutSuffix(t.Name, " : "+own); ok {
		return role
	}
	return bareAction(t)
}

// tick ends what was counted for and shows the time.
func (p *profile) tick() {
	now := p.Now()
	if p.now != nil {
		p.now.took += now.Sub(p.last)
	}
	p.line(p.stamp(now, p.c.Local), "")
}

func (p *profile) count(key, name string) {
	if p.index == nil {
		p.index = map[string]*spent{}
	}
	if p.index[key] == nil {
		p.index[key] = &spent{name: printable(name)}
		p.list = append(p.list, p.index[key])
	}
	p.now = p.index[key]
}

// Stats lists what took longest.
func (p *profile) Stats([]string, map[string]event.Counts, *value.Dict) {
	defer p.flush()
	p.tick()
	p.line(stars("", "=")+" ", "")
	total := time.Duration(0)
	for _, s := range p.list {
		total += s.took
	}
	for _, s := range p.sorted() {
		p.spentLine(s.name, s.took)
	}
	if p.roles {
		p.line(stars("", "~")+" ", "")
		p.spentLine("total", total)
	}
}

func (p *profile) spentLine(name string, took time.Duration) {
	seconds := fmt.Sprintf(" %.2fs", took.Seconds())
	dashes := max(profileWidth-Columns(name)-1-len(seconds), 0)
	p.line(name+" "+strings.Repeat("-", dashes)+seconds, "")
}

// sorted is the list in the order and length that the options want.
func (p *profile) sorted() []*spent {
	order, limit := p.c.TaskOrder, p.c.TaskLimit
	if p.roles {
		order, limit = "", -1
	}
	list := append([]*spent(nil), p.list...)
	sort.SliceStable(list, func(i, j int) bool {
		switch order {
		case "none":
			return false
		case "ascending":
			return list[i].took < list[j].took
		}
		return list[i].took > list[j].took
	})
	if limit == 0 {
		limit = 20
	}
	if limit > 0 && len(list) > limit {
		list = list[:limit]
	}
	return list
}
