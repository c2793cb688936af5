package inventory

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"play/modules/pyre"
)

// defaultSource is used when no other is given; nothing is said when it is
// not there.
const defaultSource = "/etc/ansible/hosts"

var errNotDir = syscall.ENOTDIR

// usualSuffixes end the names of files that are passed over in a folder of
// sources unless the options say otherwise.
var usualSuffixes = []string{".pyc", ".pyo", ".swp", ".bak", "~", ".rpm", ".md", ".txt", ".rst", ".orig", ".cfg", ".ini", ".retry"}

// ignoredNames are passed over in a folder of sources as well.
var ignoredNames = regexp.MustCompile(`^\.|^host_vars$|^group_vars$|^vars_plugins$`)

// loadSource reads one source: a host list, a folder or a file.
func (inv *Inventory) loadSource(text string) error {
	path := inv.path(text)
	info, err := os.Stat(path)
	if strings.Contains(text, ",") && err != nil {
		inv.sources = append(inv.sources, text)
		return inv.loadList(text)
	}
	inv.sources = append(inv.sources, absolute(path))
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir):
		if inv.opts.Unparsed.AnyFail {
			//lint:ignore ST1005 Ansible's own words
			return fmt.Errorf("Completely failed to parse inventory source %s", absolute(path))
		}
		if path != defaultSource {
			inv.warn("Unable to parse %s as an inventory source", absolute(path))
		}
		inv.addDir(filepath.Dir(absolute(path)))
		return nil
	case err != nil:
		return fileError(path, err)
	case info.IsDir():
		inv.addDir(absolute(path))
		return inv.loadFolder(path)
	}
	inv.addDir(filepath.Dir(absolute(path)))
	return inv.loadFile(path, info)
}

// path is where a source is.
func (inv *Inventory) path(text string) string {
	if inv.opts.Dir == "" || filepath.IsAbs(text) {
		return text
	}
	return filepath.Join(inv.opts.Dir, text)
}

func (inv *Inventory) addDir(dir string) {
	if !slices.Contains(inv.dirs, dir) {
		inv.dirs = append(inv.dirs, dir)
	}
}

func absolute(path string) string {
	if a, err := filepath.Abs(path); err == nil {
		return a
	}
	return path
}

// loadList reads "host1,host2:22," as hosts without a group.
func (inv *Inventory) loadList(text string) error {
	inv.parsed = true
	inv.origin = originLayer(text, nil)
	for _, entry := range strings.Split(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		name, port, ok := parseAddress(entry)
		if !ok {
			name, port = entry, 0
		}
		h := inv.host(name, port)
		inv.group("ungrouped").addHost(h)
	}
	return nil
}

// loadFolder reads the sources in a folder, sorted by name.
func (inv *Inventory) loadFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fileError(dir, err)
	}
	skip, err := inv.passedOver()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if skip(e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // a broken link
		case err != nil:
			return fileError(path, err)
		case info.IsDir():
			err = inv.loadFolder(path)
		default:
			err = inv.loadFile(path, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// passedOver tells the names in a folder of sources that are none.
func (inv *Inventory) passedOver() (func(name string) bool, error) {
	suffixes := inv.opts.IgnoreSuffixes
	if suffixes == nil {
		suffixes = usualSuffixes
	}
	var patterns []*pyre.Regexp
	for _, p := range inv.opts.IgnorePatterns {
		re, err := pyre.Compile(p, 0)
		if err != nil {
			return nil, fmt.Errorf("cannot read the inventory_ignore_patterns %q: %w", p, err)
		}
		patterns = append(patterns, re)
	}
	return func(name string) bool {
		return ignoredNames.MatchString(name) ||
			slices.ContainsFunc(suffixes, func(x string) bool { return strings.HasSuffix(name, x) }) ||
			slices.ContainsFunc(patterns, func(re *pyre.Regexp) bool {
				found, err := re.Search(name)
				return err == nil && found != nil
			})
	}, nil
}

// loadFile reads one file in the form that its mode, name and content show:
// a program, YAML (JSON included), or INI.
func (inv *Inventory) loadFile(path string, info fs.FileInfo) error {
	inv.parsed = true
	inv.origin = originLayer(absolute(path), filepath.Dir(absolute(path)))
	if info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 && isProgram(path) {
		return inv.loadScript(path)
	}
	data, err := inv.loader.ReadBytes(path)
	if err != nil {
		return fileError(path, err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	ext := filepath.Ext(path)
	switch {
	case slices.Contains([]string{".yml", ".yaml", ".json"}, ext):
		return inv.loadYAML(path, data)
	case (ext == "" || ext == ".config") && looksYAML(data):
		return inv.loadYAML(path, data)
	case ext == ".toml" && !looksINI(data):
		return inv.loadTOML(path, data)
	}
	return inv.loadINI(path, data)
}

// isProgram reports whether an executable file is one: a script with an
// interpreter line or a binary. Other text with the executable bit, as on
// some file systems all files have, is read as text.
func isProgram(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true // perhaps executable without being readable
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := f.Read(head)
	head = head[:n]
	return bytes.HasPrefix(head, []byte("#!")) || bytes.IndexByte(head, 0) >= 0
}

// looksYAML tells a YAML inventory from an INI one by its first line: the YAML
// one is a mapping.
func looksYAML(data []byte) bool {
	line := firstLine(data)
	if strings.HasPrefix(line, "---") || strings.HasPrefix(line, "{") || strings.HasPrefix(line, "%YAML") {
		return true
	}
	return !strings.HasPrefix(line, "[") && yamlKey.MatchString(line)
}

var yamlKey = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^\s"'#=]+):(\s|$)`)

// looksINI reports whether a file named .toml is an INI inventory: its first
// entry is a host, not an assignment or a table of one.
func looksINI(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		if name, _, ok := strings.Cut(line, " = "); ok && !strings.ContainsAny(strings.TrimSpace(name), " \t") {
			return false
		}
	}
	return !strings.Contains(firstLine(data), ".vars]")
}

// firstLine is the first line that is neither empty nor a comment.
func firstLine(data []byte) string {
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		line = bytes.TrimRight(line, "\r\n\t ")
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' && t[0] != ';' {
			return string(line)
		}
	}
	return ""
}

func (inv *Inventory) compiler() compiler { return compiler{inv.opts.Env} }
