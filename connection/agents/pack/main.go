// Command pack compresses agent executables and writes the index by which play
// finds them (see package agents). It is run by "make agents" only:
//
//	pack -o FOLDER linux/amd64=FILE linux/arm64=FILE …
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"play/connection/agents"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("pack: ")
	out := flag.String("o", ".", "write to this `folder`")
	flag.Parse()
	var index bytes.Buffer
	for _, arg := range flag.Args() {
		platform, file, ok := strings.Cut(arg, "=")
		goos, goarch, ok2 := strings.Cut(platform, "/")
		if !ok || !ok2 {
			log.Fatalf("cannot read %q: want OS/ARCH=FILE", arg)
		}
		line, err := pack(*out, goos, goarch, file)
		if err != nil {
			log.Fatal(err)
		}
		index.WriteString(line)
	}
	if err := os.WriteFile(filepath.Join(*out, agents.IndexName), index.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

// pack writes one compressed executable and returns its line of the index.
func pack(folder, goos, goarch, file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("play-agent-%s-%s.zst", goos, goarch)
	if err := os.WriteFile(filepath.Join(folder, name), enc.EncodeAll(data, nil), 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s %s %d %x %s\n", goos, goarch, len(data), sha256.Sum256(data), name), nil
}
