// Package agents gives connection/start the agent executables that this build
// of play can send to hosts: those embedded by `make build`, or play itself for
// hosts of its own platform. Flowing in: a file system with compressed
// executables and their index. Flowing out: their bytes and hashes. It reads
// nothing from a network.
package agents

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"play/connection/start"
)

// idLength is how many hex digits of a hash go into the agent's file name.
const idLength = 32

// Embedded is the set of executables that a build carries. Its index has one
// line for each: "linux amd64 SIZE SHA256 FILE", FILE being compressed by zstd,
// and where there is a sixth field, another such file, whose content was the
// dictionary.
type Embedded struct {
	files   fs.FS
	id      string
	entries []entry
}

type entry struct {
	platform, hash, file, base string
	size                       int64
}

var _ start.Agents = (*Embedded)(nil)

// The file names of the indexes: of the plain agents and of the full ones.
const (
	PlainIndex = "index"
	FullIndex  = "index-full"
)

// DictionaryID marks a file that was compressed with the other file's content.
const DictionaryID = 1

// NewEmbedded reads the index of that name. Without it it returns nil and no
// error: the build carries no such agents.
func NewEmbedded(files fs.FS, name string) (*Embedded, error) {
	index, err := fs.ReadFile(files, name)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(index)
	e := &Embedded{files: files, id: hex.EncodeToString(sum[:])[:idLength]}
	lines := bufio.NewScanner(strings.NewReader(string(index)))
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) != 5 && len(f) != 6 {
			return nil, fmt.Errorf("cannot read the index of embedded agents: bad line %q", lines.Text())
		}
		size, err := strconv.ParseInt(f[2], 10, 64)
		if err != nil {
			return nil, fmt.Errorf("cannot read the index of embedded agents: bad size in %q", lines.Text())
		}
		one := entry{platform: f[0] + "/" + f[1], size: size, hash: f[3], file: f[4]}
		if len(f) == 6 {
			one.base = f[5]
		}
		e.entries = append(e.entries, one)
	}
	return e, nil
}

// ID names the set by its index.
func (e *Embedded) ID() string { return e.id }

// Args are play-agent's.
func (e *Embedded) Args() []string { return []string{"serve"} }

// Platforms are those of the index, in its order.
func (e *Embedded) Platforms() []string {
	var names []string
	for _, entry := range e.entries {
		names = append(names, entry.platform)
	}
	return names
}

// Binary returns the executable for a platform.
func (e *Embedded) Binary(goos, goarch string) (start.Binary, bool) {
	i := slices.IndexFunc(e.entries, func(n entry) bool { return n.platform == goos+"/"+goarch })
	if i < 0 {
		return start.Binary{}, false
	}
	one := e.entries[i]
	return start.Binary{Hash: one.hash, Size: one.size, Open: func() (io.ReadCloser, error) { return e.open(one) }}, true
}

// open unpacks an executable while it is read.
func (e *Embedded) open(one entry) (io.ReadCloser, error) {
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64 << 20)}
	if one.base != "" {
		r, err := e.open(entry{file: one.base})
		if err != nil {
			return nil, err
		}
		defer r.Close()
		base, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		options = append(options, zstd.WithDecoderDictRaw(DictionaryID, base))
	}
	file, err := e.files.Open(one.file)
	if err != nil {
		return nil, err
	}
	r, err := zstd.NewReader(file, options...)
	if err != nil {
		file.Close()
		return nil, err
	}
	return &unpacked{Decoder: r, file: file}, nil
}

// unpacked closes the decoder and its file.
type unpacked struct {
	*zstd.Decoder
	file fs.File
}

func (u *unpacked) Close() error {
	u.Decoder.Close()
	return u.file.Close()
}

// Self is the running executable as the agent for hosts of its own platform.
type Self struct {
	path string
	args []string
	once sync.Once
	hash string
	size int64
	err  error
}

var _ start.Agents = (*Self)(nil)

// NewSelf makes an agent of the executable at path, which serves with args.
func NewSelf(path string, args ...string) *Self { return &Self{path: path, args: args} }

// read hashes the executable, once.
func (s *Self) read() {
	s.once.Do(func() {
		file, err := os.Open(s.path)
		if err != nil {
			s.err = err
			return
		}
		defer file.Close()
		sum := sha256.New()
		s.size, s.err = io.Copy(sum, file)
		s.hash = hex.EncodeToString(sum.Sum(nil))
	})
}

// ID is part of the executable's hash.
func (s *Self) ID() string {
	if s.read(); s.err != nil {
		return "none"
	}
	return s.hash[:idLength]
}

// Args are those given to NewSelf.
func (s *Self) Args() []string { return s.args }

// Platforms is the executable's own.
func (s *Self) Platforms() []string { return []string{runtime.GOOS + "/" + runtime.GOARCH} }

// Binary returns the executable for its own platform.
func (s *Self) Binary(goos, goarch string) (start.Binary, bool) {
	if s.read(); s.err != nil || goos != runtime.GOOS || goarch != runtime.GOARCH {
		return start.Binary{}, false
	}
	return start.Binary{Hash: s.hash, Size: s.size, Open: func() (io.ReadCloser, error) { return os.Open(s.path) }}, true
}
