package modules

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"play/modules/argspec"
	"play/modules/value"
)

// systemdArgs are the arguments of systemd and systemd_service.
type systemdArgs struct {
	Name         *string `arg:"name,aliases=service|unit" doc:"the unit"`
	State        *string `arg:"state,choices=reloaded|restarted|started|stopped" doc:"what the unit shall do"`
	Enabled      *bool   `arg:"enabled" doc:"whether the unit starts at boot"`
	Force        bool    `arg:"force" doc:"replace links that are in the way"`
	Masked       *bool   `arg:"masked" doc:"whether the unit cannot be started at all"`
	DaemonReload bool    `arg:"daemon_reload,default=no,aliases=daemon-reload" doc:"read all unit files again first"`
	DaemonReexec bool    `arg:"daemon_reexec,default=no,aliases=daemon-reexec" doc:"restart systemd itself first"`
	Scope        string  `arg:"scope,default=system,choices=system|user|global" doc:"whose units"`
	NoBlock      bool    `arg:"no_block,default=no" doc:"do not wait for the end of the operation"`
}

// Rules relates the arguments.
func (systemdArgs) Rules() argspec.Rules {
	return argspec.Rules{
		RequiredOneOf: [][]string{{"state", "enabled", "masked", "daemon_reload", "daemon_reexec"}},
		RequiredBy:    []argspec.RequiredBy{{Name: "state", Needs: []string{"name"}}, {Name: "enabled", Needs: []string{"name"}}, {Name: "masked", Needs: []string{"name"}}},
	}
}

func systemd() Module {
	return Define("systemd", "Manage units of systemd", runSystemd)
}

func systemdService() Module {
	return Define("systemd_service", "Manage units of systemd", runSystemd)
}

// systemdUnit is one unit on its way to the wanted state.
type systemdUnit struct {
	*Call
	*systemdArgs
	*Result
	unit     string
	status   *value.Dict
	warnings []string
	known    bool // to systemd
	initd    bool // there is a script of that name in /etc/init.d
	ignored  bool // systemctl does nothing here: a chroot, or no systemd running
}

func runSystemd(c *Call, args *systemdArgs) (*Result, error) {
	u := &systemdUnit{Call: c, systemdArgs: args, Result: &Result{value.DictOf("name", nil, "changed", false)}, status: value.NewDict()}
	if args.Name != nil {
		u.unit = *args.Name
		u.Set("name", u.unit)
	}
	if i := strings.IndexAny(u.unit, "*?["); i >= 0 {
		return nil, Failf("This module does not currently support using glob patterns, found '%s' in service name: %s", u.unit[i:i+1], u.unit)
	}
	u.setRuntimeDir()
	u.Set("status", u.status)
	err := u.reloadDaemon()
	if err == nil && u.unit != "" {
		err = u.manage()
	}
	if err == nil && len(u.warnings) > 0 {
		u.Set("warnings", stringList(u.warnings))
	}
	return u.Result, err
}

// setRuntimeDir gives systemctl --user the folder where the user's systemd
// listens, which a login without a session lacks.
func (u *systemdUnit) setRuntimeDir() {
	if _, ok := u.Getenv("XDG_RUNTIME_DIR"); !ok && u.Scope == "user" {
		u.Env = append(u.Env[:len(u.Env):len(u.Env)], "XDG_RUNTIME_DIR=/run/user/"+strconv.Itoa(os.Geteuid()))
	}
}

// ctl runs systemctl with the task's own switches.
func (u *systemdUnit) ctl(words ...string) (*toolOutcome, error) {
	argv := []string{"systemctl"}
	if u.Scope != "system" {
		argv = append(argv, "--"+u.Scope)
	}
	if u.NoBlock {
		argv = append(argv, "--no-block")
	}
	if u.Force {
		argv = append(argv, "--force")
	}
	return u.tool(append(argv, words...)...)
}

func (u *systemdUnit) reloadDaemon() error {
	for _, step := range []struct {
		wanted bool
		verb   string
	}{{u.DaemonReload, "daemon-reload"}, {u.DaemonReexec, "daemon-reexec"}} {
		if !step.wanted || u.Check {
			continue
		}
		out, err := u.ctl(step.verb)
		if err != nil {
			return err
		}
		if out.failed() {
			return Failf("failure %d during %s: %s", out.rc, step.verb, out.errOut)
		}
	}
	return nil
}

