package jinja

import (
	"strings"

	"play/engine/source"
)

// Missing is a filter, test or lookup that a text uses and that there is not.
type Missing struct {
	Kind string // "filter", "test" or "lookup"
	Name string
	Pos  source.Pos
}

// Missing lists the filters, tests and lookups of a text that the environment
// does not have, in order. Bare says that the text is a condition: an
// expression without delimiters. Of a text that cannot be read it lists what it
// could; names that are worked out when the text is evaluated are not seen.
func (e *Env) Missing(src string, pos source.Pos, bare bool) []Missing {
	whole := text{src: src, pos: pos}
	if bare && !IsTemplate(src) {
		return e.missingIn(whole)
	}
	pieces, err := scan(whole, defaultDelims())
	if err != nil {
		return nil
	}
	var found []Missing
	for _, p := range pieces {
		if p.kind != pieceText {
			found = append(found, e.missingIn(p.text)...)
		}
	}
	return found
}

// missingIn looks through one expression or statement.
func (e *Env) missingIn(t text) []Missing {
	tokens, err := tokenize(t.src, t.raw)
	if err != nil {
		return nil
	}
	var found []Missing
	for i := range tokens {
		kind, name, at := used(tokens[:i], tokens[i:])
		if name == "" {
			continue
		}
		if _, ok := e.builtin(kind, name); !ok {
			found = append(found, Missing{kind, name, t.place(tokens[i+at].at)})
		}
	}
	return found
}

// used tells which builtin the tokens ahead name, and at which of them.
func used(before, ahead []token) (kind, name string, at int) {
	first := ahead[0]
	switch {
	case first.text == "|" && first.kind == kOp:
		return "filter", dotted(ahead[1:]), 1
	case first.kind != kName || len(before) > 0 && before[len(before)-1].text == ".":
		return "", "", 0
	}
	switch first.text {
	case "is":
		if len(before) == 0 || len(ahead) > 1 && ahead[1].text == "=" {
			return "", "", 0 // a name, not the operator
		}
		if len(ahead) > 1 && ahead[1].kind == kName && ahead[1].text == "not" {
			return "test", dotted(ahead[2:]), 2
		}
		return "test", dotted(ahead[1:]), 1
	case "lookup", "query", "q":
		return "lookup", literalArg(ahead, 0), 2
	}
	if len(before) == 0 || before[len(before)-1].text != "|" {
		return "", "", 0
	}
	switch first.text {
	case "map":
		return "filter", literalArg(ahead, 0), 2
	case "select", "reject":
		return "test", literalArg(ahead, 0), 2
	case "selectattr", "rejectattr":
		return "test", literalArg(ahead, 1), 4
	}
	return "", "", 0
}

// dotted is the name that the tokens begin with, "" when they begin with none.
func dotted(tokens []token) string {
	if len(tokens) == 0 || tokens[0].kind != kName {
		return ""
	}
	parts := []string{tokens[0].text}
	for i := 1; i+1 < len(tokens) && tokens[i].text == "." && tokens[i+1].kind == kName; i += 2 {
		parts = append(parts, tokens[i+1].text)
	}
	return strings.Join(parts, ".")
}

// literalArg is the n-th argument of the call that the tokens begin with, when
// it and those before it are each one string.
func literalArg(tokens []token, n int) string {
	i := 2 + 2*n
	if len(tokens) <= i+1 || tokens[1].text != "(" || tokens[i].kind != kString || n > 0 && tokens[i-1].text != "," {
		return ""
	}
	if end := tokens[i+1]; end.kind != kOp || end.text != ")" && end.text != "," {
		return ""
	}
	s, _ := tokens[i].val.(string)
	return s
}
