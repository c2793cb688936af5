package action

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"play/engine/task"
	"play/modules/value"
)

// copy puts a file, a folder or a text from the control machine on the host.
func (d *Deps) copy(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	src, dest := argString(a, "src"), argString(a, "dest")
	body, hasContent := a.Args.Get("content")
	remote, err := argBool(a, "remote_src", false)
	switch {
	case err != nil:
		return nil, err
	case src == "" && !hasContent:
		return nil, task.Failf("src (or content) is required")
	case dest == "":
		return nil, task.Failf("dest is required")
	case src != "" && hasContent:
		return nil, task.Failf("src and content are mutually exclusive")
	case hasContent && strings.HasSuffix(dest, "/"):
		return nil, task.Failf("can not use content with a dir as dest")
	case remote:
		return d.module(ctx, a)
	}
	args := a.Args.Clone()
	args.Delete("content")
	args.Delete("remote_src")
	args.Delete("decrypt")
	if hasContent {
		text, err := contentText(body)
		if err != nil {
			return nil, err
		}
		return d.deliver(ctx, a, args, textContent("", "content", text))
	}
	return d.copyPath(ctx, a, args, src)
}

// contentText is the content argument as it stands in the file: containers are
// written as JSON.
func contentText(v any) ([]byte, error) {
	switch v.(type) {
	case *value.Dict, *value.List:
		text, err := value.EncodeJSON(v, value.JSONOptions{EnsureASCII: true})
		if err != nil {
			return nil, task.Failf("could not write content: %v", err)
		}
		return []byte(text), nil
	}
	return []byte(value.Str(v)), nil
}

func (d *Deps) copyPath(ctx context.Context, a *task.Attempt, args *value.Dict, src string) (*value.Dict, error) {
	path, err := localFile(a, "files", src, "src")
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, task.Failf("cannot read %q: %v", path, err)
	}
	if info.IsDir() {
		return d.copyFolder(ctx, a, args, path, strings.HasSuffix(src, "/"))
	}
	return d.copyFile(ctx, a, args, path, info)
}

// copyFile delivers one local file; an encrypted one as its plaintext.
func (d *Deps) copyFile(ctx context.Context, a *task.Attempt, args *value.Dict, path string, info fs.FileInfo) (*value.Dict, error) {
	preserveMode(args, info)
	decrypt, err := argBool(a, "decrypt", true)
	if err != nil {
		return nil, err
	}
	if decrypt && d.Vaulted != nil {
		text, vaulted, err := d.Vaulted(path)
		if err != nil {
			return nil, err
		}
		if vaulted {
			return d.deliver(ctx, a, args, textContent(filepath.Base(path), path, text))
		}
	}
	c, err := fileContent(filepath.Base(path), path)
	if err != nil {
		return nil, err
	}
	return d.deliver(ctx, a, args, c)
}

// preserveMode replaces mode: preserve by the local file's mode.
func preserveMode(args *value.Dict, info fs.FileInfo) {
	if m, _ := args.Get("mode"); m == "preserve" {
		args.Set("mode", int(info.Mode().Perm()))
	}
}

// folderWidth is how many files of a folder are on their way at once.
const folderWidth = 16

// folderCopy is the copy of one local folder.
type folderCopy struct {
	d    *Deps
	ctx  context.Context
	a    *task.Attempt
	args *value.Dict
	dest string

	mu      sync.Mutex
	changed bool
	diffs   []any
	err     error
}

// copyFolder copies a folder, or only what is in it when src ended in a slash.
func (d *Deps) copyFolder(ctx context.Context, a *task.Attempt, args *value.Dict, root string, contents bool) (*value.Dict, error) {
	base := root
	if !contents {
		base = filepath.Dir(root)
	}
	f := &folderCopy{d: d, ctx: ctx, a: a, args: args, dest: argString(a, "dest")}
	var work sync.WaitGroup
	slots := make(chan struct{}, folderWidth)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return f.folder(rel)
		}
		slots <- struct{}{}
		work.Add(1)
		go func() {
			defer func() { <-slots; work.Done() }()
			f.file(path, rel)
		}()
		return f.failed()
	})
	work.Wait()
	if err == nil {
		err = f.failed()
	}
	if err != nil {
		return nil, err
	}
	return value.DictOf("changed", f.changed, "dest", f.dest, "src", root, "diff", value.NewList(f.diffs...)), nil
}

func (f *folderCopy) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// note adds one result to the sum.
func (f *folderCopy) note(result *value.Dict, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		if failed, _ := result.Get("failed"); value.Truth(failed) {
			err = &task.Fail{Result: result}
		}
	}
	if err != nil {
		if f.err == nil {
			f.err = err
		}
		return
	}
	changed, _ := result.Get("changed")
	f.changed = f.changed || value.Truth(changed)
	if diff, ok := result.Get("diff"); ok {
		if l, ok := diff.(*value.List); ok {
			f.diffs = append(f.diffs, l.Items...)
		}
	}
}

// folder makes one folder on the host, before the files in it.
func (f *folderCopy) folder(rel string) error {
	args := value.DictOf("path", filepath.Join(f.dest, rel), "state", "directory")
	for _, k := range []string{"owner", "group", "seuser", "serole", "setype", "selevel"} {
		if v, ok := f.args.Get(k); ok {
			args.Set(k, v)
		}
	}
	if mode, ok := f.args.Get("directory_mode"); ok && mode != nil {
		args.Set("mode", mode)
	}
	result, err := f.d.call(f.ctx, f.a, "file", args, nil)
	if err == nil {
		result.Delete("diff")
	}
	f.note(result, err)
	return f.failed()
}

// file copies one file, or makes a link like the local one.
func (f *folderCopy) file(path, rel string) {
	dest := filepath.Join(f.dest, rel)
	info, err := os.Lstat(path)
	if err != nil {
		f.note(nil, task.Failf("cannot read %q: %v", path, err))
		return
	}
	follow, err := argBool(f.a, "local_follow", true)
	if err != nil {
		f.note(nil, err)
		return
	}
	if info.Mode()&fs.ModeSymlink != 0 && !follow {
		target, err := os.Readlink(path)
		if err != nil {
			f.note(nil, task.Failf("cannot read %q: %v", path, err))
			return
		}
		f.note(f.d.call(f.ctx, f.a, "file", value.DictOf("path", dest, "src", target, "state", "link", "force", true), nil))
		return
	}
	if info, err = os.Stat(path); err != nil {
		f.note(nil, task.Failf("cannot read %q: %v", path, err))
		return
	}
	args := f.args.Clone()
	args.Set("dest", dest)
	args.Delete("directory_mode")
	f.note(f.d.copyFile(f.ctx, f.a, args, path, info))
}
