package modules

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"os"

	"golang.org/x/sys/unix"
)

// same tells whether two archives hold the same.
func same(a, b map[string]bool) bool { return maps.Equal(a, b) }

// summary is what an archive of the wanted format holds, one line for each
// entry; nil when there is none, or none that can be read.
func (a *archiving) summary(path string) map[string]bool {
	f, err := os.Open(path)
	if err != nil || !accessible(path, unix.R_OK) {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if a.Format == "zip" {
		return zipSummary(f, info.Size())
	}
	if lines, err := a.streamSummary(f, tarSummary); err == nil {
		return lines
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil
	}
	lines, err := a.streamSummary(f, contentSummary)
	if err != nil {
		return map[string]bool{}
	}
	return lines
}

func zipSummary(f io.ReaderAt, size int64) map[string]bool {
	lines := map[string]bool{}
	z, err := zip.NewReader(f, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return lines
	}
	for _, e := range z.File {
		lines[fmt.Sprint(e.Name, " ", e.CRC32)] = true
	}
	return lines
}

// streamSummary reads what is in the compression.
func (a *archiving) streamSummary(f *os.File, read func(io.Reader) (map[string]bool, error)) (map[string]bool, error) {
	u := &unpacking{Call: a.Call, unarchiveArgs: &unarchiveArgs{Src: f.Name()}, file: f, format: a.Format, left: 1 << 62}
	r, finish, err := u.stream()
	if err != nil {
		return nil, err
	}
	lines, err := read(r)
	if ended := finish(err == nil); err == nil {
		err = ended
	}
	return lines, err
}

func tarSummary(r io.Reader) (map[string]bool, error) {
	lines := map[string]bool{}
	for t := tar.NewReader(r); ; {
		h, err := t.Next()
		if err == io.EOF {
			return lines, nil
		}
		if err != nil {
			return nil, err
		}
		sum := crc32.NewIEEE()
		if _, err := io.Copy(sum, t); err != nil {
			return nil, err
		}
		lines[fmt.Sprint(h.Name, " ", h.Typeflag, h.Mode, h.Uid, h.Gid, h.Uname, h.Gname, h.Size, h.ModTime.Unix(), h.Linkname, sum.Sum32())] = true
	}
}

func contentSummary(r io.Reader) (map[string]bool, error) {
	sum := crc32.NewIEEE()
	if _, err := io.Copy(sum, r); err != nil {
		return nil, err
	}
	return map[string]bool{fmt.Sprint(sum.Sum32()): true}, nil
}
