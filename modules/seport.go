package modules

import (
	"slices"
	"strings"
)

// seportArgs are the arguments of seport.
type seportArgs struct {
	IgnoreState bool     `arg:"ignore_selinux_state,default=no" doc:"go on although SELinux is off"`
	Ports       []string `arg:"ports,required" doc:"ports, or ranges: 8080, 10000-10100"`
	Proto       string   `arg:"proto,required,choices=tcp|udp" doc:"the protocol"`
	SEType      string   `arg:"setype,required" doc:"the type of the ports: http_port_t"`
	State       string   `arg:"state,default=present,choices=absent|present" doc:"whether the ports shall have the type"`
	Reload      bool     `arg:"reload,default=yes" doc:"load the policy anew"`
	Local       bool     `arg:"local,default=no" doc:"look at local changes of the policy only"`
}

func seport() Module {
	return Define("seport", "Give ports a type of SELinux", runSeport).In("community.general", "community.general.system")
}

func runSeport(c *Call, args *seportArgs) (*Result, error) {
	if !args.IgnoreState {
		out, err := c.tool("selinuxenabled")
		if err != nil || out.failed() {
			return nil, Failf("SELinux is disabled on this host.")
		}
	}
	list := []string{"semanage", "port", "-l", "-n"}
	if args.Local {
		list = append(list, "-C")
	}
	out, err := c.mustTool(list...)
	if err != nil {
		return nil, err
	}
	types := portTypes(out.out, args.Proto)
	result := NewResult(false).With("ports", stringList(args.Ports)).With("proto", args.Proto).With("setype", args.SEType).With("state", args.State)
	for _, port := range args.Ports {
		has := slices.Contains(types[port], args.SEType)
		if has == (args.State == "present") {
			continue
		}
		result.Changed(true)
		if c.Check {
			continue
		}
		if _, err := c.mustTool(args.command(port, len(types[port]) > 0)...); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// command is the command line that changes one port.
func (a *seportArgs) command(port string, known bool) []string {
	argv := []string{"semanage", "port"}
	if !a.Reload {
		argv = append(argv, "-N")
	}
	switch {
	case a.State == "absent":
		return append(argv, "-d", "-p", a.Proto, port)
	case known:
		argv = append(argv, "-m")
	default:
		argv = append(argv, "-a")
	}
	return append(argv, "-t", a.SEType, "-p", a.Proto, port)
}

// portTypes reads lines of "type  protocol  port, port-port": the types of each
// port or range of one protocol.
func portTypes(text, proto string) map[string][]string {
	types := map[string][]string{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 3 || f[1] != proto {
			continue
		}
		for _, port := range f[2:] {
			port = strings.TrimSuffix(port, ",")
			types[port] = append(types[port], f[0])
		}
	}
	return types
}
