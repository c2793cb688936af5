package modules

import (
	"regexp"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// ufwArgs are the arguments of ufw.
type ufwArgs struct {
	State        *string `arg:"state,choices=enabled|disabled|reloaded|reset" doc:"what the firewall shall do"`
	Default      *string `arg:"default,aliases=policy,choices=allow|deny|reject" doc:"policy for a direction"`
	Logging      *string `arg:"logging,choices=on|off|low|medium|high|full" doc:"level of logging"`
	Direction    *string `arg:"direction,choices=in|incoming|out|outgoing|routed" doc:"direction of the rule or policy"`
	Delete       bool    `arg:"delete,default=no" doc:"delete the rule"`
	Route        bool    `arg:"route,default=no" doc:"a rule for forwarded packets"`
	Insert       *int    `arg:"insert" doc:"number of the rule"`
	InsertBase   string  `arg:"insert_relative_to,default=zero,choices=zero|first-ipv4|last-ipv4|first-ipv6|last-ipv6" doc:"what insert counts from"`
	Rule         *string `arg:"rule,choices=allow|deny|limit|reject" doc:"what happens to packets of the rule"`
	Interface    *string `arg:"interface,aliases=if" doc:"interface, in the rule's direction"`
	InterfaceIn  *string `arg:"interface_in,aliases=if_in" doc:"interface of arrival"`
	InterfaceOut *string `arg:"interface_out,aliases=if_out" doc:"interface of departure"`
	Log          bool    `arg:"log,default=no" doc:"log new connections of the rule"`
	FromIP       string  `arg:"from_ip,default=any,aliases=from|src" doc:"source address"`
	FromPort     *string `arg:"from_port" doc:"source port"`
	ToIP         string  `arg:"to_ip,default=any,aliases=to|dest" doc:"destination address"`
	ToPort       *string `arg:"to_port,aliases=port" doc:"destination port"`
	Proto        *string `arg:"proto,aliases=protocol,choices=ah|any|esp|ipv6|tcp|udp|gre|igmp" doc:"protocol"`
	Name         *string `arg:"name,aliases=app" doc:"application profile"`
	Comment      *string `arg:"comment" doc:"comment of the rule"`
}

// Rules relates the arguments.
func (ufwArgs) Rules() argspec.Rules {
	return argspec.Rules{
		MutuallyExclusive: [][]string{{"name", "proto", "logging"}},
		RequiredOneOf:     [][]string{{"state", "default", "rule", "logging"}},
		RequiredBy:        []argspec.RequiredBy{{Name: "interface", Needs: []string{"direction"}}},
	}
}

func ufw() Module {
	return Define("ufw", "Manage the firewall ufw", runUfw).In("community.general", "community.general.system")
}

// ufwFiles are where ufw keeps its rules, by version.
const ufwFiles = "/lib/ufw/user.rules /lib/ufw/user6.rules /etc/ufw/user.rules /etc/ufw/user6.rules /var/lib/ufw/user.rules /var/lib/ufw/user6.rules"

// firewall is ufw on its way to the wanted state.
type firewall struct {
	*Call
	*ufwArgs
	commands []string
	status   string // before
	rules    string // before
	changed  bool
}

func runUfw(c *Call, args *ufwArgs) (*Result, error) {
	if err := args.check(); err != nil {
		return nil, err
	}
	f := &firewall{Call: c, ufwArgs: args}
	var err error
	if f.status, err = f.ufw("status", "verbose"); err == nil {
		f.rules, err = f.readRules()
	}
	for _, step := range []func() error{f.setState, f.setDefault, f.setRule, f.setLogging} {
		if err == nil {
			err = step()
		}
	}
	if err != nil {
		return nil, err
	}
	if c.Check {
		return NewResult(f.changed).With("commands", stringList(f.commands)), nil
	}
	return f.finish()
}

func (a *ufwArgs) check() error {
	direction := ""
	if a.Direction != nil {
		direction = *a.Direction
	}
	switch {
	case a.Rule != nil && direction != "" && direction != "in" && direction != "out":
		return Failf(`For rules, direction must be one of "in" and "out", or direction must not be specified.`)
	case a.Default != nil && (direction == "in" || direction == "out"):
		return Failf(`For default, direction must be one of "outgoing", "incoming" and "routed", or direction must not be specified.`)
	case a.Rule != nil && !a.Route && a.InterfaceIn != nil && a.InterfaceOut != nil:
		return Failf("Only route rules can combine interface_in and interface_out")
	}
	return nil
}

// finish compares the states before and after.
func (f *firewall) finish() (*Result, error) {
	after, err := f.ufw("status", "verbose")
	if err != nil {
		return nil, err
	}
	if !f.changed {
		rules, err := f.readRules()
		if err != nil {
			return nil, err
		}
		f.changed = after != f.status || rules != f.rules
	}
	return NewResult(f.changed).With("commands", stringList(f.commands)).With("msg", strings.TrimRight(after, " \t\r\n")), nil
}

// ufw runs the program; a word with quotes around it in the reference's list of
// commands is shown by ruleCommand.
func (f *firewall) ufw(words ...string) (string, error) {
	return f.runShown(strings.Join(words, " "), words)
}

func (f *firewall) runShown(shown string, words []string) (string, error) {
	path, err := f.needTool("ufw")
	if err != nil {
		return "", err
	}
	f.commands = append(f.commands, path+" "+shown)
	out, err := f.tool(append([]string{"ufw"}, words...)...)
	if err != nil {
		return "", err
	}
	if out.failed() {
		text := out.errOut
		if text == "" {
			text = out.out
		}
		return "", &Failure{Msg: text, With: value.DictOf("commands", stringList(f.commands))}
	}
	return out.out, nil
}

// readRules reads the rules as ufw stores them.
func (f *firewall) readRules() (string, error) {
	path, err := f.needTool("grep")
	if err != nil {
		return "", err
	}
	f.commands = append(f.commands, path+" -h '^### tuple' "+ufwFiles)
	out, err := f.tool(append([]string{"grep", "-h", "^### tuple"}, strings.Fields(ufwFiles)...)...)
	if err != nil {
		return "", err
	}
	return out.out, nil
}

func (f *firewall) setState() error {
	if f.State == nil {
		return nil
	}
	active := strings.Contains(f.status, "Status: active")
	switch *f.State {
	case "reloaded", "reset":
		f.changed = true
	case "enabled":
		f.changed = f.Check && !active
	case "disabled":
		f.changed = f.Check && active
	}
	if f.Check {
		return nil
	}
	verb := map[string]string{"enabled": "enable", "disabled": "disable", "reloaded": "reload", "reset": "reset"}[*f.State]
	_, err := f.ufw("-f", verb)
	return err
}

func (f *firewall) setDefault() error {
	if f.Default == nil {
		return nil
	}
	words := []string{"default", *f.Default}
	direction := "incoming"
	if f.Direction != nil {
		direction = *f.Direction
		words = append(words, direction)
	}
	if !f.Check {
		_, err := f.ufw(words...)
		return err
	}
	m := regexp.MustCompile(`Default: (deny|allow|reject) \(incoming\), (deny|allow|reject) \(outgoing\), (deny|allow|reject|disabled) \(routed\)`).FindStringSubmatch(f.status)
	place := map[string]int{"incoming": 1, "outgoing": 2, "routed": 3}[direction]
	if m == nil || m[place] != *f.Default && !(direction == "routed" && m[place] == "disabled" && *f.Default == "deny") {
		f.changed = true
	}
	return nil
}

func (f *firewall) setLogging() error {
	if f.Logging == nil {
		return nil
	}
	m := regexp.MustCompile(`Logging: (on|off)(?: \(([a-z]+)\))?`).FindStringSubmatch(f.status)
	want := *f.Logging
	switch {
	case m == nil:
		f.changed = true
	case want == "on" || want == "off":
		f.changed = f.changed || m[1] != want
	default:
		f.changed = f.changed || m[2] != want || m[1] == "off"
	}
	if f.Check {
		return nil
	}
	_, err := f.ufw("logging", want)
	return err
}

func (f *firewall) setRule() error {
	if f.Rule == nil {
		return nil
	}
	if _, err := f.ufw("--version"); err != nil {
		return err
	}
	words, err := f.ruleWords()
	if err != nil {
		return err
	}
	out, err := f.runShown(shownRule(words), words)
	if err != nil || !f.Check {
		return err
	}
	if dry := tupleLines(out); dry != "" && !strings.Contains(out, "Skipping") && dry != f.rules {
		f.changed = true
	}
	return nil
}

// tupleLines keeps the lines of stored rules.
func tupleLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "### tuple") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// ruleWords are the words of the rule in ufw's own order.
func (f *firewall) ruleWords() ([]string, error) {
	var w []string
	flag := func(on bool, words ...string) {
		if on {
			w = append(w, words...)
		}
	}
	option := func(word string, val *string) {
		if val != nil {
			w = append(w, strings.Fields(word)...)
			w = append(w, *val)
		}
	}
	flag(f.Check, "--dry-run")
	flag(f.Route, "route")
	flag(f.Delete, "delete")
	if f.Insert != nil {
		number, err := f.insertAt()
		if err != nil {
			return nil, err
		}
		flag(true, "insert", strconv.Itoa(number))
	}
	flag(true, *f.Rule)
	if f.Direction != nil {
		flag(true, *f.Direction)
	}
	option("on", f.Interface)
	option("in on", f.InterfaceIn)
	option("out on", f.InterfaceOut)
	flag(f.Log, "log")
	option("from", &f.FromIP)
	option("port", f.FromPort)
	option("to", &f.ToIP)
	option("port", f.ToPort)
	option("proto", f.Proto)
	option("app", f.Name)
	if f.Comment != nil {
		comment := strings.ReplaceAll(*f.Comment, "'", "")
		option("comment", &comment)
	}
	return w, nil
}

// shownRule is the command as the result lists it.
func shownRule(words []string) string {
	shown := append([]string(nil), words...)
	for i := 1; i < len(shown); i++ {
		if words[i-1] == "app" || words[i-1] == "comment" {
			shown[i] = "'" + shown[i] + "'"
		}
	}
	return strings.Join(shown, " ")
}

// insertAt is the number of a rule that is counted from others.
func (f *firewall) insertAt() (int, error) {
	if f.InsertBase == "zero" {
		return *f.Insert, nil
	}
	out, err := f.ufw("status", "numbered")
	if err != nil {
		return 0, err
	}
	four, six := 0, 0
	for line := range strings.Lines(out) {
		switch {
		case !strings.HasPrefix(line, "["):
		case strings.Contains(line, "(v6)"):
			six++
		default:
			four++
		}
	}
	base := map[string]int{"first-ipv4": 1, "last-ipv4": max(four, 1), "first-ipv6": four + 1, "last-ipv6": four + max(six, 1)}[f.InsertBase]
	return min(base+*f.Insert, four+six+1), nil
}
