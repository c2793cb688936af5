package sshconfig

import (
	"slices"
	"strings"
)

// Query says for which host, and on whose behalf, values are wanted.
type Query struct {
	Host      string // as the operator named it
	LocalUser string // who asks
	// Given are values that count before those of any file (options of a command
	// line), by lower-case name.
	Given Values
	// Exec runs a "Match exec" command, whose tokens are not expanded yet, and
	// tells whether it succeeded. values are those found so far. nil: it fails.
	Exec func(command string, values Values) bool
}

// Values are the values that hold, by lower-case option name.
type Values map[string][]string

// Get returns an option's first value, or "".
func (v Values) Get(name string) string {
	if all := v[strings.ToLower(name)]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// gathered are options of which every line counts, not only the first.
func gathered(keyword string) bool {
	return slices.Contains([]string{"identityfile", "certificatefile", "sendenv", "localforward", "remoteforward", "dynamicforward"}, keyword)
}

// wholeLine are options whose value is the rest of the line as it stands.
func wholeLine(keyword string) bool {
	return slices.Contains([]string{"proxycommand", "localcommand", "remotecommand", "knownhostscommand"}, keyword)
}

// Resolve works out the values for a query; earlier files count more.
func Resolve(files []*File, q Query) (Values, error) {
	r := &resolver{query: q, values: Values{}}
	for name, v := range q.Given {
		r.values[name] = slices.Clone(v)
	}
	for pass := 0; pass < 2; pass++ {
		r.final = pass == 1
		for _, f := range files {
			if err := r.file(f, true); err != nil {
				return nil, err
			}
		}
		if !r.wantFinal {
			break
		}
	}
	return r.values, nil
}

// resolver goes through the files once, or twice where "Match final" is used.
type resolver struct {
	query     Query
	values    Values
	final     bool // this is the second pass
	wantFinal bool // a second pass is asked for
}

// file applies a file's lines. possible is false inside a block that does not
// hold: no line of an included file counts then.
func (r *resolver) file(f *File, possible bool) error {
	active := possible
	for _, l := range f.lines {
		switch l.keyword {
		case "host":
			active = possible && matchHost(l.args, r.query.Host)
		case "match":
			holds, err := r.match(f, l)
			if err != nil {
				return err
			}
			active = possible && holds
		case "include":
			for _, inner := range l.included {
				if err := r.file(inner, active); err != nil {
					return err
				}
			}
		default:
			if active {
				r.set(l)
			}
		}
	}
	return nil
}

// set stores a value unless one counts already.
func (r *resolver) set(l line) {
	args := l.args
	if wholeLine(l.keyword) {
		args = []string{l.rest}
	}
	if len(args) == 0 {
		return
	}
	old, have := r.values[l.keyword]
	if !have {
		r.values[l.keyword] = args
		return
	}
	if !gathered(l.keyword) {
		return
	}
	for _, a := range args {
		if !slices.Contains(old, a) {
			old = append(old, a)
		}
	}
	r.values[l.keyword] = old
}

// matchHost applies the patterns of a Host line: one must match, and no negated
// one may.
func matchHost(patterns []string, host string) bool {
	matched := false
	for _, p := range patterns {
		negated := strings.HasPrefix(p, "!")
		if !glob(strings.TrimPrefix(p, "!"), host) {
			continue
		}
		if negated {
			return false
		}
		matched = true
	}
	return matched
}

// matchList applies a comma-separated list in the same way; case does not count.
func matchList(list, text string) bool {
	return matchHost(strings.Split(strings.ToLower(list), ","), strings.ToLower(text))
}

// glob matches * and ?.
func glob(pattern, s string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '*':
			for len(pattern) > i+1 && pattern[i+1] == '*' {
				i++
			}
			for {
				if glob(pattern[i+1:], s) {
					return true
				}
				if s == "" {
					return false
				}
				s = s[1:]
			}
		case '?':
			if s == "" {
				return false
			}
			s = s[1:]
		default:
			if s == "" || s[0] != pattern[i] {
				return false
			}
			s = s[1:]
		}
	}
	return s == ""
}
