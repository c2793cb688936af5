// Package extravars reads the values of --extra-vars. Flowing in: the
// operator's words, and the vars files they name. Flowing out: one dict, in
// which strings that hold Jinja are templates. It evaluates nothing.
package extravars

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// Parse reads the values of --extra-vars in order; a later one
// replaces a name of an earlier one, or with merge is merged into it where both
// are dicts. Each is "@file", a YAML or JSON mapping,
// or name=value words, whose values are strings. They are the operator's own,
// so strings that hold Jinja become templates. Words without "=" are gathered
// under _raw_params.
func Parse(args []string, l *yamlload.Loader, merge bool) (*value.Dict, error) {
	all := value.NewDict()
	for _, text := range args {
		v, err := vars(text, l)
		if err != nil {
			return nil, err
		}
		if merge {
			all = value.Combine(all, v)
			continue
		}
		all.Update(v)
		all.Lazy = all.Lazy || v.Lazy
	}
	return all, nil
}

// Where tells where the values of --extra-vars, which Parse has read, set a
// name: in a file, or on the command line.
func Where(args []string, l *yamlload.Loader, name string) source.Pos {
	for _, text := range slices.Backward(args) {
		v, err := vars(text, l)
		if _, ok := v.Get(name); err != nil || !ok {
			continue
		}
		if strings.HasPrefix(text, "@") {
			return fileWhere(text[1:], l, name)
		}
		break
	}
	return source.Pos{File: placeName}
}

func fileWhere(path string, l *yamlload.Loader, name string) source.Pos {
	f, err := l.Read(path)
	if err != nil {
		return source.Pos{File: path}
	}
	entries, _ := f.Entries(f.Root) // it was read before
	for _, e := range entries {
		if e.Name == name {
			return f.Pos(e.KeyNode)
		}
	}
	return source.Pos{File: path}
}

// placeName names the command line in places.
const placeName = "--extra-vars"

func vars(text string, l *yamlload.Loader) (*value.Dict, error) {
	if strings.TrimSpace(text) == "" {
		return value.NewDict(), nil
	}
	switch text[0] {
	case '@':
		return fileVars(text[1:], l)
	case '/', '.':
		return nil, source.Errorf(source.Pos{File: placeName}, "cannot use %q as variables: it looks like the name of a file", text).
			WithHint("put an @ in front of it: -e @%s", text)
	case '{', '[':
		return yamlVars(text, l)
	}
	words, err := playbook.ParseKV(strings.TrimSpace(text), false)
	if err != nil {
		return nil, source.Errorf(source.Pos{File: placeName}, "cannot read %q: %w", text, err).
			WithHint("close every quote and every {{")
	}
	return words, compile(words, l)
}

// compile turns the strings that hold Jinja into templates. One that cannot be
// compiled is an error at once, as the person has just typed it.
func compile(words *value.Dict, l *yamlload.Loader) error {
	if l.Env == nil {
		return nil
	}
	for i := range words.Len() {
		_, v := words.At(i)
		text := v.(string) // ParseKV makes strings only
		loaded, err := l.Env.Load(text, source.Pos{File: placeName})
		if err != nil {
			return err
		}
		if t, ok := loaded.(*jinja.Template); ok {
			if t.Err() != nil {
				return t.Err()
			}
			words.Lazy = true
		}
		words.SetAt(i, loaded)
	}
	return nil
}

func fileVars(path string, l *yamlload.Loader) (*value.Dict, error) {
	f, err := l.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, source.Errorf(source.Pos{File: placeName}, "cannot find file %q", path)
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	if f.IsNull(f.Root) {
		return nil, fmt.Errorf("cannot use %q as variables: the file is empty", path)
	}
	return f.Vars(f.Root)
}

// unreadable gives an error about reading a file its place.
func unreadable(path string, err error) error {
	var located *source.Error
	if errors.As(err, &located) {
		return err
	}
	var about *fs.PathError
	if errors.As(err, &about) {
		err = about.Err
	}
	return source.Errorf(source.Pos{File: path}, "cannot read %q: %w", path, err)
}

func yamlVars(text string, l *yamlload.Loader) (*value.Dict, error) {
	f, err := l.Parse(placeName, []byte(text))
	if err != nil {
		return nil, err
	}
	return f.Vars(f.Root)
}
