// Package ansiballz builds the zip that carries a Python module with the
// module_utils it uses to a host. A found module flows in; the zip's bytes, its
// content hash and the module's dotted name flow out. Imports are followed by
// reading the source: no Python runs on the control machine, and no network is
// used. It never sees a task's arguments: they are no part of the zip.
package ansiballz

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"play/engine/modulefind"
)

// Builder builds zips. Its exported fields are set before the first use; then it
// is safe for concurrent use. Each module is built once in its life.
type Builder struct {
	Finder *modulefind.Finder
	Cache  string // the folder for zips; "": none is kept

	mu    sync.Mutex
	built map[string]*build
}

// Zip is what is sent to a host.
type Zip struct {
	Data []byte
	Hash string // SHA-256 of Data in hex
	Name string // the module's dotted name inside
}

// build is one module's zip, made by whoever asks first.
type build struct {
	once sync.Once
	zip  *Zip
	err  error
}

// ErrNoCore says that ansible.module_utils is not on this machine.
var ErrNoCore = errors.New("no ansible-core is installed here, which has ansible.module_utils " +
	"(Debian and Ubuntu: apt install ansible-core; others: pip install ansible-core)")

// Build returns the zip of a Python module. utils are folders of the operator's
// own module_utils, which go before those of ansible-core.
func (b *Builder) Build(m *modulefind.Module, utils []string) (*Zip, error) {
	if b.Finder.Core == "" {
		return nil, fmt.Errorf("cannot build the Python module %q: %w", m.Name, ErrNoCore)
	}
	key := keyOf(m, b.Finder.Core, utils)
	b.mu.Lock()
	if b.built == nil {
		b.built = map[string]*build{}
	}
	one := b.built[key]
	if one == nil {
		one = &build{}
		b.built[key] = one
	}
	b.mu.Unlock()
	one.once.Do(func() { one.zip, one.err = b.make(key, m, utils) })
	return one.zip, one.err
}

// keyOf names a module and where its parts are looked for.
func keyOf(m *modulefind.Module, core string, utils []string) string {
	sum := sha256.Sum256([]byte(strings.Join(append([]string{format, m.Path, m.Package, core}, utils...), "\x00")))
	return hex.EncodeToString(sum[:16])
}

// format changes when the zips that are built change.
const format = "1"

func (b *Builder) make(key string, m *modulefind.Module, utils []string) (*Zip, error) {
	if z := b.load(key, m); z != nil {
		return z, nil
	}
	w := &walk{finder: b.Finder, utils: utils, done: map[string]bool{}}
	if err := w.module(m); err != nil {
		return nil, fmt.Errorf("cannot build the Python module %q: %w", m.Name, err)
	}
	data, err := w.zip()
	if err != nil {
		return nil, fmt.Errorf("cannot build the Python module %q: %w", m.Name, err)
	}
	z := newZip(data, m)
	b.keep(key, z, w.looked)
	return z, nil
}

func newZip(data []byte, m *modulefind.Module) *Zip {
	sum := sha256.Sum256(data)
	return &Zip{Data: data, Hash: hex.EncodeToString(sum[:]), Name: m.Package}
}

// file is one entry of the zip.
type file struct {
	name string
	text []byte
}

// zip writes the files; the same files give the same bytes.
func (w *walk) zip() ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, f := range w.files {
		entry, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate})
		if err == nil {
			_, err = entry.Write(f.text)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

// Explode unpacks a zip into a folder that it makes, for looking at it.
func (z *Zip) Explode(dir string) error {
	r, err := zip.NewReader(bytes.NewReader(z.Data), int64(len(z.Data)))
	if err != nil {
		return err
	}
	root, err := rootAt(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range r.File {
		if err := extract(root, f); err != nil {
			return err
		}
	}
	return nil
}

func rootAt(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

func extract(root *os.Root, f *zip.File) error {
	for i, c := range f.Name {
		if c == '/' {
			if err := root.Mkdir(f.Name[:i], 0o755); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
	}
	in, err := f.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.Create(f.Name)
	if err != nil {
		return err
	}
	if _, err = io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}
