package modules

import (
	"fmt"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/pyre"
)

// pkgngArgs are the arguments of pkgng.
type pkgngArgs struct {
	State       string   `arg:"state,default=present,choices=present|latest|absent" doc:"whether the packages shall be installed"`
	Name        []string `arg:"name,required,aliases=pkg" doc:"packages; * with latest: all that are installed"`
	Cached      bool     `arg:"cached,default=no" doc:"use the catalogue as it is"`
	IgnoreOS    bool     `arg:"ignore_osver,default=no" doc:"install packages for another version of the system"`
	Annotation  []string `arg:"annotation" doc:"annotations: +tag=value adds, -tag deletes, :tag=value changes"`
	PkgSite     *string  `arg:"pkgsite" doc:"the repository to use"`
	RootDir     *string  `arg:"rootdir,type=path" doc:"install into this root"`
	Chroot      *string  `arg:"chroot,type=path" doc:"run in this root"`
	Jail        *string  `arg:"jail" doc:"run in this jail"`
	AutoRemoval bool     `arg:"autoremove,default=no" doc:"remove packages that nothing needs any more"`
}

// Rules relates the arguments.
func (pkgngArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"rootdir", "chroot", "jail"}}}
}

func pkgng() Module {
	return Define("pkgng", "Manage packages on FreeBSD", runPkgng).In("community.general", "community.general.packaging.os")
}

// pkgngRun is one run of pkgng.
type pkgngRun struct {
	*Call
	*pkgngArgs
	where       string // the option for another root, or ""
	noRepoFlag  bool   // pkg takes the repository from the environment
	changed     bool
	msgs        []string
	out, errOut strings.Builder
}

func runPkgng(c *Call, args *pkgngArgs) (*Result, error) {
	if _, err := c.needTool("pkg"); err != nil {
		return nil, err
	}
	p := &pkgngRun{Call: c, pkgngArgs: args}
	if err := p.prepare(); err != nil {
		return nil, err
	}
	if err := p.act(); err != nil {
		return nil, err
	}
	return NewResult(p.changed).With("msg", strings.Join(p.msgs, ", ")).With("stdout", p.out.String()).With("stderr", p.errOut.String()), nil
}

// prepare checks what this version of pkg can do.
func (p *pkgngRun) prepare() error {
	switch {
	case p.RootDir != nil:
		if old, err := p.olderThan(1, 5, 0); err != nil || old {
			return firstError(err, Failf("To use option 'rootdir' pkg version must be 1.5 or greater"))
		}
		p.where = "--rootdir=" + *p.RootDir
	case p.Chroot != nil:
		p.where = "--chroot=" + *p.Chroot
	case p.Jail != nil:
		p.where = "--jail=" + *p.Jail
	}
	if p.IgnoreOS {
		if old, err := p.olderThan(1, 11, 0); err != nil || old {
			return firstError(err, Failf("To use option 'ignore_osver' pkg version must be 1.11 or greater"))
		}
	}
	var err error
	p.noRepoFlag, err = p.olderThan(1, 1, 4)
	return err
}

func firstError(err error, otherwise *Failure) error {
	if err != nil {
		return err
	}
	return otherwise
}

func (p *pkgngRun) olderThan(than ...int) (bool, error) {
	out, err := p.tool("pkg", "-v")
	if err != nil {
		return false, err
	}
	for i, part := range strings.FieldsFunc(strings.TrimSpace(out.out), func(r rune) bool { return r == '.' || r == '_' }) {
		n, err := strconv.Atoi(part)
		if err != nil || i == len(than) {
			break
		}
		if n != than[i] {
			return n < than[i], nil
		}
	}
	return false, nil
}

// pkg runs pkg without a question.
func (p *pkgngRun) pkg(stdin, action string, args ...string) (*toolOutcome, error) {
	own := *p.Call
	own.Env = append(own.Env[:len(own.Env):len(own.Env)], "BATCH=yes")
	if p.IgnoreOS {
		own.Env = append(own.Env, "IGNORE_OSVERSION=yes")
	}
	argv := []string{"pkg"}
	if p.where != "" {
		argv = append(argv, p.where)
	}
	argv = append(argv, action)
	if p.PkgSite != nil && (action == "update" || action == "install" || action == "upgrade") {
		if p.noRepoFlag {
			own.Env = append(own.Env, "PACKAGESITE="+*p.PkgSite)
		} else {
			argv = append(argv, "--repository="+*p.PkgSite)
		}
	}
	return own.toolStdin(stdin, append(argv, args...)...)
}

// kept is pkg for a command whose output is told in the result.
func (p *pkgngRun) kept(action string, args ...string) (*toolOutcome, error) {
	out, err := p.pkg("", action, args...)
	if err == nil {
		p.out.WriteString(out.out)
		p.errOut.WriteString(out.errOut)
	}
	return out, err
}

// fail is a failure that tells what was printed so far.
func (p *pkgngRun) fail(format string, args ...any) error {
	f := Failf(format, args...)
	f.With = NewResult(false).With("stdout", p.out.String()).With("stderr", p.errOut.String()).Dict
	f.With.Delete("changed")
	return f
}

