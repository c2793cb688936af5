package modules

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"play/modules/perm"
	"play/modules/process"
	"play/modules/value"
)

// fileArgs are the arguments shared by all modules that write files.
type fileArgs struct {
	Mode       any    `arg:"mode" doc:"permissions: octal digits or symbolic (u=rwX,go=r)"`
	Owner      string `arg:"owner" doc:"user that owns the file"`
	Group      string `arg:"group" doc:"group that owns the file"`
	SEUser     string `arg:"seuser" doc:"user part of the SELinux context"`
	SERole     string `arg:"serole" doc:"role part of the SELinux context"`
	SEType     string `arg:"setype" doc:"type part of the SELinux context"`
	SELevel    string `arg:"selevel" doc:"level part of the SELinux context"`
	Unsafe     bool   `arg:"unsafe_writes,default=no,env=ANSIBLE_UNSAFE_WRITES" doc:"write in place where the file cannot be replaced"`
	Attributes string `arg:"attributes,aliases=attr" doc:"attribute flags as chattr takes them"`
}

// wanted is the state that the arguments ask for.
func (a *fileArgs) wanted() *perm.Wanted {
	return &perm.Wanted{
		Owner: a.Owner, Group: a.Group, Mode: a.Mode, Attributes: a.Attributes, Umask: perm.Umask(),
		Context: perm.Context{User: a.SEUser, Role: a.SERole, Type: a.SEType, Level: a.SELevel},
	}
}

// setAttributes applies the shared arguments to path; diff may be nil.
func (a *fileArgs) setAttributes(c *Call, path string, diff *perm.Diff) (changed bool, err error) {
	changed, err = a.wanted().Apply(path, c.Check, diff)
	var e *perm.Error
	if !errors.As(err, &e) {
		return changed, err
	}
	with := value.DictOf("path", e.Path)
	if e.Details != "" {
		with.Set("details", e.Details)
	}
	if e.Warning != "" {
		with.Set("warnings", value.NewList(e.Warning))
	}
	return changed, &Failure{Msg: e.Msg, With: with}
}

// newFileMode is the mode that a new file must not exceed, or nil.
func (a *fileArgs) newFileMode() *uint32 {
	if a.Mode == nil {
		return nil
	}
	base := perm.Stat{Mode: 0o666 &^ perm.Umask()}
	mode, err := perm.Resolve(a.Mode, base, perm.Umask())
	if err != nil {
		return nil // setAttributes reports it
	}
	return &mode
}

// abs completes a relative path by the call's working folder.
func (c *Call) abs(path string) string {
	if c.Dir == "" || path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(c.Dir, path)
}

// osText words a system error as Python does: "[Errno 2] No such file or
// directory: b'/x'".
func osText(err error, path string) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return process.ErrnoText(errno, path)
	}
	return err.Error()
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func lexists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// osTextString is osText for a path that Python holds as text.
func osTextString(err error, path string) string {
	return strings.Replace(osText(err, path), ": b'", ": '", 1)
}
