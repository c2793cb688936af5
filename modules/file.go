package modules

import (
	"path/filepath"

	"play/modules/perm"
	"play/modules/value"
)

// fileModuleArgs are the arguments of file.
type fileModuleArgs struct {
	State      *string `arg:"state,choices=absent|directory|file|hard|link|touch" doc:"what the path shall be"`
	Path       string  `arg:"path,required,type=path,aliases=dest|name" doc:"the path to manage"`
	Basename   string  `arg:"_original_basename" doc:"name of the file on the control machine (set by copy)"`
	Recurse    bool    `arg:"recurse,default=no" doc:"apply to everything in a directory"`
	Force      bool    `arg:"force,default=no" doc:"replace what is in the way of a link, and link to missing files"`
	Follow     bool    `arg:"follow,default=yes" doc:"act on a link's target"`
	DiffPeek   *string `arg:"_diff_peek" doc:"only tell whether the content is binary"`
	Src        *string `arg:"src,type=path" doc:"what the link points to"`
	MTime      *string `arg:"modification_time" doc:"preserve, now, or a time in the given format"`
	MTimeStyle string  `arg:"modification_time_format,default=%Y%m%d%H%M.%S" doc:"format of modification_time"`
	ATime      *string `arg:"access_time" doc:"preserve, now, or a time in the given format"`
	ATimeStyle string  `arg:"access_time_format,default=%Y%m%d%H%M.%S" doc:"format of access_time"`
	fileArgs
}

func file() Module {
	return Define("file", "Manage files, directories, links and their permissions", runFile)
}

// fileRun is one run of file.
type fileRun struct {
	*Call
	*fileModuleArgs
	path  string
	src   string // "": none
	prior string // state before
	times fileTimes
}

func runFile(c *Call, args *fileModuleArgs) (*Result, error) {
	r := &fileRun{Call: c, fileModuleArgs: args, path: c.abs(args.Path)}
	if args.Src != nil {
		r.src = *args.Src
	}
	state, err := r.prepare()
	if err != nil {
		return nil, err
	}
	if args.DiffPeek != nil {
		return NewResult(false).With("path", r.path).With("appears_binary", appearsBinary(r.path)), nil
	}
	if r.times, err = r.parseTimes(state); err != nil {
		return nil, err
	}
	switch state {
	case "directory":
		return r.directory()
	case "link":
		return r.symlink()
	case "hard":
		return r.hardlink()
	case "touch":
		return r.touch()
	case "absent":
		return r.absent()
	}
	return r.plain()
}

// prepare settles state and path, and refuses arguments that do not go together.
func (r *fileRun) prepare() (state string, err error) {
	r.prior = pathState(r.path)
	switch {
	case r.State != nil:
		state = *r.State
	case r.prior != "absent":
		state = r.prior
	case r.Recurse:
		state = "directory"
	default:
		state = "file"
	}
	if state != "link" && state != "absent" && isDir(r.path) {
		base := r.Basename
		if base == "" && r.src != "" {
			base = filepath.Base(r.src)
		}
		if base != "" {
			r.path = filepath.Join(r.path, base)
			r.prior = pathState(r.path)
		}
	}
	if r.Recurse && state != "directory" {
		return "", r.refuse("recurse option requires state to be 'directory'")
	}
	if r.src != "" && state != "link" && state != "hard" {
		return "", r.refuse("src option requires state to be 'link' or 'hard'")
	}
	return state, nil
}

func (r *fileRun) refuse(format string, args ...any) error {
	f := Failf(format, args...)
	f.With = value.DictOf("path", r.path)
	return f
}

// follow moves on to a link's target.
func (r *fileRun) follow() {
	if r.Follow && r.prior == "link" {
		if target, err := filepath.EvalSymlinks(r.path); err == nil {
			r.path = target
			r.prior = pathState(target)
		}
	}
}

// plain is state=file: nothing is created.
func (r *fileRun) plain() (*Result, error) {
	r.follow()
	if r.prior != "file" && r.prior != "hard" {
		f := Failf("file (%s) is %s, cannot continue", r.path, r.prior)
		f.With = value.DictOf("path", r.path, "state", r.prior)
		return nil, f
	}
	diff := pathDiff(r.path, "", "")
	changed, err := r.setAttributes(r.Call, r.path, diff)
	if err != nil {
		return nil, err
	}
	timed, err := r.setTimes(r.path, diff)
	if err != nil {
		return nil, err
	}
	return pathResult("path", r.path, changed || timed, diff), nil
}

// pathDiff starts a diff with the path, and the states where they differ.
func pathDiff(path, before, after string) *perm.Diff {
	d := perm.NewDiff()
	d.Before.Set("path", path)
	d.After.Set("path", path)
	if before != after {
		d.Before.Set("state", before)
		d.After.Set("state", after)
	}
	return d
}

func pathResult(key, path string, changed bool, diff *perm.Diff) *Result {
	r := &Result{value.DictOf(key, path, "changed", changed)}
	if diff != nil {
		r.Set("diff", value.DictOf("before", diff.Before, "after", diff.After))
	}
	return r
}
