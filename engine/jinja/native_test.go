package jinja

import (
	"testing"

	"play/modules/value"
)

// TestNativeTypes shows the three rules side by side. The column of 2.18 is
// what ansible-core 2.14 answers (see testdata/language.jsonl).
func TestNativeTypes(t *testing.T) {
	t.Parallel()
	envs := map[string]*Env{"": NewEnv(Options{}), "2.18": NewEnv(Options{Compat: "2.18"}), "2.19": NewEnv(Options{Compat: "2.19"})}
	for _, tc := range []struct{ src, now, old, strict string }{
		{"{{ i }}", "5", "5", "5"},
		{"{{ i + 1 }}", "6", "'6'", "6"},
		{"{{ none }}", "None", "''", "None"},
		{"{{ s }}", "'[1, 2]'", "[1, 2]", "'[1, 2]'"},
		{"[{{ i }}, 2]", "[5, 2]", "[5, 2]", "'[5, 2]'"},
		{"{'a': {{ i }}}", "{'a': 5}", "{'a': 5}", "\"{'a': 5}\""},
		{"{{ i }}{{ i }}", "'55'", "'55'", "'55'"},
		{"{% if true %}True{% endif %}", "True", "True", "'True'"},
		{"{{ l }}", "[1]", "[1]", "[1]"},
		{"{{ (1, 2) }}", "(1, 2)", "'(1, 2)'", "(1, 2)"},
		{"{{ '5' }}", "'5'", "'5'", "'5'"},
		{"{{ l | to_json }}", "'[1]'", "'[1]'", "'[1]'"},
		{"{{ 'a' if false }}", "''", "''", "''"},
		{"{{ s }}\n", "'[1, 2]\\n'", "[1, 2]", "'[1, 2]\\n'"},
		{"{% set x %}[1]{% endset %}{{ x | length }}!", "'1!'", "'1!'", "'3!'"},
	} {
		for compat, want := range map[string]string{"": tc.now, "2.18": tc.old, "2.19": tc.strict} {
			c := withVars(t, envs[compat], "i", 5, "l", value.NewList(1))
			c.Vars.(Vars).Set("s", "[1, 2]")
			v, err := eval(t, envs[compat], tc.src, c)
			if err != nil || value.Repr(v) != want {
				t.Errorf("compat %q %q: got %s, %v; want %s", compat, tc.src, value.Repr(v), err, want)
			}
		}
	}
	for compat, e := range envs {
		if v, err := eval(t, e, "{{ omit }}", &Context{}); err != nil || v != any(Omit) {
			t.Errorf("compat %q: omit is %v, %v", compat, v, err)
		}
		if v, err := eval(t, e, "{{ nope | default(omit) }}", &Context{}); err != nil || v != any(Omit) {
			t.Errorf("compat %q: default(omit) is %v, %v", compat, v, err)
		}
	}
}
