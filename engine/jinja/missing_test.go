package jinja

import (
	"fmt"
	"strings"
	"testing"

	"play/engine/source"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	e := NewEnv(Options{})
	for _, c := range []struct {
		text string
		bare bool
		want string
	}{
		{"{{ a | default(1) | upper }}", false, ""},
		{"{{ a | nosuch(1) | ns.coll.other }} {{ b|third }}", false, "filter nosuch 1:8, filter ns.coll.other 1:20, filter third 1:42"},
		{"{{ a is defined and b is not oddish }}", false, "test oddish 1:30"},
		{"a is match('x') and x.is.y == 'is nothing'", true, ""},
		{"a is ansible.builtin.version('1', '>') or a is vers('1')", true, "test vers 1:48"},
		{"{{ lookup('nowhere', 'x') }}{{ query(name) }}{{ q('file', 'a' ) }}", false, "lookup nowhere 1:11"},
		{"{{ lookup('fi' + 'le') }}", false, ""},
		{"{{ l | map('nofilter') | map(attribute='x') | select('notest') | selectattr('a', 'badtest', 1) }}", false,
			"filter nofilter 1:12, test notest 1:54, test badtest 1:82"},
		{"text | nosuch {% if x is nosuch %}\n{{ y | no }}{% raw %}{{ z | raw }}{% endraw %}{# | no #}", false,
			"test nosuch 1:26, filter no 2:8"},
		{"{{ 'a | b is c' }}{{ a || }}", false, ""},
	} {
		var got []string
		for _, m := range e.Missing(c.text, source.Pos{Line: 1, Col: 1}, c.bare) {
			got = append(got, fmt.Sprintf("%s %s %d:%d", m.Kind, m.Name, m.Pos.Line, m.Pos.Col))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, s, c.want)
		}
	}
}
