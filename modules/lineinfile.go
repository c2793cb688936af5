package modules

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"play/modules/argspec"
	"play/modules/pyre"
	"play/modules/value"
)

// lineinfileArgs are the arguments of lineinfile.
type lineinfileArgs struct {
	Path         string  `arg:"path,required,type=path,aliases=dest|destfile|name" doc:"the file to change"`
	State        string  `arg:"state,default=present,choices=absent|present" doc:"whether the line shall be there"`
	Regexp       *string `arg:"regexp,aliases=regex" doc:"pattern of the line to replace or remove"`
	SearchString *string `arg:"search_string" doc:"text of the line to replace or remove"`
	Line         *string `arg:"line,aliases=value" doc:"the line"`
	Backrefs     bool    `arg:"backrefs,default=no" doc:"fill groups of regexp into the line; without a match change nothing"`
	InsertAfter  *string `arg:"insertafter" doc:"pattern of the line to insert after, or EOF"`
	InsertBefore *string `arg:"insertbefore" doc:"pattern of the line to insert before, or BOF"`
	Create       bool    `arg:"create,default=no" doc:"create a missing file"`
	Backup       bool    `arg:"backup,default=no" doc:"keep a copy of the old file"`
	FirstMatch   bool    `arg:"firstmatch,default=no" doc:"use the first match, not the last"`
	Validate     *string `arg:"validate" doc:"command that checks the new content, with %s for its file"`
	fileArgs
}

// Rules relates the arguments.
func (lineinfileArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{
		{"insertbefore", "insertafter"}, {"regexp", "search_string"}, {"backrefs", "search_string"},
	}}
}

func lineinfile() Module {
	return Define("lineinfile", "Make sure that a line is in a file, or is not", runLineinfile)
}

func runLineinfile(c *Call, args *lineinfileArgs) (*Result, error) {
	path := c.abs(args.Path)
	if isDir(path) {
		return nil, &Failure{Msg: fmt.Sprintf("Path %s is a directory !", path), With: value.DictOf("rc", 256)}
	}
	warnings := emptyPattern(args)
	var out *Result
	var err error
	if args.State == "present" {
		out, err = linePresent(c, args, path)
	} else {
		out, err = lineAbsent(c, args, path)
	}
	if err == nil && len(warnings) > 0 {
		out.Set("warnings", stringList(warnings))
	}
	return out, err
}

func emptyPattern(args *lineinfileArgs) []string {
	for _, p := range []struct {
		what string
		text *string
	}{{"regular expression", args.Regexp}, {"search string", args.SearchString}} {
		if p.text != nil && *p.text == "" {
			return []string{"The " + p.what + " is an empty string, which will match every line in the file. " +
				"This may have unintended consequences, such as replacing the last line in the file rather than appending. " +
				"If this is desired, use '^' to match every line in the file and avoid this warning."}
		}
	}
	return nil
}

func linePresent(c *Call, args *lineinfileArgs, path string) (*Result, error) {
	switch {
	case args.Backrefs && args.Regexp == nil:
		return nil, Failf("regexp is required with backrefs=true")
	case args.Line == nil:
		return nil, Failf("line is required with state=present")
	}
	edit := textEdit{Call: c, fileArgs: &args.fileArgs, path: path, validate: args.Validate, backup: args.Backup}
	if !exists(path) {
		if !args.Create {
			return nil, &Failure{Msg: fmt.Sprintf("Destination %s does not exist !", path), With: value.DictOf("rc", 257)}
		}
		edit.created = true
		if dir := filepath.Dir(path); !c.Check && !exists(dir) {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return nil, Failf("Error creating %s (%s)", dir, osText(err, dir))
			}
		}
	}
	if err := edit.read(); err != nil {
		return nil, err
	}
	lines := splitLines(edit.old)
	p, err := newLinePlacer(args, lines)
	if err != nil {
		return nil, err
	}
	msg, err := p.place()
	if err != nil {
		return nil, err
	}
	edit.new = strings.Join(p.lines, "")
	return edit.finish(msg, nil)
}

func lineAbsent(c *Call, args *lineinfileArgs, path string) (*Result, error) {
	if args.Line == nil && args.Regexp == nil && args.SearchString == nil {
		return nil, Failf("one of line, search_string, or regexp is required with state=absent")
	}
	if !exists(path) {
		return NewResult(false).With("msg", "file not present"), nil
	}
	edit := textEdit{Call: c, fileArgs: &args.fileArgs, path: path, validate: args.Validate, backup: args.Backup}
	if err := edit.read(); err != nil {
		return nil, err
	}
	pattern, err := linePattern(args.Regexp)
	if err != nil {
		return nil, err
	}
	found := 0
	var kept []string
	for _, line := range splitLines(edit.old) {
		hit, err := lineHit(args, pattern, line)
		if err != nil {
			return nil, err
		}
		if hit {
			found++
		} else {
			kept = append(kept, line)
		}
	}
	edit.new = strings.Join(kept, "")
	msg := ""
	if found > 0 {
		msg = fmt.Sprintf("%d line(s) removed", found)
	}
	return edit.finish(msg, value.DictOf("found", found))
}

// lineHit tells whether a line is one to remove.
func lineHit(args *lineinfileArgs, pattern *pyre.Regexp, line string) (bool, error) {
	switch {
	case pattern != nil:
		m, err := pattern.Search(line)
		return m != nil, err
	case args.SearchString != nil:
		return strings.Contains(line, *args.SearchString), nil
	}
	return strings.TrimRight(line, "\r\n") == *args.Line, nil
}

// linePattern compiles a pattern on bytes, as lines are bytes of any encoding.
func linePattern(text *string) (*pyre.Regexp, error) {
	if text == nil {
		return nil, nil
	}
	return compilePattern(*text, pyre.Bytes)
}

func compilePattern(text string, flags pyre.Flags) (*pyre.Regexp, error) {
	re, err := pyre.Compile(text, flags)
	if err != nil {
		return nil, Failf("cannot compile the regular expression '%s': %v", text, err)
	}
	return re, nil
}

// splitLines cuts text behind each newline.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
