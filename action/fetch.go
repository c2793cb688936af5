package action

import (
	"context"
	"crypto/md5"
	"crypto/sha1"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"play/engine/task"
	"play/modules/value"
)

// fetch brings a file of the host to the control machine.
func (d *Deps) fetch(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "src", "dest", "flat", "fail_on_missing", "validate_checksum"); err != nil {
		return nil, err
	}
	src, dest := argString(a, "src"), argString(a, "dest")
	if src == "" || dest == "" {
		return nil, task.Failf("src and dest are required")
	}
	flat, err := argBool(a, "flat", false)
	if err != nil {
		return nil, err
	}
	failMissing, err := argBool(a, "fail_on_missing", true)
	if err != nil {
		return nil, err
	}
	if a.Check {
		return value.DictOf("changed", false, "skipped", true, "msg", "check mode not (yet) supported for this module"), nil
	}
	path, err := fetchDest(a, src, dest, flat)
	if err != nil {
		return nil, err
	}
	return d.fetchTo(ctx, a, src, path, failMissing)
}

// fetchDest is the local path: dest itself when flat, otherwise a tree of hosts
// below it. What a host is called, or calls its file, cannot lead out of dest.
func fetchDest(a *task.Attempt, src, dest string, flat bool) (string, error) {
	if !filepath.IsAbs(dest) {
		slash := strings.HasSuffix(dest, "/")
		dest = filepath.Join(a.Files.Dir(), homePath(dest))
		if slash {
			dest += "/"
		}
	}
	name := filepath.Base(filepath.Clean("/" + src))
	if flat {
		if info, err := os.Stat(dest); err == nil && info.IsDir() && !strings.HasSuffix(dest, "/") {
			return "", task.Failf("dest is an existing directory, use a trailing slash if you want to fetch src into that directory")
		}
		if strings.HasSuffix(dest, "/") {
			return filepath.Join(dest, name), nil
		}
		return dest, nil
	}
	host := filepath.Base(filepath.Clean("/" + a.Host))
	return filepath.Join(dest, host, filepath.Clean("/"+src)), nil
}

// fetchTo asks for the content and stores it when it differs.
func (d *Deps) fetchTo(ctx context.Context, a *task.Attempt, src, path string, failMissing bool) (*value.Dict, error) {
	temp, err := os.CreateTemp("", "play-fetch-")
	if err != nil {
		return nil, task.Failf("cannot make a temporary file: %v", err)
	}
	defer os.Remove(temp.Name())
	defer temp.Close()
	sums := &sums{sha1: sha1.New(), md5: md5.New()}
	result, err := d.receive(ctx, a, value.DictOf("src", src), io.MultiWriter(temp, sums.sha1, sums.md5))
	if err != nil {
		return nil, err
	}
	if failed, _ := result.Get("failed"); value.Truth(failed) {
		return fetchFailure(result, src, failMissing)
	}
	checksum, md5sum := sums.hex()
	out := value.DictOf("md5sum", md5sum, "dest", path, "remote_md5sum", nil, "checksum", checksum, "remote_checksum", checksum)
	if local, _ := localSHA1(path); local == checksum {
		out.Set("changed", false)
		out.Set("file", src)
		out.Delete("remote_md5sum")
		out.Delete("remote_checksum")
		return out, nil
	}
	if err := store(temp, path); err != nil {
		return nil, task.Failf("Failed to fetch the file: %v", err)
	}
	out.Set("changed", true)
	return out, nil
}

// fetchFailure passes over a missing file when the task allows that.
func fetchFailure(result *value.Dict, src string, failMissing bool) (*value.Dict, error) {
	result.Set("file", src)
	if failMissing {
		return nil, &task.Fail{Result: result}
	}
	msg, _ := result.Get("msg")
	text := value.Str(msg)
	if !strings.HasSuffix(text, "ignored") {
		text += ", ignored"
	}
	return value.DictOf("changed", false, "file", src, "msg", text), nil
}

type sums struct{ sha1, md5 hash.Hash }

func (s *sums) hex() (sha1, md5 string) {
	return hex.EncodeToString(s.sha1.Sum(nil)), hex.EncodeToString(s.md5.Sum(nil))
}

func localSHA1(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha1.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), err
}

// store moves the fetched content into place, never half of it.
func store(temp *os.File, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return err
	}
	into, err := os.CreateTemp(filepath.Dir(path), ".play-fetch-")
	if err != nil {
		return err
	}
	defer os.Remove(into.Name())
	if _, err = io.Copy(into, temp); err == nil {
		err = into.Chmod(0o644)
	}
	if closeErr := into.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(into.Name(), path)
}
