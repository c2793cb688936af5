package modules

import (
	"slices"
	"strings"

	"play/modules/pyre"
)

// linePlacer finds the place of lineinfile's line and puts it there.
type linePlacer struct {
	*lineinfileArgs
	lines []string

	pattern *pyre.Regexp // regexp; nil: none
	anchor  *pyre.Regexp // insertafter or insertbefore; nil: EOF, BOF or none
	after   bool         // the anchor is insertafter

	match  *pyre.Match // of regexp
	found  int         // the line to replace; -1: none
	insert int         // where to insert by the anchor; -1: nowhere
}

func newLinePlacer(args *lineinfileArgs, lines []string) (*linePlacer, error) {
	p := &linePlacer{lineinfileArgs: args, lines: lines, found: -1, insert: -1}
	var err error
	if p.pattern, err = linePattern(args.Regexp); err != nil {
		return nil, err
	}
	anchor := args.InsertBefore
	if args.InsertAfter != nil {
		anchor, p.after = args.InsertAfter, true
	}
	if anchor != nil && *anchor != "BOF" && (!p.after || *anchor != "EOF") {
		p.anchor, err = linePattern(anchor)
	}
	return p, err
}

func (p *linePlacer) place() (msg string, err error) {
	if err := p.search(); err != nil {
		return "", err
	}
	if p.found < 0 {
		if err := p.searchAnchor(); err != nil {
			return "", err
		}
	}
	line := *p.Line
	switch {
	case p.found >= 0:
		return p.replace(line)
	case p.Backrefs:
		return "", nil
	case p.atStart():
		p.lines = slices.Insert(p.lines, 0, line+"\n")
		return "line added", nil
	case p.insert < 0:
		return p.add(len(p.lines), line), nil
	case p.after && p.settled(line):
		return "", nil
	}
	return p.add(p.insert, line), nil
}

// search looks for the line that regexp or search_string means.
func (p *linePlacer) search() error {
	if p.pattern == nil && p.SearchString == nil {
		return nil
	}
	for i, line := range p.lines {
		if p.pattern != nil {
			m, err := p.pattern.Search(line)
			if err != nil {
				return err
			}
			if m == nil {
				continue
			}
			p.match = m
		} else if !strings.Contains(line, *p.SearchString) {
			continue
		}
		p.found = i
		if p.FirstMatch {
			return nil
		}
	}
	return nil
}

// searchAnchor looks for the line itself, and for the anchor.
func (p *linePlacer) searchAnchor() error {
	for i, line := range p.lines {
		if strings.TrimRight(line, "\r\n") == *p.Line {
			p.found = i
			continue
		}
		if p.anchor == nil {
			continue
		}
		m, err := p.anchor.Search(line)
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		p.insert = i
		if p.after {
			p.insert = i + 1
		}
		if p.FirstMatch {
			return nil
		}
	}
	return nil
}

func (p *linePlacer) replace(line string) (string, error) {
	if p.Backrefs && p.match != nil {
		t, err := p.pattern.Template(line)
		if err != nil {
			return "", Failf("cannot use the line '%s' with backrefs: %v", line, err)
		}
		line = t.Expand(p.match)
	}
	if !strings.HasSuffix(line, "\n") {
		line += "\n"
	}
	if p.lines[p.found] == line {
		return "", nil
	}
	p.lines[p.found] = line
	return "line replaced", nil
}

func (p *linePlacer) atStart() bool {
	return p.InsertBefore != nil && *p.InsertBefore == "BOF" || p.InsertAfter != nil && *p.InsertAfter == "BOF"
}

// settled tells whether the line already stands behind the anchor.
func (p *linePlacer) settled(line string) bool {
	i := p.insert
	if i == len(p.lines) {
		i--
	}
	return strings.TrimRight(p.lines[i], "\r\n") == line
}

// add inserts the line, ending the one before it where needed.
func (p *linePlacer) add(at int, line string) string {
	if at > 0 && at == len(p.lines) && !strings.HasSuffix(p.lines[at-1], "\n") && !strings.HasSuffix(p.lines[at-1], "\r") {
		p.lines[at-1] += "\n"
	}
	p.lines = slices.Insert(p.lines, at, line+"\n")
	return "line added"
}
