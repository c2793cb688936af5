package strategy

import (
	"path"
	"strings"

	"play/engine/playbook"
	"play/modules/value"
)

// wanted reports whether the run's tags select a task. The answer is the same
// for every host, so it is kept.
func (b *batchRun) wanted(t *playbook.Task) bool {
	if w, ok := b.selected[t]; ok {
		return w
	}
	w := t.Action == "meta" && t.Name == nil && t.Parent == nil && len(t.Tags) == 1 && t.Tags[0] == "always" ||
		selects(b.tags(t), b.OnlyTags, b.SkipTags)
	if w && b.StartAt != "" && !b.started {
		w = b.startsHere(t)
	}
	b.selected[t] = w
	return w
}

// startsHere reports whether --start-at-task names this task.
func (b *batchRun) startsHere(t *playbook.Task) bool {
	if t.Action == "meta" || t.Action == "gather_facts" && t.Pos == b.play.Pos {
		return true
	}
	name := b.taskName(t)
	short := name
	if _, after, ok := strings.Cut(name, " : "); ok {
		short = after
	}
	for _, n := range []string{name, short} {
		if ok, _ := path.Match(b.StartAt, n); ok || n == b.StartAt {
			b.started = true
			return true
		}
	}
	return false
}

// tags evaluates a task's own and inherited tags.
func (b *batchRun) tags(t *playbook.Task) []string {
	var tags []string
	for _, raw := range t.AllTags() {
		v := raw
		if _, plain := raw.(string); !plain {
			resolved, err := (&playEval{run: b.Run, view: b.view, play: b.play}).resolve(raw)
			if err != nil {
				continue
			}
			v = resolved
		}
		tags = appendTags(tags, v)
	}
	return tags
}

func appendTags(tags []string, v any) []string {
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			tags = appendTags(tags, item)
		}
	case nil:
	default:
		if tag := strings.TrimSpace(value.Str(v)); tag != "" {
			tags = append(tags, tag) // loading has split what has commas
		}
	}
	return tags
}

// selects applies --tags and --skip-tags to a task's tags. always runs unless
// skipped by name, never runs only when one of its other tags is asked for.
func selects(tags, only, skip []string) bool {
	has := func(s string) bool { return contains(tags, s) }
	overlap := func(set []string) bool {
		for _, s := range set {
			if has(s) {
				return true
			}
		}
		return len(tags) == 0 && contains(set, "untagged")
	}
	run := true
	if len(only) > 0 || has("never") {
		all := len(only) == 0 || contains(only, "all")
		run = has("always") || all && !has("never") || overlap(only) ||
			contains(only, "tagged") && len(tags) > 0 && !has("never")
	}
	if !run || len(skip) == 0 {
		return run
	}
	switch {
	case contains(skip, "all"):
		return has("always") && !contains(skip, "always")
	case overlap(skip):
		return false
	}
	return !(contains(skip, "tagged") && len(tags) > 0)
}
