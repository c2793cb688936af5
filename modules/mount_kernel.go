package modules

import (
	"os"
	"strings"
)

// isMounted tells whether something is mounted at the path.
func isMounted(path string) bool {
	_, ok := mountedAt(path)
	return ok
}

// mountedAt finds what is mounted at a path: the fields of the last line of
// the kernel's list that names it.
func mountedAt(path string) (fields []string, ok bool) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, false
	}
	path = realPath(path)
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) > 6 && unescape.Replace(f[4]) == path {
			fields, ok = f, true
		}
	}
	return fields, ok
}

// absent unmounts, forgets the line, and removes the empty folder.
func (m *mountPoint) absent() (bool, error) {
	changed, err := m.unsetFstab()
	if err != nil || !changed || m.Check {
		return changed, err
	}
	if isMounted(m.Path) {
		if err := m.umount(); err != nil {
			return true, err
		}
	}
	if exists(m.Path) {
		if err := os.Remove(m.Path); err != nil {
			return true, Failf("Error rmdir %s: %s", m.Path, osText(err, m.Path))
		}
	}
	return true, nil
}

func (m *mountPoint) unmounted() (bool, error) {
	if !isMounted(m.Path) {
		return false, nil
	}
	if m.Check {
		return true, nil
	}
	return true, m.umount()
}

func (m *mountPoint) umount() error {
	out, err := m.tool("umount", m.Path)
	if err == nil && out.failed() {
		err = mountFailure("unmounting", m.Path, out)
	}
	return err
}

// mounted puts the line into the table and mounts by it.
func (m *mountPoint) mounted() (bool, error) {
	if err := m.makeFolder(); err != nil {
		return false, err
	}
	changed, err := m.setFstab()
	if err != nil {
		return changed, m.undo(err)
	}
	there := isMounted(m.Path)
	switch {
	case there && !changed:
		return false, nil
	case m.Check:
		return true, nil
	case there:
		err = m.remount()
	default:
		err = m.mountBy(m.byTable(m.Path)...)
	}
	if err != nil {
		return true, m.undo(err)
	}
	return true, nil
}

func (m *mountPoint) makeFolder() error {
	if m.Check || exists(m.Path) {
		return nil
	}
	if err := os.MkdirAll(m.Path, 0o777); err != nil {
		return Failf("Error making dir %s: %s", m.Path, osText(err, m.Path))
	}
	m.created = m.Path
	return nil
}

// byTable are the words that make mount use the task's own table.
func (m *mountPoint) byTable(words ...string) []string {
	if m.Fstab == nil || *m.Fstab == "/etc/fstab" {
		return words
	}
	return append([]string{"-T", m.fstab}, words...)
}

func (m *mountPoint) mountBy(words ...string) error {
	out, err := m.tool(append([]string{"mount"}, words...)...)
	if err == nil && out.failed() {
		err = mountFailure("mounting", m.Path, out)
	}
	return err
}

// remount applies other options to what is mounted; where that cannot be done
// it unmounts and mounts again.
func (m *mountPoint) remount() error {
	words := append([]string{"mount", "-o", "remount"}, m.byTable(m.Path)...)
	if m.State == "remounted" && m.Opts != nil {
		words[2] = "remount," + m.opts
	}
	out, err := m.tool(words...)
	if err != nil || !out.failed() {
		return err
	}
	if again, err := m.tool("umount", m.Path); err != nil || again.failed() {
		return mountFailure("remounting", m.Path, out)
	}
	again, err := m.tool(append([]string{"mount"}, m.byTable(m.Path)...)...)
	if err == nil && again.failed() {
		err = mountFailure("remounting", m.Path, again)
	}
	return err
}

func (m *mountPoint) remountAlone() error {
	if m.Check {
		return nil
	}
	return m.remount()
}

// ephemeral mounts without the table.
func (m *mountPoint) ephemeral() (bool, error) {
	if fields, ok := mountedAt(m.Path); ok {
		for i, f := range fields {
			if f == "-" && i+2 < len(fields) && fields[i+2] != *m.Src {
				return false, Failf("cannot mount %q: %s is mounted there already; unmount it first, or choose another path", m.Path, fields[i+2])
			}
		}
		if m.Check {
			return true, nil
		}
		return true, m.remount()
	}
	if m.Check {
		return true, nil
	}
	if err := m.makeFolder(); err != nil {
		return false, err
	}
	if err := m.mountBy("-t", *m.FSType, "-o", m.opts, *m.Src, m.Path); err != nil {
		return true, m.undo(err)
	}
	return true, nil
}
