package modules

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// archiveArgs are the arguments of archive.
type archiveArgs struct {
	Path        []string `arg:"path,required,elements=path" doc:"files and folders to pack, or patterns of them"`
	Format      string   `arg:"format,default=gz,choices=bz2|gz|tar|xz|zip" doc:"the archive's format; a file alone is only compressed"`
	Dest        string   `arg:"dest,type=path" doc:"the archive; needed unless path is one file"`
	ExcludePath []string `arg:"exclude_path,elements=path,default=" doc:"paths to leave out of those that path names"`
	Patterns    []string `arg:"exclusion_patterns,elements=path" doc:"shell patterns of names in the archive to leave out"`
	Force       bool     `arg:"force_archive,default=no" doc:"make an archive of a single file too"`
	Remove      bool     `arg:"remove,default=no" doc:"remove what was packed"`
	fileArgs
}

func archive() Module {
	return Define("archive", "Pack files into an archive", runArchive).In("community.general", "community.general.files")
}

// archiving is one run of archive.
type archiving struct {
	*Call
	*archiveArgs
	expanded, excluded []string // what the patterns name
	paths              []string // expanded without excluded, sorted
	targets, missing   []string // those of paths that are there, and the others
	root               string   // the folder of all paths, with a slash
	dest               string
	many               bool // an archive, not a compressed file
	patterns           []*pyre.Regexp
	packed             []string
	failed             []string
}

func runArchive(c *Call, args *archiveArgs) (*Result, error) {
	a := &archiving{Call: c, archiveArgs: args}
	if err := a.plan(); err != nil {
		return nil, err
	}
	state, changed, err := a.pack()
	if err != nil {
		return nil, err
	}
	out := NewResult(changed)
	if exists(a.dest) {
		attributes, err := a.setAttributes(c, a.dest, nil)
		if err != nil {
			return nil, err
		}
		out.Changed(changed || attributes)
	}
	return out.With("archived", stringList(a.packed)).With("dest", a.dest).With("dest_state", state).
		With("arcroot", a.root).With("missing", stringList(a.missing)).
		With("expanded_paths", stringList(a.expanded)).With("expanded_exclude_paths", stringList(a.excluded)), nil
}

// plan finds what to pack, and where to.
func (a *archiving) plan() error {
	var globs bool
	a.expanded, globs = a.expand(a.Path)
	a.excluded, _ = a.expand(a.ExcludePath)
	for _, p := range a.expanded {
		if !slices.Contains(a.excluded, p) && !slices.Contains(a.paths, p) {
			a.paths = append(a.paths, p)
		}
	}
	slices.Sort(a.paths)
	if len(a.paths) == 0 {
		return &Failure{Msg: "Error, no source paths were found", With: value.DictOf("path", strings.Join(a.Path, ", "),
			"expanded_paths", strings.Join(a.expanded, ", "), "expanded_exclude_paths", strings.Join(a.excluded, ", "))}
	}
	a.root = commonFolder(a.paths)
	a.many = a.Force || globs || isDir(a.paths[0]) || len(a.paths) > 1
	if a.dest = a.abs(a.Dest); a.dest == "" {
		if a.many {
			return &Failure{Msg: `Error, must specify "dest" when archiving multiple files or trees`,
				With: value.DictOf("dest", "None", "path", strings.Join(a.Path, ", "))}
		}
		a.dest = a.paths[0] + "." + a.Format
	}
	for _, p := range a.paths {
		if a.Remove && isDir(p) && strings.HasPrefix(a.dest, strings.TrimSuffix(p, "/")+"/") {
			return &Failure{Msg: "Error, created archive can not be contained in source paths when remove=true",
				With: value.DictOf("path", strings.Join(a.paths, ", "))}
		}
		if lexists(p) {
			a.targets = append(a.targets, p)
		} else {
			a.missing = append(a.missing, p)
		}
	}
	var err error
	a.patterns, err = (&findFilter{args: &findArgs{}}).compile(a.Patterns)
	return err
}

