package modules

import (
	"regexp"
	"strings"

	"play/modules/argspec"
)

// iptablesArgs are the arguments of iptables.
type iptablesArgs struct {
	Table           string    `arg:"table,default=filter,choices=filter|nat|mangle|raw|security" doc:"the table"`
	State           string    `arg:"state,default=present,choices=absent|present" doc:"whether the rule shall be there"`
	Action          string    `arg:"action,default=append,choices=append|insert" doc:"where a new rule goes"`
	IPVersion       string    `arg:"ip_version,default=ipv4,choices=ipv4|ipv6" doc:"iptables or ip6tables"`
	Chain           *string   `arg:"chain" doc:"the chain"`
	RuleNum         *string   `arg:"rule_num" doc:"with action=insert: the place"`
	Protocol        *string   `arg:"protocol" doc:"the protocol; ! in front of a value negates it"`
	Wait            *string   `arg:"wait" doc:"seconds to wait for the lock"`
	Source          *string   `arg:"source" doc:"source address"`
	ToSource        *string   `arg:"to_source" doc:"new source of SNAT"`
	Destination     *string   `arg:"destination" doc:"destination address"`
	ToDestination   *string   `arg:"to_destination" doc:"new destination of DNAT"`
	Match           []string  `arg:"match,default=" doc:"match extensions"`
	TCPFlags        *tcpFlags `arg:"tcp_flags" doc:"TCP flags to compare"`
	Jump            *string   `arg:"jump" doc:"the target"`
	Gateway         *string   `arg:"gateway" doc:"gateway of TEE"`
	LogPrefix       *string   `arg:"log_prefix" doc:"text in front of log lines"`
	LogLevel        *string   `arg:"log_level,choices=0|1|2|3|4|5|6|7|emerg|alert|crit|error|warning|notice|info|debug" doc:"syslog level"`
	Goto            *string   `arg:"goto" doc:"chain to go on in without return"`
	InInterface     *string   `arg:"in_interface" doc:"interface of arrival"`
	OutInterface    *string   `arg:"out_interface" doc:"interface of departure"`
	Fragment        *string   `arg:"fragment" doc:"fragments after the first"`
	SetCounters     *string   `arg:"set_counters" doc:"counters of the rule"`
	SourcePort      *string   `arg:"source_port" doc:"source port or range"`
	DestinationPort *string   `arg:"destination_port" doc:"destination port or range"`
	DestPorts       []string  `arg:"destination_ports" doc:"destination ports or ranges"`
	ToPorts         *string   `arg:"to_ports" doc:"new port of REDIRECT"`
	SetDSCPMark     *string   `arg:"set_dscp_mark" doc:"DSCP mark"`
	SetDSCPClass    *string   `arg:"set_dscp_mark_class" doc:"DSCP class"`
	Comment         *string   `arg:"comment" doc:"comment of the rule"`
	CTState         []string  `arg:"ctstate,default=" doc:"states of the connection"`
	SrcRange        *string   `arg:"src_range" doc:"range of source addresses"`
	DstRange        *string   `arg:"dst_range" doc:"range of destination addresses"`
	MatchSet        *string   `arg:"match_set" doc:"name of an ipset"`
	MatchSetFlags   *string   `arg:"match_set_flags,'choices=src|dst|src,dst|dst,src'" doc:"what of the packet is looked for in the ipset"`
	Limit           *string   `arg:"limit" doc:"average rate"`
	LimitBurst      *string   `arg:"limit_burst" doc:"burst before the limit holds"`
	UIDOwner        *string   `arg:"uid_owner" doc:"user of the sender"`
	GIDOwner        *string   `arg:"gid_owner" doc:"group of the sender"`
	RejectWith      *string   `arg:"reject_with" doc:"answer of REJECT"`
	ICMPType        *string   `arg:"icmp_type" doc:"ICMP type"`
	Syn             string    `arg:"syn,default=ignore,choices=ignore|match|negate" doc:"first packets of TCP connections"`
	Flush           bool      `arg:"flush,default=no" doc:"remove all rules"`
	Policy          *string   `arg:"policy,choices=ACCEPT|DROP|QUEUE|RETURN" doc:"policy of the chain"`
	ChainManagement bool      `arg:"chain_management,default=no" doc:"make and remove the chain itself"`
}

// tcpFlags are the flags to look at, and those that must be set.
type tcpFlags struct {
	Flags []string `arg:"flags" doc:"flags to look at"`
	Set   []string `arg:"flags_set" doc:"flags that must be set"`
}

