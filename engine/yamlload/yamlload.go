// Package yamlload reads YAML 1.1 as PyYAML does, on yaml.v3's node tree.
// Flowing in: files and texts. Flowing out: documents whose nodes know their
// place, and Python-shaped values in which every string that holds Jinja is a
// compiled template. Playbooks, vars files, inventories, role metadata and the
// from_yaml filter are read with it. It evaluates no template, decrypts inline
// vaults only when they are used, and never writes.
package yamlload

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// DefaultMaxBytes is the largest text that is read when Loader.MaxBytes is 0.
const DefaultMaxBytes = 32 << 20

// vaultHeader starts every text encrypted by Ansible Vault.
const vaultHeader = "$ANSIBLE_VAULT;"

// Decrypter turns a vault text ("$ANSIBLE_VAULT;1.1;…") into its plaintext. It
// must be safe for concurrent use.
type Decrypter interface {
	Decrypt(vaulttext []byte) ([]byte, error)
}

// Loader reads YAML. Its fields are set before the first use and not changed
// after; then it is safe for concurrent use.
type Loader struct {
	// Env compiles the strings that hold Jinja. Nil reads everything as data:
	// strings stay strings, whatever they hold.
	Env *jinja.Env
	// Vault decrypts encrypted files and values; nil: that is an error.
	Vault Decrypter
	// Warn is told of repeated keys; nil: nothing is said.
	Warn func(msg string, pos source.Pos)
	// Repeated says what else a repeated key is: "error", or with "ignore" nothing.
	Repeated string
	// Defect is told of each template that cannot be compiled and yet is no
	// error: it stands in variables, which may never be used, or Lenient is
	// set. Using it gives the same error. Nil: nothing is said.
	Defect func(err error)
	// Seen is told of each text that is compiled, before it is: a template, or
	// with bare set a condition without delimiters. Nil: nothing is said.
	Seen func(text string, pos source.Pos, bare bool)
	// Lenient lets templates that cannot be compiled through everywhere.
	Lenient bool
	// MaxBytes limits the size of one text; 0 means DefaultMaxBytes.
	MaxBytes int
}

// Read reads and parses the file at path, which must hold at most one
// document; an encrypted file is decrypted first. Errors about its text are
// *source.Error; those about reading wrap the operating system's.
func (l *Loader) Read(path string) (*File, error) {
	data, err := l.ReadBytes(path)
	if err != nil {
		return nil, err
	}
	return l.Parse(path, data)
}

// ReadBytes reads a file and decrypts it when it is encrypted.
func (l *Loader) ReadBytes(path string) ([]byte, error) {
	data, err := l.readLimited(path)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(data, []byte(vaultHeader)) {
		return data, nil
	}
	plain, err := decrypt(l.Vault, data)
	if err != nil {
		return nil, withVaultHint(source.Errorf(source.Pos{File: path}, "cannot decrypt %q: %w", path, err))
	}
	return plain, nil
}

// readLimited reads a file, or a pipe, up to the limit.
func (l *Loader) readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	limit := int64(l.maxBytes())
	if info.Mode().IsRegular() && info.Size() > limit {
		return nil, tooLarge(path, info.Size(), l.maxBytes())
	}
	var data bytes.Buffer
	if info.Mode().IsRegular() {
		data.Grow(int(info.Size()) + bytes.MinRead)
	}
	n, err := data.ReadFrom(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if n > limit {
		return nil, tooLarge(path, n, l.maxBytes())
	}
	return data.Bytes(), nil
}

// Vars reads a file of variables: a mapping, or nothing at all.
func (l *Loader) Vars(path string) (*value.Dict, error) {
	f, err := l.Read(path)
	if err != nil {
		return nil, err
	}
	return f.Vars(f.Root)
}

// VarsText reads variables from a text; path names it in errors.
func (l *Loader) VarsText(path string, data []byte) (*value.Dict, error) {
	f, err := l.Parse(path, data)
	if err != nil {
		return nil, err
	}
	return f.Vars(f.Root)
}

// Data reads one document as data: no string becomes a template, and tags that
// only mean something in loaded files (!vault, !unsafe) yield plain strings.
func (l *Loader) Data(path string, data []byte) (any, error) {
	f, err := l.Parse(path, data)
	if err != nil {
		return nil, err
	}
	return f.Data(f.Root)
}

// DataAll reads every document of a text as data.
func (l *Loader) DataAll(path string, data []byte) ([]any, error) {
	files, err := l.ParseAll(path, data)
	if err != nil {
		return nil, err
	}
	all := make([]any, 0, len(files))
	for _, f := range files {
		v, err := f.Data(f.Root)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func (l *Loader) maxBytes() int {
	if l.MaxBytes > 0 {
		return l.MaxBytes
	}
	return DefaultMaxBytes
}

func (l *Loader) warn(pos source.Pos, format string, args ...any) {
	if l.Warn != nil {
		l.Warn(fmt.Sprintf(format, args...), pos)
	}
}

func tooLarge(path string, size int64, limit int) error {
	return source.Errorf(source.Pos{File: path}, "cannot load %q: its %d bytes are more than the limit of %d MB",
		path, size, limit>>20).WithHint("large data belongs in files that tasks read where they need it")
}
