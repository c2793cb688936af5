package jinja

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"play/engine/source"
)

// fileCache keeps the template files that include, import and extends have
// compiled. A file that changed is compiled again.
type fileCache struct {
	mu    sync.Mutex
	files map[string]cachedFile
}

type cachedFile struct {
	tmpl *Template
	size int64
	time time.Time
}

// find loads the template file of that name: by the context's Finder, or
// beside the file where the rendering began.
func (e *Env) find(f *frame, name string, fromHost bool) (*Template, error) {
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			return nil, notFound(name)
		}
	}
	if filepath.IsAbs(name) {
		if err := f.ctx.mayRead(name, fromHost); err != nil {
			return nil, err
		}
		return e.load(name)
	}
	if f.ctx.Files != nil {
		if path, ok := f.ctx.Files.Find("templates", name); ok {
			return e.load(path)
		}
	}
	if f.run.file == "" {
		return nil, notFound(name)
	}
	return e.load(filepath.Join(filepath.Dir(f.run.file), name))
}

// load compiles a file, or takes it from the cache.
func (e *Env) load(path string) (*Template, error) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return nil, notFound(path)
	}
	e.files.mu.Lock()
	c, ok := e.files.files[path]
	e.files.mu.Unlock()
	if ok && c.size == info.Size() && c.time.Equal(info.ModTime()) {
		return c.tmpl, nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t := &Template{Source: string(src), Pos: source.Pos{File: path, Line: 1, Col: 1}, env: e, name: filepath.Base(path)}
	if err := t.compileDocument(text{src: t.Source, pos: t.Pos}, defaultDelims()); err != nil {
		return nil, err
	}
	e.files.mu.Lock()
	defer e.files.mu.Unlock()
	if e.files.files == nil {
		e.files.files = map[string]cachedFile{}
	}
	e.files.files[path] = cachedFile{t, info.Size(), info.ModTime()}
	return t, nil
}

// compileDocument reads the text as a document even if it is one expression.
func (t *Template) compileDocument(src text, d delims) error {
	pieces, err := scan(src, d)
	if err != nil {
		return err
	}
	t.doc, err = t.env.compileDocument(pieces, src.pos.File)
	return err
}

// FileOptions are the template module's delimiters and trim options; zero
// values mean Ansible's defaults.
type FileOptions struct {
	BlockStart, BlockEnd, VariableStart, VariableEnd, CommentStart, CommentEnd string
	TrimBlocks, LstripBlocks                                                   *bool
	NewlineSequence                                                            string
}

// TemplateFile compiles a whole template file: the "#jinja2:" header line is
// obeyed and one trailing newline is kept.
func (e *Env) TemplateFile(path string, src []byte, o FileOptions) (*Template, error) {
	d := o.delims()
	body, pos, err := header(text{src: string(src), pos: source.Pos{File: path, Line: 1, Col: 1}}, &d)
	if err != nil {
		return nil, err
	}
	t := &Template{Source: body, Pos: pos, env: e, newline: d.newline}
	return t, t.compileDocument(text{src: body, pos: pos}, d)
}

func (o FileOptions) delims() delims {
	d := defaultDelims()
	for _, s := range []struct {
		given string
		field *string
	}{
		{o.BlockStart, &d.blockStart}, {o.BlockEnd, &d.blockEnd}, {o.VariableStart, &d.printStart},
		{o.VariableEnd, &d.printEnd}, {o.CommentStart, &d.commentStart}, {o.CommentEnd, &d.commentEnd},
		{o.NewlineSequence, &d.newline},
	} {
		if s.given != "" {
			*s.field = s.given
		}
	}
	if o.TrimBlocks != nil {
		d.trimBlocks = *o.TrimBlocks
	}
	if o.LstripBlocks != nil {
		d.lstripBlocks = *o.LstripBlocks
	}
	return d
}

const headerMark = "#jinja2:"

// header obeys a first line such as "#jinja2: trim_blocks:False" and returns
// the text after it.
func header(t text, d *delims) (string, source.Pos, error) {
	if !strings.HasPrefix(t.src, headerMark) {
		return t.src, t.pos, nil
	}
	line, rest, _ := strings.Cut(t.src, "\n")
	for _, pair := range strings.Split(line[len(headerMark):], ",") {
		key, val, ok := strings.Cut(pair, ":")
		if !ok {
			return "", t.pos, source.Errorf(t.pos, "cannot read the override %q: it has no colon", strings.TrimSpace(pair))
		}
		v, err := parseLiteral(strings.TrimSpace(val))
		if err == nil {
			err = d.override(strings.TrimSpace(key), v)
		}
		if err != nil {
			return "", t.pos, source.Errorf(t.pos, "cannot read the override %q: %w", strings.TrimSpace(pair), err)
		}
	}
	return rest, source.Pos{File: t.pos.File, Line: t.pos.Line + 1, Col: 1}, nil
}

// override sets one option of the header by its Jinja2 name; unknown ones have
// no effect, as in Ansible.
func (d *delims) override(key string, v any) error {
	flags := map[string]*bool{"trim_blocks": &d.trimBlocks, "lstrip_blocks": &d.lstripBlocks, "keep_trailing_newline": &d.keepLastNewline}
	texts := map[string]*string{
		"block_start_string": &d.blockStart, "block_end_string": &d.blockEnd, "variable_start_string": &d.printStart,
		"variable_end_string": &d.printEnd, "comment_start_string": &d.commentStart, "comment_end_string": &d.commentEnd,
		"newline_sequence": &d.newline,
	}
	if f := flags[key]; f != nil {
		t, err := truth(v)
		*f = t
		return err
	}
	if s := texts[key]; s != nil {
		given, ok := v.(string)
		if !ok || given == "" {
			return errorText("a text is needed")
		}
		*s = given
	}
	return nil
}