// Rules relates the arguments.
func (iptablesArgs) Rules() argspec.Rules {
	return argspec.Rules{
		MutuallyExclusive: [][]string{{"set_dscp_mark", "set_dscp_mark_class"}, {"flush", "policy"}},
		RequiredIf: []argspec.RequiredIf{
			{Name: "jump", Value: "TEE", Needs: []string{"gateway"}}, {Name: "jump", Value: "tee", Needs: []string{"gateway"}}},
	}
}

func iptables() Module {
	return Define("iptables", "Manage rules of the packet filter", runIptables)
}

// packetRule is one rule on its way to the wanted state.
type packetRule struct {
	*Call
	*iptablesArgs
	program string
	chain   string
	rule    []string
}

func runIptables(c *Call, args *iptablesArgs) (*Result, error) {
	r := &packetRule{Call: c, iptablesArgs: args, program: "iptables"}
	if args.IPVersion == "ipv6" {
		r.program = "ip6tables"
	}
	if args.Chain != nil {
		r.chain = *args.Chain
	} else if !args.Flush {
		return nil, Failf("Either chain or flush parameter must be specified.")
	}
	if _, err := r.mustTool(r.program, "--version"); err != nil {
		return nil, err
	}
	shown := ""
	if !args.Flush && args.Policy == nil {
		shown = strings.Join(args.words(), " ")
		r.rule = args.logging().words()
	}
	changed, err := r.bring()
	if err != nil {
		return nil, err
	}
	var chain any
	if args.Chain != nil {
		chain = r.chain
	}
	return NewResult(changed).With("failed", false).With("ip_version", args.IPVersion).With("table", args.Table).With("chain", chain).
		With("flush", args.Flush).With("rule", shown).With("state", args.State).
		With("chain_management", args.ChainManagement), nil
}

// logging is the rule with the target that its options for logging imply.
func (a *iptablesArgs) logging() *iptablesArgs {
	if a.Jump != nil || a.LogPrefix == nil && a.LogLevel == nil {
		return a
	}
	logged, target := *a, "LOG"
	logged.Jump = &target
	return &logged
}

// command is one call of iptables for the rule's table; further words follow
// the chain.
func (r *packetRule) command(verb string, words ...string) []string {
	argv := []string{r.program, "-t", r.Table, verb}
	if r.Chain != nil {
		argv = append(argv, r.chain)
	}
	return append(argv, words...)
}

func (r *packetRule) do(verb string, words ...string) error {
	if r.Check {
		return nil
	}
	_, err := r.mustTool(r.command(verb, words...)...)
	return err
}

func (r *packetRule) bring() (bool, error) {
	switch {
	case r.Flush:
		return true, r.do("-F")
	case r.Policy != nil:
		return r.setPolicy()
	case r.ChainManagement && r.State == "absent" && len(r.rule) == 0:
		there, err := r.succeeds("-L")
		if err != nil || !there {
			return false, err
		}
		return true, r.do("-X")
	}
	return r.setRule()
}

func (r *packetRule) succeeds(verb string, words ...string) (bool, error) {
	out, err := r.tool(r.command(verb, words...)...)
	return err == nil && !out.failed(), err
}

func (r *packetRule) setPolicy() (bool, error) {
	out, err := r.mustTool(r.command("-L")...)
	if err != nil {
		return false, err
	}
	m := regexp.MustCompile(`\(policy ([A-Z]+)\b`).FindStringSubmatch(out.out)
	if m != nil && m[1] == *r.Policy {
		return false, nil
	}
	return true, r.do("-P", *r.Policy)
}

func (r *packetRule) setRule() (bool, error) {
	there, err := r.succeeds("-C", r.rule...)
	if err != nil {
		return false, err
	}
	chain := there
	if !there {
		if chain, err = r.succeeds("-L"); err != nil {
			return false, err
		}
	}
	if there == (r.State == "present") {
		return false, nil
	}
	if r.State == "absent" {
		return true, r.do("-D", r.rule...)
	}
	if !chain && r.ChainManagement {
		if err := r.do("-N"); err != nil {
			return true, err
		}
	}
	if r.Action != "insert" {
		return true, r.do("-A", r.rule...)
	}
	if r.RuleNum != nil {
		return true, r.do("-I", append([]string{*r.RuleNum}, r.rule...)...)
	}
	return true, r.do("-I", r.rule...)
}
