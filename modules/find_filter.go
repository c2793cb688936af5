package modules

import (
	"bufio"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/pyre"
	"play/modules/value"
)

// findFilter holds find's conditions, ready for use.
type findFilter struct {
	args               *findArgs
	now                time.Time
	patterns, excludes []*pyre.Regexp
	contains           *pyre.Regexp // nil: none
	age, size          float64      // seconds, bytes; negative: at most
	hasAge, hasSize    bool
}

func newFindFilter(args *findArgs, now time.Time) (*findFilter, error) {
	f := &findFilter{args: args, now: now}
	var err error
	f.age, f.hasAge, err = quantity(args.Age, `^(-?\d+)([smhdw]?)$`, map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800})
	if err != nil {
		return nil, &Failure{Msg: "failed to process age", With: value.DictOf("age", *args.Age)}
	}
	f.size, f.hasSize, err = quantity(args.Size, `^(-?\d+)([bkmgt]?)$`, map[string]float64{"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40})
	if err != nil {
		return nil, &Failure{Msg: "failed to process size", With: value.DictOf("size", *args.Size)}
	}
	if f.patterns, err = f.compile(args.Patterns); err != nil {
		return nil, err
	}
	if f.excludes, err = f.compile(args.Excludes); err != nil {
		return nil, err
	}
	if args.Contains != nil && *args.Contains != "" {
		f.contains, err = compilePattern(*args.Contains, 0)
	}
	return f, err
}

func (f *findFilter) compile(patterns []string) ([]*pyre.Regexp, error) {
	var out []*pyre.Regexp
	for _, p := range patterns {
		if !f.args.UseRegex {
			p = globPattern(p)
		}
		re, err := compilePattern(p, 0)
		if err != nil {
			return nil, err
		}
		out = append(out, re)
	}
	return out, nil
}

// globPattern turns a shell pattern into a regular expression, as fnmatch.
func globPattern(glob string) string {
	var b strings.Builder
	b.WriteString("(?s:")
	runes := []rune(glob)
	for i := 0; i < len(runes); i++ {
		switch r := runes[i]; r {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		case '[':
			end := i + 1
			if end < len(runes) && runes[end] == '!' {
				end++
			}
			if end < len(runes) && runes[end] == ']' {
				end++
			}
			for end < len(runes) && runes[end] != ']' {
				end++
			}
			if end >= len(runes) {
				b.WriteString(`\[`)
				continue
			}
			b.WriteString(globClass(string(runes[i+1 : end])))
			i = end
		default:
			b.WriteString(pyre.Escape(string(r)))
		}
	}
	b.WriteString(`)\Z`)
	return b.String()
}

func globClass(body string) string {
	body = strings.ReplaceAll(body, `\`, `\\`)
	body = strings.ReplaceAll(body, "[", `\[`)
	if rest, ok := strings.CutPrefix(body, "!"); ok {
		return "[^" + rest + "]"
	}
	return "[" + strings.Replace(body, "^", `\^`, 1) + "]"
}

// match tells whether a path meets all conditions that count for its type.
func (f *findFilter) match(path string, st *unix.Stat_t) (bool, error) {
	kind := st.Mode & unix.S_IFMT
	regular := kind == unix.S_IFREG
	switch f.args.FileType {
	case "directory":
		if kind != unix.S_IFDIR {
			return false, nil
		}
	case "link":
		if kind != unix.S_IFLNK {
			return false, nil
		}
	case "file":
		if !regular {
			return false, nil
		}
	}
	named, err := f.named(filepath.Base(path))
	if err != nil || !named || !f.aged(st) {
		return false, err
	}
	if regular && f.args.FileType != "link" && !f.sized(st) {
		return false, nil
	}
	if f.args.FileType == "file" && f.contains != nil {
		return f.holds(path)
	}
	return true, nil
}

func (f *findFilter) named(name string) (bool, error) {
	ok, err := anyMatch(f.patterns, name)
	if err != nil || (!ok && len(f.patterns) > 0) {
		return false, err
	}
	out, err := anyMatch(f.excludes, name)
	return !out, err
}

func anyMatch(patterns []*pyre.Regexp, name string) (bool, error) {
	for _, p := range patterns {
		m, err := p.Match(name)
		if err != nil || m != nil {
			return m != nil, err
		}
	}
	return false, nil
}

func (f *findFilter) aged(st *unix.Stat_t) bool {
	if !f.hasAge {
		return true
	}
	stamp := map[string]unix.Timespec{"mtime": st.Mtim, "atime": st.Atim, "ctime": st.Ctim}[f.args.AgeStamp]
	old := f.now.Sub(time.Unix(stamp.Unix())).Seconds()
	if f.age >= 0 {
		return old >= f.age
	}
	return old <= math.Abs(f.age)
}

func (f *findFilter) sized(st *unix.Stat_t) bool {
	if !f.hasSize {
		return true
	}
	if f.size >= 0 {
		return float64(st.Size) >= f.size
	}
	return float64(st.Size) <= math.Abs(f.size)
}

// holds tells whether the content matches: a line from its start, or anything
// in the whole file. A file that cannot be read does not.
func (f *findFilter) holds(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, nil
	}
	defer file.Close()
	if f.args.WholeFile {
		data, err := io.ReadAll(file)
		if err != nil {
			return false, nil
		}
		m, err := f.contains.Search(string(data))
		return m != nil, err
	}
	r := bufio.NewReader(file)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			if m, err := f.contains.Match(line); err != nil || m != nil {
				return m != nil, err
			}
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, nil
		}
	}
}
