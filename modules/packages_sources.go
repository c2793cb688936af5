package modules

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// aptFolders are where apt keeps its lists of sources, as apt-config says.
type aptFolders struct{ list, parts string }

// readAptFolders asks apt-config; without it the usual places stand.
func readAptFolders(c *Call) aptFolders {
	f := aptFolders{"/etc/apt/sources.list", "/etc/apt/sources.list.d"}
	config, err := pkgProgram(c, "apt-config")
	if err != nil {
		return f
	}
	out, err := config.run("shell", "LIST", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d")
	if err != nil || out.RC != 0 {
		return f
	}
	for _, line := range outLines(out.Stdout) {
		name, text, _ := strings.Cut(line, "=")
		text = strings.Trim(text, "'")
		switch name {
		case "LIST":
			f.list = text
		case "PARTS":
			f.parts = strings.TrimSuffix(text, "/")
		}
	}
	return f
}

// sourceLine is one line of a list of sources.
type sourceLine struct {
	valid, enabled  bool
	source, comment string
	text            string // as it stands, for a line that is kept
	changed         bool
}

// sourceFile is one list of sources.
type sourceFile struct {
	path  string
	old   string
	lines []*sourceLine
}

// sourceLists are all lists, the main one first, then by name.
type sourceLists []*sourceFile

func readSourceLists(f aptFolders) (sourceLists, error) {
	paths, err := filepath.Glob(filepath.Join(f.parts, "*.list"))
	if err != nil {
		return nil, err
	}
	sort.Strings(paths)
	var lists sourceLists
	for _, path := range append([]string{f.list}, paths...) {
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, Failf("cannot read %q: %s", path, osText(err, path))
		}
		lists = append(lists, parseSourceFile(path, string(data)))
	}
	return lists, nil
}

func parseSourceFile(path, text string) *sourceFile {
	f := &sourceFile{path: path, old: text}
	for _, line := range splitLines(text) {
		f.lines = append(f.lines, parseSource(line))
	}
	return f
}

var sourceOptions = regexp.MustCompile(`^\s*\[[^\]]*\]\s*`)

// parseSource reads a line, which may be commented out.
func parseSource(line string) *sourceLine {
	l := &sourceLine{text: line, enabled: true}
	rest := strings.TrimSpace(line)
	if strings.HasPrefix(rest, "#") {
		l.enabled = false
		rest = strings.TrimSpace(strings.TrimLeft(rest, "#"))
	}
	if i := strings.IndexByte(rest, '#'); i > 0 {
		l.comment = strings.TrimSpace(rest[i+1:])
		rest = rest[:i]
	}
	l.source = strings.Join(strings.Fields(rest), " ")
	word, after, _ := strings.Cut(l.source, " ")
	fields := strings.Fields(sourceOptions.ReplaceAllString(after, ""))
	l.valid = (word == "deb" || word == "deb-src") && len(fields) >= 2
	return l
}

// render is the line as it is written.
func (l *sourceLine) render() string {
	if !l.changed {
		return l.text
	}
	text := l.source
	if !l.enabled {
		text = "# " + text
	}
	if l.comment != "" {
		text += " # " + l.comment
	}
	return text + "\n"
}

// render is the file as it is written.
func (f *sourceFile) render() string {
	var b strings.Builder
	for _, l := range f.lines {
		b.WriteString(l.render())
	}
	return b.String()
}

// file returns the list of a path, and makes it when it is not there.
func (s *sourceLists) file(path string) *sourceFile {
	for _, f := range *s {
		if f.path == path {
			return f
		}
	}
	f := &sourceFile{path: path}
	*s = append(*s, f)
	return f
}

// add makes sure that a source is there and enabled: where it stands, or at the
// end of a file.
func (s *sourceLists) add(want *sourceLine, path string) {
	found := false
	for _, f := range *s {
		for _, l := range f.lines {
			if !l.valid || l.source != want.source {
				continue
			}
			found = true
			if !l.enabled {
				l.enabled, l.changed = true, true
			}
		}
	}
	if found {
		return
	}
	f := s.file(path)
	if n := len(f.lines); n > 0 && !strings.HasSuffix(f.lines[n-1].text, "\n") {
		f.lines[n-1].text += "\n"
	}
	f.lines = append(f.lines, &sourceLine{valid: true, enabled: true, source: want.source, comment: want.comment, changed: true})
}

// remove takes a source away wherever it stands enabled.
func (s *sourceLists) remove(want *sourceLine) {
	for _, f := range *s {
		var kept []*sourceLine
		for _, l := range f.lines {
			if !l.valid || !l.enabled || l.source != want.source {
				kept = append(kept, l)
			}
		}
		f.lines = kept
	}
}

// changed are the files whose content differs from what was read.
func (s sourceLists) changed() []*sourceFile {
	var out []*sourceFile
	for _, f := range s {
		if f.render() != f.old {
			out = append(out, f)
		}
	}
	return out
}

var (
	sourceUser  = regexp.MustCompile(`^.*@`)
	sourceOther = regexp.MustCompile(`[^a-zA-Z0-9]+`)
)

// sourceName is the file name for a source: its address, in plain characters.
func sourceName(source string) string {
	_, rest, _ := strings.Cut(source, " ")
	rest = sourceOptions.ReplaceAllString(rest, "")
	address, _, _ := strings.Cut(rest, " ")
	if _, after, ok := strings.Cut(address, "://"); ok {
		address = after
	}
	address = sourceUser.ReplaceAllString(address, "")
	return strings.Trim(sourceOther.ReplaceAllString(address, "_"), "_") + ".list"
}
