package strategy

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"strings"

	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
	"play/engine/vars"
	"play/modules/value"
)

func toBool(v any) (b, ok bool) { return task.ToBool(v) }

// playEval evaluates the play's own keywords, before there is a host: only
// extra, prompted and play variables and the run's are in sight.
type playEval struct {
	run  *Run
	view *vars.Play
	play *playbook.Play
}

func (e *playEval) resolve(v any) (any, error) {
	scope, err := e.view.Scope("", nil)
	if err != nil {
		return nil, err
	}
	return e.run.Executor.Context(scope, nil).Resolve(v)
}

// KeywordError is a keyword of a play that cannot be evaluated: none of the
// play's hosts is contacted.
type KeywordError struct {
	Keyword string
	Err     *source.Error // says where
}

// Error gives the cause with its place.
func (e *KeywordError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *KeywordError) Unwrap() error { return e.Err }

// field is the value of a play's keyword, which stands at pos.
func (e *playEval) field(name string, v any, pos source.Pos) (any, error) {
	v, err := e.resolve(v)
	if err == nil {
		return v, nil
	}
	var u *jinja.UndefinedError
	cause := source.Errorf(pos, "the field '%s' cannot be evaluated: %w", name, err)
	if errors.As(err, &u) {
		if !u.Pos.IsZero() {
			cause.Pos = u.Pos
		}
		cause = cause.WithHint("a play's own keywords see the variables of -e, vars, vars_files and vars_prompt, not those of its hosts")
	}
	return nil, &KeywordError{Keyword: name, Err: cause}
}

func (e *playEval) keyword(name string) (any, source.Pos, error) {
	a, ok := e.play.Keywords[name]
	if !ok {
		return nil, e.play.Pos, nil
	}
	v, err := e.field(name, a.Value, a.Pos)
	return v, a.Pos, err
}

// hosts is the value of the play's hosts keyword.
func (e *playEval) hosts() (any, error) { return e.field("hosts", e.play.Hosts, e.play.Pos) }

func (e *playEval) pattern() (string, error) {
	v, err := e.hosts()
	if err != nil {
		return "", err
	}
	if l, ok := v.(*value.List); ok {
		var parts []string
		for _, item := range l.Items {
			parts = append(parts, value.Str(item))
		}
		return strings.Join(parts, ","), nil
	}
	return value.Str(v), nil
}

// name is the play's name for people: as it was written where it cannot be
// evaluated.
func (e *playEval) name(pattern string) string {
	if e.play.Name == nil {
		return pattern
	}
	v, err := e.resolve(e.play.Name)
	if err != nil {
		return sourceOf(e.play.Name)
	}
	return value.Str(v)
}

// ordered applies the order keyword.
func (e *playEval) ordered(hosts []string) ([]string, error) {
	v, pos, err := e.keyword("order")
	if err != nil || v == nil {
		return hosts, err
	}
	hosts = append([]string(nil), hosts...)
	switch value.Str(v) {
	case "inventory":
	case "reverse_inventory":
		slices.Reverse(hosts)
	case "sorted":
		sort.Strings(hosts)
	case "reverse_sorted":
		sort.Sort(sort.Reverse(sort.StringSlice(hosts)))
	case "shuffle":
		rand.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	default:
		return nil, source.Errorf(pos, "invalid 'order' specified for inventory hosts: %s", value.Str(v)).
			WithHint("one of inventory, reverse_inventory, sorted, reverse_sorted, shuffle")
	}
	return hosts, nil
}

// batches cuts the hosts up as serial says; the last size repeats.
func (e *playEval) batches(hosts []string) ([][]string, error) {
	v, pos, err := e.keyword("serial")
	if err != nil {
		return nil, err
	}
	sizes := []any{v}
	if l, ok := v.(*value.List); ok {
		sizes = l.Items
	}
	if len(sizes) == 0 {
		sizes = []any{nil}
	}
	var batches [][]string
	rest := hosts
	for i := 0; len(rest) > 0; i++ {
		n, err := batchSize(sizes[min(i, len(sizes)-1)], len(hosts), pos)
		if err != nil {
			return nil, err
		}
		if n <= 0 || n > len(rest) {
			n = len(rest)
		}
		batches, rest = append(batches, rest[:n]), rest[n:]
	}
	return batches, nil
}

// batchSize reads one serial value: a number, a percentage of all hosts (at
// least one host), or nothing for all.
func batchSize(v any, total int, pos source.Pos) (int, error) {
	if v == nil {
		return total, nil
	}
	text := strings.TrimSpace(value.Str(v))
	if pct, ok := strings.CutSuffix(text, "%"); ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(pct), 64)
		if err != nil {
			return 0, source.Errorf(pos, "cannot read %q as a batch size", text)
		}
		return max(1, int(math.Floor(f/100*float64(total)))), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, source.Errorf(pos, "cannot read %q as a batch size", text).WithHint("a number of hosts, or a percentage such as \"30%%\"")
	}
	return n, nil
}

// limits evaluates the keywords that say when a batch stops.
func (e *playEval) limits(b *batchRun) error {
	b.anyFatal, b.force, b.maxFail = b.AnyErrorsFatal, b.ForceHandlers, -1
	for name, set := range map[string]*bool{"any_errors_fatal": &b.anyFatal, "force_handlers": &b.force} {
		v, pos, err := e.keyword(name)
		if err != nil {
			return err
		}
		if v == nil {
			continue
		}
		on, ok := toBool(v)
		if !ok {
			return source.Errorf(pos, "the value of %q is not a boolean", name)
		}
		*set = on
	}
	v, pos, err := e.keyword("max_fail_percentage")
	if err != nil || v == nil {
		return err
	}
	f, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value.Str(v)), "%"), 64)
	if err != nil {
		return source.Errorf(pos, "max_fail_percentage must be a number, not %q", value.Str(v))
	}
	b.maxFail = f
	return nil
}
