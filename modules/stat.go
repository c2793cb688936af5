package modules

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/perm"
	"play/modules/process"
	"play/modules/value"
)

// statArgs are the arguments of stat.
type statArgs struct {
	Path       string `arg:"path,required,type=path,aliases=dest|name" doc:"the path to look at"`
	Follow     bool   `arg:"follow,default=no" doc:"look at a link's target"`
	MD5        bool   `arg:"get_md5,default=no" doc:"also return the MD5 checksum"`
	Checksum   bool   `arg:"get_checksum,default=yes" doc:"return a checksum of a file"`
	Mime       bool   `arg:"get_mime,default=yes,aliases=mime|mime_type|mime-type" doc:"return the type of the content as the file command names it"`
	Attributes bool   `arg:"get_attributes,default=yes,aliases=attr|attributes" doc:"return the attribute flags"`
	Algorithm  string `arg:"checksum_algorithm,default=sha1,choices=md5|sha1|sha224|sha256|sha384|sha512,aliases=checksum|checksum_algo" doc:"algorithm of the checksum"`
}

func stat() Module {
	return Define("stat", "Tell what is known of a path", runStat)
}

func runStat(c *Call, args *statArgs) (*Result, error) {
	path := c.abs(args.Path)
	var st unix.Stat_t
	look := unix.Lstat
	if args.Follow {
		look = unix.Stat
	}
	if err := look(path, &st); err != nil {
		if err == unix.ENOENT || err == unix.ENOTDIR {
			return NewResult(false).With("stat", value.DictOf("exists", false)), nil
		}
		return nil, Failf("%s", osText(err, path))
	}
	out := statDict(path, &st)
	statNames(out, path, &st)
	if st.Mode&unix.S_IFMT == unix.S_IFREG && out.must("readable") {
		if err := statSums(out, path, args); err != nil {
			return nil, err
		}
	}
	if args.Mime {
		mime, charset := fileType(c, path)
		out.Set("mimetype", mime)
		out.Set("charset", charset)
	}
	if args.Attributes {
		statFlags(out, path)
	}
	return NewResult(false).With("stat", out.Dict), nil
}

type statResult struct{ *value.Dict }

func (s statResult) must(key string) bool {
	v, _ := s.Get(key)
	return v == true
}

// statDict has what the kernel tells of a file.
func statDict(path string, st *unix.Stat_t) statResult {
	mode := uint32(st.Mode)
	kind := mode & unix.S_IFMT
	d := value.DictOf("exists", true, "path", path, "mode", fmt.Sprintf("%04o", mode&0o7777))
	for _, k := range []struct {
		key  string
		kind uint32
	}{{"isdir", unix.S_IFDIR}, {"ischr", unix.S_IFCHR}, {"isblk", unix.S_IFBLK}, {"isreg", unix.S_IFREG},
		{"isfifo", unix.S_IFIFO}, {"islnk", unix.S_IFLNK}, {"issock", unix.S_IFSOCK}} {
		d.Set(k.key, kind == k.kind)
	}
	for _, n := range []struct {
		key string
		n   int
	}{{"uid", int(st.Uid)}, {"gid", int(st.Gid)}, {"size", int(st.Size)}, {"inode", int(st.Ino)}, {"dev", int(st.Dev)}, {"nlink", int(st.Nlink)}} {
		d.Set(n.key, n.n)
	}
	d.Set("atime", seconds(time.Unix(st.Atim.Unix())))
	d.Set("mtime", seconds(time.Unix(st.Mtim.Unix())))
	d.Set("ctime", seconds(time.Unix(st.Ctim.Unix())))
	for i, who := range []string{"usr", "grp", "oth"} {
		shift := uint(6 - 3*i)
		for _, bit := range []struct {
			letter string
			bit    uint32
		}{{"w", 2}, {"r", 4}, {"x", 1}} {
			d.Set(bit.letter+who, mode&(bit.bit<<shift) != 0)
		}
	}
	d.Set("isuid", mode&unix.S_ISUID != 0)
	d.Set("isgid", mode&unix.S_ISGID != 0)
	d.Set("blocks", int(st.Blocks))
	d.Set("block_size", int(st.Blksize))
	d.Set("device_type", int(st.Rdev))
	return statResult{d}
}

// statNames adds what the user may do, where a link leads, and the owner's names.
func statNames(out statResult, path string, st *unix.Stat_t) {
	out.Set("readable", accessible(path, unix.R_OK))
	out.Set("writeable", accessible(path, unix.W_OK))
	out.Set("executable", accessible(path, unix.X_OK))
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		target, err := os.Readlink(path)
		if err == nil {
			out.Set("lnk_source", realPath(path))
			out.Set("lnk_target", target)
		}
	}
	if name, ok := perm.UserName(int(st.Uid)); ok {
		out.Set("pw_name", name)
	}
	if name, ok := perm.GroupName(int(st.Gid)); ok {
		out.Set("gr_name", name)
	}
}

func statSums(out statResult, path string, args *statArgs) error {
	if args.MD5 {
		sum, err := checksum(path, "md5")
		if err != nil {
			return Failf("%s", osText(err, path))
		}
		out.Set("md5", sum)
	}
	if args.Checksum {
		sum, err := checksum(path, args.Algorithm)
		if err != nil {
			return Failf("%s", osText(err, path))
		}
		out.Set("checksum", sum)
	}
	return nil
}

func statFlags(out statResult, path string) {
	letters, version, err := perm.Flags(path)
	var number any
	if err == nil {
		number = strconv.FormatUint(uint64(version), 10)
	}
	out.Set("version", number)
	out.Set("attributes", stringList(perm.FlagNames(letters)))
	out.Set("attr_flags", letters)
}

// fileType asks the file command for the type of a file's content.
func fileType(c *Call, path string) (mime, charset string) {
	out, err := process.Run(c, process.Command{
		Argv: []string{"file", "--mime-type", "--mime-encoding", path}, Dir: c.Dir, Env: withLocaleC(c.Env),
	})
	if err != nil || out.RC != 0 || !exists(path) {
		return "unknown", "unknown"
	}
	text := strings.TrimPrefix(strings.TrimSpace(string(out.Stdout)), path+":")
	mime, charset, ok := strings.Cut(strings.TrimSpace(text), ";")
	if !ok {
		return "unknown", "unknown"
	}
	_, charset, _ = strings.Cut(charset, "=")
	return mime, charset
}

// withLocaleC is an environment in which programs speak English.
func withLocaleC(env []string) []string {
	return append(append([]string(nil), env...), "LC_ALL=C", "LANG=C")
}

// realPath follows all links as far as they lead, as Python's os.path.realpath:
// what does not exist stays as it is.
func realPath(path string) string {
	for range 40 {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real
		}
		target, err := os.Readlink(path)
		if err != nil {
			dir := filepath.Dir(path)
			if dir == path {
				return path
			}
			return filepath.Join(realPath(dir), filepath.Base(path))
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

// newHash makes a hash by the name that Ansible gives it; nil for an unknown one.
func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "md5":
		return md5.New()
	case "sha1":
		return sha1.New()
	case "sha224":
		return sha256.New224()
	case "sha256":
		return sha256.New()
	case "sha384":
		return sha512.New384()
	case "sha512":
		return sha512.New()
	}
	return nil
}

// checksum returns the hex digest of a file's content.
func checksum(path, algorithm string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := newHash(algorithm)
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
