package jinja

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"play/modules/value"
)

// pathFilters take file names apart and put them together; fileglob and
// realpath look at the control machine's files.
func pathFilters() []Builtin {
	return []Builtin{
		{Name: "basename", Doc: "the last part of a path", Fn: textFilter(func(s string) any { return s[strings.LastIndexByte(s, '/')+1:] })},
		{Name: "dirname", Doc: "a path without its last part", Fn: textFilter(func(s string) any { return pyDirname(s) })},
		{Name: "expanduser", Doc: "replace ~ by the home folder", Fn: textFilter(func(s string) any { return expandUser(s) })},
		{Name: "expandvars", Doc: "replace $NAME by the environment's value", Fn: textFilter(func(s string) any { return expandVars(s) })},
		{Name: "fileglob", Doc: "the files that match a pattern", Fn: filterFileglob},
		{Name: "path_join", Doc: "put the parts of a path together", Fn: filterPathJoin},
		{Name: "realpath", Doc: "the absolute path without symbolic links", Fn: textFilter(func(s string) any { return realPath(s) })},
		{Name: "relpath", Params: "start='.'", Doc: "the path as seen from another folder", Fn: filterRelpath},
		{Name: "splitext", Doc: "the path before and the text from the last dot", Fn: textFilter(splitExt)},
		{Name: "win_basename", Doc: "the last part of a Windows path", Fn: textFilter(func(s string) any { _, tail := winSplit(s); return tail })},
		{Name: "win_dirname", Doc: "a Windows path without its last part", Fn: textFilter(func(s string) any { head, _ := winSplit(s); return head })},
		{Name: "win_splitdrive", Doc: "the drive and the rest of a Windows path", Fn: textFilter(func(s string) any {
			drive, rest := winDrive(s)
			return value.Tuple{drive, rest}
		})},
	}
}

// textFilter makes a filter of a function on paths.
func textFilter(f func(string) any) func(*Call) (any, error) {
	return func(c *Call) (any, error) {
		s, ok := c.Value.(string)
		if !ok {
			return nil, pathTypeError(c.Value)
		}
		return f(s), nil
	}
}

func pathTypeError(v any) error {
	return fmt.Errorf("expected str, bytes or os.PathLike object, not %s", value.TypeName(v))
}

// pyDirname is os.path.dirname.
func pyDirname(s string) string {
	head := s[:strings.LastIndexByte(s, '/')+1]
	if trimmed := strings.TrimRight(head, "/"); trimmed != "" {
		return trimmed
	}
	return head
}

// splitExt is os.path.splitext: leading dots begin a name, not a suffix.
func splitExt(s string) any {
	base := strings.LastIndexByte(s, '/') + 1
	dot := strings.LastIndexByte(s, '.')
	if dot < base || strings.Trim(s[base:dot], ".") == "" {
		return value.Tuple{s, ""}
	}
	return value.Tuple{s[:dot], s[dot:]}
}

// expandUser is os.path.expanduser.
func expandUser(s string) string {
	if !strings.HasPrefix(s, "~") {
		return s
	}
	name, rest, _ := strings.Cut(s[1:], "/")
	if rest != "" || strings.HasSuffix(s, "/") {
		rest = "/" + rest
	}
	home := os.Getenv("HOME")
	if name != "" || home == "" {
		u, err := lookupUser(name)
		if err != nil {
			return s
		}
		home = u.HomeDir
	}
	if out := strings.TrimRight(home, "/") + rest; out != "" {
		return out
	}
	return "/"
}

func lookupUser(name string) (*user.User, error) {
	if name == "" {
		return user.Current()
	}
	return user.Lookup(name)
}

var envNames = regexp.MustCompile(`\$(\w+|\{[^}]*\})`)

// expandVars is os.path.expandvars: unknown names stay as they are.
func expandVars(s string) string {
	return envNames.ReplaceAllStringFunc(s, func(ref string) string {
		if v, ok := os.LookupEnv(strings.Trim(ref[1:], "{}")); ok {
			return v
		}
		return ref
	})
}

// realPath is os.path.realpath: what does not exist is kept as it stands.
func realPath(s string) string {
	abs, err := filepath.Abs(s)
	if err != nil {
		return s
	}
	rest := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == "/" {
			return abs
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

func filterRelpath(c *Call) (any, error) {
	s, ok := c.Value.(string)
	start, sok := c.Args[0].(string)
	switch {
	case !ok:
		return nil, pathTypeError(c.Value)
	case !sok:
		return nil, pathTypeError(c.Args[0])
	case s == "":
		return nil, fmt.Errorf("no path specified")
	}
	path, err := filepath.Abs(s)
	if err != nil {
		return nil, err
	}
	if start, err = filepath.Abs(start); err != nil {
		return nil, err
	}
	return filepath.Rel(start, path)
}

func filterPathJoin(c *Call) (any, error) {
	if s, ok := c.Value.(string); ok {
		return s, nil
	}
	if !isSequence(c.Value) {
		return nil, fmt.Errorf("|path_join expects string or sequence, got <class '%s'> instead.", value.TypeName(c.Value))
	}
	items, _ := value.Items(c.Value)
	if len(items) == 0 {
		return nil, fmt.Errorf("join() missing 1 required positional argument: 'a'")
	}
	path := ""
	for i, item := range items {
		part, ok := item.(string)
		switch {
		case !ok:
			return nil, pathTypeError(item)
		case i == 0 || strings.HasPrefix(part, "/"):
			path = part
		case path == "" || strings.HasSuffix(path, "/"):
			path += part
		default:
			path += "/" + part
		}
	}
	return path, nil
}

func filterFileglob(c *Call) (any, error) {
	pattern, ok := c.Value.(string)
	if !ok {
		return nil, pathTypeError(c.Value)
	}
	out := value.NewList()
	for _, name := range globFiles(pattern) {
		out.Append(name)
	}
	return out, nil
}

// globFiles returns the files that match, sorted; a folder is no file, and a
// name with a leading dot matches only if the pattern has one.
func globFiles(pattern string) []string {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil
	}
	var files []string
	for _, name := range names {
		hidden := strings.HasPrefix(filepath.Base(name), ".") && !strings.HasPrefix(filepath.Base(pattern), ".")
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() && !hidden {
			files = append(files, name)
		}
	}
	sort.Strings(files)
	return files
}

// winDrive is ntpath.splitdrive.
func winDrive(s string) (drive, rest string) {
	norm := strings.ReplaceAll(s, "/", `\`)
	if strings.HasPrefix(norm, `\\`) && !strings.HasPrefix(norm, `\\\`) {
		host := strings.IndexByte(norm[2:], '\\')
		if host < 0 {
			return "", s
		}
		share := strings.IndexByte(norm[2+host+1:], '\\')
		switch {
		case share == 0:
			return "", s
		case share < 0:
			return s, ""
		}
		at := 2 + host + 1 + share
		return s[:at], s[at:]
	}
	if len(s) >= 2 && s[1] == ':' {
		return s[:2], s[2:]
	}
	return "", s
}

// winSplit is ntpath.split.
func winSplit(s string) (head, tail string) {
	drive, rest := winDrive(s)
	i := strings.LastIndexAny(rest, `/\`) + 1
	head, tail = rest[:i], rest[i:]
	if trimmed := strings.TrimRight(head, `/\`); trimmed != "" {
		head = trimmed
	}
	return drive + head, tail
}
