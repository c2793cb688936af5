package sshconfig

import (
	"fmt"
	"strings"
)

// match evaluates the criteria of a Match line; all must hold.
func (r *resolver) match(f *File, l line) (bool, error) {
	if len(l.args) == 0 {
		return false, &Error{f.path, l.number, "the criteria of \"Match\" are missing"}
	}
	result := true
	for words := l.args; len(words) > 0; {
		name, value, left, err := criterion(words)
		if err != nil {
			return false, &Error{f.path, l.number, err.Error()}
		}
		words = left
		negated := strings.HasPrefix(name, "!")
		holds, err := r.holds(strings.TrimPrefix(name, "!"), value, result)
		if err != nil {
			return false, &Error{f.path, l.number, err.Error()}
		}
		if holds == negated {
			result = false
		}
	}
	return result, nil
}

// criterion takes one criterion, with its value where it has one.
func criterion(words []string) (name, value string, left []string, err error) {
	name, value, attached := strings.Cut(words[0], "=")
	name = strings.ToLower(name)
	left = words[1:]
	switch strings.TrimPrefix(name, "!") {
	case "all", "canonical", "final":
		return name, "", left, nil
	}
	if attached {
		return name, value, left, nil
	}
	if len(left) == 0 {
		return "", "", nil, fmt.Errorf("the value of the criterion %q is missing", name)
	}
	return name, left[0], left[1:], nil
}

// holds evaluates one criterion. still is false when an earlier one failed: a
// command is not run then.
func (r *resolver) holds(name, value string, still bool) (bool, error) {
	switch name {
	case "all":
		return true, nil
	case "canonical":
		return r.final, nil
	case "final":
		r.wantFinal = true
		return r.final, nil
	case "host":
		return matchList(value, r.hostname()), nil
	case "originalhost":
		return matchList(value, r.query.Host), nil
	case "user":
		user := r.values.Get("user")
		if user == "" {
			user = r.query.LocalUser
		}
		return matchList(value, user), nil
	case "localuser":
		return matchList(value, r.query.LocalUser), nil
	case "exec":
		return still && r.query.Exec != nil && r.query.Exec(value, r.values), nil
	}
	return false, fmt.Errorf("the criterion %q of \"Match\" is not supported (all, canonical, final, host, originalhost, user, localuser and exec are)", name)
}

// hostname is the name to connect to, as far as it is known by now.
func (r *resolver) hostname() string {
	name := r.values.Get("hostname")
	if name == "" {
		return r.query.Host
	}
	return strings.NewReplacer("%%", "%", "%h", r.query.Host).Replace(name)
}
