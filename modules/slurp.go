package modules

import (
	"encoding/base64"
	"errors"
	"os"

	"play/modules/value"
)

// slurpArgs are the arguments of slurp.
type slurpArgs struct {
	Src string `arg:"src,required,type=path,aliases=path" doc:"the file to read"`
}

func slurp() Module {
	return Define("slurp", "Read a file of the target, as base64", runSlurp)
}

func runSlurp(c *Call, args *slurpArgs) (*Result, error) {
	path := c.abs(args.Src)
	data, err := os.ReadFile(path)
	switch {
	case err == nil:
	case errors.Is(err, os.ErrNotExist):
		return nil, Failf("file not found: %s", path)
	case errors.Is(err, os.ErrPermission):
		return nil, Failf("file is not readable: %s", path)
	case isDir(path):
		return nil, Failf("source is a directory and must be a file: %s", path)
	default:
		return nil, Failf("unable to slurp file: %s", osText(err, path))
	}
	return &Result{value.DictOf("content", base64.StdEncoding.EncodeToString(data), "source", path, "encoding", "base64")}, nil
}
