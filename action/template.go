package action

import (
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/task"
	"play/modules/value"
)

// templateOnly are the options of template that the copy on the host does not
// get.
var templateOnly = []string{"src", "block_start_string", "block_end_string", "variable_start_string", "variable_end_string",
	"comment_start_string", "comment_end_string", "trim_blocks", "lstrip_blocks", "newline_sequence", "output_encoding"}

// template renders a file on the control machine and puts the text on the host.
func (d *Deps) template(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	src := argString(a, "src")
	if src == "" || argString(a, "dest") == "" {
		return nil, task.Failf("src and dest are required")
	}
	if s := argString(a, "state"); s != "" {
		return nil, task.Failf("'state' cannot be specified on a template")
	}
	path, err := localFile(a, "templates", src, "src")
	if err != nil {
		return nil, err
	}
	text, err := d.render(a, path)
	if err != nil {
		return nil, err
	}
	args := a.Args.Clone()
	for _, k := range templateOnly {
		args.Delete(k)
	}
	return d.deliver(ctx, a, args, textContent(filepath.Base(path), path, []byte(text)))
}

// render evaluates a template file with the variables that describe it.
func (d *Deps) render(a *task.Attempt, path string) (string, error) {
	data, err := d.templateText(path)
	if err != nil {
		return "", err
	}
	options, err := fileOptions(a)
	if err != nil {
		return "", err
	}
	t, err := a.Executor.Jinja.TemplateFile(path, data, options)
	if err != nil {
		return "", err
	}
	ctx := a.Jinja.With(a.Scope)
	names, err := d.Describe(a.Executor.Jinja, ctx, path, argString(a, "src"))
	if err != nil {
		return "", err
	}
	names.Set("template_destpath", argString(a, "dest"))
	ctx.Locals, ctx.Files = names, besides(a.Files, path)
	text, err := t.Render(ctx)
	if err != nil {
		return "", renderError(path, err)
	}
	return text, nil
}

// templateText reads a template file, decrypted if it is a vault.
func (d *Deps) templateText(path string) ([]byte, error) {
	if d.Vaulted != nil {
		text, vaulted, err := d.Vaulted(path)
		if vaulted || err != nil {
			return text, err
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, task.Failf("cannot read the template %q: %v", path, err)
	}
	return data, nil
}

// renderError keeps the place inside the template.
func renderError(path string, err error) error {
	var undef *jinja.UndefinedError
	if errors.As(err, &undef) {
		pos := undef.Pos
		if pos.IsZero() {
			pos = source.Pos{File: path}
		}
		return &source.Error{Pos: pos, Msg: "AnsibleUndefinedVariable: " + undef.Msg}
	}
	return err
}

// fileOptions reads the delimiters and trim options.
func fileOptions(a *task.Attempt) (o jinja.FileOptions, err error) {
	o.BlockStart, o.BlockEnd = argString(a, "block_start_string"), argString(a, "block_end_string")
	o.VariableStart, o.VariableEnd = argString(a, "variable_start_string"), argString(a, "variable_end_string")
	o.CommentStart, o.CommentEnd = argString(a, "comment_start_string"), argString(a, "comment_end_string")
	o.NewlineSequence = argString(a, "newline_sequence")
	for name, field := range map[string]**bool{"trim_blocks": &o.TrimBlocks, "lstrip_blocks": &o.LstripBlocks} {
		if _, ok := a.Args.Get(name); !ok {
			continue
		}
		b, err := argBool(a, name, false)
		if err != nil {
			return o, err
		}
		*field = &b
	}
	return o, nil
}

// Describe returns the variables by which a template file sees itself; name is how
// it was asked for, and c evaluates what they are made of.
func (d *Deps) Describe(env *jinja.Env, c *jinja.Context, path, name string) (*value.Dict, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, task.Failf("cannot read the template %q: %v", path, err)
	}
	full := absolute(path)
	hostname, _ := os.Hostname()
	owner := ""
	if u, err := user.LookupId(ownerID(info)); err == nil {
		owner = u.Username
	}
	v := value.DictOf("template_host", hostname, "template_path", name, "template_fullpath", full,
		"template_mtime", info.ModTime().Format("2006-01-02 15:04:05.000000"), "template_uid", owner,
		"template_run_date", d.Now().Format("2006-01-02 15:04:05.000000"), "template_destpath", "")
	managed, err := env.Template(or(d.Managed, "Ansible managed"), source.Pos{})
	if err != nil {
		return nil, err
	}
	ctx := c.With(c.Vars)
	ctx.Locals = v
	text, err := managed.Render(ctx)
	if err != nil {
		return nil, err
	}
	text = strings.NewReplacer("{host}", hostname, "{uid}", owner, "{file}", full).Replace(text)
	v.Set("ansible_managed", strftime(text, info.ModTime()))
	return v, nil
}

// strftime fills in the date codes that ansible_managed may hold.
func strftime(text string, t time.Time) string {
	return strings.NewReplacer("%Y", t.Format("2006"), "%m", t.Format("01"), "%d", t.Format("02"),
		"%H", t.Format("15"), "%M", t.Format("04"), "%S", t.Format("05"), "%%", "%").Replace(text)
}

// ownerID is the numeric owner of a local file.
func ownerID(info os.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.Itoa(int(st.Uid))
	}
	return ""
}

// besides finds files next to a template first, so that its includes work.
func besides(f *task.Files, path string) jinja.Finder { return &beside{f, filepath.Dir(path)} }

type beside struct {
	*task.Files
	dir string
}

// Find looks in the template's own folder, then where the task looks.
func (b *beside) Find(kind, name string) (string, bool) {
	if p := filepath.Join(b.dir, name); !filepath.IsAbs(name) {
		if _, err := os.Stat(p); err == nil {
			return p, true
		}
	}
	return b.Files.Find(kind, name)
}

// localFile finds a file of the control machine that one of the arguments names.
func localFile(a *task.Attempt, kind, name string, args ...string) (string, error) {
	path, ok, err := a.Find(kind, name, args...)
	if !ok {
		return "", notFound(a, kind, name)
	}
	return path, err
}

// notFound says where a file was looked for.
func notFound(a *task.Attempt, kind, name string) error {
	return task.Failf("Could not find or access '%s'\nSearched in:\n\t%s on the Ansible Controller.\n"+
		"If you are using a module and expect the file to exist on the remote, see the remote_src option",
		name, strings.Join(a.Files.Paths(kind, name), "\n\t"))
}
