package jinja

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"sort"
	"strings"

	"github.com/jmespath/go-jmespath"

	"play/modules/value"
)

func filterJSONQuery(c *Call) (any, error) {
	expr := value.Str(c.Args[0])
	query, err := jmespath.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("JMESPathError in json_query filter plugin:\n%w", err)
	}
	q := jsonQuery{dicts: map[uintptr]*value.Dict{}, made: keysMade(expr)}
	found, err := query.Search(q.plain(c.Value))
	if err != nil {
		return nil, fmt.Errorf("JMESPathError in json_query filter plugin:\n%w", err)
	}
	return q.value(found), nil
}

// jsonQuery turns values into the plain Go data that the query engine knows
// and back. A dict that comes through whole is found again by its map's
// address, so that its order and its numbers stay.
type jsonQuery struct {
	dicts map[uintptr]*value.Dict
	made  map[string]int // keys that the query itself writes, in its order
}

var madeKeys = regexp.MustCompile(`[{,]\s*(?:"([^"]*)"|(\w+))\s*:`)

// keysMade finds the keys of the query's own dicts: {name: expression}.
func keysMade(expr string) map[string]int {
	made := map[string]int{}
	for i, m := range madeKeys.FindAllStringSubmatch(expr, -1) {
		if _, ok := made[m[1]+m[2]]; !ok {
			made[m[1]+m[2]] = i
		}
	}
	return made
}

func (q *jsonQuery) plain(v any) any {
	switch v := v.(type) {
	case *value.Dict:
		m := make(map[string]any, v.Len())
		for k, item := range v.All() {
			m[value.Str(k)] = q.plain(item)
		}
		q.dicts[reflect.ValueOf(m).Pointer()] = v
		return m
	case *value.List:
		return q.items(v.Items)
	case value.Tuple:
		return q.items(v)
	case int:
		return float64(v)
	case bool, nil, string, float64:
		return v
	case value.Mapping:
		d, _ := asDict(v)
		return q.plain(d)
	}
	return value.Str(v)
}

func (q *jsonQuery) items(items []any) any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = q.plain(item)
	}
	return out
}

// value is the reverse of plain; a number without a fraction becomes an int.
func (q *jsonQuery) value(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if d, ok := q.dicts[reflect.ValueOf(v).Pointer()]; ok {
			return d
		}
		d := value.NewDict()
		for _, k := range q.order(v) {
			d.Set(k, q.value(v[k]))
		}
		return d
	case []any:
		out := value.NewList()
		for _, item := range v {
			out.Append(q.value(item))
		}
		return out
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v)
		}
	}
	return v
}

// order lists the keys of a dict that the query made.
func (q *jsonQuery) order(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		if a, b := q.made[keys[i]], q.made[keys[j]]; a != b {
			return a < b
		}
		return strings.Compare(keys[i], keys[j]) < 0
	})
	return keys
}
