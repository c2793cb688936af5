package modules

import (
	"slices"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// snapArgs are the arguments of snap.
type snapArgs struct {
	Name    []string `arg:"name,required" doc:"the snaps"`
	State   string   `arg:"state,default=present,choices=absent|present|enabled|disabled" doc:"whether they shall be there, and usable"`
	Classic bool     `arg:"classic,default=no" doc:"install without confinement"`
	Channel string   `arg:"channel,default=stable" doc:"the release to install and follow"`
	Options []string `arg:"options" doc:"settings: key=value for all snaps, or snap:key=value"`
}

func snap() Module {
	return Define("snap", "Manage snaps", runSnap).In("community.general", "community.general.packaging.os")
}

// snapRun is one run of snap; the last command that was run is told in the result.
type snapRun struct {
	*Call
	*snapArgs
	out *Result
}

func runSnap(c *Call, args *snapArgs) (*Result, error) {
	s := &snapRun{Call: c, snapArgs: args, out: NewResult(false)}
	err := s.act()
	if f, ok := err.(*Failure); ok && f.With == nil {
		return nil, &Failure{Msg: f.Msg, With: s.told()}
	}
	s.out.Set("failed", false)
	return s.out, err
}

// told is what a failure tells.
func (s *snapRun) told() *value.Dict {
	d := s.out.Clone()
	d.Delete("changed")
	return d
}

func (s *snapRun) act() error {
	s.out.Set("force_lang", "C")
	switch s.State {
	case "absent":
		return s.each("remove", "snaps_removed", s.installed)
	case "enabled":
		return s.each("enable", "snaps_enabled", func(name string) (bool, error) {
			on, err := s.enabled(name)
			return !on, err
		})
	case "disabled":
		return s.each("disable", "snaps_disabled", s.enabled)
	}
	s.out.With("classic", s.Classic).With("channel", s.Channel)
	if err := s.install(); err != nil || s.Options == nil {
		return err
	}
	return s.configure()
}

// run runs snap and keeps what it said.
func (s *snapRun) run(words ...string) (*toolOutcome, error) {
	out, err := s.tool(append([]string{"snap"}, words...)...)
	if err == nil {
		s.out.With("rc", out.rc).With("stdout", out.out).With("stderr", out.errOut).
			With("cmd_args", stringList(append([]string{s.findTool("snap")}, words...)))
	}
	return out, err
}

func (s *snapRun) installed(name string) (bool, error) {
	out, err := s.run("list", name)
	return err == nil && !out.failed(), err
}

// enabled reads the notes of a snap; of one that is not there it is false.
func (s *snapRun) enabled(name string) (bool, error) {
	out, err := s.run("list", name)
	if err != nil || out.failed() {
		return false, err
	}
	lines := strings.Split(out.out, "\n")
	if len(lines) < 2 || len(strings.Fields(lines[1])) < 6 {
		return false, Failf("Unable to parse 'snap list %s' output:\n%s", name, out.out)
	}
	return !slices.Contains(strings.Split(strings.Fields(lines[1])[5], ","), "disabled"), nil
}

// wanted are the snaps for which a condition holds.
func (s *snapRun) wanted(holds func(string) (bool, error)) (names []string, err error) {
	for _, name := range s.Name {
		ok, err := holds(name)
		if err != nil {
			return nil, err
		}
		if ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// each does the same to all snaps for which a condition holds.
func (s *snapRun) each(verb, key string, holds func(string) (bool, error)) error {
	names, err := s.wanted(holds)
	if err != nil || len(names) == 0 {
		return err
	}
	s.out.Changed(true).Set(key, stringList(names))
	if s.Check {
		return nil
	}
	argv := []string{verb}
	if s.Classic {
		argv = []string{"--classic", verb}
	}
	if s.Channel != "stable" {
		argv = slices.Insert(argv, len(argv)-1, "--channel", s.Channel)
	}
	return s.change("['classic', 'channel', 'state', {'actionable_snaps': ", "operation", [][]string{names}, argv)
}

// change runs one command for each group of snaps, and tells the first failure.
func (s *snapRun) change(shown, what string, groups [][]string, argv []string) error {
	var told, errors []string
	rc := 0
	for _, names := range groups {
		told = append(told, shown+value.Repr(stringList(names))+"}]")
		out, err := s.run(append(slices.Clone(argv), names...)...)
		if err != nil {
			return err
		}
		if rc == 0 {
			rc = out.rc
		}
		errors = append(errors, out.errOut)
	}
	cmd := strings.Join(told, "; ")
	s.out.Set("cmd", cmd)
	if rc == 0 {
		return nil
	}
	const classic = `error: This revision of snap "`
	if rest, ok := strings.CutPrefix(strings.Join(errors, "\n"), classic); ok && what == "installation" && strings.Contains(rest, `" was published using classic confinement`) {
		name, _, _ := strings.Cut(rest, `"`)
		return Failf("Couldn't install %s because it requires classic confinement", name)
	}
	return Failf("Ooops! Snap %s failed while executing '%s', please examine logs and error output for more details.", what, cmd)
}

func (s *snapRun) install() error {
	names, err := s.wanted(func(name string) (bool, error) {
		there, err := s.installed(name)
		return !there, err
	})
	if err != nil || len(names) == 0 {
		return err
	}
	s.out.Changed(true).Set("snaps_installed", stringList(names))
	if s.Check {
		return nil
	}
	argv, groups := []string{"install"}, [][]string{names}
	if s.Classic {
		argv = append(argv, "--classic")
	}
	if s.Channel != "stable" {
		argv = append(argv, "--channel", s.Channel)
	}
	if len(argv) > 1 && len(names) > 1 {
		groups = nil
		for _, name := range names {
			groups = append(groups, []string{name})
		}
	}
	return s.change("['state', 'classic', 'channel', {'actionable_snaps': ", "installation", groups, argv)
}

// configure sets the options that differ.
func (s *snapRun) configure() error {
	names, err := s.wanted(s.installed)
	if err != nil {
		return err
	}
	all := value.NewList()
	for _, name := range names {
		settings, err := s.settings(name)
		if err != nil {
			return err
		}
		differing, err := s.differing(name, settings, all)
		if err != nil {
			return err
		}
		if len(differing) == 0 {
			continue
		}
		s.out.Changed(true)
		if s.Check {
			continue
		}
		if err := s.set(name, differing); err != nil {
			return err
		}
	}
	if all.Len() > 0 {
		s.out.Set("options_changed", all)
	}
	return nil
}

func (s *snapRun) set(name string, settings []string) error {
	out, err := s.run(append([]string{"set", name}, settings...)...)
	switch {
	case err != nil || !out.failed():
		return err
	case strings.Contains(out.errOut, `has no "configure" hook`):
		return Failf("Snap '%s' does not have any configurable options", name)
	}
	return Failf("Cannot set options '%s' for snap '%s': error=%s", strings.Join(settings, " "), name, out.errOut)
}

// differing are the settings of one snap that are not as wanted; all collects
// them with the snap's name.
func (s *snapRun) differing(name string, now map[string]string, all *value.List) (settings []string, err error) {
	form, err := pyre.Compile(`(?P<snap>\S+:)?(?P<key>\S+)\s*=\s*(?P<value>.+)`, 0)
	if err != nil {
		return nil, err
	}
	for _, option := range s.Options {
		m, err := form.Match(option)
		if err != nil || m == nil {
			return nil, Failf("Cannot parse set option '%s'", option)
		}
		prefix, given := m.Named("snap")
		only := strings.TrimSuffix(prefix, ":")
		if given && !slices.Contains(s.Name, only) {
			return nil, Failf("Snap option '%s' refers to snap which is not in the list of snap names", option)
		}
		key, _ := m.Named("key")
		text, _ := m.Named("value")
		text = strings.TrimSpace(text)
		if old, has := now[key]; given && only != name || has && old == text {
			continue
		}
		settings = append(settings, key+"="+text)
		if !given {
			option = name + ":" + option
		}
		all.Append(option)
	}
	return settings, nil
}

// settings reads a snap's settings, with dots between nested names.
func (s *snapRun) settings(name string) (map[string]string, error) {
	out, err := s.run("get", name, "-d")
	settings := map[string]string{}
	if err != nil || out.failed() || strings.Contains(strings.SplitN(out.out, "\n", 2)[0], "has no configuration") {
		return settings, err
	}
	v, err := value.DecodeJSON([]byte(out.out))
	top, ok := v.(*value.Dict)
	if err != nil || !ok {
		return nil, Failf("Parsing option map returned by 'snap get %s' triggers exception '%v', output:\n'%s'", name, err, out.out)
	}
	flattenSnap("", top, settings)
	return settings, nil
}

func flattenSnap(prefix string, d *value.Dict, into map[string]string) {
	for k, v := range d.All() {
		if inner, ok := v.(*value.Dict); ok {
			flattenSnap(prefix+value.Str(k)+".", inner, into)
			continue
		}
		into[prefix+value.Str(k)] = value.Str(v)
	}
}
