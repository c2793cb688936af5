package agents_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/klauspost/compress/zstd"

	"play/connection/agents"
	"play/connection/start"
)

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}

// content reads a binary to its end.
func content(t *testing.T, b start.Binary) []byte {
	t.Helper()
	r, err := b.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestEmbedded(t *testing.T) {
	t.Parallel()
	binary := bytes.Repeat([]byte("an agent "), 10000)
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	index := fmt.Sprintf("linux amd64 %d %s a.zst\nfreebsd arm64 1 00 b.zst\n", len(binary), sum(binary))
	files := fstest.MapFS{"index": {Data: []byte(index)}, "a.zst": {Data: enc.EncodeAll(binary, nil)}}
	set, err := agents.NewEmbedded(files, agents.PlainIndex)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := set.Binary("linux", "amd64")
	if !ok || b.Size != int64(len(binary)) || b.Hash != sum(binary) || !bytes.Equal(content(t, b), binary) {
		t.Errorf("got %+v, %t", b, ok)
	}
	if _, ok := set.Binary("linux", "arm64"); ok {
		t.Error("a platform that is not there was found")
	}
	if got := set.Platforms(); !slices.Equal(got, []string{"linux/amd64", "freebsd/arm64"}) {
		t.Errorf("platforms %q", got)
	}
	other, err := agents.NewEmbedded(fstest.MapFS{"index": {Data: []byte(index + "linux arm64 1 00 c.zst\n")}}, agents.PlainIndex)
	if err != nil || other.ID() == set.ID() || len(set.ID()) != 32 {
		t.Errorf("ids %q and %q, %v", set.ID(), other.ID(), err)
	}
}

// TestEmbeddedFull: a full agent is unpacked with its plain one as the dictionary.
func TestEmbeddedFull(t *testing.T) {
	t.Parallel()
	plain, full := []byte(strings.Repeat("plain code ", 1000)), []byte(strings.Repeat("plain code ", 999)+"and more")
	pack := func(data []byte, options ...zstd.EOption) *fstest.MapFile {
		enc, err := zstd.NewWriter(nil, options...)
		if err != nil {
			t.Fatal(err)
		}
		return &fstest.MapFile{Data: enc.EncodeAll(data, nil)}
	}
	index := fmt.Sprintf("linux amd64 %d %s full.zst plain.zst\nlinux arm64 1 00 full.zst absent.zst\n", len(full), sum(full))
	set, err := agents.NewEmbedded(fstest.MapFS{
		agents.FullIndex: {Data: []byte(index)}, "plain.zst": pack(plain),
		"full.zst": pack(full, zstd.WithEncoderDictRaw(agents.DictionaryID, plain)),
	}, agents.FullIndex)
	if err != nil {
		t.Fatal(err)
	}
	b, ok := set.Binary("linux", "amd64")
	if !ok || b.Hash != sum(full) || !bytes.Equal(content(t, b), full) {
		t.Errorf("got %+v, %t", b, ok)
	}
	b, _ = set.Binary("linux", "arm64")
	if _, err := b.Open(); err == nil {
		t.Error("an agent was unpacked without its dictionary")
	}
}

func TestEmbeddedIndex(t *testing.T) {
	t.Parallel()
	if set, err := agents.NewEmbedded(fstest.MapFS{}, agents.PlainIndex); set != nil || err != nil {
		t.Errorf("without an index: %v, %v", set, err)
	}
	for _, index := range []string{"linux amd64\n", "linux amd64 many 00 a.zst\n"} {
		_, err := agents.NewEmbedded(fstest.MapFS{"index": {Data: []byte(index)}}, agents.PlainIndex)
		if err == nil || !strings.Contains(err.Error(), "cannot read the index of embedded agents") {
			t.Errorf("%q: %v", index, err)
		}
	}
}

func TestSelf(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "play")
	if err := os.WriteFile(path, []byte("the program"), 0o700); err != nil {
		t.Fatal(err)
	}
	self := agents.NewSelf(path, "agent", "serve")
	b, ok := self.Binary(runtime.GOOS, runtime.GOARCH)
	if !ok || b.Hash != sum([]byte("the program")) || b.Size != 11 || string(content(t, b)) != "the program" {
		t.Errorf("got %+v, %t", b, ok)
	}
	if !strings.HasPrefix(b.Hash, self.ID()) || !slices.Equal(self.Args(), []string{"agent", "serve"}) {
		t.Errorf("id %q, arguments %q", self.ID(), self.Args())
	}
	if _, ok := self.Binary("plan9", runtime.GOARCH); ok {
		t.Error("it serves another platform")
	}
	if _, ok := agents.NewSelf(path+"absent").Binary(runtime.GOOS, runtime.GOARCH); ok {
		t.Error("a program that is not there was found")
	}
}