func (u *systemdUnit) manage() error {
	if err := u.find(); err != nil {
		return err
	}
	for _, step := range []func() error{u.mask, u.enable, u.act} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// find asks systemd about the unit.
func (u *systemdUnit) find() error {
	u.initd = exists("/etc/init.d/" + u.unit)
	out, err := u.ctl("show", u.unit)
	if err != nil {
		return err
	}
	u.ignored = ignoredBySystemd(out.out) || ignoredBySystemd(out.errOut)
	if !out.failed() && !u.ignored {
		return u.read(out.out)
	}
	if u.initd {
		return nil
	}
	out, err = u.ctl("is-enabled", u.unit)
	u.known = err == nil && (!out.failed() || strings.TrimSpace(out.out) == "masked" || strings.TrimSpace(out.out) == "disabled")
	return err
}

// ignoredBySystemd tells whether systemctl did not do what it was asked for.
func ignoredBySystemd(text string) bool {
	return strings.Contains(text, "ignoring request") || strings.Contains(text, "ignoring command")
}

func (u *systemdUnit) read(text string) error {
	u.status.Update(systemdProperties(text))
	state := u.property("LoadState")
	u.known = state != "" && state != "not-found"
	if u.initd && !u.known {
		u.warnings = append(u.warnings, "The service ("+u.unit+") is actually an init script but the system is managed by systemd")
	}
	if problem := u.property("LoadError"); u.known && state != "masked" && problem != "" {
		return Failf("Error loading unit file '%s': %s", u.unit, problem)
	}
	return nil
}

func (u *systemdUnit) property(name string) string {
	v, _ := u.status.Get(name)
	s, _ := v.(string)
	return s
}

// systemdProperties reads the output of "systemctl show". The value of a
// command (Exec…) goes on until a line ends in }.
func systemdProperties(text string) *value.Dict {
	found := value.NewDict()
	key, long := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if key != "" {
			long += "\n" + line
		} else {
			name, val, ok := strings.Cut(line, "=")
			if !ok {
				continue
			}
			if !strings.HasPrefix(name, "Exec") || !strings.HasPrefix(strings.TrimLeft(val, " "), "{") {
				found.Set(name, strings.TrimSpace(val))
				continue
			}
			key, long = name, val
		}
		if strings.HasSuffix(strings.TrimRight(line, " \t"), "}") {
			found.Set(key, strings.TrimSpace(long))
			key = ""
		}
	}
	return found
}

// needFound fails for a unit that nothing is known of.
func (u *systemdUnit) needFound() error {
	if u.known || u.initd || u.ignored || u.status.Len() == 0 {
		return nil
	}
	return Failf("Could not find the requested service %s: host", u.unit)
}

func (u *systemdUnit) mask() error {
	if u.Masked == nil {
		return u.needFoundFor(u.State != nil || u.Enabled != nil)
	}
	out, err := u.ctl("is-enabled", u.unit)
	if err != nil {
		return err
	}
	if masked := strings.TrimSpace(out.out) == "masked"; masked != *u.Masked {
		verb := "unmask"
		if *u.Masked {
			verb = "mask"
		}
		return u.change(verb)
	}
	return nil
}

func (u *systemdUnit) needFoundFor(needed bool) error {
	if !needed {
		return nil
	}
	return u.needFound()
}

// change runs one verb on the unit, unless in check mode.
func (u *systemdUnit) change(verb string) error {
	u.Changed(true)
	if u.Check {
		return nil
	}
	out, err := u.ctl(verb, u.unit)
	if err != nil || !out.failed() {
		return err
	}
	if verb == "mask" || verb == "unmask" {
		return u.needFound() // a unit that is there may refuse, as the reference lets it
	}
	return Failf("Unable to %s service %s: %s", verb, u.unit, out.errOut)
}

func (u *systemdUnit) enable() error {
	if u.Enabled == nil {
		return nil
	}
	if err := u.needFound(); err != nil {
		return err
	}
	enabled, err := u.isEnabled()
	if err != nil {
		return err
	}
	u.Set("enabled", *u.Enabled)
	if enabled == *u.Enabled {
		return nil
	}
	verb := "disable"
	if *u.Enabled {
		verb = "enable"
	}
	return u.change(verb)
}

func (u *systemdUnit) isEnabled() (bool, error) {
	out, err := u.ctl("is-enabled", u.unit, "-l")
	if err != nil {
		return false, err
	}
	if !out.failed() {
		word := strings.TrimSpace(out.out)
		return word != "indirect" && word != "alias", nil
	}
	return u.Scope == "system" && u.initd && sysvStartsAtBoot(u.unit), nil
}

func (u *systemdUnit) act() error {
	if u.State == nil {
		return nil
	}
	if err := u.needFound(); err != nil {
		return err
	}
	active := u.property("ActiveState")
	if active == "" {
		return u.unknownState()
	}
	running := active == "active" || active == "activating"
	shown, verb := *u.State, ""
	switch *u.State {
	case "started":
		if !running {
			verb = "start"
		}
	case "stopped":
		if running || active == "deactivating" {
			verb = "stop"
		}
	default:
		shown, verb = "started", "start"
		if running {
			verb = strings.TrimSuffix(*u.State, "ed")
		}
	}
	u.Set("state", shown)
	if verb == "" {
		return nil
	}
	return u.change(verb)
}

// unknownState ends the task where systemd does not run, unless that is to be
// expected.
func (u *systemdUnit) unknownState() error {
	if u.inChroot() {
		u.Set("state", *u.State)
		u.warnings = append(u.warnings, "Target is a chroot or systemd is offline. This can lead to false positives or prevent the init system tools from working.")
		return nil
	}
	return &Failure{Msg: "Service is in unknown state", With: value.DictOf("status", u.status)}
}

// inChroot tells whether this process sees another root folder than process 1.
func (c *Call) inChroot() bool {
	if v, ok := c.Getenv("debian_chroot"); ok && v != "" {
		return true
	}
	own, err := os.Stat("/")
	if err != nil {
		return false
	}
	if first, err := os.Stat("/proc/1/root/."); err == nil {
		return !os.SameFile(own, first)
	}
	st, ok := own.Sys().(*syscall.Stat_t)
	return ok && st.Ino != 2 && st.Ino != 128 && st.Ino != 256 // root folders of ext, XFS and btrfs
}
