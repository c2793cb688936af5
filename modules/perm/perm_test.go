package perm

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The expected modes are those that ansible-core 2.14.18's file module set.
func TestResolve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode any
		from uint32
		dir  bool
		want uint32
	}{
		{"0644", 0, false, 0o644}, {"755", 0o644, false, 0o755}, {"01777", 0, true, 0o1777}, {"0o640", 0, false, 0o640}, {416, 0, false, 0o640}, {0o4755, 0, false, 0o4755},
		{"u=rw,go=", 0o644, false, 0o600}, {"u+x,g+X,o-r", 0o644, false, 0o740}, {"g=u,o=g", 0o644, false, 0o664},
		{"u+s,g+s,+t", 0o644, false, 0o7644}, {"a-r+w", 0o644, false, 0o222}, {"a=rX", 0o644, false, 0o444},
		{"a=rX", 0o644, true, 0o555}, {"a+X", 0o744, false, 0o755}, {"+w", 0o444, false, 0o644}, {"=", 0o644, false, 0o000},
		{"o=", 0o1777, true, 0o770}, {"ug+x", 0o600, false, 0o710}, {"u-s", 0o4755, false, 0o755}, {"g=rwxs", 0o700, true, 0o2770},
	} {
		got, err := Resolve(c.mode, Stat{Mode: c.from, Dir: c.dir}, 0o022)
		if err != nil || got != c.want {
			t.Errorf("%v on %o (folder %v): got %o, %v; want %o", c.mode, c.from, c.dir, got, err, c.want)
		}
	}
	for _, bad := range []any{"bogus", "u+q", "x=r", "", "u", 1.5, "ugao=r", "0999"} {
		if got, err := Resolve(bad, Stat{}, 0); err == nil {
			t.Errorf("%v: got %o, want an error", bad, got)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	if uid, ok := UserID("root"); !ok || uid != 0 {
		t.Errorf("root is %d, %v", uid, ok)
	}
	if uid, ok := UserID("4242"); !ok || uid != 4242 {
		t.Errorf("4242 is %d, %v", uid, ok)
	}
	for _, bad := range []string{"", "no such user", "-x", "a:b"} {
		if uid, ok := UserID(bad); ok {
			t.Errorf("%q is %d", bad, uid)
		}
	}
	if name, ok := UserName(0); !ok || name != "root" {
		t.Errorf("0 is %q, %v", name, ok)
	}
	if name, ok := GroupName(0); !ok || name == "" {
		t.Errorf("group 0 is %q, %v", name, ok)
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	w := &Wanted{Mode: "0600", Owner: strconv.Itoa(os.Getuid()), Group: strconv.Itoa(os.Getgid())}
	for i, step := range []struct {
		check, changed bool
		mode           os.FileMode
	}{{true, true, 0o644}, {false, true, 0o600}, {false, false, 0o600}, {true, false, 0o600}} {
		diff := NewDiff()
		changed, err := w.Apply(path, step.check, diff)
		info, _ := os.Stat(path)
		if err != nil || changed != step.changed || info.Mode().Perm() != step.mode || (diff.After.Len() > 0) != changed {
			t.Errorf("step %d: changed %v, %v, mode %v, diff of %d", i, changed, err, info.Mode(), diff.After.Len())
		}
	}
	if changed, err := w.Apply(path+"x", true, nil); !changed || err != nil {
		t.Errorf("a missing file in check mode: %v, %v", changed, err)
	}
	_, err := (&Wanted{Owner: "nosuchuser"}).Apply(path, false, nil)
	if err == nil || err.Error() != "chown failed: failed to look up user nosuchuser" {
		t.Errorf("got %v", err)
	}
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Flags(path); err != nil {
		_, err := (&Wanted{Attributes: "+d"}).Apply(path, false, nil)
		if err == nil || err.Error() != "chattr failed" {
			t.Errorf("a file system without attributes: got %v", err)
		}
		return
	}
	for i, step := range []struct {
		attributes string
		check      bool
		changed    bool
		has        bool
	}{{"+d", true, true, false}, {"+d", false, true, true}, {"+d", false, false, true}, {"-d", false, true, false}, {"-d", false, false, false}} {
		changed, err := (&Wanted{Attributes: step.attributes}).Apply(path, step.check, nil)
		letters, _, _ := Flags(path)
		if err != nil || changed != step.changed || strings.Contains(letters, "d") != step.has {
			t.Errorf("step %d: changed %v, %v, letters %q", i, changed, err, letters)
		}
	}
	if _, err := (&Wanted{Attributes: "+Q"}).Apply(path, false, nil); err == nil || err.Error() != "chattr failed" {
		t.Errorf("got %v", err)
	}
}

func TestContextMerge(t *testing.T) {
	t.Parallel()
	got := Context{Type: "httpd_sys_content_t", Level: "s0:c1"}.merge("system_u:object_r:etc_t:s0")
	if got != "system_u:object_r:httpd_sys_content_t:s0:c1" {
		t.Errorf("got %s", got)
	}
}
