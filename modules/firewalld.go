package modules

import (
	"slices"
	"strconv"
	"strings"

	"play/modules/argspec"
)

// firewalldArgs are the arguments of firewalld.
type firewalldArgs struct {
	ICMPBlock   *string       `arg:"icmp_block" doc:"ICMP type to block"`
	Inversion   *string       `arg:"icmp_block_inversion" doc:"let only the listed ICMP types pass"`
	Service     *string       `arg:"service" doc:"a service that firewalld knows"`
	Protocol    *string       `arg:"protocol" doc:"a protocol"`
	Port        *string       `arg:"port" doc:"port or range with its protocol, such as 80/tcp"`
	PortForward []portForward `arg:"port_forward" doc:"a port to send elsewhere"`
	RichRule    *string       `arg:"rich_rule" doc:"a rule in firewalld's rich language"`
	Zone        *string       `arg:"zone" doc:"the zone; the default zone when absent"`
	Immediate   bool          `arg:"immediate,default=no" doc:"with permanent: change the running firewall too"`
	Source      *string       `arg:"source" doc:"addresses that belong to the zone"`
	Permanent   *bool         `arg:"permanent" doc:"keep it over restarts"`
	State       string        `arg:"state,required,choices=absent|disabled|enabled|present" doc:"whether it shall be there; present and absent are for zones and targets"`
	Timeout     int           `arg:"timeout,default=0" doc:"seconds after which the running firewall forgets it"`
	Interface   *string       `arg:"interface" doc:"interface that belongs to the zone"`
	Masquerade  *string       `arg:"masquerade" doc:"whether addresses are translated"`
	Offline     *bool         `arg:"offline" doc:"change the configuration while firewalld does not run"`
	Target      *string       `arg:"target,choices=default|ACCEPT|DROP|%%REJECT%%" doc:"what the zone does with other packets"`
}

// portForward sends what arrives at a port to another.
type portForward struct {
	Port   string  `arg:"port,required" doc:"port or range"`
	Proto  string  `arg:"proto,required,choices=udp|tcp" doc:"protocol"`
	ToPort string  `arg:"toport,required" doc:"port that it goes to"`
	ToAddr *string `arg:"toaddr" doc:"address that it goes to"`
}

// Rules relates the arguments.
func (firewalldArgs) Rules() argspec.Rules {
	return argspec.Rules{
		MutuallyExclusive: [][]string{{"icmp_block", "icmp_block_inversion", "service", "protocol", "port", "port_forward", "rich_rule",
			"interface", "masquerade", "source", "target"}},
		RequiredBy: []argspec.RequiredBy{{Name: "interface", Needs: []string{"zone"}}, {Name: "target", Needs: []string{"zone"}},
			{Name: "source", Needs: []string{"permanent"}}},
	}
}

// firewalld was compared with the documentation and stubs of firewall-cmd only.
func firewalld() Module {
	return Define("firewalld", "Manage the firewall firewalld", runFirewalld).In("ansible.posix")
}

// zoneEntry is one entry of a zone on its way to the wanted state.
type zoneEntry struct {
	*Call
	*firewalldArgs
	zone    string
	kind    string // firewall-cmd's word
	val     string // "" for a kind without a value
	there   bool   // the wanted state
	offline bool
}

func runFirewalld(c *Call, args *firewalldArgs) (*Result, error) {
	e := &zoneEntry{Call: c, firewalldArgs: args, there: args.State == "enabled" || args.State == "present"}
	permanent := args.Permanent != nil && *args.Permanent
	immediate := args.Immediate || !permanent
	running, err := c.tool("firewall-cmd", "--state")
	if err != nil {
		return nil, err
	}
	if e.offline = running.failed(); e.offline {
		if args.Offline == nil || !*args.Offline || immediate {
			return nil, Failf("firewall is not currently running, unable to perform immediate actions without a running firewall daemon")
		}
	}
	if err := e.entry(); err != nil {
		return nil, err
	}
	if err := e.findZone(); err != nil {
		return nil, err
	}
	changed := false
	for _, pass := range []struct{ on, permanent bool }{{permanent, true}, {immediate, false}} {
		if !pass.on {
			continue
		}
		differs, err := e.bring(pass.permanent)
		if err != nil {
			return nil, err
		}
		changed = changed || differs
	}
	return NewResult(changed).With("msg", e.message(permanent, immediate, changed)), nil
}

