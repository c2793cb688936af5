package modules

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/argspec"
	"play/modules/value"
)

// recordedCase is what testdata/record.py wrote: the answer of ansible-core's
// own module to the same arguments on the same tree.
type recordedCase struct {
	Name        string
	Before      []string
	Args        json.RawMessage
	Body        *string
	Check, Diff bool
	Result      map[string]any
	After       []string
	Stubs       map[string]string // programs that stand in for real ones, by name
	Env         map[string]string
	Timeless    bool               // whether files were rewritten is not compared
	Setup       string             // a shell script run before the module
	Probe       string             // a shell script whose output stands for the tree
	Server      map[string]answers // what an HTTP server answers, by "METHOD /path"
	// Random tells that keys, serial numbers and times are new in each run.
	Random bool
	// EngineBefore is the state of a Docker engine as JSON; "": there is none.
	EngineBefore string `json:"engine_before"`

	peer *peer // the server, while the case runs
}

// needs names what a module's cases use of the machine beyond a plain Debian.
func needs() map[string]string {
	return map[string]string{"known_hosts": "/usr/bin/ssh-keygen", "locale_gen": "/usr/share/i18n/SUPPORTED", "expect": "/dev/ptmx"}
}

// TestRecordedCases runs every recorded case through the native module.
func TestRecordedCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	table := Table(All())
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var set struct {
			Module string
			Cases  []recordedCase
			Stubs  map[string]string
			Server map[string]answers
		}
		if err := json.Unmarshal(quoteBig(data), &set); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		m, ok := table[set.Module]
		if !ok {
			t.Errorf("%s: no module %q", file, set.Module)
			continue
		}
		for _, c := range set.Cases {
			t.Run(set.Module+"/"+c.Name, func(t *testing.T) {
				t.Parallel()
				if file := needs()[set.Module]; file != "" && !exists(file) {
					t.Skipf("the machine lacks %s", file)
				}
				c.serve(t, set.Server)
				c.run(t, m, set.Stubs)
			})
		}
	}
}

const oldTime = 1500000000

func (c *recordedCase) run(t *testing.T, m Module, stubs map[string]string) {
	top := t.TempDir()
	root := filepath.Join(top, "root")
	must(t, os.Mkdir(root, 0o755))
	must(t, os.Mkdir(filepath.Join(top, "bin"), 0o755))
	c.peer.start(t, root)
	c.docker(t, root)
	writeStubs(t, top, stubs)
	writeStubs(t, top, c.Stubs)
	buildTree(t, root, c.Before)
	c.script(t, c.Setup, root, top)
	got := normal(c.call(t, m, root, top), root)
	want := normal(c.Result, "{root}")
	if c.Random {
		scrubbed(got)
		scrubbed(want)
	}
	c.compare(t, got, want)
	after := c.peer.cleanAll(c.afterwards(t, root, top))
	if c.Timeless {
		after, c.After = withoutTimes(after), withoutTimes(c.After)
	}
	if c.Random {
		after, c.After = scrubbedTree(after), scrubbedTree(c.After)
	}
	if !reflect.DeepEqual(after, c.After) {
		t.Errorf("tree afterwards\n  got  %s\n  want %s", strings.Join(after, "\n       "), strings.Join(c.After, "\n       "))
	}
}

// withoutTimes drops the notes that a file is as old as it was made.
func withoutTimes(tree []string) []string {
	out := make([]string, len(tree))
	for i, line := range tree {
		name, content, _ := strings.Cut(line, " =")
		out[i] = strings.TrimSuffix(name, " @old") + " =" + content
	}
	return out
}

