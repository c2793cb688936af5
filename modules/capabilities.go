package modules

import (
	"strings"

	"play/modules/value"
)

// capabilitiesArgs are the arguments of capabilities.
type capabilitiesArgs struct {
	Path       string `arg:"path,required,aliases=key" doc:"the program"`
	Capability string `arg:"capability,required,aliases=cap" doc:"the capability, with operator and flags when it shall be there"`
	State      string `arg:"state,default=present,choices=absent|present" doc:"whether it shall be there"`
}

func capabilities() Module {
	return Define("capabilities", "Set the capabilities of programs", runCapabilities).In("community.general", "community.general.system")
}

// fileCapability is one capability with its operator and flags, such as
// cap_chown, + and ep.
type fileCapability struct{ name, op, flags string }

func (f fileCapability) String() string { return f.name + f.op + f.flags }

func runCapabilities(c *Call, args *capabilitiesArgs) (*Result, error) {
	path := strings.TrimSpace(args.Path)
	for _, program := range []string{"getcap", "setcap"} {
		if _, err := c.needTool(program); err != nil {
			return nil, err
		}
	}
	wanted := readCapability(strings.ToLower(strings.TrimSpace(args.Capability)))
	if wanted.op == "" && args.State == "present" {
		return nil, Failf("Couldn't find operator (one of: ('=', '-', '+'))")
	}
	have, err := c.fileCapabilities(path)
	if err != nil {
		return nil, err
	}
	differs := args.State == "present"
	var others []string
	for _, f := range have {
		if f.name != wanted.name {
			others = append(others, f.String())
			continue
		}
		differs = args.State == "absent" || f != wanted
	}
	if !differs {
		return NewResult(false).With("state", args.State), nil
	}
	out := NewResult(true).With("msg", "capabilities changed")
	if c.Check {
		return out, nil
	}
	if args.State == "present" {
		others = append(others, wanted.String())
	}
	run, err := c.tool("setcap", strings.Join(others, " "), path)
	if err != nil {
		return nil, err
	}
	if run.failed() {
		return nil, &Failure{Msg: "Unable to set capabilities of " + path, With: value.DictOf("stdout", run.out, "stderr", run.errOut)}
	}
	return out.With("state", args.State).With("stdout", run.out), nil
}

// fileCapabilities asks for those that a program has.
func (c *Call) fileCapabilities(path string) ([]fileCapability, error) {
	out, err := c.tool("getcap", "-v", path)
	if err != nil {
		return nil, err
	}
	if out.failed() || out.errOut != "" {
		return nil, &Failure{Msg: "Unable to get capabilities of " + path, With: value.DictOf("stdout", strings.TrimSpace(out.out), "stderr", out.errOut)}
	}
	if strings.TrimSpace(out.out) == path {
		return nil, nil
	}
	_, text, old := strings.Cut(out.out, " =") // an older one writes "path = caps", a newer one "path caps"
	if !old {
		_, text, _ = strings.Cut(strings.TrimSpace(out.out), " ")
	}
	var list []fileCapability
	for _, word := range strings.Fields(strings.ToLower(text)) {
		names := strings.Split(word, ",")
		last := readCapability(names[len(names)-1])
		for _, name := range names[:len(names)-1] {
			list = append(list, fileCapability{name, last.op, last.flags})
		}
		list = append(list, last)
	}
	return list, nil
}

// readCapability splits name, operator and flags.
func readCapability(text string) fileCapability {
	for _, op := range []string{"=", "-", "+"} {
		if name, flags, ok := strings.Cut(text, op); ok {
			return fileCapability{name, op, flags}
		}
	}
	return fileCapability{name: text}
}
