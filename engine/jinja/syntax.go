package jinja

import (
	"errors"

	"play/engine/source"
)

// errorText is an error that is only a message.
type errorText string

// Error gives the message.
func (e errorText) Error() string { return string(e) }

// syntaxError is a mistake in an expression, at a byte offset.
type syntaxError struct {
	at  int
	msg string
}

// Error gives the message.
func (e *syntaxError) Error() string { return e.msg }

// text is a piece of a template and where it starts in its file.
type text struct {
	src string
	pos source.Pos
	// raw says that backslashes in string literals mean themselves, as Ansible
	// has it inside "{{ }}" of playbook strings: regex_replace('(a)', '\1') works
	// there with one backslash.
	raw bool
	// block says that the text is a statement's, not a print tag's.
	block bool
}

// end names what follows the text.
func (t text) end() string {
	if t.block {
		return "end of statement block"
	}
	return "end of print statement"
}

// locate gives an error its place: its own if it has one, else pos.
func locate(err error, pos source.Pos) error {
	if err == nil || isLocated(err) {
		return err
	}
	var u *UndefinedError
	if errors.As(err, &u) && !u.Pos.IsZero() {
		pos = u.Pos
	}
	return source.Errorf(pos, "%w", err)
}

// isLocated tells whether an error has its place already.
func isLocated(err error) bool {
	var e *source.Error
	return errors.As(err, &e) && !e.Pos.IsZero()
}

// place turns a byte offset into a place in the file.
func (t text) place(offset int) source.Pos {
	p := t.pos
	if offset > len(t.src) {
		offset = len(t.src)
	}
	if p.Line == 0 && p.File == "" {
		p.Line, p.Col = 1, 1
	}
	for _, r := range t.src[:offset] {
		p.Col++
		if r == '\n' {
			p.Line++
			p.Col = 1
		}
	}
	return p
}
