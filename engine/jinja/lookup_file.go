package jinja

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"play/modules/value"
)

// maxLookupFile is the size up to which lookups read a file or an output.
const maxLookupFile = 256 << 20

// fileLookups read the control machine's files and the output of its commands.
func fileLookups() []Builtin {
	const params = "*terms, **options"
	return []Builtin{
		{Name: "file", Params: params, Doc: "the content of files", Fn: perTerm(lookupFile)},
		{Name: "fileglob", Params: params, Doc: "the files that match patterns", Fn: lookupFileglob},
		{Name: "filetree", Params: params, Doc: "what lies below folders, with its properties", Fn: lookupFiletree},
		{Name: "first_found", Params: params, Doc: "the first file that exists", Fn: lookupFirstFound},
		{Name: "lines", Params: params, Doc: "the lines that commands print", Fn: lookupLines},
		{Name: "pipe", Params: params, Doc: "what commands print", Fn: perTerm(lookupPipe)},
		{Name: "template", Params: params, Doc: "the text that template files yield", Fn: perTerm(lookupTemplate)},
		{Name: "unvault", Params: params, Doc: "the content of files, decrypted", Fn: perTerm(lookupUnvault)},
	}
}

// findFile resolves a name in the search path of a kind of files.
func findFile(c *Call, kind, name string) (string, bool) {
	name = expandUser(name)
	if c.Ctx.Files != nil {
		return c.Ctx.Files.Find(kind, name)
	}
	if !filepath.IsAbs(name) {
		return "", false
	}
	_, err := os.Stat(name)
	return name, err == nil
}

// readFound reads a file of the search path.
func readFound(c *Call, kind string, term any) (path string, data []byte, err error) {
	name, ok := term.(string)
	if !ok {
		return "", nil, fmt.Errorf("cannot use %s as a file name", value.Repr(term))
	}
	path, ok = findFile(c, kind, name)
	if !ok {
		return "", nil, fmt.Errorf("could not locate file in lookup: %s", name)
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", nil, err
	case info.IsDir():
		return "", nil, fmt.Errorf("cannot read %q: it is a folder", path)
	case info.Size() > maxLookupFile:
		return "", nil, fmt.Errorf("cannot read %q: it is larger than %d bytes", path, maxLookupFile)
	}
	if err := c.Ctx.mayRead(path, c.FromHost); err != nil {
		return "", nil, err
	}
	data, err = os.ReadFile(path)
	return path, data, err
}

func lookupFile(c *Call, term any) (any, error) {
	_, data, err := readFound(c, "files", term)
	if err != nil {
		return nil, err
	}
	if data, err = decrypted(c, data); err != nil {
		return nil, err
	}
	s := string(data)
	if lookupFlag(c, "lstrip", false) {
		s = strings.TrimLeftFunc(s, isPySpace)
	}
	if lookupFlag(c, "rstrip", true) {
		s = strings.TrimRightFunc(s, isPySpace)
	}
	return s, nil
}

func lookupUnvault(c *Call, term any) (any, error) {
	_, data, err := readFound(c, "files", term)
	if err != nil {
		return nil, fmt.Errorf("Unable to find file matching \"%s\": %w", value.Str(term), err)
	}
	if data, err = decrypted(c, data); err != nil {
		return nil, err
	}
	return string(data), nil
}

func lookupFileglob(c *Call) (any, error) {
	out := value.NewList()
	for _, term := range c.Rest {
		pattern := value.Str(term)
		dir, base := filepath.Split(pattern)
		if found, ok := globFolder(c, dir); ok {
			for _, name := range globFiles(filepath.Join(found, base)) {
				out.Append(name)
			}
		}
	}
	return out, nil
}

// globFolder finds the folder in which a pattern is tried.
func globFolder(c *Call, dir string) (string, bool) {
	if filepath.IsAbs(dir) {
		return dir, true
	}
	if dir != "" {
		if found, ok := findFile(c, "files", filepath.Clean(dir)); ok {
			return found, true
		}
		return "", false
	}
	if found, ok := findFile(c, "files", "."); ok {
		return found, true
	}
	if c.Ctx.Files != nil {
		return c.Ctx.Files.Dir(), true
	}
	return "", false
}

