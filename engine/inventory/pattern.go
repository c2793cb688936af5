package inventory

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// localNames are the names that the implicit localhost answers to.
var localNames = []string{"127.0.0.1", "localhost", "::1"}

// Match returns the hosts that a pattern selects, in Ansible's order, each
// once. Limit, when not empty, is a second pattern (--limit) that a host must
// match too; "@file" in it stands for the lines of a file. Parts that match
// nothing are warned of; a part that cannot be read is an error.
func (inv *Inventory) Match(pattern, limit string) ([]*Host, error) {
	return inv.match(splitPattern(pattern), limit)
}

// MatchList is Match for a pattern given as a list, as hosts: may be.
func (inv *Inventory) MatchList(patterns []string, limit string) ([]*Host, error) {
	var parts []string
	for _, p := range patterns {
		parts = append(parts, splitPattern(p)...)
	}
	return inv.match(parts, limit)
}

func (inv *Inventory) match(parts []string, limit string) ([]*Host, error) {
	m := &matcher{inv: inv, warned: map[string]bool{}}
	hosts, err := m.evaluate(parts)
	if err != nil || limit == "" {
		return hosts, err
	}
	return m.limit(hosts, limit)
}

func (m *matcher) limit(hosts []*Host, limit string) ([]*Host, error) {
	parts, err := m.inv.limitParts(limit)
	if err != nil {
		return nil, err
	}
	allowed, err := m.evaluate(parts)
	if err != nil {
		return nil, err
	}
	set := hostSet(allowed)
	return slices.DeleteFunc(hosts, func(h *Host) bool { _, ok := set[h]; return !ok }), nil
}

// limitParts splits a limit and reads the files named in it.
func (inv *Inventory) limitParts(limit string) ([]string, error) {
	var parts []string
	for _, p := range splitPattern(limit) {
		path, isFile := strings.CutPrefix(p, "@")
		if !isFile {
			parts = append(parts, p)
			continue
		}
		data, err := os.ReadFile(inv.path(path))
		if err != nil {
			//lint:ignore ST1005 Ansible's own words
			return nil, fmt.Errorf("Unable to find limit file %s", path)
		}
		for line := range strings.Lines(string(data)) {
			if line = strings.TrimSpace(line); line != "" {
				parts = append(parts, line)
			}
		}
	}
	return parts, nil
}

// patternPart is a piece between colons; colons in brackets do not part.
var patternPart = regexp.MustCompile(`(?:[^\s:\[\]]|\[[^\]]*\])+`)

// splitPattern parts a pattern at its commas, else at its colons unless it is
// an address.
func splitPattern(pattern string) []string {
	var parts []string
	switch {
	case strings.Contains(pattern, ","):
		parts = strings.Split(pattern, ",")
	default:
		if _, _, ok := parseAddress(strings.TrimSpace(pattern)); ok {
			parts = []string{pattern}
		} else {
			parts = patternPart.FindAllString(pattern, -1)
		}
	}
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
	}
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}

// orderPatterns puts unions first, then intersections, then exclusions; without
// a union all hosts are the start.
func orderPatterns(parts []string) []string {
	var union, intersect, exclude []string
	for _, p := range parts {
		switch p[0] {
		case '!':
			exclude = append(exclude, p)
		case '&':
			intersect = append(intersect, p)
		default:
			union = append(union, p)
		}
	}
	if len(union) == 0 {
		union = []string{"all"}
	}
	return slices.Concat(union, intersect, exclude)
}

// matcher evaluates patterns against an inventory.
type matcher struct {
	inv    *Inventory
	warned map[string]bool
}

func hostSet(hosts []*Host) map[*Host]struct{} {
	set := make(map[*Host]struct{}, len(hosts))
	for _, h := range hosts {
		set[h] = struct{}{}
	}
	return set
}

func (m *matcher) evaluate(parts []string) ([]*Host, error) {
	var hosts []*Host
	seen := map[*Host]struct{}{}
	for _, p := range orderPatterns(parts) {
		found, err := m.one(strings.TrimLeft(p[:1], "!&") + p[1:])
		if err != nil {
			return nil, err
		}
		switch p[0] {
		case '!', '&':
			set, keep := hostSet(found), p[0] == '&'
			hosts = slices.DeleteFunc(hosts, func(h *Host) bool { _, ok := set[h]; return ok != keep })
			continue
		}
		for _, h := range found {
			if _, dup := seen[h]; !dup {
				seen[h] = struct{}{}
				hosts = append(hosts, h)
			}
		}
	}
	return hosts, nil
}

// one evaluates a single pattern without ! or &.
func (m *matcher) one(pattern string) ([]*Host, error) {
	if pattern == "" {
		return nil, nil
	}
	m.inv.mu.RLock()
	h, ok := m.inv.lookup(pattern)
	m.inv.mu.RUnlock()
	if ok && !h.Implicit {
		return []*Host{h}, nil
	}
	expr, sub, err := splitSubscript(pattern)
	if err != nil {
		return nil, err
	}
	hosts, err := m.enumerate(expr)
	if err != nil || sub == nil {
		return hosts, err
	}
	return sub.apply(hosts), nil
}

// subscript selects by position: one host, or a range with both ends included.
type subscript struct {
	start, end int
	single     bool
}

var subscriptSyntax = regexp.MustCompile(`^(.+)\[(?:(-?[0-9]+)|([0-9]+)[:-]([0-9]*))\]$`)