// entry finds out which entry the task is about.
func (e *zoneEntry) entry() error {
	for _, o := range []struct {
		kind string
		val  *string
	}{{"service", e.Service}, {"port", e.Port}, {"protocol", e.Protocol}, {"source", e.Source}, {"interface", e.Interface},
		{"rich-rule", e.RichRule}, {"icmp-block", e.ICMPBlock}, {"target", e.Target}} {
		if o.val != nil {
			e.kind, e.val = o.kind, *o.val
		}
	}
	for kind, v := range map[string]*string{"masquerade": e.Masquerade, "icmp-block-inversion": e.Inversion} {
		if v == nil {
			continue
		}
		e.kind = kind
		if slices.Contains([]string{"no", "false", "off", "0", "n", "f"}, strings.ToLower(*v)) {
			e.there = !e.there
		}
	}
	switch {
	case len(e.PortForward) > 1:
		return Failf("Only one port forward supported at a time")
	case len(e.PortForward) == 1:
		f := e.PortForward[0]
		e.kind, e.val = "forward-port", "port="+f.Port+":proto="+f.Proto+":toport="+f.ToPort
		if f.ToAddr != nil {
			e.val += ":toaddr=" + *f.ToAddr
		}
	case e.kind == "port" && !strings.Contains(e.val, "/"):
		return Failf("improper port format (missing protocol?)")
	case e.kind == "" && (e.Permanent == nil || !*e.Permanent || e.Zone == nil):
		return Failf("Zone operations must be permanent. Make sure you didn't set the 'permanent' flag to 'false' or the 'immediate' flag to 'true'.")
	}
	ofZone := e.State == "present" || e.State == "absent"
	if e.kind != "target" && ofZone != (e.kind == "") {
		return Failf("absent and present state can only be used in zone level operations")
	}
	return nil
}

func (e *zoneEntry) findZone() error {
	if e.Zone != nil {
		e.zone = *e.Zone
		return nil
	}
	out, err := e.cmd(false, "--get-default-zone")
	if err == nil && out.failed() {
		err = Failf("cannot find the default zone: %s", strings.TrimSpace(out.errOut))
	}
	if err == nil {
		e.zone = strings.TrimSpace(out.out)
	}
	return err
}

func (e *zoneEntry) cmd(permanent bool, words ...string) (*toolOutcome, error) {
	argv := []string{"firewall-cmd"}
	if e.offline {
		argv[0] = "firewall-offline-cmd"
	} else if permanent {
		argv = append(argv, "--permanent")
	}
	return e.tool(append(argv, words...)...)
}

// option is the switch of firewall-cmd for a verb and the entry.
func (e *zoneEntry) option(verb string) string {
	word := "--" + verb + "-" + e.kind
	if e.val != "" {
		word += "=" + e.val
	}
	return word
}

func (e *zoneEntry) bring(permanent bool) (bool, error) {
	switch e.kind {
	case "":
		return e.bringZone()
	case "target":
		return e.bringTarget(permanent)
	}
	out, err := e.cmd(permanent, "--zone="+e.zone, e.option("query"))
	if err != nil {
		return false, err
	}
	if out.rc > 1 {
		return false, Failf("%s", strings.TrimSpace(out.errOut+out.out))
	}
	if !out.failed() == e.there {
		return false, nil
	}
	verb := "remove"
	switch {
	case e.there && e.kind == "interface":
		verb = "change" // it may be in another zone
	case e.there:
		verb = "add"
	}
	words := []string{"--zone=" + e.zone, e.option(verb)}
	if e.there && !permanent && e.Timeout > 0 {
		words = append(words, "--timeout="+strconv.Itoa(e.Timeout))
	}
	return true, e.change(permanent, words...)
}

func (e *zoneEntry) change(permanent bool, words ...string) error {
	if e.Check {
		return nil
	}
	out, err := e.cmd(permanent, words...)
	if err == nil && out.failed() {
		err = Failf("ERROR: Exception caught: %s", strings.TrimSpace(out.errOut+out.out))
	}
	return err
}

// bringZone makes or removes the zone itself.
func (e *zoneEntry) bringZone() (bool, error) {
	out, err := e.cmd(true, "--get-zones")
	if err != nil {
		return false, err
	}
	if slices.Contains(strings.Fields(out.out), e.zone) == e.there {
		return false, nil
	}
	if e.there {
		return true, e.change(true, "--new-zone="+e.zone)
	}
	return true, e.change(true, "--delete-zone="+e.zone)
}

func (e *zoneEntry) bringTarget(permanent bool) (bool, error) {
	if !permanent {
		return false, nil // the running firewall takes it at a reload
	}
	wanted := e.val
	if !e.there {
		wanted = "default"
	}
	out, err := e.cmd(true, "--zone="+e.zone, "--get-target")
	if err != nil || strings.TrimSpace(out.out) == wanted {
		return false, err
	}
	return true, e.change(true, "--zone="+e.zone, "--set-target="+wanted)
}

func (e *zoneEntry) message(permanent, immediate, changed bool) string {
	text := "Non-permanent operation"
	switch {
	case permanent && immediate:
		text = "Permanent and Non-Permanent(immediate) operation"
	case permanent:
		text = "Permanent operation"
	}
	if !changed {
		return text
	}
	verb := "Removed "
	if e.there {
		verb = "Added "
	}
	switch e.kind {
	case "":
		text += ", " + verb + "zone " + e.zone
	case "source":
		text += ", " + verb + e.val + map[bool]string{true: " to", false: " from"}[e.there] + " zone " + e.zone
	case "interface":
		text += ", Changed " + e.val + " to zone " + e.zone
	case "masquerade", "icmp-block-inversion":
		text += ", " + verb + e.kind + map[bool]string{true: " to", false: " from"}[e.there] + " zone " + e.zone
	case "target":
		text += ", Set zone " + e.zone + " target to " + e.val
	default:
		text += ", Changed " + strings.ReplaceAll(e.kind, "-", "_") + " " + e.val + " to " + e.State
	}
	if e.offline {
		text += ", (offline operation: only on-disk configs were altered)"
	}
	return text
}
