package argspec

import (
	"fmt"
	"strings"

	"play/modules/value"
)

// exclusive reports groups of which more than one argument is there.
func (r *Rules) exclusive(params *value.Dict) string {
	var broken []string
	for _, group := range r.MutuallyExclusive {
		n := 0
		for _, name := range group {
			if has(params, name) {
				n++
			}
		}
		if n > 1 {
			broken = append(broken, strings.Join(group, "|"))
		}
	}
	if len(broken) == 0 {
		return ""
	}
	return "parameters are mutually exclusive: " + strings.Join(broken, ", ")
}

// needed reports the first argument that the presence or value of others calls
// for.
func (r *Rules) needed(params *value.Dict) string {
	for _, group := range r.RequiredTogether {
		if n := count(params, group); n > 0 && n < len(group) {
			return "parameters are required together: " + strings.Join(group, ", ")
		}
	}
	for _, group := range r.RequiredOneOf {
		if count(params, group) == 0 {
			return "one of the following is required: " + strings.Join(group, ", ")
		}
	}
	for _, rule := range r.RequiredIf {
		if msg := rule.broken(params); msg != "" {
			return msg
		}
	}
	for _, rule := range r.RequiredBy {
		if lacks := missing(params, rule.Needs, given); given(params, rule.Name) && len(lacks) > 0 {
			return fmt.Sprintf("missing parameter(s) required by '%s': %s", rule.Name, strings.Join(lacks, ", "))
		}
	}
	return ""
}

func (r *RequiredIf) broken(params *value.Dict) string {
	v, ok := params.Get(r.Name)
	if !ok || !value.Equal(v, r.Value) {
		return ""
	}
	lacks := missing(params, r.Needs, has)
	word := "all"
	if r.Any {
		word = "any"
	}
	if len(lacks) == 0 || r.Any && len(lacks) < len(r.Needs) {
		return ""
	}
	return fmt.Sprintf("%s is %s but %s of the following are missing: %s", r.Name, value.Str(r.Value), word, strings.Join(lacks, ", "))
}

// given tells whether an argument is there and not None, which is what
// required_by asks for; the other rules count None as given, as Ansible does.
func given(params *value.Dict, name string) bool {
	v, _ := params.Get(name)
	return v != nil
}

func count(params *value.Dict, names []string) int {
	return len(names) - len(missing(params, names, has))
}

func missing(params *value.Dict, names []string, there func(*value.Dict, string) bool) []string {
	var out []string
	for _, name := range names {
		if !there(params, name) {
			out = append(out, name)
		}
	}
	return out
}