// splitSubscript takes "[1]", "[-1]", "[1:3]" or "[1:]" off a pattern; a
// regular expression has none.
func splitSubscript(pattern string) (string, *subscript, error) {
	if pattern[0] == '~' {
		return pattern, nil, nil
	}
	m := subscriptSyntax.FindStringSubmatch(pattern)
	if m == nil {
		return pattern, nil, nil
	}
	s := &subscript{single: m[2] != "", end: -1}
	numbers := []struct {
		text string
		to   *int
	}{{m[2], &s.start}, {m[3], &s.start}, {m[4], &s.end}}
	for _, n := range numbers {
		if n.text == "" {
			continue
		}
		v, err := strconv.Atoi(n.text)
		if err != nil {
			return "", nil, fmt.Errorf("cannot read the subscript of host pattern %q: %s is too large", pattern, n.text)
		}
		*n.to = v
	}
	return m[1], s, nil
}

func (s *subscript) apply(hosts []*Host) []*Host {
	n := len(hosts)
	if s.single {
		i := s.start
		if i < 0 {
			i += n
		}
		if i < 0 || i >= n {
			return nil
		}
		return hosts[i : i+1]
	}
	end := n
	if s.end >= 0 {
		end = min(s.end+1, n)
	}
	if s.start >= end {
		return nil
	}
	return hosts[s.start:end]
}

// enumerate lists the hosts of every group and every host whose name matches.
func (m *matcher) enumerate(pattern string) ([]*Host, error) {
	match, err := nameMatcher(pattern)
	if err != nil {
		return nil, err
	}
	m.inv.mu.RLock()
	hosts, anyGroup, err := m.inv.namesMatching(pattern, match)
	m.inv.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 && slices.Contains(localNames, pattern) {
		return []*Host{m.inv.Localhost(pattern)}, nil
	}
	if len(hosts) == 0 && !anyGroup && pattern != "all" && !m.warned[pattern] {
		m.warned[pattern] = true
		switch m.inv.opts.PatternMismatch {
		case "error":
			//lint:ignore ST1005 Ansible's own words
			return nil, fmt.Errorf("Could not match supplied host pattern, ignoring: %s", pattern)
		case "ignore":
		default:
			m.inv.warn("Could not match supplied host pattern, ignoring: %s", pattern)
		}
	}
	return hosts, nil
}

func (inv *Inventory) namesMatching(pattern string, match func(string) (bool, error)) (hosts []*Host, anyGroup bool, err error) {
	seen := map[*Host]struct{}{}
	add := func(h *Host) {
		if _, dup := seen[h]; !dup {
			seen[h] = struct{}{}
			hosts = append(hosts, h)
		}
	}
	for _, g := range inv.groupList {
		ok, err := match(g.Name)
		if err != nil {
			return nil, false, err
		}
		if ok {
			anyGroup = true
			for _, h := range g.allHosts() {
				add(h)
			}
		}
	}
	if anyGroup && pattern[0] != '~' && !strings.ContainsAny(pattern, ".?*[") {
		return hosts, true, nil
	}
	for _, h := range inv.hostList {
		ok, err := match(h.Name)
		if err != nil {
			return nil, false, err
		}
		if ok {
			add(h)
		}
	}
	return hosts, anyGroup, nil
}

// nameMatcher compiles "~regex" or a glob into a test for names.
func nameMatcher(pattern string) (func(string) (bool, error), error) {
	if pattern == "all" || pattern == "*" {
		return func(name string) (bool, error) { return pattern == "*" || name == "all", nil }, nil
	}
	if expr, ok := strings.CutPrefix(pattern, "~"); ok {
		re, err := pyre.Compile(expr, 0)
		if err != nil {
			//lint:ignore ST1005 Ansible's own words
			return nil, fmt.Errorf("Invalid host list pattern: %s", pattern)
		}
		return func(name string) (bool, error) {
			m, err := re.Match(name)
			return m != nil, err
		}, nil
	}
	if !strings.ContainsAny(pattern, "*?[") {
		return func(name string) (bool, error) { return name == pattern, nil }, nil
	}
	re, err := regexp.Compile(globSyntax(pattern))
	if err != nil {
		return func(string) (bool, error) { return false, nil }, nil // a range such as [z-a] matches nothing
	}
	return func(name string) (bool, error) { return re.MatchString(name), nil }, nil
}

// globSyntax translates a shell glob (*, ?, [abc], [!abc]) to a regular
// expression for the whole name.
func globSyntax(glob string) string {
	var re strings.Builder
	re.WriteString(`(?s)^`)
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; c {
		case '*':
			re.WriteString(".*")
		case '?':
			re.WriteString(".")
		case '[':
			set, n := globSet(glob[i:])
			re.WriteString(set)
			i += n - 1
		default:
			re.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		}
	}
	re.WriteString(`$`)
	return re.String()
}

// globSet translates the bracket that text begins with and returns its length.
func globSet(text string) (set string, length int) {
	i := 1
	if i < len(text) && text[i] == '!' {
		i++
	}
	if i < len(text) && text[i] == ']' {
		i++
	}
	closing := strings.IndexByte(text[min(i, len(text)):], ']')
	if closing < 0 {
		return `\[`, 1
	}
	body := strings.NewReplacer(`\`, `\\`, `[`, `\[`, `^`, `\^`, `]`, `\]`).Replace(text[1 : i+closing])
	if rest, ok := strings.CutPrefix(body, "!"); ok {
		body = "^" + rest
	}
	return "[" + body + "]", i + closing + 1
}

// Localhost returns the host that a pattern named localhost stands for when no
// source has it: it is in no group, and its connection is local.
func (inv *Inventory) Localhost(name string) *Host {
	inv.mu.Lock()
	defer inv.mu.Unlock()
	if h, ok := inv.lookup(name); ok {
		return h
	}
	if inv.local == nil {
		inv.local = &Host{Name: name, Implicit: true, inv: inv}
		inv.local.vars = []*Layer{{Name: "implicit localhost", Vars: value.DictOf("ansible_connection", "local")}}
	}
	return inv.local
}
