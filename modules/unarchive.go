package modules

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// unarchiveArgs are the arguments of unarchive. A src of the control machine
// comes as the call's body.
type unarchiveArgs struct {
	Src           string   `arg:"src,required,type=path" doc:"the archive: tar (plain, gz, bz2, xz, zst) or zip"`
	Dest          string   `arg:"dest,required,type=path" doc:"folder to unpack into"`
	RemoteSrc     bool     `arg:"remote_src,default=no" doc:"src is on the target, or a URL"`
	Copy          bool     `arg:"copy,default=yes" doc:"the opposite of remote_src"`
	Creates       string   `arg:"creates,type=path" doc:"do nothing when this file exists"`
	ListFiles     bool     `arg:"list_files,default=no" doc:"list the archive's files in the result"`
	KeepNewer     bool     `arg:"keep_newer,default=no" doc:"keep files that are newer than those in the archive"`
	Include       []string `arg:"include,default=" doc:"files to unpack"`
	Exclude       []string `arg:"exclude,default=" doc:"files not to unpack"`
	ExtraOpts     []string `arg:"extra_opts,default=" doc:"options of tar or unzip; those that change what is written where are honoured"`
	ValidateCerts bool     `arg:"validate_certs,default=yes" doc:"check the server's certificate when src is a URL"`
	Decrypt       bool     `arg:"decrypt,default=yes" doc:"decrypt a vaulted src on the control machine"`
	BufferSize    int      `arg:"io_buffer_size,default=65536" doc:"bytes read at once; without effect"`
	fileArgs
}

// Rules relates the arguments.
func (unarchiveArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"include", "exclude"}}}
}

func unarchive() Module {
	return Define("unarchive", "Unpack an archive", runUnarchive).Downloads("src")
}

// unpacking is one run of unarchive.
type unpacking struct {
	*Call
	*unarchiveArgs
	dest     string
	file     *os.File // the archive
	format   string   // tar, gz, bz2, xz, zst or zip
	strip    int      // leading folders to leave out
	preserve bool     // keep setuid, setgid and sticky bits
	root     *os.Root
	left     int64 // bytes that may still be unpacked
	names    []string
	changes  []string // what differs, as rsync words it
}