func lookupFirstFound(c *Call) (any, error) {
	var names, paths []string
	skip := lookupFlag(c, "skip", false)
	names = append(names, splitNames(lookupOption(c, "files", nil))...)
	paths = append(paths, splitNames(lookupOption(c, "paths", nil))...)
	var candidates []string
	if len(c.Rest) > 0 {
		candidates = belowFolders(paths, names)
	}
	for _, term := range termsOf(c.Rest) {
		d, isDict := asDict(term)
		if !isDict {
			s, ok := term.(string)
			if !ok {
				return nil, fmt.Errorf("Invalid term supplied, can handle string, mapping or list of strings but got: <class '%s'> for %s", value.TypeName(term), value.Str(term))
			}
			candidates = append(candidates, belowFolders(paths, splitNames(s))...)
			continue
		}
		files, _ := d.Get("files")
		folders, _ := d.Get("paths")
		if v, ok := d.Get("skip"); ok {
			skip = pyBool(v)
		}
		candidates = append(candidates, belowFolders(splitNames(folders), splitNames(files))...)
	}
	for _, name := range candidates {
		for _, kind := range []string{"files", "templates", "vars", "tasks"} {
			if path, ok := findFile(c, kind, name); ok {
				return value.NewList(path), nil
			}
		}
	}
	if skip {
		return value.NewList(), nil
	}
	return nil, errors.New("No file was found when using first_found.")
}

// splitNames reads a list of names, or a text of names between commas,
// semicolons or colons.
func splitNames(v any) []string {
	var out []string
	switch v := v.(type) {
	case nil:
	case string:
		return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ';' })
	default:
		items, _ := value.Items(v)
		for _, item := range items {
			out = append(out, splitNames(item)...)
		}
	}
	return out
}

// belowFolders puts every name below every folder; without folders the names
// stand alone.
func belowFolders(dirs, names []string) []string {
	if len(dirs) == 0 {
		return names
	}
	var out []string
	if len(names) == 0 {
		return dirs
	}
	for _, dir := range dirs {
		for _, name := range names {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out
}

func lookupPipe(c *Call, term any) (any, error) {
	s, err := shell(c, value.Str(term), "lookup_plugin.pipe")
	if err != nil {
		return nil, err
	}
	return strings.TrimRightFunc(s, isPySpace), nil
}

func lookupLines(c *Call) (any, error) {
	out := value.NewList()
	for _, term := range c.Rest {
		s, err := shell(c, value.Str(term), "lookup_plugin.lines")
		if err != nil {
			return nil, err
		}
		for _, line := range splitLines(s) {
			out.Append(line)
		}
	}
	return out, nil
}

func lookupTemplate(c *Call, term any) (any, error) {
	path, data, err := readFound(c, "templates", term)
	if err != nil {
		return nil, fmt.Errorf("the template file %s could not be found for the lookup: %w", value.Str(term), err)
	}
	t, err := c.Env.TemplateFile(path, data, FileOptions{
		VariableStart: lookupText(c, "variable_start_string", ""),
		VariableEnd:   lookupText(c, "variable_end_string", ""),
		CommentStart:  lookupText(c, "comment_start_string", ""),
		CommentEnd:    lookupText(c, "comment_end_string", ""),
	})
	if err != nil {
		return nil, err
	}
	inner := c.Ctx.With(c.Ctx.Vars)
	inner.Locals = value.NewDict()
	inner.Locals.Update(c.Ctx.Locals)
	if c.Ctx.Describe != nil {
		own, err := c.Ctx.Describe(c.Ctx, path, value.Str(term))
		if err != nil {
			return nil, err
		}
		inner.Locals.Update(own)
	}
	if extra, ok := asDict(lookupOption(c, "template_vars", nil)); ok {
		inner.Locals.Update(extra)
	}
	s, err := t.Render(inner)
	if err != nil || !lookupFlag(c, "convert_data", true) {
		return s, err
	}
	return c.Env.nativeText(s), nil
}

func lookupFiletree(c *Call) (any, error) {
	out := value.NewList()
	for _, term := range c.Rest {
		root, ok := findFile(c, "files", value.Str(term))
		if !ok {
			return nil, fmt.Errorf("could not locate folder in lookup: %s", value.Str(term))
		}
		rows, err := treeBelow(root, root)
		if err != nil {
			return nil, err
		}
		out.Append(rows...)
	}
	return out, nil
}

// treeBelow lists the entries of a folder, its own ones with the folders first,
// then those of each folder in it.
func treeBelow(root, dir string) ([]any, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].IsDir() && !entries[j].IsDir() })
	var rows []any
	for _, entry := range entries {
		row, err := fileProperties(root, filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		below, err := treeBelow(root, filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, err
		}
		rows = append(rows, below...)
	}
	return rows, nil
}
