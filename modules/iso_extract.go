package modules

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/modules/atomicfile"
	"play/modules/process"
	"play/modules/value"
)

// isoExtractArgs are the arguments of iso_extract.
type isoExtractArgs struct {
	Image      string   `arg:"image,required,type=path,aliases=path|src" doc:"the image"`
	Dest       string   `arg:"dest,required,type=path" doc:"the folder for the files; it must be there"`
	Files      []string `arg:"files,required" doc:"names of files in the image; folders cannot be extracted"`
	Force      bool     `arg:"force,default=yes" doc:"replace files that differ; no: leave those that are there"`
	Executable *string  `arg:"executable,type=path" doc:"the 7z program; where there is none, the image is mounted"`
}

func isoExtract() Module {
	return Define("iso_extract", "Extract files from ISO images", runIsoExtract).In("community.general", "community.general.files")
}

// isoRun is one run of iso_extract.
type isoRun struct {
	*Call
	*isoExtractArgs
	program string // the path of 7z; "": the image is mounted
	told    string // the name by which 7z was looked for
	scratch string // the folder that the image is unpacked or mounted in
	result  *Result
	files   *value.List // what the result tells of each file
}

func runIsoExtract(c *Call, args *isoExtractArgs) (*Result, error) {
	r := &isoRun{Call: c, isoExtractArgs: args, told: "7z", files: value.NewList()}
	r.result = NewResult(false).With("dest", args.Dest).With("image", args.Image)
	r.findProgram()
	switch dir, _ := filepath.Split(args.Image); {
	case !exists(c.abs(args.Dest)):
		return nil, r.fail(value.NewDict(), "Directory '"+args.Dest+"' does not exist")
	case dir == "" || !exists(c.abs(dir)):
		return nil, r.fail(value.NewDict(), "ISO image '"+args.Image+"' does not exist")
	}
	r.result.Set("files", r.files)
	names := r.missing()
	if len(names) == 0 {
		return r.result, nil
	}
	var err error
	if r.scratch, err = os.MkdirTemp(c.TmpDir, "tmp"); err != nil {
		return nil, Failf("cannot make a folder for the image's files: %v", err)
	}
	defer r.clean()
	if err := r.open(names); err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := r.place(name); err != nil {
			return nil, err
		}
	}
	return r.result, nil
}

// findProgram looks for 7z. That one which was asked for is missing is worth a warning.
func (r *isoRun) findProgram() {
	if r.Executable != nil {
		r.told = *r.Executable
	}
	if path := r.findTool(r.told); path != "" && exists(path) {
		r.program = path
	} else if r.Executable != nil {
		r.result.Set("warnings", value.NewList("Executable '"+r.told+"' is not found on the system, trying to mount ISO instead."))
	}
}

// missing are the files to extract: without force, those that are not there.
func (r *isoRun) missing() []string {
	if r.Force {
		return r.Files
	}
	return slices.DeleteFunc(slices.Clone(r.Files), func(name string) bool {
		dest := r.target(name)
		if !exists(r.abs(dest)) {
			return false
		}
		r.files.Append(value.DictOf("checksum", nil, "dest", dest, "src", name))
		return true
	})
}

// target is where a file of the image goes.
func (r *isoRun) target(name string) string {
	return strings.TrimSuffix(r.Dest, "/") + "/" + name[strings.LastIndex(name, "/")+1:]
}

// open unpacks the files of the image into the scratch folder, or mounts it there.
func (r *isoRun) open(names []string) error {
	argv := append([]string{r.program, "x", r.Image, "-o" + r.scratch}, names...)
	problem := "Failed to extract from ISO image '" + r.Image + "' to '" + r.scratch + "'"
	if r.program == "" {
		mount, err := r.needTool("mount")
		if err != nil {
			return err
		}
		argv = []string{mount, "-o", "loop,ro", r.Image, r.scratch}
		problem = "Failed to mount ISO image '" + r.Image + "' to '" + r.scratch + "', and we could not find executable '" + r.told + "'."
	}
	out, err := process.Run(r, process.Command{Argv: argv, Dir: r.Dir, Env: r.Env}) // in the host's own language: it tells how names are read
	var start *process.StartError
	if errors.As(err, &start) {
		return Failf("%v", start)
	}
	if err != nil {
		return err
	}
	if out.RC != 0 {
		return r.fail(value.DictOf("cmd", stringList(argv), "rc", out.RC, "stderr", string(out.Stderr), "stdout", string(out.Stdout)), problem)
	}
	return nil
}

// clean unmounts the image, even when the run was stopped, and removes the
// scratch folder.
func (r *isoRun) clean() {
	if r.program != "" {
		os.RemoveAll(r.scratch)
		return
	}
	after := *r.Call
	after.Context = context.WithoutCancel(r.Context)
	after.tool("umount", r.scratch)
	os.Remove(r.scratch)
}

// place copies one file out of the scratch folder where it differs.
func (r *isoRun) place(name string) error {
	src, dest := filepath.Join(r.scratch, name), r.target(name)
	if !exists(src) {
		return r.fail(value.NewDict(), "Failed to extract '"+name+"' from ISO image")
	}
	have, err := r.sum(src)
	if err != nil {
		return err
	}
	there := ""
	if exists(r.abs(dest)) {
		if there, err = r.sum(r.abs(dest)); err != nil {
			return err
		}
	}
	r.files.Append(value.DictOf("checksum", have, "dest", dest, "src", name))
	if have == there {
		return nil
	}
	r.result.Changed(true)
	if r.Check {
		return nil
	}
	return copyWithMode(src, realPath(r.abs(dest)))
}

func (r *isoRun) sum(path string) (string, error) {
	if isDir(path) {
		return "", Failf("attempted to take checksum of directory: %s", path)
	}
	sum, err := checksum(path, "sha1")
	if err != nil {
		return "", Failf("cannot read %q: %s", path, osText(err, path))
	}
	return sum, nil
}

// copyWithMode copies content and permissions.
func copyWithMode(src, dest string) error {
	in, err := os.Open(src)
	if err != nil {
		return Failf("cannot read %q: %v", src, err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil {
		err = atomicfile.Write(dest, in, atomicfile.Options{})
	}
	if err == nil {
		err = os.Chmod(dest, info.Mode().Perm())
	}
	if err != nil {
		return Failf("cannot write %q: %v", dest, err)
	}
	return nil
}

// fail makes a failure that tells what the result has so far, where the image
// was opened.
func (r *isoRun) fail(with *value.Dict, msg string) error {
	if warnings, ok := r.result.Get("warnings"); ok {
		with.Set("warnings", warnings)
	}
	if r.scratch != "" {
		for k, v := range r.result.All() {
			with.Set(value.Str(k), v)
		}
	}
	return &Failure{Msg: msg, With: with}
}
