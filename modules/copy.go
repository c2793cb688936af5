package modules

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/atomicfile"
	"play/modules/perm"
	"play/modules/value"
)

// copyArgs are the arguments of copy. The content comes as the call's body;
// src then only names it.
type copyArgs struct {
	Src           string  `arg:"src,type=path" doc:"the file or directory to copy"`
	Basename      string  `arg:"_original_basename" doc:"name of the file on the control machine"`
	Content       *string `arg:"content,nolog" doc:"the content itself"`
	Dest          string  `arg:"dest,required,type=path" doc:"where to copy to"`
	Backup        bool    `arg:"backup,default=no" doc:"keep a copy of the old file"`
	Force         bool    `arg:"force,default=yes" doc:"replace a file that differs"`
	Validate      *string `arg:"validate" doc:"command that checks the new content, with %s for its file"`
	DirectoryMode any     `arg:"directory_mode" doc:"permissions of folders that are created"`
	RemoteSrc     bool    `arg:"remote_src" doc:"src is on the target"`
	LocalFollow   *bool   `arg:"local_follow" doc:"copy what links in a source directory point to"`
	Checksum      *string `arg:"checksum" doc:"SHA1 that the content must have"`
	Follow        bool    `arg:"follow,default=no" doc:"write through a link at dest"`
	fileArgs
}

func copyFile() Module {
	return Define("copy", "Copy a file or directory to the target", runCopy)
}

// copyRun is one run of copy for a single file.
type copyRun struct {
	*Call
	*copyArgs
	content *content
	dest    string
	changed bool // the content differs, or dest is a link to replace
	backup  string
}

func runCopy(c *Call, args *copyArgs) (*Result, error) {
	r := &copyRun{Call: c, copyArgs: args, dest: c.abs(args.Dest)}
	if r.Mode == "preserve" {
		if err := r.preserveMode(); err != nil {
			return nil, err
		}
	}
	if args.RemoteSrc && c.Body == nil && args.Content == nil && isDir(c.abs(args.Src)) {
		return r.copyTree()
	}
	if r.unsent() {
		return r.unsentContent()
	}
	var err error
	if r.content, err = r.open(); err != nil {
		return nil, err
	}
	defer r.content.close()
	if r.Checksum != nil && *r.Checksum != "" && *r.Checksum != r.content.sha1 {
		return nil, &Failure{Msg: "Copied file does not match the expected checksum. Transfer failed.",
			With: value.DictOf("checksum", r.content.sha1, "expected_checksum", *r.Checksum)}
	}
	return r.file()
}

func (r *copyRun) preserveMode() error {
	st, err := perm.Lstat(realPath(r.abs(r.Src)))
	if err != nil {
		return Failf("Source %s not found", r.Src)
	}
	r.Mode = int(st.Mode)
	return nil
}

// open finds the content: the body, the content argument, or a file here.
func (r *copyRun) open() (*content, error) {
	switch {
	case r.Body != nil:
		return spool(r.Body, r.TmpDir)
	case r.copyArgs.Content != nil:
		return spool(strings.NewReader(*r.copyArgs.Content), r.TmpDir)
	}
	src := r.abs(r.Src)
	if !exists(src) {
		return nil, Failf("Source %s not found", r.Src)
	}
	if !accessible(src, unix.R_OK) {
		return nil, Failf("Source %s not readable", r.Src)
	}
	return openContent(src)
}

func (r *copyRun) file() (*Result, error) {
	if dir := filepath.Clean(r.dest); r.Check && !r.sent() && strings.HasSuffix(r.Dest, "/") && !exists(dir) {
		return NewResult(true).With("msg", "dest directory "+dir+" would be created").With("src", r.Src), nil
	}
	if err := r.settleDest(); err != nil {
		return nil, err
	}
	if r.Follow && isLink(r.dest) && exists(r.dest) {
		r.dest = realPath(r.dest)
	}
	if !r.Force && lexists(r.dest) {
		return r.keptOld(), nil
	}
	if dir := filepath.Dir(r.dest); exists(dir) && !accessible(dir, unix.W_OK) && !r.Unsafe {
		return nil, Failf("Destination %s not writable", dir)
	}
	same, err := r.sameContent()
	if err != nil {
		return nil, err
	}
	if same && !isLink(r.dest) && r.Body != nil {
		return r.untouched()
	}
	return r.replaced(same)
}

// keptOld reports an existing file when force is off.
func (r *copyRun) keptOld() *Result {
	return &Result{value.DictOf("msg", "file already exists", "src", r.Src, "dest", r.dest, "changed", false)}
}

// settleDest turns a destination that is a directory into the file in it, and
// makes the folders of one that ends with a slash.
func (r *copyRun) settleDest() error {
	base := r.Basename
	if base == "" {
		base = filepath.Base(r.Src)
	}
	intoFolder := strings.HasSuffix(r.Dest, "/") && base != "."
	if intoFolder && !exists(r.dest) {
		if err := r.makeParents(r.dest); err != nil {
			return err
		}
	}
	if isDir(r.dest) || intoFolder {
		r.dest = filepath.Join(r.dest, base)
	}
	if isDir(r.dest) && !isLink(r.dest) {
		return Failf("cannot replace %q by a file: it is a directory", r.dest)
	}
	if dir := filepath.Dir(r.dest); !exists(dir) && !(r.Check && (intoFolder || r.sent())) {
		written, _ := filepath.Split(r.Dest) // as it was written: ./none
		return Failf("Destination directory %s does not exist", strings.TrimRight(written, "/"))
	}
	return nil
}