// expand replaces patterns by the paths they name, and tells whether there were any.
func (a *archiving) expand(paths []string) (expanded []string, globs bool) {
	for _, p := range paths {
		p = a.abs(p)
		if strings.ContainsAny(p, "*?") {
			globs = true
			expanded = append(expanded, pathsLike(p)...)
		} else {
			expanded = append(expanded, p)
		}
	}
	return expanded, globs
}

// pathsLike lists the paths that an absolute shell pattern names, sorted. A name
// with a leading dot needs a pattern with one.
func pathsLike(pattern string) []string {
	found := []string{"/"}
	for _, part := range strings.Split(strings.Trim(pattern, "/"), "/") {
		var next []string
		for _, folder := range found {
			next = append(next, namesLike(folder, part)...)
		}
		found = next
	}
	return found
}

func namesLike(folder, pattern string) []string {
	if !strings.ContainsAny(pattern, "*?[") {
		if path := filepath.Join(folder, pattern); lexists(path) {
			return []string{path}
		}
		return nil
	}
	re, err := pyre.Compile(globPattern(pattern), 0)
	if err != nil {
		return nil // a pattern that means nothing names nothing
	}
	entries, _ := os.ReadDir(folder) // what cannot be read has nothing that is named
	var paths []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(pattern, ".") {
			continue
		}
		if m, err := re.Match(e.Name()); err == nil && m != nil {
			paths = append(paths, filepath.Join(folder, e.Name()))
		}
	}
	return paths
}

// commonFolder is the innermost folder that holds all paths, with a slash.
func commonFolder(paths []string) string {
	common := ""
	for i, p := range paths {
		folder := p[:strings.LastIndexByte(p, '/')+1]
		if i == 0 {
			common = folder
		}
		for !strings.HasPrefix(folder, common) {
			common = common[:strings.LastIndexByte(strings.TrimSuffix(common, "/"), '/')+1]
		}
	}
	return common
}

// pack does what the arguments ask for, and tells the archive's state.
func (a *archiving) pack() (state string, changed bool, err error) {
	switch {
	case len(a.targets) == 0:
		return a.leftState(), false, nil
	case a.Check:
		return "absent", a.many || !exists(a.dest), nil
	case a.many:
		state = "archive"
		if len(a.missing) > 0 {
			state = "incomplete"
		}
		changed, err = a.replace(a.packAll)
	case a.Format == "tar" || a.Format == "zip":
		state = "archive"
		changed, err = a.replace(a.packAll)
	default:
		state = "compress"
		changed, err = a.replace(a.compress)
	}
	if err == nil && a.Remove {
		err = a.remove()
	}
	return state, changed, err
}

// leftState is the state of an archive whose sources are gone.
func (a *archiving) leftState() string {
	if !exists(a.dest) {
		return "absent"
	}
	name := strings.ToLower(a.dest)
	for _, end := range []string{".tar", ".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".zip"} {
		if strings.HasSuffix(name, end) {
			return "archive"
		}
	}
	return "compress"
}

// remove removes what was packed, and the folders that were named.
func (a *archiving) remove() error {
	if !a.many {
		if err := os.Remove(a.paths[0]); err != nil {
			return &Failure{Msg: "Unable to remove source file: " + osTextString(err, a.paths[0]), With: value.DictOf("path", a.paths[0])}
		}
		return nil
	}
	var left []string
	for i, p := range slices.Concat(a.packed, a.paths) {
		if i >= len(a.packed) && !isDir(p) {
			continue
		}
		if err := a.removeOne(p); err != nil && !errors.Is(err, os.ErrNotExist) {
			left = append(left, p)
		}
	}
	if len(left) > 0 {
		return &Failure{Msg: "Error deleting some source files: ", With: value.DictOf("dest", a.dest, "files", stringList(left))}
	}
	return nil
}

// removeOne removes what a path names; a link to a folder is left alone.
func (a *archiving) removeOne(path string) error {
	if isLink(path) && isDir(path) {
		return os.ErrInvalid
	}
	return os.RemoveAll(path)
}
