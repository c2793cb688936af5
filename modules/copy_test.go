package modules

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"play/modules/value"
)

// callIn makes a call that works in a folder of the test.
func callIn(t *testing.T) (*Call, string) {
	t.Helper()
	dir := t.TempDir()
	return &Call{Context: context.Background(), Env: os.Environ(), TmpDir: t.TempDir(), Content: io.Discard, Output: io.Discard, Extra: value.NewDict()}, dir
}

const fooSum = "0beec7b5ea3f0fdbc95d0dd47f3c5bc275da8a33"

func TestCopyUnchangedBodySpeaksAsFile(t *testing.T) {
	t.Parallel()
	c, dir := callIn(t)
	dest := filepath.Join(dir, "c")
	must(t, os.WriteFile(dest, []byte("foo"), 0o644))
	must(t, os.Chmod(dest, 0o644))
	c.Body = strings.NewReader("foo")
	r, err := copyFile().Run(c, &copyArgs{Dest: dest, Force: true, fileArgs: fileArgs{Mode: "0600"}})
	must(t, err)
	keys := ""
	for k := range r.All() {
		keys += k.(string) + " "
	}
	if want := "path changed diff checksum dest uid gid owner group mode state size "; keys != want {
		t.Errorf("keys %q, want %q", keys, want)
	}
	if changed, _ := r.Get("changed"); changed != true {
		t.Error("the mode was changed")
	}
}

func TestCopyDiff(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, body, key string }{
		"text": {"old\n", "new\n", "before"}, "binary": {"a\x00", "new\n", "dst_binary"}, "binary source": {"x", "a\x00", "src_binary"},
		"large": {strings.Repeat("x", maxDiff+1), "n", "dst_larger"}, "large source": {"x", strings.Repeat("x", maxDiff+1), "src_larger"},
	} {
		c, dir := callIn(t)
		dest := filepath.Join(dir, "c")
		must(t, os.WriteFile(dest, []byte(tc.old), 0o644))
		c.Body, c.Diff, c.Check = strings.NewReader(tc.body), true, true
		r, err := copyFile().Run(c, &copyArgs{Src: "files/c", Dest: dest, Force: true})
		must(t, err)
		l, _ := r.Get("diff")
		d := l.(*value.List).Items[0].(*value.Dict)
		if _, ok := d.Get(tc.key); !ok {
			t.Errorf("%s: no %s in %v", name, tc.key, value.Repr(d))
		}
		if data, _ := os.ReadFile(dest); string(data) != tc.old {
			t.Errorf("%s: check mode wrote", name)
		}
	}
}

// Ansible's copy action asks no module in check mode when the content differs.
func TestCopyCheckOnlyForetells(t *testing.T) {
	t.Parallel()
	for _, dest := range []string{"c", "no/folder/c", "no/folder/", "d"} {
		c, dir := callIn(t)
		must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, "c"), []byte("old"), 0o644))
		c.Check, c.Body = true, strings.NewReader("foo")
		r, err := copyFile().Run(c, &copyArgs{Dest: dir + "/" + dest, Basename: "c", Force: true, Backup: true})
		must(t, err)
		if value.Repr(r.Dict) != "{'changed': True}" {
			t.Errorf("%s: got %s", dest, value.Repr(r.Dict))
		}
		entries, err := os.ReadDir(dir)
		must(t, err)
		if data, _ := os.ReadFile(filepath.Join(dir, "c")); len(entries) != 2 || string(data) != "old" {
			t.Errorf("%s: check mode left %d entries and %q", dest, len(entries), data)
		}
	}
	c, dir := callIn(t)
	c.Extra.Set("_ansible_content_follows", true)
	c.Check = true
	sum := fooSum
	r, err := copyFile().Run(c, &copyArgs{Dest: dir + "/no/c", Basename: "c", Force: true, Checksum: &sum})
	must(t, err)
	if value.Repr(r.Dict) != "{'changed': True}" {
		t.Errorf("asked first: got %s", value.Repr(r.Dict))
	}
}

func TestCopyAsksForContentOnlyWhenNeeded(t *testing.T) {
	t.Parallel()
	c, dir := callIn(t)
	c.Extra.Set("_ansible_content_follows", true)
	dest, sum := filepath.Join(dir, "c"), fooSum
	args := &copyArgs{Src: "c", Dest: dir + "/", Basename: "c", Force: true, Checksum: &sum}
	r, err := copyFile().Run(c, args)
	must(t, err)
	if needs, _ := r.Get("needs_content"); needs != true {
		t.Errorf("a missing file: %s", value.Repr(r.Dict))
	}
	must(t, os.WriteFile(dest, []byte("foo"), 0o644))
	if r, err = copyFile().Run(c, args); err != nil {
		t.Fatal(err)
	}
	if changed, _ := r.Get("changed"); changed != false {
		t.Errorf("the same content: %s", value.Repr(r.Dict))
	}
}

