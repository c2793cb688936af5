package modules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"play/modules/atomicfile"
	"play/modules/perm"
	"play/modules/value"
)

// authorizedKeyArgs are the arguments of authorized_key.
type authorizedKeyArgs struct {
	User          string  `arg:"user,required" doc:"who may log in with the key"`
	Key           string  `arg:"key,required" doc:"public keys, one a line, or the URL of such a list"`
	Path          *string `arg:"path,type=path" doc:"the file, instead of ~/.ssh/authorized_keys"`
	ManageDir     bool    `arg:"manage_dir,default=yes" doc:"make the file's folder, with its owner and mode"`
	State         string  `arg:"state,default=present,choices=absent|present" doc:"whether the keys shall be in the file"`
	KeyOptions    *string `arg:"key_options" doc:"options in front of the keys"`
	Exclusive     bool    `arg:"exclusive,default=no" doc:"remove everything else from the file"`
	Comment       *string `arg:"comment" doc:"comment of the keys instead of their own"`
	ValidateCerts bool    `arg:"validate_certs,default=yes" doc:"check the server's certificate of a URL"`
	Follow        bool    `arg:"follow,default=no" doc:"follow a link that stands at the path"`
}

func authorizedKey() Module {
	return Define("authorized_key", "Manage the public keys that may log in", runAuthorizedKey).Downloads("key").In("ansible.posix")
}

func runAuthorizedKey(c *Call, args *authorizedKeyArgs) (*Result, error) {
	f, err := c.authorizedKeys(args)
	if err != nil {
		return nil, err
	}
	wanted, err := c.wantedKeys(args)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(f.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Failf("cannot read %q: %v", f.path, err)
	}
	lines := readKeyLines(string(data))
	changed := false
	if args.State == "present" {
		lines, changed = putKeys(lines, wanted, args.Exclusive)
	} else {
		lines, changed = dropKeys(lines, wanted)
	}
	out := args.report(f.shown)
	if !changed {
		return out, nil
	}
	text := renderKeys(lines)
	if c.Diff {
		out.Set("diff", value.DictOf("before_header", f.path, "after_header", f.path, "before", string(data), "after", text))
	}
	out.Changed(true)
	if c.Check {
		return out, nil
	}
	return out, f.write(text, args.ManageDir)
}

func (a *authorizedKeyArgs) report(path string) *Result {
	out := NewResult(false).With("user", a.User).With("key", a.Key).With("path", nil).With("manage_dir", a.ManageDir).
		With("state", a.State).With("exclusive", a.Exclusive).With("validate_certs", a.ValidateCerts).With("follow", a.Follow).
		With("key_options", nil).With("comment", nil).With("keyfile", path)
	for name, v := range map[string]*string{"path": a.Path, "key_options": a.KeyOptions, "comment": a.Comment} {
		if v != nil {
			out.Set(name, *v)
		}
	}
	return out
}

// keyFile is a file of authorized keys and its owner.
type keyFile struct {
	path     string
	shown    string // the path as the result names it
	uid, gid int
}

// authorizedKeys finds the file and its owner.
func (c *Call) authorizedKeys(a *authorizedKeyArgs) (*keyFile, error) {
	f := &keyFile{}
	entry := perm.Entry(a.User)
	switch {
	case c.Check && a.Path != nil && entry == nil:
	case entry == nil && c.Check:
		return nil, Failf("Either user must exist or you must provide full path to key file in check mode")
	case entry == nil:
		return nil, Failf(`Failed to lookup user %s: "getpwnam(): name not found: '%s'"`, a.User, a.User)
	default:
		f.uid, _ = strconv.Atoi(entry[passwdUID])
		f.gid, _ = strconv.Atoi(entry[passwdGID])
	}
	if a.Path != nil {
		f.path = c.abs(*a.Path)
	} else {
		f.path = filepath.Join(entry[passwdHome], ".ssh", "authorized_keys")
	}
	f.shown = f.path
	if a.Follow {
		f.path = realPath(f.path)
	}
	return f, nil
}

// write replaces the file; it is its owner's alone.
func (f *keyFile) write(text string, manageDir bool) error {
	dir := filepath.Dir(f.path)
	if manageDir {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return Failf("Failed to create directory %s : %v", dir, err)
		}
		if err := os.Chown(dir, f.uid, f.gid); err != nil {
			return Failf("cannot give %q to its owner: %v", dir, err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			return Failf("cannot change the mode of %q: %v", dir, err)
		}
	}
	mode := uint32(0o600)
	if err := atomicfile.Write(f.path, strings.NewReader(text), atomicfile.Options{Mode: &mode}); err != nil {
		return Failf("%v", err)
	}
	if err := os.Chown(f.path, f.uid, f.gid); err != nil {
		return Failf("cannot give %q to its owner: %v", f.path, err)
	}
	if err := os.Chmod(f.path, 0o600); err != nil {
		return Failf("cannot change the mode of %q: %v", f.path, err)
	}
	return nil
}

// wantedKeys reads the keys of the task, from their URL where one is given.
func (c *Call) wantedKeys(a *authorizedKeyArgs) ([]keyLine, error) {
	text := a.Key
	if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
		var err error
		if text, err = c.fetchKeys(text, a.ValidateCerts); err != nil {
			return nil, err
		}
	}
	var keys []keyLine
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		k, ok := readKeyLine(line)
		if !ok {
			return nil, Failf("invalid key specified: %s", line)
		}
		if a.KeyOptions != nil {
			k.options = *a.KeyOptions
		}
		if a.Comment != nil {
			k.comment = *a.Comment
		}
		keys = append(keys, k)
	}
	return keys, nil
}
