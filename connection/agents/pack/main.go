// Command pack compresses agent executables and writes the indexes by which play
// finds them (see package agents): of the plain agents, and of the full ones, each
// compressed with its plain one as the dictionary. It is run by "make agents" only:
//
//	pack -o FOLDER linux/amd64=PLAIN,FULL linux/arm64=PLAIN,FULL …
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
	var plain, full bytes.Buffer
	for _, arg := range flag.Args() {
		platform, both, ok := strings.Cut(arg, "=")
		goos, goarch, ok2 := strings.Cut(platform, "/")
		small, large, ok3 := strings.Cut(both, ",")
		if !ok || !ok2 || !ok3 {
			log.Fatalf("cannot read %q: want OS/ARCH=PLAIN,FULL", arg)
		}
		name := fmt.Sprintf("play-agent-%s-%s.zst", goos, goarch)
		if err := pack(&plain, *out, goos+" "+goarch, small, name, ""); err != nil {
			log.Fatal(err)
		}
		if err := pack(&full, *out, goos+" "+goarch, large, "full-"+name, small); err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(&full, " %s\n", name)
		plain.WriteByte('\n')
	}
	// The plain index goes last: with it, play looks for the other one.
	for _, index := range []struct {
		name  string
		lines *bytes.Buffer
	}{{agents.FullIndex, &full}, {agents.PlainIndex, &plain}} {
		if err := os.WriteFile(filepath.Join(*out, index.name), index.lines.Bytes(), 0o644); err != nil {
			log.Fatal(err)
		}
	}
}

// pack writes an executable compressed with the dictionary of a file ("": none)
// and the fields of its line in the index.
func pack(index *bytes.Buffer, folder, platform, file, name, dictionary string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	options := []zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedBestCompression)}
	if dictionary != "" {
		base, err := os.ReadFile(dictionary)
		if err != nil {
			return err
		}
		options = append(options, zstd.WithEncoderDictRaw(agents.DictionaryID, base), zstd.WithWindowSize(32<<20))
	}
	enc, err := zstd.NewWriter(nil, options...)
	if err != nil {
		return err
	}
	fmt.Fprintf(index, "%s %d %x %s", platform, len(data), sha256.Sum256(data), name)
	return os.WriteFile(filepath.Join(folder, name), enc.EncodeAll(data, nil), 0o644)
}
