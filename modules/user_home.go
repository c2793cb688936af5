package modules

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"play/modules/value"
)

// home is the home folder that the task or the account names.
func (a *account) home() string {
	if a.Home != nil {
		return *a.Home
	}
	return a.entry[passwdHome]
}

// owner is the account's user and group number.
func (a *account) owner() (uid, gid int) {
	uid, _ = strconv.Atoi(a.entry[passwdUID])
	gid, _ = strconv.Atoi(a.entry[passwdGID])
	return uid, gid
}

// makeHome makes a missing home folder with what the skeleton has.
func (a *account) makeHome(out *Result) error {
	home := a.home()
	if !a.CreateHome || home == "" || exists(home) {
		return nil
	}
	out.Changed(true)
	if a.call.Check {
		return nil
	}
	if err := a.fillHome(home); err != nil {
		return Failf("cannot make the home folder %q: %v", home, err)
	}
	return nil
}

func (a *account) fillHome(home string) error {
	skeleton := "/etc/skel"
	if a.Skeleton != nil {
		skeleton = *a.Skeleton
	}
	if err := os.MkdirAll(home, 0o777); err != nil {
		return err
	}
	if isDir(skeleton) {
		if err := copySkeleton(skeleton, home); err != nil {
			return err
		}
	}
	if err := os.Chmod(home, homeMode()); err != nil {
		return err
	}
	uid, gid := a.owner()
	return filepath.WalkDir(home, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, gid)
	})
}

// homeMode is the mode of a new home folder by the rules of login.defs.
func homeMode() os.FileMode {
	data, err := os.ReadFile("/etc/login.defs")
	if err != nil {
		return 0o755
	}
	mode := os.FileMode(0o755)
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		n, err := strconv.ParseUint(fields[1], 8, 32)
		if fields[0] == "UMASK" && err == nil {
			mode = 0o777 &^ os.FileMode(n)
		}
	}
	return mode
}

// copySkeleton copies a tree into a folder, with modes, times and links.
func copySkeleton(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		info, err := d.Info()
		if err != nil || path == from {
			return err
		}
		switch {
		case d.IsDir():
			return os.MkdirAll(target, info.Mode().Perm())
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case d.Type().IsRegular():
			return copySkeletonFile(path, target, info)
		}
		return nil
	})
}

func copySkeletonFile(path, target string, info fs.FileInfo) error {
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(dst, src); err != nil {
		dst.Close()
		return err
	}
	if err := dst.Close(); err != nil {
		return err
	}
	return os.Chtimes(target, info.ModTime(), info.ModTime())
}

// keyFile is the path of the private key.
func (a *account) keyFile() string {
	path := filepath.Join(".ssh", "id_"+a.SSHKeyType)
	if a.SSHKeyFile != nil {
		path = *a.SSHKeyFile
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(a.home(), path)
}

// makeKey makes a key pair unless there is one, and reports it.
func (a *account) makeKey(out *Result) error {
	path := a.keyFile()
	if exists(path) {
		out.warn(fmt.Sprintf("Found existing ssh key private file \"%s\", no force, so skipping ssh-keygen generation", path))
	} else {
		out.Changed(true)
		if err := a.generateKey(path); err != nil {
			return err
		}
	}
	fingerprint := ""
	if exists(path) {
		shown, err := a.call.tool("ssh-keygen", "-l", "-f", path)
		if err != nil {
			return err
		}
		fingerprint = strings.TrimSpace(shown.out)
		if shown.failed() {
			fingerprint = strings.TrimSpace(shown.errOut)
		}
	}
	var public any
	if data, err := os.ReadFile(path + ".pub"); err == nil {
		public = strings.TrimSpace(string(data))
	}
	out.With("ssh_fingerprint", fingerprint).With("ssh_key_file", path).With("ssh_public_key", public)
	return nil
}

func (a *account) generateKey(path string) error {
	if a.call.Check {
		return nil
	}
	uid, gid := a.owner()
	if dir := filepath.Dir(path); !exists(dir) {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return Failf("Failed to create %s: %s", dir, osText(err, dir))
		}
		if err := os.Chown(dir, uid, gid); err != nil {
			return Failf("Failed to create %s: %s", dir, osText(err, dir))
		}
	}
	out, err := a.call.tool(a.keygenWords(path)...)
	if err != nil {
		return err
	}
	if out.failed() {
		return &Failure{Msg: out.errOut, With: value.DictOf("name", a.Name, "rc", out.rc)}
	}
	for _, file := range []string{path, path + ".pub"} {
		if err := os.Chown(file, uid, gid); err != nil {
			return Failf("cannot give %q to %s: %v", file, a.Name, err)
		}
	}
	return nil
}

func (a *account) keygenWords(path string) []string {
	argv := []string{"ssh-keygen", "-t", a.SSHKeyType}
	if a.SSHKeyBits > 0 {
		argv = append(argv, "-b", strconv.Itoa(a.SSHKeyBits))
	}
	comment := ""
	if a.SSHKeyComment != nil {
		comment = *a.SSHKeyComment
	} else if host, err := os.Hostname(); err == nil {
		comment = "ansible-generated on " + host
	}
	argv = append(argv, "-C", comment, "-f", path, "-N")
	if a.SSHKeyPassphrase != nil {
		return append(argv, *a.SSHKeyPassphrase)
	}
	return append(argv, "")
}