// afterwards is what the module left: the tree, or what the probe prints.
func (c *recordedCase) afterwards(t *testing.T, root, top string) []string {
	t.Helper()
	if c.Probe == "" {
		return scanTree(t, root)
	}
	text := strings.ReplaceAll(c.script(t, c.Probe, root, top), root, "{root}")
	if text == "" {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

func (c *recordedCase) script(t *testing.T, text, root, top string) string {
	t.Helper()
	if text == "" {
		return ""
	}
	cmd := exec.Command("/bin/sh", "-e", "-c", strings.ReplaceAll(text, "{root}", root))
	cmd.Dir, cmd.Env = root, c.environ(root, top)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	const notFound = 127
	if err != nil && cmd.ProcessState.ExitCode() == notFound {
		t.Skipf("the machine lacks a program that prepares the case: %s", stderr.String())
	}
	if err != nil {
		t.Fatalf("%s: %v: %s%s", text, err, out, stderr.String())
	}
	return string(out)
}

// writeStubs makes the programs that record.py describes. No process is forked
// meanwhile: it would hold the file open for writing, which cannot be executed then.
func writeStubs(t *testing.T, top string, stubs map[string]string) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	const note = "{ printf '%s' \"${0##*/}\"; for a; do printf ' [%s]' \"$a\"; done; echo; } >>\"{root}/log\"\n"
	fill := strings.NewReplacer("{root}", filepath.Join(top, "root"), "{bin}", filepath.Join(top, "bin"))
	for name, body := range stubs {
		if !strings.HasPrefix(body, "# query") {
			body = note + body
		}
		must(t, os.WriteFile(filepath.Join(top, "bin", name), []byte(fill.Replace("#!/bin/sh\n"+body+"\n")), 0o755))
	}
}

// environ is the environment of the module's processes.
func (c *recordedCase) environ(root, top string) []string {
	env := append(os.Environ(), "LC_ALL=C.UTF-8", "HOME=/root", "PATH="+filepath.Join(top, "bin")+":"+os.Getenv("PATH"))
	for name, text := range c.Env {
		env = append(env, name+"="+strings.ReplaceAll(text, "{root}", root))
	}
	return env
}

func (c *recordedCase) compare(t *testing.T, got, want map[string]any) {
	if crash, ok := want["crash"].(string); ok {
		_, reason, _ := strings.Cut(crash, ": ")
		if msg, _ := got["msg"].(string); got["failed"] != true || !strings.Contains(msg, reason) {
			t.Errorf("got %v, want a failure with %q", got, reason)
		}
		return
	}
	if _, ok := want["changed"]; !ok && got["changed"] == false {
		delete(got, "changed") // Ansible's controller adds it, ours always has it
	}
	if !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Errorf("result\n  got  %s\n  want %s", g, w)
	}
}