// makeParents creates the missing folders of a path with directory_mode and
// the owner asked for.
func (r *copyRun) makeParents(dir string) error {
	dir = filepath.Clean(dir)
	if exists(dir) || r.Check {
		return nil
	}
	if err := r.makeParents(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return Failf("There was an issue creating %s as requested: %s", dir, osText(err, dir))
	}
	attributes := r.fileArgs
	attributes.Mode = r.DirectoryMode
	_, err := attributes.setAttributes(r.Call, dir, nil)
	return err
}

func (r *copyRun) sameContent() (bool, error) {
	info, err := os.Stat(r.dest)
	if err != nil || !info.Mode().IsRegular() || info.Size() != r.content.size {
		return false, nil
	}
	sum, err := checksum(r.dest, "sha1")
	if err != nil {
		return false, Failf("cannot read %q: %s", r.dest, osText(err, r.dest))
	}
	return sum == r.content.sha1, nil
}

// untouched reports a file whose content was right already, in the words of the
// file module, which Ansible runs then.
func (r *copyRun) untouched() (*Result, error) {
	diff := pathDiff(r.dest, "", "")
	changed, err := r.setAttributes(r.Call, r.dest, diff)
	if err != nil {
		return nil, err
	}
	out := pathResult("path", r.dest, changed, diff)
	return out.With("checksum", r.content.sha1).With("dest", r.dest), nil
}

// replaced puts the content in place where it differs.
func (r *copyRun) replaced(same bool) (*Result, error) {
	r.changed = !same || isLink(r.dest)
	var diff *value.Dict
	if r.Diff && r.changed && r.Body != nil {
		diff = contentDiff(r.dest, r.content, hint(r.Call, "_ansible_diff_header", r.Src))
	}
	if r.changed && r.Check && r.sent() {
		return foretold(diff), nil
	}
	if r.changed && !r.Check {
		if err := r.write(); err != nil {
			return nil, err
		}
	}
	attributes, err := r.setAttributes(r.Call, r.dest, nil)
	if err != nil {
		return nil, err
	}
	out := &Result{value.DictOf("dest", r.dest, "src", r.Src, "md5sum", r.content.md5, "checksum", r.content.sha1,
		"changed", r.changed || attributes)}
	if r.backup != "" {
		out.Set("backup_file", r.backup)
	}
	if diff != nil {
		out.Set("diff", value.NewList(diff))
	}
	return out, nil
}

// sent tells whether the content comes from the control machine. In check mode
// nothing is said then but that it differs: the folder may still be to come.
func (r *copyRun) sent() bool { return r.Body != nil || r.unsent() }

func foretold(diff *value.Dict) *Result {
	out := NewResult(true)
	if diff != nil {
		out.Set("diff", value.NewList(diff))
	}
	return out
}

func (r *copyRun) write() (err error) {
	if r.backupWanted() {
		if r.backup, err = atomicfile.Backup(r.dest, time.Now()); err != nil {
			return Failf("%v", err)
		}
	}
	f, err := atomicfile.Create(r.dest, atomicfile.Options{Unsafe: r.Unsafe, Scratch: r.TmpDir, Mode: r.newFileMode()})
	if err != nil {
		return Failf("%v", err)
	}
	if err := r.fill(f); err != nil {
		f.Abort()
		return err
	}
	if err := f.Commit(); err != nil {
		return Failf("%v", err)
	}
	if at := r.content.modified; !at.IsZero() {
		_ = os.Chtimes(r.dest, at, at) // a copy on the target keeps the time, where the owner allows
	}
	return nil
}

func (r *copyRun) backupWanted() bool { return r.copyArgs.Backup && exists(r.dest) }

func (r *copyRun) fill(f *atomicfile.File) error {
	if err := r.content.writeTo(f); err != nil {
		return Failf("cannot write %q: %s", r.dest, osText(err, r.dest))
	}
	out, err := validateFile(r.Call, r.Validate, f.Name())
	if err != nil {
		return err
	}
	if out != nil && out.RC != 0 {
		return &Failure{Msg: "failed to validate", With: value.DictOf("exit_status", out.RC,
			"stdout", string(out.Stdout), "stderr", string(out.Stderr))}
	}
	return nil
}

// unsent tells whether the controller asks if it has to send the content: the
// checksum comes first, the body only when it differs.
func (r *copyRun) unsent() bool {
	follows, _ := r.Extra.Get("_ansible_content_follows")
	return follows == true && r.Body == nil && r.Checksum != nil
}

// unsentContent is the answer: with the same content the job is done, otherwise
// "needs_content" is true.
func (r *copyRun) unsentContent() (*Result, error) {
	r.content = &content{sha1: *r.Checksum}
	if err := r.settleDest(); err != nil {
		return nil, err
	}
	if r.Follow && isLink(r.dest) && exists(r.dest) {
		r.dest = realPath(r.dest)
	}
	if !r.Force && lexists(r.dest) {
		return r.keptOld(), nil
	}
	if info, err := os.Stat(r.dest); err == nil && info.Mode().IsRegular() && !isLink(r.dest) {
		r.content.size = info.Size()
		if same, err := r.sameContent(); err != nil || same {
			if err != nil {
				return nil, err
			}
			return r.untouched()
		}
	}
	if r.Check && !r.Diff {
		return foretold(nil), nil
	}
	return NewResult(true).With("needs_content", true), nil
}

// hint returns a string among the call's hints.
func hint(c *Call, name, fallback string) string {
	if v, ok := c.Extra.Get(name); ok {
		if s, ok := v.(string); ok {
			return s
		}
	}
	return fallback
}
