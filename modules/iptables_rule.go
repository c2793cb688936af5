package modules

import "strings"

// ruleWords collects the words of a rule.
type ruleWords []string

// add appends an option with its value; a value with ! in front is negated.
func (w *ruleWords) add(option string, val *string) {
	if val == nil {
		return
	}
	if negated, ok := strings.CutPrefix(*val, "!"); ok {
		*w = append(*w, "!", option, strings.TrimSpace(negated))
		return
	}
	*w = append(*w, option, *val)
}

// with appends the match extension that an option needs, then the option.
func (w *ruleWords) with(extension, option string, val *string) {
	if val == nil {
		return
	}
	*w = append(*w, "-m", extension)
	w.add(option, val)
}

// words are the words of the rule, behind the chain.
func (a *iptablesArgs) words() []string {
	var w ruleWords
	w.add("-w", a.Wait)
	w.add("-p", a.Protocol)
	w.add("-s", a.Source)
	w.add("-d", a.Destination)
	for _, m := range a.Match {
		w.add("-m", &m)
	}
	if a.TCPFlags != nil && len(a.TCPFlags.Flags) > 0 && len(a.TCPFlags.Set) > 0 {
		w = append(w, "--tcp-flags", strings.Join(a.TCPFlags.Flags, ","), strings.Join(a.TCPFlags.Set, ","))
	}
	a.target(&w)
	w.add("-g", a.Goto)
	w.add("-i", a.InInterface)
	w.add("-o", a.OutInterface)
	if a.Fragment != nil {
		w = append(w, "-f", *a.Fragment)
	}
	w.add("-c", a.SetCounters)
	a.ports(&w)
	a.matches(&w)
	w.with("comment", "--comment", a.Comment)
	return w
}

// target appends what happens to the packet.
func (a *iptablesArgs) target(w *ruleWords) {
	w.add("-j", a.Jump)
	if a.Jump != nil && strings.EqualFold(*a.Jump, "tee") {
		w.add("--gateway", a.Gateway)
	}
	w.add("--log-prefix", a.LogPrefix)
	w.add("--log-level", a.LogLevel)
	w.add("--to-destination", a.ToDestination)
	w.add("--to-source", a.ToSource)
}

func (a *iptablesArgs) ports(w *ruleWords) {
	w.add("--source-port", a.SourcePort)
	w.add("--destination-port", a.DestinationPort)
	if len(a.DestPorts) > 0 {
		ports := strings.Join(a.DestPorts, ",")
		w.with("multiport", "--dports", &ports)
	}
	w.add("--to-ports", a.ToPorts)
	w.add("--set-dscp", a.SetDSCPMark)
	w.add("--set-dscp-class", a.SetDSCPClass)
	switch a.Syn {
	case "match":
		*w = append(*w, "--syn")
	case "negate":
		*w = append(*w, "!", "--syn")
	}
}

// matches appends the options of match extensions, each behind its extension
// unless the task names that itself.
func (a *iptablesArgs) matches(w *ruleWords) {
	if len(a.CTState) > 0 {
		states := strings.Join(a.CTState, ",")
		switch {
		case contains(a.Match, "state"):
			w.add("--state", &states)
		case contains(a.Match, "conntrack"):
			w.add("--ctstate", &states)
		default:
			w.with("conntrack", "--ctstate", &states)
		}
	}
	if (a.SrcRange != nil || a.DstRange != nil) && !contains(a.Match, "iprange") {
		*w = append(*w, "-m", "iprange")
	}
	w.add("--src-range", a.SrcRange)
	w.add("--dst-range", a.DstRange)
	if a.MatchSet != nil {
		if !contains(a.Match, "set") {
			*w = append(*w, "-m", "set")
		}
		w.add("--match-set", a.MatchSet)
		if a.MatchSetFlags != nil {
			*w = append(*w, *a.MatchSetFlags)
		}
	}
	if a.Limit != nil || a.LimitBurst != nil {
		*w = append(*w, "-m", "limit")
	}
	w.add("--limit", a.Limit)
	w.add("--limit-burst", a.LimitBurst)
	w.with("owner", "--uid-owner", a.UIDOwner)
	w.with("owner", "--gid-owner", a.GIDOwner)
	if a.RejectWith != nil && a.Jump == nil {
		*w = append(*w, "-j", "REJECT")
	}
	w.add("--reject-with", a.RejectWith)
	if a.IPVersion == "ipv6" {
		w.add("--icmpv6-type", a.ICMPType)
	} else {
		w.add("--icmp-type", a.ICMPType)
	}
}
