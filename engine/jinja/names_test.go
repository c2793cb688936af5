package jinja_test

import (
	"slices"
	"testing"

	"play/engine/jinja"
)

func TestNamesIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		src  string
		bare bool
		want []string
	}{
		{"a.b is changed and not c", true, []string{"a", "c"}},
		{"'x' in out.stdout and out.rc == 0", true, []string{"out"}},
		{"a is not defined or not b | bool", true, []string{"a", "b"}},
		{"text {{ x | default(y, true) }} and {% for i in list %}{{ i.z }}{% endfor %}", false, []string{"x", "y", "i", "list"}},
		{"{{ f(name=value) }}", false, []string{"f", "value"}},
		{"a b", false, nil},
		{"{{ broken", false, nil},
	} {
		if got := jinja.NamesIn(c.src, c.bare); !slices.Equal(got, c.want) {
			t.Errorf("%q reads %q, want %q", c.src, got, c.want)
		}
	}
}
