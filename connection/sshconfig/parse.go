// Package sshconfig reads OpenSSH's client configuration (ssh_config) as ssh
// itself does. Flowing in: the operator's files. Flowing out: the values that
// hold for one host, before tokens such as %h are expanded. It connects to
// nothing; it runs a command only for "Match exec", by the function it is given.
package sshconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// File is a configuration file that was read, with all it includes.
type File struct {
	path  string
	lines []line
}

// line is one directive.
type line struct {
	number   int
	keyword  string   // lower case
	args     []string // unquoted words
	rest     string   // everything after the keyword
	included []*File  // for "include"
}

// Error is a mistake in a configuration file.
type Error struct {
	File string
	Line int
	Msg  string
}

// Error says where and what.
func (e *Error) Error() string { return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Msg) }

// maxDepth bounds files that include each other, as in ssh.
const maxDepth = 16

// Read reads the file at path. Relative names in its Include lines are looked
// up in dir, and ~ stands for home. A file that is not there is empty.
func Read(path, dir, home string) (*File, error) {
	f, err := read(path, dir, home, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{path: path}, nil
	}
	return f, err
}

func read(path, dir, home string, depth int) (*File, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &File{path: path}
	for i, text := range strings.Split(string(content), "\n") {
		l, err := parseLine(text)
		if err != nil {
			return nil, &Error{path, i + 1, err.Error()}
		}
		if l.keyword == "" {
			continue
		}
		l.number = i + 1
		if l.keyword == "include" {
			if depth == maxDepth {
				return nil, &Error{path, i + 1, "cannot include more files: they are nested too deeply"}
			}
			if l.included, err = include(l.args, dir, home, depth); err != nil {
				return nil, err
			}
		}
		f.lines = append(f.lines, l)
	}
	return f, nil
}

// include reads the files that the patterns name; one that cannot be read is
// passed over, as in ssh.
func include(patterns []string, dir, home string, depth int) ([]*File, error) {
	var files []*File
	for _, p := range patterns {
		if rest, ok := strings.CutPrefix(p, "~/"); ok {
			p = filepath.Join(home, rest)
		} else if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		paths, err := filepath.Glob(p)
		if err != nil {
			return nil, fmt.Errorf("cannot include %q: %w", p, err)
		}
		sort.Strings(paths)
		for _, path := range paths {
			f, err := read(path, dir, home, depth+1)
			var mistake *Error
			if errors.As(err, &mistake) {
				return nil, err
			}
			if err == nil {
				files = append(files, f)
			}
		}
	}
	return files, nil
}

// parseLine reads "Keyword argument…" or "Keyword=argument…".
func parseLine(text string) (line, error) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '#' {
		return line{}, nil
	}
	end := strings.IndexAny(text, " \t=\f")
	if end < 0 {
		return line{}, fmt.Errorf("the value of %q is missing", text)
	}
	rest := strings.TrimLeft(text[end:], " \t\f")
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "="), " \t\f")
	args, err := split(rest)
	if err != nil {
		return line{}, err
	}
	return line{keyword: strings.ToLower(strings.Trim(text[:end], `"`)), args: args, rest: rest}, nil
}

// split cuts words at white space; quotes of either kind hold a word together,
// a backslash takes the meaning of quotes and backslashes, and # begins a
// comment where a word would.
func split(s string) ([]string, error) {
	var words []string
	for i := 0; i < len(s); {
		if s[i] == ' ' || s[i] == '\t' || s[i] == '\f' {
			i++
			continue
		}
		if s[i] == '#' {
			break
		}
		word, n, err := oneWord(s[i:])
		if err != nil {
			return nil, err
		}
		words = append(words, word)
		i += n
	}
	return words, nil
}

// oneWord reads a word at the start of s and tells how long it was.
func oneWord(s string) (word string, n int, err error) {
	var b strings.Builder
	quote := byte(0)
	for ; n < len(s); n++ {
		c := s[n]
		switch {
		case c == '\\' && n+1 < len(s) && (strings.IndexByte(`'"\`, s[n+1]) >= 0 || quote == 0 && s[n+1] == ' '):
			n++
			b.WriteByte(s[n])
		case quote == 0 && (c == ' ' || c == '\t' || c == '\f'):
			return b.String(), n, nil
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote != 0 && c == quote:
			quote = 0
		default:
			b.WriteByte(c)
		}
	}
	if quote != 0 {
		return "", 0, fmt.Errorf("a quote is not closed: %s", s)
	}
	return b.String(), n, nil
}