func (p *pkgngRun) act() error {
	names := p.Name
	if len(names) == 1 && names[0] == "*" && p.State == "latest" {
		if err := p.upgradeAll(); err != nil {
			return err
		}
	}
	if len(names) == 1 {
		names = strings.FieldsFunc(names[0], func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' })
	}
	var named []string
	for _, name := range names {
		if name != "*" {
			named = append(named, name)
		}
	}
	var err error
	switch {
	case len(named) == 0:
	case p.State == "absent":
		err = p.remove(named)
	default:
		err = p.install(named)
	}
	if err == nil && p.AutoRemoval {
		err = p.autoremove()
	}
	if err == nil && p.Annotation != nil {
		err = p.annotate(names)
	}
	return err
}

func (p *pkgngRun) installed(name string) (bool, error) {
	out, err := p.pkg("", "info", "-g", "-e", name)
	return err == nil && out.rc == 0, err
}

// outdated tells whether there is a newer version.
func (p *pkgngRun) outdated(name string) (bool, error) {
	out, err := p.pkg("", "upgrade", "-g", "-n", name)
	return err == nil && out.rc == 1, err
}

func (p *pkgngRun) upgradeAll() error {
	flag := "-y"
	if p.Check {
		flag = "-n"
	}
	out, err := p.kept("upgrade", flag)
	if err != nil {
		return err
	}
	if out.failed() && !p.Check {
		return p.fail("%s", strings.TrimSpace(out.errOut))
	}
	re, err := pyre.Compile(`^Number of packages to be (?:upgraded|reinstalled): ([0-9]+)`, pyre.Multiline)
	if err != nil {
		return err
	}
	found, err := re.FindAll(out.out)
	if err != nil {
		return err
	}
	total := 0
	for _, m := range found {
		text, _ := m.Group(1)
		n, _ := strconv.Atoi(text)
		total += n
	}
	if total == 0 {
		p.msgs = append(p.msgs, "no packages need upgrades")
		return nil
	}
	p.changed = true
	p.msgs = append(p.msgs, fmt.Sprintf("updated %d package(s)", total))
	return nil
}

func (p *pkgngRun) remove(names []string) error {
	removed := 0
	for _, name := range names {
		there, err := p.installed(name)
		if err != nil {
			return err
		}
		if !there {
			continue
		}
		removed++
		if p.Check {
			continue
		}
		out, err := p.kept("delete", "-y", name)
		if err != nil {
			return err
		}
		if there, err := p.installed(name); err != nil || there {
			return p.fail("failed to remove %s: %s", name, out.out)
		}
	}
	if removed == 0 {
		p.msgs = append(p.msgs, "package(s) already absent")
		return nil
	}
	p.changed = true
	p.msgs = append(p.msgs, fmt.Sprintf("removed %d package(s)", removed))
	return nil
}

func (p *pkgngRun) install(names []string) error {
	if !p.Check && !p.Cached {
		out, err := p.kept("update")
		if err != nil {
			return err
		}
		if out.failed() {
			return p.fail("Could not update catalogue [%d]: %s %s", out.rc, out.out, out.errOut)
		}
	}
	queue, order, err := p.queue(names)
	if err != nil {
		return err
	}
	var told []string
	for _, action := range order {
		if err := p.change(action, queue[action]); err != nil {
			return err
		}
		told = append(told, fmt.Sprintf("%s %d package%s", map[string]string{"install": "installed", "upgrade": "upgraded"}[action],
			len(queue[action]), plural(len(queue[action]))))
	}
	if len(told) == 0 {
		p.msgs = append(p.msgs, "package(s) already "+p.State)
		return nil
	}
	p.changed = true
	p.msgs = append(p.msgs, strings.Join(told, "; "))
	return nil
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// queue sorts packages by what is to be done with them.
func (p *pkgngRun) queue(names []string) (queue map[string][]string, order []string, err error) {
	queue = map[string][]string{}
	for _, name := range names {
		action := "install"
		there, err := p.installed(name)
		if err == nil && there {
			action = "upgrade"
			if p.State == "present" {
				continue
			}
			var newer bool
			if newer, err = p.outdated(name); err == nil && !newer {
				continue
			}
		}
		if err != nil {
			return nil, nil, err
		}
		if queue[action] == nil {
			order = append(order, action)
		}
		queue[action] = append(queue[action], name)
	}
	return queue, order, nil
}

// change installs or upgrades, and looks whether it is done.
func (p *pkgngRun) change(action string, names []string) error {
	if p.Check {
		return nil
	}
	if _, err := p.kept(action, append([]string{"-g", "-U", "-y"}, names...)...); err != nil {
		return err
	}
	for _, name := range names {
		done := p.installed
		if action == "upgrade" {
			done = func(name string) (bool, error) {
				newer, err := p.outdated(name)
				return !newer, err
			}
		}
		ok, err := done(name)
		if err != nil {
			return err
		}
		if !ok {
			return p.fail("failed to %s %s", action, name)
		}
	}
	return nil
}

func (p *pkgngRun) autoremove() error {
	out, err := p.pkg("", "autoremove", "-n")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut("\n"+out.out, "\nDeinstallation has been requested for the following ")
	digits, _, _ := strings.Cut(rest, " packages")
	n, err := strconv.Atoi(digits)
	if err != nil || n == 0 {
		p.msgs = append(p.msgs, "no package(s) to autoremove")
		return nil
	}
	p.changed = true
	p.msgs = append(p.msgs, fmt.Sprintf("autoremoved %d package(s)", n))
	if p.Check {
		return nil
	}
	_, err = p.kept("autoremove", "-y")
	return err
}
