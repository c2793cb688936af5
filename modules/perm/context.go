package perm

import "strings"

// Context is an SELinux context; empty parts ask for nothing.
type Context struct{ User, Role, Type, Level string }

func (c Context) asks() bool { return c != Context{} }

// merge fills the parts that are asked for into a context as the kernel spells
// it.
func (c Context) merge(current string) string {
	parts := strings.SplitN(current, ":", 4)
	for i, want := range []string{c.User, c.Role, c.Type, c.Level} {
		if want == "" || want == "_default" {
			continue
		}
		for len(parts) <= i {
			parts = append(parts, "")
		}
		parts[i] = want
	}
	return strings.Join(parts, ":")
}

func (w *Wanted) applyContext(path string, check bool, diff *Diff) (bool, error) {
	if !w.Context.asks() || !SELinux() {
		return false, nil
	}
	have, err := FileContext(path)
	if err != nil {
		return false, &Error{Msg: "invalid selinux context", Path: path, Details: detail(err)}
	}
	want := w.Context.merge(have)
	if want == have {
		return false, nil
	}
	diff.set("secontext", have, want)
	if check {
		return true, nil
	}
	if err := setFileContext(path, want); err != nil {
		return false, &Error{Msg: "set selinux context failed", Path: path, Details: detail(err)}
	}
	return true, nil
}
