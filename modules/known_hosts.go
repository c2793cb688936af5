package modules

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"play/modules/atomicfile"
	"play/modules/value"
)

// knownHostsArgs are the arguments of known_hosts.
type knownHostsArgs struct {
	Name     string  `arg:"name,required,aliases=host" doc:"the host, as ssh looks it up: [host]:port for another port"`
	HashHost bool    `arg:"hash_host,default=no" doc:"store the host's name hashed"`
	Key      *string `arg:"key" doc:"the line of the host's public key, with the name in front"`
	Path     string  `arg:"path,type=path,default=~/.ssh/known_hosts" doc:"the file"`
	State    string  `arg:"state,default=present,choices=absent|present" doc:"whether the key shall be in the file"`
}

func knownHosts() Module {
	return Define("known_hosts", "Manage the keys of known hosts", runKnownHosts)
}

func runKnownHosts(c *Call, args *knownHostsArgs) (*Result, error) {
	path := c.abs(args.Path)
	if args.State == "present" && (args.Key == nil || *args.Key == "") {
		return nil, Failf("No key specified when adding a host")
	}
	key := ""
	if args.Key != nil && *args.Key != "" {
		key = strings.TrimRight(*args.Key, "\r\n")
		if err := c.checkHostKey(args.Name, key); err != nil {
			return nil, err
		}
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, Failf("Failed to read %s: %v", path, err)
	}
	missing := err != nil
	lines, err := c.hostKeyLines(path, args.Name, missing)
	if err != nil {
		return nil, err
	}
	text, changed, err := c.editKnownHosts(args, string(data), key, lines)
	if err != nil {
		return nil, err
	}
	diff := knownHostsDiff(path, string(data), text, args.State, missing)
	if c.Check {
		return NewResult(changed).With("diff", diff), nil
	}
	if changed {
		if err := c.writeKnownHosts(path, args, text); err != nil {
			return nil, err
		}
	}
	out := NewResult(changed).With("path", path).With("name", args.Name).With("key", nil).With("hash_host", args.HashHost).
		With("state", args.State).With("diff", diff)
	if args.Key != nil {
		out.Set("key", *args.Key)
	}
	return out, nil
}

// knownHostsDiff is the change as text; a removal shows the file as it was,
// since ssh-keygen itself edits the file then.
func knownHostsDiff(path, before, after, state string, missing bool) *value.Dict {
	header := path
	if missing {
		header = "/dev/null"
	}
	if state == "absent" {
		after = before
	}
	return value.DictOf("before_header", header, "after_header", path, "before", before, "after", after)
}

// checkHostKey makes sure that a key is one of the host's.
func (c *Call) checkHostKey(name, key string) error {
	f, err := os.CreateTemp(c.TmpDir, "known")
	if err != nil {
		return Failf("cannot check the key: %v", err)
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(key + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return Failf("cannot check the key: %v", err)
	}
	out, err := c.tool("ssh-keygen", "-F", name, "-f", f.Name())
	if err != nil {
		return err
	}
	if out.failed() || out.out == "" {
		return Failf("Host parameter does not match hashed host field in supplied key")
	}
	return nil
}

// hostKeyLines lists the lines of the file that are the host's.
func (c *Call) hostKeyLines(path, name string, missing bool) ([]string, error) {
	if missing {
		return nil, nil
	}
	out, err := c.tool("ssh-keygen", "-F", name, "-f", path)
	if err != nil {
		return nil, err
	}
	var found []string
	for line := range strings.Lines(out.out) {
		if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
			found = append(found, line)
		}
	}
	return found, nil
}

// editKnownHosts returns the file's new text.
func (c *Call) editKnownHosts(args *knownHostsArgs, text, key string, lines []string) (string, bool, error) {
	if args.State == "absent" {
		gone := map[string]bool{}
		for _, line := range lines {
			gone[line] = key == "" || sameHostKey(line, key)
		}
		kept := keepLines(text, gone)
		return kept, kept != text, nil
	}
	old := map[string]bool{}
	for _, line := range lines {
		if sameHostKey(line, key) && strings.HasPrefix(line, "|") == args.HashHost {
			return text, false, nil
		}
		if hostKeyKind(line) == hostKeyKind(key) {
			old[line] = true
		}
	}
	kept := keepLines(text, old)
	if kept != "" && !strings.HasSuffix(kept, "\n") {
		kept += "\n"
	}
	if args.HashHost {
		var err error
		if key, err = c.hashedHostKey(key); err != nil {
			return "", false, err
		}
	}
	return kept + key + "\n", true, nil
}

// keepLines drops the marked lines.
func keepLines(text string, gone map[string]bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !gone[strings.TrimRight(line, "\r\n")] {
			b.WriteString(line)
		}
	}
	return b.String()
}

// hostKeyFields are the kind and the key of a line, without the names and a
// mark such as @revoked in front, or nil.
func hostKeyFields(line string) []string {
	fields := strings.Fields(line)
	if len(fields) > 0 && strings.HasPrefix(fields[0], "@") {
		fields = fields[1:]
	}
	if len(fields) < 3 {
		return nil
	}
	return fields[1:3]
}

func hostKeyKind(line string) string {
	if f := hostKeyFields(line); f != nil {
		return f[0]
	}
	return ""
}

func sameHostKey(a, b string) bool {
	return strings.Join(hostKeyFields(a), " ") == strings.Join(hostKeyFields(b), " ")
}

// hashedHostKey is the line with its names hashed.
func (c *Call) hashedHostKey(key string) (string, error) {
	dir, err := os.MkdirTemp(c.TmpDir, "known")
	if err != nil {
		return "", Failf("cannot hash the name: %v", err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "hosts")
	if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
		return "", Failf("cannot hash the name: %v", err)
	}
	if _, err := c.mustTool("ssh-keygen", "-H", "-f", path); err != nil {
		return "", err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", Failf("cannot hash the name: %v", err)
	}
	return strings.TrimRight(string(data), "\n"), nil
}

// writeKnownHosts replaces the file. A removal of a host leaves the old file
// beside it, as ssh-keygen does.
func (c *Call) writeKnownHosts(path string, args *knownHostsArgs, text string) error {
	if args.State == "absent" && args.Key == nil {
		_, err := c.mustTool("ssh-keygen", "-R", args.Name, "-f", path)
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return Failf("cannot make the folder of %q: %v", path, err)
	}
	if err := atomicfile.Write(realPath(path), strings.NewReader(text), atomicfile.Options{}); err != nil {
		return Failf("%v", err)
	}
	return nil
}