// call decodes the arguments, runs the module, and returns the result as JSON
// would carry it.
func (c *recordedCase) call(t *testing.T, m Module, root, top string) map[string]any {
	bin := filepath.Join(top, "bin")
	raw := c.peer.fill(strings.NewReplacer("{root}", root, "{bin}", bin).Replace(string(c.Args)))
	v, err := value.DecodeJSON([]byte(raw))
	must(t, err)
	args := v.(*value.Dict)
	call := &Call{
		Context: context.Background(), Check: c.Check, Diff: c.Diff, Env: c.environ(root, top), Dir: root,
		Home: "/root", TmpDir: top, Content: io.Discard, Output: io.Discard, Extra: value.NewDict(),
	}
	if m.Full(args) {
		call.Web = HTTP // a plain agent runs the other cases
	}
	if c.Body != nil {
		args.Set("src", "{source}")
		call.Body = strings.NewReader(*c.Body)
	}
	into := m.New()
	if c.Check && !m.Check {
		return map[string]any{"skipped": true, "msg": "remote module (basic.py) does not support check mode"} // said by the agent
	}
	var out *Result
	if _, err = argspec.Of(m.Args).Decode("basic.py", args, argspec.Env{Home: "/root", Getenv: call.Getenv}, into); err == nil {
		out, err = m.Run(call, into)
	}
	d := value.NewDict()
	if out != nil {
		d = out.Dict
	}
	if err != nil {
		var f *Failure
		if d = value.NewDict(); errors.As(err, &f) && f.With != nil {
			d = f.With
		}
		d.Set("failed", true)
		d.Set("msg", err.Error())
	}
	text, err := value.EncodeJSON(d, value.WireJSON())
	must(t, err)
	var result map[string]any
	must(t, json.Unmarshal(quoteBig([]byte(c.peer.clean(strings.ReplaceAll(text, bin, "{bin}")))), &result))
	return result
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// normal replaces what differs from run to run: folders, users, times, backup
// names and the sizes of folders and links.
func normal(result map[string]any, root string) map[string]any {
	delete(result, "exception")
	return normalValue("", result, root).(map[string]any)
}

func normalValue(key string, v any, root string) any {
	switch key {
	case "attributes", "attr_flags", "version", "mimetype", "charset", "elapsed":
		return strings.ToUpper(key) // these depend on the file system and on installed programs
	}
	switch old := v.(type) {
	case map[string]any:
		v := map[string]any{}
		for k, item := range old {
			v[strings.ReplaceAll(k, root, "{root}")] = normalValue(k, item, root)
		}
		if v["state"] == "directory" || v["state"] == "link" || v["isdir"] == true || v["islnk"] == true {
			if _, ok := v["size"]; ok {
				v["size"] = "SIZE"
			}
		}
		if _, packed := v["arcroot"]; packed { // an archive: its size depends on who compressed it
			delete(v, "size")
		}
		return v
	case []any:
		for i, item := range old {
			old[i] = normalValue(key, item, root)
		}
		switch key {
		case "directories", "files", "archived", "expanded_paths": // in the order of the disk
			sort.Slice(old, func(i, j int) bool { return pathOf(old[i]) < pathOf(old[j]) })
		}
		return old
	case string:
		return normalString(key, old, root)
	case float64:
		switch key {
		case "cache_update_time":
			return "TIME"
		case "uid", "gid", "inode", "dev", "nlink", "blocks", "block_size", "device_type":
			return strings.ToUpper(key)
		case "atime", "mtime", "ctime":
			if int64(old) != oldTime || key == "ctime" {
				return "TIME"
			}
		}
	}
	return v
}

// pathOf is the name that a list of files is sorted by.
func pathOf(v any) string {
	if d, ok := v.(map[string]any); ok {
		v = d["path"]
	}
	s, _ := v.(string)
	return s
}

var (
	backupName = regexp.MustCompile(`\.\d+\.\d{4}-\d\d-\d\d@\d\d:\d\d:\d\d~`)
	spoolName  = regexp.MustCompile(`^.*/tmp[a-z0-9_]+$`) // a download on its way
	epoch      = regexp.MustCompile(`\b\d{10}\b`)
	imageDir   = regexp.MustCompile(`(^-o|'|^|: )/[^ ']*/tmp[a-z0-9_]{8,}`) // an image's files on their way
	tempName   = regexp.MustCompile(`/(ansible\.|pfx\.)[a-z0-9_]{8}`)
)

func normalString(key, s, root string) any {
	switch key {
	case "owner", "group", "pw_name", "gr_name", "version", "attr_flags", "start", "end", "delta", "ansible_fqdn", "ansible_domain":
		return strings.ToUpper(key)
	}
	s = strings.ReplaceAll(s, root, "{root}")
	if key == "nagios_commands" {
		return epoch.ReplaceAllString(s, "TIME")
	}
	if key == "src" {
		s = spoolName.ReplaceAllString(s, "SPOOL")
	}
	s = imageDir.ReplaceAllString(s, "${1}SCRATCH")
	s = tempName.ReplaceAllString(s, "/${1}RANDOM")
	return backupName.ReplaceAllString(s, ".BACKUP~")
}

// buildTree makes the tree that record.py describes.
func buildTree(t *testing.T, root string, lines []string) {
	t.Helper()
	var paths []string
	for _, line := range lines {
		kind, mode, path, target, content := parseEntry(t, line)
		path = filepath.Join(root, path)
		paths = append(paths, path)
		switch kind {
		case "d":
			must(t, os.Mkdir(path, 0o700))
		case "f":
			must(t, os.WriteFile(path, []byte(strings.ReplaceAll(content, "{root}", root)), 0o600))
		case "l":
			must(t, os.Symlink(strings.ReplaceAll(target, "{root}", root), path))
			continue
		case "h":
			must(t, os.Link(filepath.Join(root, target), path))
			continue
		case "p":
			must(t, unix.Mkfifo(path, 0o600))
		}
		must(t, unix.Chmod(path, mode))
	}
	old := []unix.Timespec{{Sec: oldTime}, {Sec: oldTime}}
	for i := len(paths) - 1; i >= 0; i-- {
		must(t, unix.UtimesNanoAt(unix.AT_FDCWD, paths[i], old, unix.AT_SYMLINK_NOFOLLOW))
	}
}

func parseEntry(t *testing.T, line string) (kind string, mode uint32, path, target, content string) {
	fields := strings.SplitN(line, " ", 3)
	bits, err := strconv.ParseUint(fields[1], 8, 32)
	must(t, err)
	path, content, _ = strings.Cut(fields[2], " =")
	path, target, _ = strings.Cut(path, " -> ")
	if strings.Contains(content, `\udcff`) {
		content = strings.ReplaceAll(content, `\udcff`, "\x00")
		return fields[0], uint32(bits), path, target, strings.ReplaceAll(unquote(t, content), "\x00", "\xff")
	}
	return fields[0], uint32(bits), path, target, unquote(t, content)
}

func unquote(t *testing.T, content string) string {
	var s string
	must(t, json.Unmarshal([]byte(`"`+strings.ReplaceAll(content, "\x00", `\u0000`)+`"`), &s))
	return s
}

// scanTree describes a tree as record.py does.
func scanTree(t *testing.T, root string) []string {
	t.Helper()
	tree := []string{}
	must(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		tree = append(tree, describe(t, root, path))
		return nil
	}))
	key := func(line string) string {
		name, _, _ := strings.Cut(strings.SplitN(line, " ", 3)[2], " =")
		return name
	}
	sort.SliceStable(tree, func(i, j int) bool { return key(tree[i]) < key(tree[j]) })
	return tree
}

