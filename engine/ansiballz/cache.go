package ansiballz

import (
	"encoding/json"
	"os"
	"path/filepath"

	"play/engine/modulefind"
)

// looked is a path that decided what is in a zip, as it was then.
type looked struct {
	Path string `json:"p"`
	Size int64  `json:"s"` // -1: there was no such file
	Time int64  `json:"t"` // modification, in nanoseconds since 1970
}

// look describes a path as it is now.
func look(path string) looked {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return looked{path, -1, 0}
	}
	return looked{path, info.Size(), info.ModTime().UnixNano()}
}

// read reads a file and remembers that it mattered.
func (w *walk) read(path string) ([]byte, error) {
	w.looked = append(w.looked, look(path))
	return os.ReadFile(path)
}

// index is what is kept beside the zips for one module.
type index struct {
	Hash   string   `json:"hash"`
	Looked []looked `json:"looked"`
}

// load returns the kept zip if nothing that it was made of has changed.
func (b *Builder) load(key string, m *modulefind.Module) *Zip {
	text, err := os.ReadFile(filepath.Join(b.Cache, key+".json"))
	if b.Cache == "" || err != nil {
		return nil
	}
	var ix index
	if json.Unmarshal(text, &ix) != nil || len(ix.Looked) == 0 {
		return nil
	}
	for _, l := range ix.Looked {
		if look(l.Path) != l {
			return nil
		}
	}
	data, err := os.ReadFile(filepath.Join(b.Cache, filepath.Base(ix.Hash)+".zip"))
	if err != nil {
		return nil
	}
	if z := newZip(data, m); z.Hash == ix.Hash {
		return z
	}
	return nil
}

// keep stores a zip for later runs; a cache that takes nothing costs time only.
func (b *Builder) keep(key string, z *Zip, seen []looked) {
	if b.Cache == "" || os.MkdirAll(b.Cache, 0o700) != nil {
		return
	}
	text, err := json.Marshal(index{z.Hash, seen})
	if err == nil && replace(filepath.Join(b.Cache, z.Hash+".zip"), z.Data) == nil {
		_ = replace(filepath.Join(b.Cache, key+".json"), text) // without it the zip is made anew
	}
}

// replace writes a file beside its place and moves it there.
func replace(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