func runUnarchive(c *Call, args *unarchiveArgs) (*Result, error) {
	if args.Creates != "" && exists(c.abs(args.Creates)) {
		return NewResult(false).With("skipped", true).With("msg", "skipped, since "+args.Creates+" exists"), nil
	}
	u := &unpacking{Call: c, unarchiveArgs: args, dest: filepath.Clean(c.abs(args.Dest))}
	if err := u.options(); err != nil {
		return nil, err
	}
	if err := u.source(); err != nil {
		return nil, err
	}
	defer u.file.Close()
	if !isDir(u.dest) {
		return nil, Failf("Destination '%s' is not a directory", u.dest)
	}
	if err := u.recognize(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(u.dest)
	if err != nil {
		return nil, Failf("cannot open %q: %s", u.dest, osText(err, u.dest))
	}
	defer root.Close()
	u.root = root
	return u.unpack()
}

// options reads extra_opts. One that would be ignored is an error.
func (u *unpacking) options() error {
	for i := 0; i < len(u.ExtraOpts); i++ {
		name, val, given := strings.Cut(strings.TrimSpace(u.ExtraOpts[i]), "=")
		if !given && (name == "--strip-components" || name == "--strip" || name == "--exclude") && i+1 < len(u.ExtraOpts) {
			i++
			val = u.ExtraOpts[i]
		}
		if n, v, ok := strings.Cut(name, " "); ok {
			name, val = n, strings.TrimSpace(v)
		}
		switch name {
		case "--strip-components", "--strip":
			n, err := strconv.Atoi(val)
			if err != nil || n < 0 {
				return Failf("cannot use the extra_opts %q: not a number", u.ExtraOpts[i])
			}
			u.strip = n
		case "--exclude":
			u.Exclude = append(u.Exclude, val)
		case "--keep-newer-files":
			u.KeepNewer = true
		case "-p", "--preserve-permissions", "--same-permissions":
			u.preserve = true
		case "", "-z", "-j", "-J", "--gzip", "--bzip2", "--xz", "--zstd", "-v", "--verbose", "-q", "-o", "-qq", "-oq", "-qo", "-uo", "--overwrite", "--no-same-owner",
			"--show-transformed-names", "--show-stored-names", "--no-overwrite-dir", "--wildcards", "-a", "--auto-compress":
		default:
			return Failf("cannot honour the extra_opts %q: known are --strip-components, --exclude, --keep-newer-files, --preserve-permissions and --no-same-owner", u.ExtraOpts[i])
		}
	}
	return nil
}

// source opens the archive: what was sent, a file here, or a download.
func (u *unpacking) source() (err error) {
	remote := u.RemoteSrc || !u.Copy
	switch {
	case u.Body != nil && !remote:
		return u.keep(u.Body)
	case remote && strings.Contains(u.Src, "://"):
		return u.download()
	}
	src := u.abs(u.Src)
	if !exists(src) {
		return Failf("Source '%s' does not exist", u.Src)
	}
	if u.file, err = os.Open(src); err != nil {
		return Failf("Source '%s' not readable", u.Src)
	}
	if info, err := u.file.Stat(); err != nil || info.Size() == 0 {
		u.file.Close()
		return Failf("Invalid archive '%s', the file is 0 bytes", u.Src)
	}
	return nil
}

// keep stores an archive that comes as a stream.
func (u *unpacking) keep(r io.Reader) error {
	f, err := os.CreateTemp(u.TmpDir, "archive")
	if err != nil {
		return Failf("cannot keep the archive: %v", err)
	}
	os.Remove(f.Name()) // the open file is all that is needed
	if _, err := io.Copy(f, r); err != nil {
		f.Close()
		return Failf("cannot keep the archive: %v", err)
	}
	u.file = f
	return nil
}

func (u *unpacking) download() error {
	h := &httpClient{Call: u.Call, headers: map[string]string{}, redirects: "urllib2", timeout: inSeconds(10),
		urlArgs: &urlArgs{Agent: "ansible-httpget", UseProxy: true, ValidateCerts: u.ValidateCerts, UseNetrc: true}}
	reply, err := h.send("GET", u.Src, nil, time.Time{})
	if fetch, ok := err.(*fetchError); ok {
		return Failf("Failure downloading %s, %s", u.Src, fetch.msg)
	}
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	if !reply.ok() {
		return Failf("Failure downloading %s, %s", u.Src, reply.msg)
	}
	return u.keep(reply.Body)
}

// unpack compares, and writes what differs.
func (u *unpacking) unpack() (*Result, error) {
	if err := u.each(u.compare); err != nil {
		return nil, err
	}
	out := NewResult(len(u.changes) > 0).With("dest", u.dest).With("src", u.Src).With("handler", u.handler())
	if u.format == "zip" && len(u.changes) > 0 || u.Diff {
		out.Set("diff", value.DictOf("prepared", strings.Join(u.changes, "")))
	}
	if u.ListFiles {
		out.Set("files", stringList(u.names))
	}
	if u.Check {
		return out, nil
	}
	if len(u.changes) > 0 {
		if err := u.each(u.write); err != nil {
			return nil, err
		}
		if err := u.each(u.date); err != nil {
			return nil, err
		}
	}
	err := u.each(func(e *packed) error {
		if e.kind == fs.ModeSymlink {
			return nil
		}
		changed, err := u.setAttributes(u.Call, filepath.Join(u.dest, e.name), nil)
		if changed {
			out.Changed(true)
		}
		return err
	})
	return out, err
}

func (u *unpacking) handler() string {
	switch u.format {
	case "zip":
		return "ZipArchive"
	case "gz":
		return "TgzArchive"
	}
	return "TarArchive"
}

// local turns a name of the archive into one in dest; it is "" for what is left
// out. A leading slash is dropped as tar does; a name with .. is refused.
func (u *unpacking) local(name string) (string, error) {
	for _, part := range strings.Split(name, "/") {
		if part == ".." {
			return "", Failf("cannot unpack %q: its name leads out of the folder", name)
		}
	}
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if name == "" || !u.selected(name) {
		return "", nil
	}
	parts := strings.Split(name, "/")
	if len(parts) <= u.strip {
		return "", nil
	}
	return strings.Join(parts[u.strip:], "/"), nil
}

// selected applies include and exclude; a pattern covers what is in a folder.
func (u *unpacking) selected(name string) bool {
	for _, pattern := range u.Exclude {
		if covers(pattern, name) {
			return false
		}
	}
	for _, pattern := range u.Include {
		if covers(pattern, name) {
			return true
		}
	}
	return len(u.Include) == 0
}

// covers tells whether a pattern matches a name, or a folder above it.
func covers(pattern, name string) bool {
	pattern = strings.TrimPrefix(strings.TrimSuffix(pattern, "/"), "./")
	for at := name; at != "." && at != "/"; at = path.Dir(at) {
		if at == pattern {
			return true
		}
		if ok, err := path.Match(pattern, at); err == nil && ok {
			return true
		}
		if ok, err := path.Match(pattern, path.Base(at)); err == nil && ok && !strings.Contains(pattern, "/") {
			return true
		}
	}
	return false
}
