package jinja

// NamesIn lists the variables that a text reads, as far as that shows without
// evaluating it: each name once, in order. Bare says that the text is a
// condition: an expression without delimiters. Of a text that cannot be read it
// lists what it could.
func NamesIn(src string, bare bool) []string {
	whole := text{src: src}
	if bare && !IsTemplate(src) {
		return namesOf(nil, whole)
	}
	pieces, err := scan(whole, defaultDelims())
	if err != nil {
		return nil
	}
	var names []string
	for _, p := range pieces {
		if p.kind != pieceText {
			names = namesOf(names, p.text)
		}
	}
	return names
}

// noVariables are the words of expressions and statements.
var noVariables = map[string]bool{
	"and": true, "or": true, "not": true, "in": true, "is": true, "if": true, "else": true, "elif": true, "endif": true,
	"for": true, "endfor": true, "set": true, "endset": true, "true": true, "false": true, "none": true,
	"True": true, "False": true, "None": true, "recursive": true,
}

func namesOf(names []string, t text) []string {
	tokens, err := tokenize(t.src, t.raw)
	if err != nil {
		return names
	}
	for i, tok := range tokens {
		if tok.kind != kName || noVariables[tok.text] || follows(tokens[:i]) || tokens[i+1].text == "=" {
			continue
		}
		if !contains(names, tok.text) {
			names = append(names, tok.text)
		}
	}
	return names
}

// follows tells whether a name after these tokens is an attribute, a filter or
// a test.
func follows(before []token) bool {
	if len(before) == 0 {
		return false
	}
	last := before[len(before)-1].text
	if last == "not" && len(before) > 1 {
		last = before[len(before)-2].text
	}
	return last == "." || last == "|" || last == "is"
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}
