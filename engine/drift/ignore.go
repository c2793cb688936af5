package drift

import (
	"fmt"
	"regexp"
	"strings"

	"play/engine/history"
)

// Rule says what drift is of no interest: what matches all of its patterns.
type Rule struct {
	text             string
	host, task, path *regexp.Regexp // nil: any
}

// ParseRule reads "host=PATTERN", "task=PATTERN" and "path=PATTERN", several of
// which are joined by commas. In a pattern * stands for any characters but, in
// a path, the slash; ** stands for those, too, and ? for one.
func ParseRule(text string) (Rule, error) {
	r := Rule{text: text}
	for part := range strings.SplitSeq(text, ",") {
		key, pattern, ok := strings.Cut(strings.TrimSpace(part), "=")
		pattern = strings.TrimSpace(pattern)
		if !ok || pattern == "" {
			return r, fmt.Errorf("cannot read the rule %q: it is made of host=PATTERN, task=PATTERN and path=PATTERN, with commas between them", text)
		}
		re := glob(pattern, key == "path")
		switch strings.TrimSpace(key) {
		case "host":
			r.host = re
		case "task":
			r.task = re
		case "path":
			r.path = re
		default:
			return r, fmt.Errorf("cannot read the rule %q: there is no %q; rules know host, task and path", text, key)
		}
	}
	return r, nil
}

// ParseRules reads a file of rules: one on each line, # begins a comment.
func ParseRules(text string) ([]Rule, error) {
	var rules []Rule
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		r, err := ParseRule(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

func glob(pattern string, isPath bool) *regexp.Regexp {
	some := ".*"
	if isPath {
		some = "[^/]*"
	}
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case strings.HasPrefix(pattern[i:], "**"):
			b.WriteString(".*")
			i++
		case pattern[i] == '*':
			b.WriteString(some)
		case pattern[i] == '?':
			b.WriteString(".")
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	return regexp.MustCompile("(?s)^(?:" + b.String() + ")$") // quoted, so it is valid
}

// matches tells whether the rule is about a finding.
func (r *Rule) matches(f *history.Finding) bool {
	fits := func(re *regexp.Regexp, text string) bool { return re == nil || re.MatchString(text) }
	return fits(r.host, f.Host) && fits(r.task, f.Task) && fits(r.path, f.Path)
}
