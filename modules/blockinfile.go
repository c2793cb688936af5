package modules

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// blockinfileArgs are the arguments of blockinfile.
type blockinfileArgs struct {
	Path         string  `arg:"path,required,type=path,aliases=dest|destfile|name" doc:"the file to change"`
	State        string  `arg:"state,default=present,choices=absent|present" doc:"whether the block shall be there"`
	Marker       string  `arg:"marker,default=# {mark} ANSIBLE MANAGED BLOCK" doc:"the lines around the block, with {mark} for their kind"`
	Block        string  `arg:"block,default=,aliases=content" doc:"the text between the markers; empty removes the block"`
	InsertAfter  *string `arg:"insertafter" doc:"pattern of the line to insert a new block after, or EOF"`
	InsertBefore *string `arg:"insertbefore" doc:"pattern of the line to insert a new block before, or BOF"`
	Create       bool    `arg:"create,default=no" doc:"create a missing file"`
	Backup       bool    `arg:"backup,default=no" doc:"keep a copy of the old file"`
	Validate     *string `arg:"validate" doc:"command that checks the new content, with %s for its file"`
	MarkerBegin  string  `arg:"marker_begin,default=BEGIN" doc:"what {mark} is above the block"`
	MarkerEnd    string  `arg:"marker_end,default=END" doc:"what {mark} is below the block"`
	Append       bool    `arg:"append_newline,default=no" doc:"keep an empty line below the block"`
	Prepend      bool    `arg:"prepend_newline,default=no" doc:"keep an empty line above the block"`
	fileArgs
}

// Rules relates the arguments.
func (blockinfileArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"insertbefore", "insertafter"}}}
}

func blockinfile() Module {
	return Define("blockinfile", "Keep a block of lines between markers in a file", runBlockinfile)
}

func runBlockinfile(c *Call, args *blockinfileArgs) (*Result, error) {
	path := c.abs(args.Path)
	if isDir(path) {
		return nil, &Failure{Msg: fmt.Sprintf("Path %s is a directory !", path), With: value.DictOf("rc", 256)}
	}
	e := textEdit{Call: c, fileArgs: &args.fileArgs, path: path, validate: args.Validate, backup: args.Backup}
	if !exists(path) {
		if !args.Create {
			return nil, &Failure{Msg: fmt.Sprintf("Path %s does not exist !", path), With: value.DictOf("rc", 257)}
		}
		e.created = true
		if dir := filepath.Dir(path); !c.Check && !exists(dir) {
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return nil, Failf("Error creating %s Error code: %s", dir, osText(err, dir))
			}
		}
	}
	if err := e.read(); err != nil {
		return nil, err
	}
	lines, err := args.edit(splitLines(e.old))
	if err != nil {
		return nil, err
	}
	e.new = strings.Join(lines, "")
	return e.finishBlock(args.message(&e))
}

func (a *blockinfileArgs) message(e *textEdit) string {
	switch {
	case e.created && e.new == "":
		return ""
	case e.created:
		return "File created"
	case e.old == e.new:
		return ""
	case a.lines() == nil:
		return "Block removed"
	}
	return "Block inserted"
}

func (a *blockinfileArgs) marks() (begin, end string) {
	return strings.ReplaceAll(a.Marker, "{mark}", a.MarkerBegin) + "\n", strings.ReplaceAll(a.Marker, "{mark}", a.MarkerEnd) + "\n"
}

// lines are the block with its markers; nil when it shall be absent.
func (a *blockinfileArgs) lines() []string {
	if a.State != "present" || a.Block == "" {
		return nil
	}
	begin, end := a.marks()
	block := a.Block
	if !strings.HasSuffix(block, "\n") {
		block += "\n"
	}
	return splitLines(begin + block + end)
}

// edit puts the block where its markers are, or where the arguments say.
func (a *blockinfileArgs) edit(lines []string) ([]string, error) {
	begin, end := a.marks()
	first, last := -1, -1
	for i, line := range lines {
		if line == begin {
			first = i
		}
		if line == end {
			last = i
		}
	}
	at := 0
	switch {
	case first < 0 || last < 0:
		var err error
		if at, err = a.place(lines); err != nil {
			return nil, err
		}
	case first < last:
		lines, at = slices.Delete(lines, first, last+1), first
	default:
		lines, at = slices.Delete(lines, last, first+1), last
	}
	block := a.lines()
	if at > 0 && !strings.HasSuffix(lines[at-1], "\n") {
		lines[at-1] += "\n"
	}
	if block != nil && a.Prepend && at > 0 && lines[at-1] != "\n" {
		block = append([]string{"\n"}, block...)
	}
	if block != nil && a.Append && at < len(lines) && lines[at] != "\n" {
		block = append(block, "\n")
	}
	return slices.Insert(lines, at, block...), nil
}

// place is where a new block goes: by the last line that matches, else at the
// end.
func (a *blockinfileArgs) place(lines []string) (int, error) {
	if a.InsertBefore != nil && *a.InsertBefore == "BOF" {
		return 0, nil
	}
	anchor, after := a.InsertBefore, 0
	if a.InsertAfter != nil {
		anchor, after = a.InsertAfter, 1
	}
	if anchor == nil || after == 1 && *anchor == "EOF" {
		return len(lines), nil
	}
	re, err := linePattern(anchor)
	if err != nil {
		return 0, err
	}
	at := len(lines)
	for i, line := range lines {
		m, err := re.Search(line)
		if err != nil {
			return 0, err
		}
		if m != nil {
			at = i + after
		}
	}
	return at, nil
}

// finishBlock writes what differs and reports as blockinfile does.
func (e *textEdit) finishBlock(msg string) (*Result, error) {
	changed := msg != ""
	backup := ""
	if changed && !e.Check {
		var err error
		if backup, err = e.write(); err != nil {
			return nil, err
		}
	}
	content := e.diff()
	if e.Check && e.created {
		return NewResult(changed).With("msg", msg).With("diff", content), nil
	}
	msg, changed, attributes, err := e.attributes(msg, changed)
	if err != nil {
		return nil, err
	}
	out := NewResult(changed).With("msg", msg).With("diff", value.NewList(content, attributes))
	if backup != "" {
		out.Set("backup_file", backup)
	}
	return out, nil
}
