package modules

import (
	"io"
	"os"
)

// fetchArgs are the arguments of fetch's target half.
type fetchArgs struct {
	Src      string  `arg:"src,required,type=path" doc:"the file to send to the controller"`
	Checksum *string `arg:"checksum" doc:"SHA1 of the controller's copy: the same content is not sent again"`
}

// fetch sends a file's content along with the result. "sent" is false when the
// controller's copy has the same content. In check mode only the checksum is
// returned.
func fetch() Module {
	return Define("fetch", "Send a file of the target to the control machine", runFetch)
}

func runFetch(c *Call, args *fetchArgs) (*Result, error) {
	path := c.abs(args.Src)
	if !exists(path) {
		return nil, Failf("the remote file does not exist, not transferring, ignored")
	}
	if isDir(path) {
		return nil, Failf("remote file is a directory, fetch cannot work on directories")
	}
	content, err := openContent(path)
	if err != nil {
		if os.IsPermission(err) {
			return nil, Failf("file is not readable: %s", path)
		}
		return nil, err
	}
	defer content.close()
	out := NewResult(false).With("checksum", content.sha1).With("md5sum", content.md5).With("size", int(content.size)).With("source", path)
	if c.Check || args.Checksum != nil && *args.Checksum == content.sha1 {
		return out.With("sent", false), nil
	}
	if err := content.writeTo(io.Writer(c.Content)); err != nil {
		return nil, Failf("cannot send %q: %v", path, err)
	}
	return out.With("sent", true), nil
}
