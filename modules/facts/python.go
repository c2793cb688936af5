package facts

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"play/modules/value"
)

// interpreter is a Python found on the host. It is not run: its version stands
// in its name and in its program text.
type interpreter struct {
	path                string
	major, minor, micro int
}

func (p *interpreter) version() string { return fmt.Sprintf("%d.%d.%d", p.major, p.minor, p.micro) }

// python describes the Python of the system; without one there are no facts.
func python(h *Host) *value.Dict {
	p := findPython(h)
	if p == nil {
		return value.NewDict()
	}
	version := value.DictOf("major", p.major, "minor", p.minor, "micro", p.micro, "releaselevel", "final", "serial", 0)
	return value.DictOf("python", value.DictOf("version", version,
		"version_info", value.NewList(p.major, p.minor, p.micro, "final", 0),
		"executable", p.path, "has_sslcontext", true, "type", "cpython"))
}

func findPython(h *Host) *interpreter {
	for _, path := range []string{"/usr/bin/python3", "/usr/libexec/platform-python", "/usr/bin/python", "/usr/local/bin/python3"} {
		real, err := filepath.EvalSymlinks(h.path(path))
		if err != nil {
			continue
		}
		m := regexp.MustCompile(`python(\d+)\.(\d+)`).FindStringSubmatch(filepath.Base(real))
		if m == nil {
			continue
		}
		p := &interpreter{path: path}
		p.major, _ = strconv.Atoi(m[1])
		p.minor, _ = strconv.Atoi(m[2])
		p.micro = microVersion(real, p.major, p.minor)
		return p
	}
	return nil
}

// microVersion looks for the text "3.11.2" between zero bytes in the program,
// or in its shared library.
func microVersion(program string, major, minor int) int {
	series := fmt.Sprintf("%d.%d", major, minor)
	files := []string{program}
	for _, pattern := range []string{"/usr/lib*/libpython" + series + ".so.*", "/usr/lib/*/libpython" + series + ".so.*", "/usr/local/lib/libpython" + series + ".so.*"} {
		found, _ := filepath.Glob(pattern)
		files = append(files, found...)
	}
	for _, file := range files {
		if n := microIn(file, "\x00"+series+"."); n >= 0 {
			return n
		}
	}
	return 0
}

func microIn(file, mark string) int {
	f, err := os.Open(file)
	if err != nil {
		return -1
	}
	defer f.Close()
	const step, overlap = 1 << 20, 64
	buf := make([]byte, step)
	kept := 0
	for {
		n, err := io.ReadFull(f, buf[kept:])
		data := buf[:kept+n]
		for at := 0; ; {
			i := bytes.Index(data[at:], []byte(mark))
			if i < 0 {
				break
			}
			at += i + len(mark)
			if micro := leadingNumber(data[at:]); micro >= 0 {
				return micro
			}
		}
		if err != nil {
			return -1
		}
		kept = copy(buf, data[len(data)-overlap:])
	}
}

// leadingNumber reads digits that end with a zero byte or a plus; -1 otherwise.
func leadingNumber(b []byte) int {
	end := 0
	for end < len(b) && end < 4 && b[end] >= '0' && b[end] <= '9' {
		end++
	}
	if end == 0 || end >= len(b) || (b[end] != 0 && b[end] != '+') {
		return -1
	}
	n, _ := strconv.Atoi(string(b[:end]))
	return n
}
