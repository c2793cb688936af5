package modules

import (
	"fmt"
	"unicode/utf8"

	"play/modules/pyre"
	"play/modules/value"
)

// replaceArgs are the arguments of replace.
type replaceArgs struct {
	Path     string  `arg:"path,required,type=path,aliases=dest|destfile|name" doc:"the file to change"`
	Regexp   string  `arg:"regexp,required" doc:"pattern of what to replace; ^ and $ match at each line"`
	Replace  string  `arg:"replace,default=" doc:"the new text, with \\1 or \\g<name> for groups"`
	After    *string `arg:"after" doc:"pattern behind which the text is replaced"`
	Before   *string `arg:"before" doc:"pattern up to which the text is replaced"`
	Backup   bool    `arg:"backup,default=no" doc:"keep a copy of the old file"`
	Validate *string `arg:"validate" doc:"command that checks the new content, with %s for its file"`
	Encoding string  `arg:"encoding,default=utf-8" doc:"encoding of the file: utf-8, ascii or latin-1"`
	fileArgs
}

func replace() Module {
	return Define("replace", "Replace all matches of a pattern in a file", runReplace)
}

func runReplace(c *Call, args *replaceArgs) (*Result, error) {
	path := c.abs(args.Path)
	if isDir(path) {
		return nil, &Failure{Msg: fmt.Sprintf("Path %s is a directory !", path), With: value.DictOf("rc", 256)}
	}
	if !exists(path) {
		return nil, &Failure{Msg: fmt.Sprintf("Path %s does not exist !", path), With: value.DictOf("rc", 257)}
	}
	e := textEdit{Call: c, fileArgs: &args.fileArgs, path: path, validate: args.Validate, backup: args.Backup}
	if err := e.read(); err != nil {
		return nil, err
	}
	text, err := decodeText(e.old, args.Encoding)
	if err != nil {
		return nil, Failf("Unable to read the contents of %s: %v", path, err)
	}
	out := &Result{value.DictOf("rc", 0)}
	next, n, missed, err := args.apply(text)
	if err != nil {
		return nil, err
	}
	if missed != "" {
		return out.With("msg", "Pattern for before/after params did not match the given file: "+missed).Changed(false), nil
	}
	changed := n > 0 && next != text
	if e.new, err = encodeText(next, args.Encoding); err != nil {
		return nil, Failf("cannot write %q: %v", path, err)
	}
	return args.finish(&e, out, text, next, n, changed)
}

func (a *replaceArgs) finish(e *textEdit, out *Result, text, next string, n int, changed bool) (*Result, error) {
	msg := ""
	if changed {
		msg = fmt.Sprintf("%d replacements made", n)
	}
	if changed && e.Diff {
		out.Set("diff", value.DictOf("before_header", e.path, "before", text, "after_header", e.path, "after", next))
	}
	if changed && !e.Check {
		backup, err := e.write()
		if err != nil {
			return nil, err
		}
		if backup != "" {
			out.Set("backup_file", backup)
		}
	}
	msg, changed, _, err := e.attributes(msg, changed)
	if err != nil {
		return nil, err
	}
	return out.With("msg", msg).Changed(changed), nil
}

// apply replaces in the part that after and before leave; missed is the pattern
// of that part when the text has none.
func (a *replaceArgs) apply(text string) (next string, n int, missed string, err error) {
	re, err := compilePattern(a.Regexp, pyre.Multiline)
	if err != nil {
		return "", 0, "", err
	}
	head, section, tail := "", text, ""
	if pattern := a.section(); pattern != "" {
		part, err := compilePattern(pattern, pyre.DotAll)
		if err != nil {
			return "", 0, "", err
		}
		m, err := part.Search(text)
		if err != nil || m == nil {
			return "", 0, pattern, err
		}
		head, section, tail = m.Around("subsection")
	}
	next, n, err = re.Sub(a.Replace, section, 0)
	if err != nil {
		return "", 0, "", Failf("cannot replace by '%s': %v", a.Replace, err)
	}
	return head + next + tail, n, "", nil
}

func (a *replaceArgs) section() string {
	switch {
	case a.After != nil && a.Before != nil && *a.After != "" && *a.Before != "":
		return *a.After + "(?P<subsection>.*?)" + *a.Before
	case a.After != nil && *a.After != "":
		return *a.After + "(?P<subsection>.*)"
	case a.Before != nil && *a.Before != "":
		return "(?P<subsection>.*)" + *a.Before
	}
	return ""
}

// decodeText turns a file's bytes into text.
func decodeText(data, encoding string) (string, error) {
	switch normalEncoding(encoding) {
	case "utf8":
		if !utf8.ValidString(data) {
			return "", fmt.Errorf("the content is not valid %s", encoding)
		}
		return data, nil
	case "ascii":
		for i := range len(data) {
			if data[i] >= utf8.RuneSelf {
				return "", fmt.Errorf("the content is not valid %s", encoding)
			}
		}
		return data, nil
	case "latin1":
		runes := make([]rune, len(data))
		for i := range len(data) {
			runes[i] = rune(data[i])
		}
		return string(runes), nil
	}
	return "", fmt.Errorf("unknown encoding: %s", encoding)
}

// encodeText is the reverse of decodeText.
func encodeText(text, encoding string) (string, error) {
	limit := map[string]rune{"ascii": 0x7f, "latin1": 0xff}[normalEncoding(encoding)]
	if limit == 0 {
		return text, nil
	}
	var out []byte
	for _, r := range text {
		if r > limit {
			return "", fmt.Errorf("%q has no place in %s", string(r), encoding)
		}
		out = append(out, byte(r))
	}
	return string(out), nil
}

func normalEncoding(name string) string {
	switch name {
	case "utf-8", "utf8", "UTF-8", "utf_8", "U8":
		return "utf8"
	case "ascii", "us-ascii", "US-ASCII", "646":
		return "ascii"
	case "latin-1", "latin1", "iso-8859-1", "iso8859-1", "ISO-8859-1", "latin_1", "L1":
		return "latin1"
	}
	return ""
}
