// Package source says where things stand in the operator's files. Loaders put
// a Pos on everything they read; an Error carries one to the person. It reads
// a file again only to quote it, and prints nothing.
package source

import "fmt"

// Pos is a place in a file: 1-based line and column (in characters). The zero
// Pos is "no known place".
type Pos struct {
	File string
	Line int
	Col  int
}

// IsZero reports whether the place is unknown.
func (p Pos) IsZero() bool { return p.File == "" && p.Line == 0 }

// String gives file:line:col, leaving out what is unknown.
func (p Pos) String() string {
	switch {
	case p.IsZero():
		return ""
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Error is a mistake in the operator's files: what is wrong, where, and what
// would help. Msg starts in lower case and names the thing in quotes.
type Error struct {
	Pos  Pos
	Msg  string
	Hint string // one sentence, or empty
	Err  error  // the cause, or nil; already told of in Msg where it matters
}

// Errorf makes an Error without a hint; %w sets its cause.
func Errorf(pos Pos, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	var cause error
	if u, ok := err.(interface{ Unwrap() error }); ok {
		cause = u.Unwrap()
	}
	return &Error{Pos: pos, Msg: err.Error(), Err: cause}
}

// WithHint returns the error with a hint added.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// Error gives the message with its place in front, on one line.
func (e *Error) Error() string {
	if e.Pos.IsZero() {
		return e.Msg
	}
	return e.Pos.String() + ": " + e.Msg
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }
