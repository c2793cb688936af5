package modules

import (
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/perm"
	"play/modules/value"
)

// findArgs are the arguments of find.
type findArgs struct {
	Paths     []string `arg:"paths,required,aliases=name|path,elements=str" doc:"folders to search"`
	Patterns  []string `arg:"patterns,aliases=pattern,default=" doc:"patterns of the names to find; empty: all"`
	Excludes  []string `arg:"excludes,aliases=exclude" doc:"patterns of names to leave out"`
	Contains  *string  `arg:"contains" doc:"pattern that a line of the file must start with"`
	WholeFile bool     `arg:"read_whole_file,default=no" doc:"search contains in the whole content"`
	FileType  string   `arg:"file_type,default=file,choices=any|directory|file|link" doc:"what to find"`
	Age       *string  `arg:"age" doc:"at least so old (2d), or at most with a minus"`
	AgeStamp  string   `arg:"age_stamp,default=mtime,choices=atime|ctime|mtime" doc:"the time that age means"`
	Size      *string  `arg:"size" doc:"at least so large (10m), or at most with a minus"`
	Recurse   bool     `arg:"recurse,default=no" doc:"search in folders below"`
	Hidden    bool     `arg:"hidden,default=no" doc:"find names that start with a dot"`
	Follow    bool     `arg:"follow,default=no" doc:"enter folders through links"`
	Checksum  bool     `arg:"get_checksum,default=no" doc:"return the SHA1 of each file"`
	UseRegex  bool     `arg:"use_regex,default=no" doc:"patterns are regular expressions"`
	Depth     *int     `arg:"depth" doc:"how many levels of folders to search"`
}

func find() Module {
	return Define("find", "Find files by name, age, size or content", runFind)
}

// finder is one search.
type finder struct {
	*findArgs
	filter   *findFilter
	files    *value.List
	examined int
}

func runFind(c *Call, args *findArgs) (*Result, error) {
	filter, err := newFindFilter(args, time.Now())
	if err != nil {
		return nil, err
	}
	f := &finder{findArgs: args, filter: filter, files: value.NewList()}
	skipped, warnings := value.NewDict(), value.NewList()
	for _, path := range args.Paths {
		path = c.abs(expandHome(c, path))
		err := c.Err()
		if err != nil {
			return nil, err
		}
		if !isDir(path) {
			reason := "'" + path + "' is not a directory"
			skipped.Set(path, reason)
			warnings.Append("Skipped '" + path + "' path due to this access issue: " + reason + "\n")
			continue
		}
		if err := f.walk(c, path, 1, map[string]bool{}); err != nil {
			return nil, err
		}
	}
	msg := "All paths examined"
	if skipped.Len() > 0 {
		msg = "Not all paths examined, check warnings for details"
	}
	out := &Result{value.DictOf("files", f.files, "changed", false, "msg", msg, "matched", f.files.Len(),
		"examined", f.examined, "skipped_paths", skipped)}
	if warnings.Len() > 0 {
		out.Set("warnings", warnings)
	}
	return out, nil
}

// expandHome replaces a leading ~ and variables.
func expandHome(c *Call, path string) string {
	words := expandWords(c, []string{path})
	return words[0]
}

// walk searches a folder; depth counts from 1 at the top. Seen keeps links from
// leading round in circles.
func (f *finder) walk(c *Call, folder string, depth int, seen map[string]bool) error {
	if err := c.Err(); err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // an unreadable folder below is passed over, as os.walk does
	}
	f.examined += len(entries)
	if f.Depth != nil && *f.Depth > 0 && depth > *f.Depth {
		return nil
	}
	var dirs []string
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if isDir(path) {
			dirs = append(dirs, path)
		}
		if err := f.look(path); err != nil {
			return err
		}
	}
	if !f.Recurse {
		return nil
	}
	sort.Strings(dirs)
	for _, dir := range dirs {
		if isLink(dir) && (!f.Follow || seen[realPath(dir)]) {
			continue
		}
		if f.Follow {
			seen[realPath(dir)] = true
		}
		if err := f.walk(c, dir, depth+1, seen); err != nil {
			return err
		}
	}
	return nil
}

// look adds a path that meets all conditions.
func (f *finder) look(path string) error {
	if filepath.Base(path)[0] == '.' && !f.Hidden {
		return nil
	}
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return nil // gone meanwhile
	}
	ok, err := f.filter.match(path, &st)
	if err != nil || !ok {
		return err
	}
	info := findInfo(path, &st)
	if f.Checksum && st.Mode&unix.S_IFMT == unix.S_IFREG {
		if sum, err := checksum(path, "sha1"); err == nil {
			info.Set("checksum", sum)
		}
	}
	f.files.Append(info)
	return nil
}

// findInfo is what find tells of a path: stat's facts in its own order.
func findInfo(path string, st *unix.Stat_t) *value.Dict {
	all := statDict(path, st)
	if name, ok := perm.UserName(int(st.Uid)); ok {
		all.Set("pw_name", name)
	} else {
		all.Set("pw_name", "")
	}
	if name, ok := perm.GroupName(int(st.Gid)); ok {
		all.Set("gr_name", name)
	} else {
		all.Set("gr_name", "")
	}
	d := value.NewDict()
	for _, key := range []string{"path", "mode", "isdir", "ischr", "isblk", "isreg", "isfifo", "islnk", "issock", "uid", "gid", "size",
		"inode", "dev", "nlink", "atime", "mtime", "ctime", "gr_name", "pw_name", "wusr", "rusr", "xusr", "wgrp", "rgrp", "xgrp",
		"woth", "roth", "xoth", "isuid", "isgid"} {
		v, _ := all.Get(key)
		d.Set(key, v)
	}
	return d
}

// quantity reads a number with a unit; absent gives ok false.
func quantity(text *string, pattern string, units map[string]float64) (n float64, ok bool, err error) {
	if text == nil || *text == "" {
		return 0, false, nil
	}
	m := regexp.MustCompile(pattern).FindStringSubmatch(*text)
	if m == nil {
		return 0, false, strconv.ErrSyntax
	}
	n, err = strconv.ParseFloat(m[1], 64)
	return n * units[m[2]], true, err
}
