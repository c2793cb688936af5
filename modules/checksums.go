package modules

import (
	"path/filepath"

	"play/modules/value"
)

// checksumsArgs are the arguments of checksums.
type checksumsArgs struct {
	Dest  string   `arg:"dest,required,type=path" doc:"the folder that the names are relative to"`
	Files []string `arg:"files,required" doc:"names of files and folders"`
}

// checksums serves the copying of directories: one call tells the state and
// SHA1 of everything that is there, so that only what differs has to be sent.
func checksums() Module {
	return Define("_checksums", "Tell the state and checksum of many files", runChecksums)
}

func runChecksums(c *Call, args *checksumsArgs) (*Result, error) {
	found := value.NewDict()
	for _, name := range args.Files {
		if err := c.Err(); err != nil {
			return nil, err
		}
		path := filepath.Join(c.abs(args.Dest), name)
		d := value.DictOf("state", pathState(path))
		if exists(path) && !isDir(path) {
			sum, err := checksum(path, "sha1")
			if err != nil {
				return nil, Failf("cannot read %q: %s", path, osText(err, path))
			}
			d.Set("checksum", sum)
		}
		found.Set(name, d)
	}
	return NewResult(false).With("files", found), nil
}
