package modules

import (
	"os"
	"strings"
	"time"

	"play/modules/argspec"
	"play/modules/atomicfile"
	"play/modules/value"
)

// mountArgs are the arguments of mount.
type mountArgs struct {
	Boot   bool    `arg:"boot,default=yes" doc:"mount it at boot"`
	Dump   string  `arg:"dump,default=0" doc:"field 5 of fstab"`
	Fstab  *string `arg:"fstab" doc:"the file to use instead of /etc/fstab"`
	FSType *string `arg:"fstype" doc:"the type of the file system"`
	Path   string  `arg:"path,required,type=path,aliases=name" doc:"where it is mounted"`
	Opts   *string `arg:"opts" doc:"mount options"`
	Passno string  `arg:"passno,default=0" doc:"field 6 of fstab"`
	Src    *string `arg:"src,type=path" doc:"the device or source"`
	Backup bool    `arg:"backup,default=no" doc:"keep a copy of the old fstab"`
	State  string  `arg:"state,required,choices=absent|absent_from_fstab|mounted|present|unmounted|remounted|ephemeral" doc:"whether it shall be mounted, and in fstab"`
}

// Rules relates the arguments.
func (mountArgs) Rules() argspec.Rules {
	var rules argspec.Rules
	for _, state := range []string{"mounted", "present", "ephemeral"} {
		rules.RequiredIf = append(rules.RequiredIf, argspec.RequiredIf{Name: "state", Value: state, Needs: []string{"src", "fstype"}})
	}
	return rules
}

func mount() Module {
	return Define("mount", "Manage mount points and fstab", runMount).In("ansible.posix")
}

// mountPoint is one mount point on its way to the wanted state.
type mountPoint struct {
	*Call
	*mountArgs
	fstab    string
	opts     string
	warnings []string
	backup   string
	old      string // the text of fstab before; for a step back
	wrote    bool
	created  string // the mount point's folder, when this run made it
}

func runMount(c *Call, args *mountArgs) (*Result, error) {
	m := &mountPoint{Call: c, mountArgs: args, fstab: "/etc/fstab", opts: "defaults"}
	if args.Fstab != nil {
		m.fstab = c.abs(*args.Fstab)
	}
	if args.Opts != nil {
		m.opts = *args.Opts
	}
	m.applyBoot()
	if err := m.readFstab(); err != nil {
		return nil, err
	}
	changed, err := m.bring()
	if err != nil {
		return nil, err
	}
	boot := "yes"
	if !args.Boot {
		boot = "no"
	}
	out := NewResult(changed).With("name", args.Path).With("opts", m.opts).With("dump", args.Dump).With("passno", args.Passno).
		With("fstab", m.fstab).With("boot", boot).With("warnings", stringList(m.warnings)).With("backup_file", m.backup)
	if args.Src != nil {
		out.Set("src", *args.Src)
	}
	if args.FSType != nil {
		out.Set("fstype", *args.FSType)
	}
	return out, nil
}

// applyBoot adds the option that keeps a file system from being mounted at boot.
func (m *mountPoint) applyBoot() {
	words := strings.Split(m.opts, ",")
	switch {
	case m.Boot || contains(words, "noauto"):
	case contains(words, "defaults"):
		m.warnings = append(m.warnings, "Ignore the 'boot' due to 'opts' contains 'defaults'.")
	default:
		m.opts += ",noauto"
	}
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// readFstab reads the table, and makes an empty one where a file that the task
// names is missing.
func (m *mountPoint) readFstab() error {
	data, err := os.ReadFile(m.fstab)
	m.old = string(data)
	if err == nil || m.State == "ephemeral" {
		return nil
	}
	if err := os.WriteFile(m.fstab, nil, 0o644); err != nil {
		return Failf("Failed to open %s due to %s", m.fstab, osText(err, m.fstab))
	}
	return nil
}

// bring dispatches by the wanted state.
func (m *mountPoint) bring() (bool, error) {
	switch m.State {
	case "present":
		return m.setFstab()
	case "absent_from_fstab":
		return m.unsetFstab()
	case "absent":
		return m.absent()
	case "unmounted":
		return m.unmounted()
	case "mounted":
		return m.mounted()
	case "ephemeral":
		return m.ephemeral()
	}
	return true, m.remountAlone()
}

// mountField writes white space and backslashes as fstab wants them.
func mountField(text string) string {
	return strings.NewReplacer(`\`, `\134`, " ", `\040`, "\t", `\011`, "\n", `\012`, "&", `\046`).Replace(text)
}

// fields are the wanted fields of the table's line.
func (m *mountPoint) fields() []string {
	fields := []string{*m.Src, m.Path, *m.FSType, m.opts, m.Dump, m.Passno}
	for i, f := range fields {
		fields[i] = mountField(f)
	}
	return fields
}

// own tells whether a line of the table is this mount point's; swap has no
// mount point, and is known by its source.
func (m *mountPoint) own(fields []string) bool {
	if len(fields) < 4 || len(fields) > 6 || strings.HasPrefix(fields[0], "#") {
		return false
	}
	swap := m.FSType != nil && *m.FSType == "swap" || m.Path == "none"
	if fields[1] != mountField(m.Path) {
		return false
	}
	return !swap || m.Src == nil || fields[0] == mountField(*m.Src)
}

// setFstab puts the line into the table.
func (m *mountPoint) setFstab() (bool, error) {
	wanted := m.fields()
	line := strings.Join(wanted, " ") + "\n"
	var b strings.Builder
	found, changed := false, false
	for old := range strings.Lines(m.old) {
		fields := strings.Fields(old)
		if !m.own(fields) {
			b.WriteString(old)
			continue
		}
		found = true
		if strings.Join(fields, " ") == strings.Join(wanted, " ") {
			b.WriteString(old)
			continue
		}
		changed = true
		b.WriteString(line)
	}
	if found && !changed {
		return false, nil
	}
	text := b.String()
	if !found {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += line
	}
	return true, m.writeFstab(text)
}

// unsetFstab takes the line out of the table.
func (m *mountPoint) unsetFstab() (bool, error) {
	var b strings.Builder
	changed := false
	for old := range strings.Lines(m.old) {
		if m.own(strings.Fields(old)) {
			changed = true
			continue
		}
		b.WriteString(old)
	}
	if !changed {
		return false, nil
	}
	return true, m.writeFstab(b.String())
}

func (m *mountPoint) writeFstab(text string) error {
	if m.Check {
		return nil
	}
	if m.Backup && m.backup == "" {
		name, err := atomicfile.Backup(m.fstab, time.Now())
		if err != nil {
			return Failf("%v", err)
		}
		m.backup = name
	}
	// A table may be a bind mount, which cannot be replaced.
	if err := atomicfile.Write(realPath(m.fstab), strings.NewReader(text), atomicfile.Options{Unsafe: true}); err != nil {
		return Failf("%v", err)
	}
	m.wrote = true
	return nil
}

// undo steps back after a mount that failed: the old table, no new folder.
func (m *mountPoint) undo(failure error) error {
	if m.wrote {
		if err := atomicfile.Write(realPath(m.fstab), strings.NewReader(m.old), atomicfile.Options{Unsafe: true}); err != nil {
			return Failf("%v; cannot restore %q: %v", failure, m.fstab, err)
		}
	}
	if m.created != "" {
		_ = os.Remove(m.created) // it stays when something is in it
	}
	return failure
}

// mountFailure words what mount or umount said.
func mountFailure(doing, path string, out *toolOutcome) error {
	return &Failure{Msg: "Error " + doing + " " + path + ": " + out.out + out.errOut, With: value.NewDict()}
}
