package modules

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"play/modules/atomicfile"
	"play/modules/pyre"
	"play/modules/value"
)

// assembleArgs are the arguments of assemble.
type assembleArgs struct {
	Src          string  `arg:"src,required,type=path" doc:"folder of the fragments"`
	Dest         string  `arg:"dest,required,type=path" doc:"the file to make"`
	Backup       bool    `arg:"backup,default=no" doc:"keep a copy of the old file"`
	Delimiter    *string `arg:"delimiter" doc:"text between the fragments"`
	RemoteSrc    bool    `arg:"remote_src,default=yes" doc:"the fragments are on the target"`
	Regexp       *string `arg:"regexp" doc:"pattern of the names of the fragments"`
	IgnoreHidden bool    `arg:"ignore_hidden,default=no" doc:"leave out names that begin with a dot"`
	Validate     *string `arg:"validate" doc:"command that checks the new content, with %s for its file"`
	Decrypt      bool    `arg:"decrypt,default=yes" doc:"decrypt vaulted fragments on the control machine"`
	fileArgs
}

func assemble() Module {
	return Define("assemble", "Make a file from fragments", runAssemble).NoCheck()
}

func runAssemble(c *Call, args *assembleArgs) (*Result, error) {
	src := c.abs(args.Src)
	switch {
	case !exists(src):
		return nil, Failf("Source (%s) does not exist", args.Src)
	case !isDir(src):
		return nil, Failf("Source (%s) is not a directory", args.Src)
	}
	text, err := args.join(src)
	if err != nil {
		return nil, err
	}
	made, err := spool(strings.NewReader(text), c.TmpDir)
	if err != nil {
		return nil, err
	}
	defer made.close()
	dest := c.abs(args.Dest)
	out := NewResult(false).With("src", args.Src).With("dest", args.Dest).With("checksum", made.sha1).With("md5sum", made.md5).With("msg", "OK")
	if have, err := checksum(dest, "sha1"); err != nil || have != made.sha1 {
		if err := args.write(c, dest, made, out); err != nil {
			return nil, err
		}
		out.Changed(true)
	}
	changed, err := args.setAttributes(c, dest, nil)
	if changed {
		out.Changed(true)
	}
	return out, err
}

// join reads the fragments in the order of their names.
func (a *assembleArgs) join(src string) (string, error) {
	var pattern *pyre.Regexp
	if a.Regexp != nil {
		var err error
		if pattern, err = pyre.Compile(*a.Regexp, 0); err != nil {
			return "", Failf("Invalid Regexp (%v) in \"%s\"", err, *a.Regexp)
		}
	}
	entries, err := os.ReadDir(src)
	if err != nil {
		return "", Failf("cannot read %q: %s", src, osText(err, src))
	}
	var text strings.Builder
	first := true
	for _, e := range entries {
		path := filepath.Join(src, e.Name())
		if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || a.IgnoreHidden && strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if pattern != nil {
			if m, err := pattern.Search(e.Name()); err != nil || m == nil {
				continue
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return "", Failf("cannot read %q: %s", path, osText(err, path))
		}
		if !first {
			a.separate(&text)
		}
		first = false
		text.Write(data)
	}
	return text.String(), nil
}

// separate writes the delimiter on lines of its own.
func (a *assembleArgs) separate(text *strings.Builder) {
	if s := text.String(); s != "" && !strings.HasSuffix(s, "\n") {
		text.WriteString("\n")
	}
	if a.Delimiter == nil || *a.Delimiter == "" {
		return
	}
	delimiter := strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(*a.Delimiter)
	text.WriteString(delimiter)
	if !strings.HasSuffix(delimiter, "\n") {
		text.WriteString("\n")
	}
}

func (a *assembleArgs) write(c *Call, dest string, made *content, out *Result) error {
	f, err := atomicfile.Create(realPath(dest), atomicfile.Options{Unsafe: a.Unsafe, Scratch: c.TmpDir, Mode: a.newFileMode()})
	if err != nil {
		return Failf("%v", err)
	}
	if err := a.fill(c, f, made, out); err != nil {
		f.Abort()
		return err
	}
	if a.Backup && exists(dest) {
		backup, err := atomicfile.Backup(dest, time.Now())
		if err != nil {
			f.Abort()
			return Failf("%v", err)
		}
		out.Set("backup_file", backup)
	}
	if err := f.Commit(); err != nil {
		return Failf("%v", err)
	}
	return nil
}

func (a *assembleArgs) fill(c *Call, f *atomicfile.File, made *content, out *Result) error {
	if err := made.writeTo(io.Writer(f)); err != nil {
		return Failf("cannot write %q: %s", a.Dest, osText(err, a.Dest))
	}
	check, err := validateFile(c, a.Validate, f.Name())
	if err != nil || check == nil {
		return err
	}
	if check.RC != 0 {
		return Failf("failed to validate: rc:%d error:%s", check.RC, check.Stderr)
	}
	out.Set("validation", value.DictOf("rc", check.RC, "stdout", string(check.Stdout), "stderr", string(check.Stderr)))
	return nil
}
