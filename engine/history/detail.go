package history

import (
	"encoding/json"
	"strings"
	"time"

	"play/engine/event"
	"play/engine/output"
	"play/engine/source"
	"play/modules/value"
)

// Sizes in bytes at which texts are cut, and the number of items that are kept.
const (
	maxText  = 4 << 10
	maxDiff  = 64 << 10
	maxItems = 200
	// maxSides is the size of both sides of a diff together beyond which it is
	// not worked out.
	maxSides = 4 << 20
)

// pending is a result on its way to the disk; what it holds belongs to it.
type pending struct {
	task, host int
	status     Status
	start      time.Duration
	took       time.Duration
	detail     *draft
	items      []pendingItem
}

type pendingItem struct {
	label  string
	status Status
	detail *draft
}

// draft is a detail whose diff is not worked out yet.
type draft struct {
	Detail
	diff any
}

// itemOf drafts an item that changed something or failed.
func itemOf(r *event.Result) (pendingItem, bool) {
	status := statusOf(r)
	if status == OK || status == Skipped {
		return pendingItem{}, false
	}
	d := detailOf(r)
	if d == nil {
		d = &draft{}
	}
	return pendingItem{label: r.Item, status: status, detail: d}, true
}

// detailOf takes from a result what is worth keeping, or nil. It copies what
// the run may still use.
func detailOf(r *event.Result) *draft {
	d := &draft{}
	d.Delegated = r.Delegated
	if r.Task.NoLog {
		return d.unlessEmpty()
	}
	get := func(key string) string { return textOf(r.Result, key) }
	status := statusOf(r)
	d.Msg = get("msg")
	d.Attempts = intOf(r.Result, "attempts")
	switch status {
	case Skipped:
		if d.Msg == "" {
			d.Msg = get("skip_reason")
		}
	case Failed, Unreachable, Ignored:
		d.Hint = r.Hint
		if r.Pos != r.Task.Pos && !r.Pos.IsZero() {
			d.Place = r.Pos.String()
		}
		fallthrough
	case Changed:
		d.Stdout, d.Stderr = get("stdout"), get("stderr")
		d.Path = PathOf(r.Result)
		if rc, ok := r.Result.Get("rc"); ok {
			n, _ := rc.(int)
			d.RC = &n
		}
		if diff, ok := r.Result.Get("diff"); ok && !r.Loop && r.Task.Diff {
			d.diff = copied(diff, 0)
		}
	}
	return d.unlessEmpty()
}

func (d *draft) unlessEmpty() *draft {
	e := d.Detail
	if d.diff == nil && e.Msg == "" && e.RC == nil && e.Stdout == "" && e.Stderr == "" && e.Path == "" && e.Hint == "" && e.Place == "" &&
		e.Delegated == "" && e.Attempts == 0 {
		return nil
	}
	return d
}

// PathOf is the file that a result is about, or "".
func PathOf(result *value.Dict) string {
	inv, _ := result.Get("invocation")
	args := dictIn(inv, "module_args")
	for _, d := range []*value.Dict{result, args} {
		for _, key := range []string{"dest", "path"} {
			if p := textOf(d, key); p != "" {
				return p
			}
		}
	}
	return diffPath(result)
}

// dictIn is a dict in a dict; nil, which is as an empty one, when there is none.
func dictIn(v any, key string) *value.Dict {
	d, _ := v.(*value.Dict)
	inner, _ := d.Get(key)
	found, _ := inner.(*value.Dict)
	return found
}

// diffPath is the file that a result's diff names, or "".
func diffPath(result *value.Dict) string {
	diff, _ := result.Get("diff")
	if l, ok := diff.(*value.List); ok && len(l.Items) > 0 {
		diff = l.Items[0]
	}
	if d, ok := diff.(*value.Dict); ok {
		for _, key := range []string{"before_header", "after_header"} {
			if p, _, _ := strings.Cut(textOf(d, key), " "); strings.HasPrefix(p, "/") {
				return p
			}
		}
	}
	return ""
}

// complete works out the diffs and takes what is secret out of every text.
func (p *pending) complete(mask func(string) string) *Detail {
	if p.detail == nil && len(p.items) == 0 {
		return nil
	}
	d := &Detail{}
	if p.detail != nil {
		d = p.detail.complete(mask)
	}
	for _, it := range p.items {
		d.Items = append(d.Items, Item{Label: mask(clean(it.label)), Status: it.status, Detail: *it.detail.complete(mask)})
	}
	return d
}

func (d *draft) complete(mask func(string) string) *Detail {
	out := d.Detail
	out.Diff = diffText(d.diff)
	for _, text := range []*string{&out.Msg, &out.Stdout, &out.Stderr, &out.Path, &out.Diff, &out.Hint} {
		*text = mask(clean(*text))
	}
	out.Msg, out.Stdout, out.Stderr = cut(out.Msg, maxText), tail(out.Stdout, maxText), tail(out.Stderr, maxText)
	out.Diff = cutLines(out.Diff, maxDiff)
	return &out
}

// diffText is a diff in unified form, or why it is not shown.
func diffText(diff any) string {
	if diff == nil {
		return ""
	}
	if size(diff) > maxSides {
		return "the files are too large for a diff to be kept\n"
	}
	text := strings.TrimRight(output.DiffText(diff, 3), "\n")
	if text == "" {
		return ""
	}
	return text + "\n"
}

// cutLines keeps the first lines of a text.
func cutLines(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return text[:strings.LastIndexByte(text[:limit], '\n')+1] + "… and more, which is not kept\n"
}

// size is about the number of bytes of all texts in a value.
func size(v any) int {
	n := 0
	switch v := v.(type) {
	case string:
		return len(v)
	case *value.List:
		for _, item := range v.Items {
			n += size(item)
		}
	case *value.Dict:
		for _, item := range v.All() {
			n += size(item)
		}
	}
	return n
}

// copied is a value that nobody else changes; deeper than any diff goes, the
// rest is left out.
func copied(v any, depth int) any {
	if depth > 20 {
		return nil
	}
	switch v := v.(type) {
	case *value.List:
		l := value.NewList()
		for _, item := range v.Items {
			l.Append(copied(item, depth+1))
		}
		return l
	case *value.Dict:
		d := value.NewDict()
		for k, item := range v.All() {
			_ = d.SetKey(k, copied(item, depth+1)) // k came from a dict
		}
		return d
	}
	return v
}

func textOf(d *value.Dict, key string) string {
	v, _ := d.Get(key)
	if v == nil {
		return ""
	}
	if s, ok := v.(string); ok {
		return s
	}
	text, err := value.EncodeJSON(v, value.JSONOptions{})
	if err != nil {
		return ""
	}
	return text
}

func intOf(d *value.Dict, key string) int {
	v, _ := d.Get(key)
	n, _ := v.(int)
	return n
}

// cut keeps the beginning of a text.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

// tail keeps the end of a text, where commands say what went wrong.
func tail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return "…" + strings.ToValidUTF8(text[len(text)-limit:], "")
}

// clean makes a text printable.
func clean(text string) string { return source.Printable(text) }

func (d *Detail) json() string {
	b, err := json.Marshal(d)
	if err != nil {
		return "{}" // texts and numbers cannot fail
	}
	return string(b)
}