func TestCopyLargeBodyThroughScratch(t *testing.T) {
	t.Parallel()
	c, dir := callIn(t)
	dest := filepath.Join(dir, "c")
	body := bytes.Repeat([]byte("0123456789abcdef"), spoolLimit/8)
	c.Body = bytes.NewReader(body)
	_, err := copyFile().Run(c, &copyArgs{Dest: dest, Force: true})
	must(t, err)
	got, err := os.ReadFile(dest)
	must(t, err)
	left, err := os.ReadDir(c.TmpDir)
	must(t, err)
	if !bytes.Equal(got, body) || len(left) != 0 {
		t.Errorf("%d of %d bytes, %d scratch files left", len(got), len(body), len(left))
	}
}

// brokenBody ends in the middle, as when the controller is lost.
type brokenBody struct{ io.Reader }

func (b *brokenBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		return n, errors.New("the controller is gone")
	}
	return n, err
}

func TestCopyLostBodyLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	c, dir := callIn(t)
	dest := filepath.Join(dir, "c")
	must(t, os.WriteFile(dest, []byte("old"), 0o644))
	c.Body = &brokenBody{strings.NewReader("half")}
	if _, err := copyFile().Run(c, &copyArgs{Dest: dest, Force: true}); err == nil {
		t.Error("half a body was taken for a whole one")
	}
	data, err := os.ReadFile(dest)
	must(t, err)
	entries, err := os.ReadDir(dir)
	must(t, err)
	if string(data) != "old" || len(entries) != 1 {
		t.Errorf("left %q and %d files", data, len(entries))
	}
}

func TestCopyNamesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	c, dir := callIn(t)
	must(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o644))
	dest := filepath.Join(dir, "a", "c")
	c.Body = strings.NewReader("foo")
	_, err := copyFile().Run(c, &copyArgs{Dest: dest, Force: true})
	if err == nil || !strings.Contains(err.Error(), dest) {
		t.Errorf("got %v", err)
	}
	must(t, os.MkdirAll(filepath.Join(dir, "d", "c"), 0o755))
	c.Body = strings.NewReader("foo")
	_, err = copyFile().Run(c, &copyArgs{Dest: filepath.Join(dir, "d"), Basename: "c", Force: true})
	if err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a folder in the way: got %v", err)
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	c, dir := callIn(t)
	var sent bytes.Buffer
	c.Content = &sent
	src, sum := filepath.Join(dir, "f"), fooSum
	must(t, os.WriteFile(src, []byte("foo"), 0o644))
	for _, tc := range []struct {
		args  fetchArgs
		check bool
		want  string
	}{{fetchArgs{Src: src}, false, "foo"}, {fetchArgs{Src: src, Checksum: &sum}, false, ""}, {fetchArgs{Src: src}, true, ""}} {
		sent.Reset()
		c.Check = tc.check
		r, err := fetch().Run(c, &tc.args)
		must(t, err)
		got, _ := r.Get("checksum")
		if said, _ := r.Get("sent"); sent.String() != tc.want || got != fooSum || said != (tc.want != "") {
			t.Errorf("sent %q (%v), checksum %v", sent.String(), said, got)
		}
	}
	for _, bad := range []string{dir, dir + "/none"} {
		if _, err := fetch().Run(c, &fetchArgs{Src: bad}); err == nil {
			t.Errorf("%s was fetched", bad)
		}
	}
}

func TestChecksums(t *testing.T) {
	t.Parallel()
	c, dir := callIn(t)
	must(t, os.WriteFile(filepath.Join(dir, "f"), []byte("foo"), 0o644))
	must(t, os.Mkdir(filepath.Join(dir, "d"), 0o755))
	r, err := checksums().Run(c, &checksumsArgs{Dest: dir, Files: []string{"f", "d", "none"}})
	must(t, err)
	got, _ := r.Get("files")
	want := "{'f': {'state': 'file', 'checksum': '" + fooSum + "'}, 'd': {'state': 'directory'}, 'none': {'state': 'absent'}}"
	if value.Repr(got) != want {
		t.Errorf("got %s", value.Repr(got))
	}
}

func TestSetupFilter(t *testing.T) {
	t.Parallel()
	c, dir := callIn(t)
	must(t, os.WriteFile(filepath.Join(dir, "x.fact"), []byte(`{"a": [1, true]}`), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "bad.fact"), []byte("nonsense"), 0o644))
	r, err := setup().Run(c, &setupArgs{Subset: []string{"!all", "!min", "local", "fips"}, Timeout: 10, Filter: []string{"ansible_local", "module_*"}, FactPath: dir})
	must(t, err)
	text := "error loading facts as JSON or ini - please check content: " + dir + "/bad.fact"
	want := "{'ansible_facts': {'ansible_local': {'bad': '" + text + "', 'x': {'a': [1, True]}}, 'module_setup': True}, 'warnings': ['" + text + "']}"
	if value.Repr(r.Dict) != want {
		t.Errorf("got  %s\nwant %s", value.Repr(r.Dict), want)
	}
	if _, err := setup().Run(c, &setupArgs{Subset: []string{"bogus"}, Timeout: 1}); err == nil || !strings.HasPrefix(err.Error(), "Bad subset 'bogus'") {
		t.Errorf("got %v", err)
	}
}