func describe(t *testing.T, root, path string) string {
	var st unix.Stat_t
	must(t, unix.Lstat(path, &st))
	short := backupName.ReplaceAllString(tempName.ReplaceAllString(path, "/${1}RANDOM")[len(root)+1:], ".BACKUP~")
	mode := "0" + strconv.FormatUint(uint64(st.Mode&0o7777)|0o10000, 8)[1:]
	mode = mode[len(mode)-4:]
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		target, err := os.Readlink(path)
		must(t, err)
		return "l 0777 " + short + " -> " + strings.ReplaceAll(target, root, "{root}")
	case unix.S_IFDIR:
		return "d " + mode + " " + short
	case unix.S_IFREG:
		old := ""
		if time.Unix(st.Mtim.Unix()).Unix() == oldTime {
			old = " @old"
		}
		return "f " + mode + " " + short + old + " =" + quotedContent(t, path, root)
	}
	return "p " + mode + " " + short
}

// quotedContent is a file's content in Python's JSON, without the quotes.
func quotedContent(t *testing.T, path, root string) string {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrPermission) {
		must(t, os.Chmod(path, 0o600))
		data, err = os.ReadFile(path)
	}
	must(t, err)
	text := strings.ReplaceAll(string(data), root, "{root}")
	var b bytes.Buffer
	for _, r := range strings.ReplaceAll(text, "\xff", "\U0010FFFF") {
		switch {
		case r == '\U0010FFFF':
			b.WriteString(`\udcff`)
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r > 0x7e:
			b.WriteString(`\u` + strconv.FormatInt(int64(r)|0x10000, 16)[1:])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
