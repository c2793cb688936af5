package modules

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/modules/argspec"
	"play/modules/value"
)

// unpackTar unpacks a tar as the controller sends it, and gives the failure's message.
func unpackTar(t *testing.T, dest string, check bool, data []byte, pairs ...any) (*Result, string) {
	t.Helper()
	c := &Call{Context: context.Background(), Check: check, TmpDir: t.TempDir(), Body: bytes.NewReader(data),
		Env: os.Environ(), Content: io.Discard, Output: io.Discard, Extra: value.NewDict()}
	var args unarchiveArgs
	if _, err := argspec.Of(args).Decode("unarchive", value.DictOf(append([]any{"src", "x.tar", "dest", dest}, pairs...)...), argspec.Env{}, &args); err != nil {
		t.Fatal(err)
	}
	out, err := runUnarchive(c, &args)
	if err != nil {
		return nil, err.Error()
	}
	return out, ""
}

func tarOf(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		text := "evil"
		if h.Typeflag != tar.TypeReg {
			text = ""
		}
		h.Size = int64(len(text))
		must(t, w.WriteHeader(&h))
		_, err := io.WriteString(w, text)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

func TestT7UnarchiveStaysInItsFolder(t *testing.T) {
	t.Parallel()
	for name, entries := range map[string][]tar.Header{
		"dots":                {{Name: "../evil", Typeflag: tar.TypeReg}},
		"dots inside":         {{Name: "a/../../evil", Typeflag: tar.TypeReg}},
		"link, then file":     {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}, {Name: "l/evil", Typeflag: tar.TypeReg}},
		"absolute link":       {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/tmp"}, {Name: "l/evil", Typeflag: tar.TypeReg}},
		"hard link":           {{Name: "h", Typeflag: tar.TypeLink, Linkname: "../secret"}},
		"hard link over link": {{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}, {Name: "h", Typeflag: tar.TypeLink, Linkname: "l/secret"}},
		"device":              {{Name: "null", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}},
		"fifo":                {{Name: "pipe", Typeflag: tar.TypeFifo}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			dest := filepath.Join(top, "dest")
			must(t, os.Mkdir(dest, 0o755))
			must(t, os.WriteFile(filepath.Join(top, "secret"), []byte("s"), 0o600))
			out, msg := unpackTar(t, dest, false, tarOf(t, entries...))
			if !strings.HasPrefix(msg, "cannot unpack") {
				t.Errorf("got %v, %q; want a refusal", out, msg)
			}
			if left, err := os.ReadDir(top); err != nil || len(left) != 2 {
				t.Errorf("beside the folder: %v, %v", left, err)
			}
		})
	}
}

func TestT7UnarchiveAbsoluteNameAndSetuid(t *testing.T) {
	t.Parallel()
	dest := t.TempDir()
	data := tarOf(t, tar.Header{Name: "/etc/evil", Typeflag: tar.TypeReg, Mode: 0o4755})
	if out, msg := unpackTar(t, dest, true, data); msg != "" || value.Repr(out.Dict) == "" {
		t.Fatalf("check: %q", msg)
	}
	if _, err := os.Lstat(filepath.Join(dest, "etc")); err == nil {
		t.Fatal("check mode made a file")
	}
	if _, msg := unpackTar(t, dest, false, data); msg != "" {
		t.Fatal(msg)
	}
	info, err := os.Lstat(filepath.Join(dest, "etc/evil"))
	must(t, err)
	if info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
		t.Errorf("mode %v keeps setuid", info.Mode())
	}
}

func TestT7UnarchiveBomb(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	must(t, err)
	w := tar.NewWriter(z)
	must(t, w.WriteHeader(&tar.Header{Name: "zeros", Typeflag: tar.TypeReg, Mode: 0o644, Size: bombFloor + 1<<20}))
	block := make([]byte, 1<<20)
	for range bombFloor/len(block) + 1 {
		_, err := w.Write(block)
		must(t, err)
	}
	must(t, w.Close())
	must(t, z.Close())
	dest := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dest, "zeros"), nil, 0o600))
	if _, msg := unpackTar(t, dest, true, b.Bytes()); !strings.Contains(msg, "far more than its size allows") {
		t.Errorf("got %q", msg)
	}
}

func TestUnarchiveUnknownOption(t *testing.T) {
	t.Parallel()
	_, msg := unpackTar(t, t.TempDir(), false, tarOf(t), "extra_opts", value.NewList("--to-command=sh"))
	if !strings.Contains(msg, "cannot honour") {
		t.Errorf("got %q", msg)
	}
}
