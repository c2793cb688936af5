package pyre

import "strings"

// Sub replaces the first count matches (0: all) by a template, as re.subn; it
// also returns the number of replacements.
func (re *Regexp) Sub(template, s string, count int) (string, int, error) {
	t, err := re.Template(template)
	if err != nil {
		return "", 0, err
	}
	return re.SubFunc(s, count, func(m *Match) (string, error) { return t.Expand(m), nil })
}

// SubFunc replaces the first count matches (0: all) by what f returns.
func (re *Regexp) SubFunc(s string, count int, f func(*Match) (string, error)) (string, int, error) {
	text := decode(s, re.bytes)
	found, err := re.find(text, count)
	if err != nil {
		return "", 0, err
	}
	var b strings.Builder
	last := 0
	for _, m := range found {
		b.WriteString(encode(text[last:m.spans[0][0]]))
		part, err := f(m)
		if err != nil {
			return "", 0, err
		}
		b.WriteString(part)
		last = m.spans[0][1]
	}
	b.WriteString(encode(text[last:]))
	return b.String(), len(found), nil
}

// Split splits at the first limit matches (0: all) as re.split: the groups of
// each separator stand between the parts, nil for one that took no part.
func (re *Regexp) Split(s string, limit int) ([]*string, error) {
	text := decode(s, re.bytes)
	found, err := re.find(text, limit)
	if err != nil {
		return nil, err
	}
	var parts []*string
	last := 0
	for _, m := range found {
		part := encode(text[last:m.spans[0][0]])
		parts = append(parts, &part)
		for i := 1; i <= re.groups; i++ {
			parts = append(parts, m.pointer(i))
		}
		last = m.spans[0][1]
	}
	rest := encode(text[last:])
	return append(parts, &rest), nil
}

func (m *Match) pointer(i int) *string {
	s, ok := m.Group(i)
	if !ok {
		return nil
	}
	return &s
}
