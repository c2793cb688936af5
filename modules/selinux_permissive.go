package modules

import (
	"slices"
	"strings"
)

// selinuxPermissiveArgs are the arguments of selinux_permissive.
type selinuxPermissiveArgs struct {
	Domain     string `arg:"domain,required,aliases=name" doc:"the domain"`
	Store      string `arg:"store,default=" doc:"the policy's store"`
	Permissive bool   `arg:"permissive,required" doc:"whether the domain shall only be warned of"`
	NoReload   bool   `arg:"no_reload,default=no" doc:"do not load the policy anew"`
}

func selinuxPermissive() Module {
	return Define("selinux_permissive", "Let a domain of SELinux do what the policy forbids", runSelinuxPermissive).In("community.general", "community.general.system")
}

func runSelinuxPermissive(c *Call, args *selinuxPermissiveArgs) (*Result, error) {
	semanage := func(words ...string) (*toolOutcome, error) {
		argv := []string{"semanage", "permissive"}
		if args.Store != "" {
			argv = append(argv, "-S", args.Store)
		}
		if args.NoReload && words[0] != "-l" {
			argv = append(argv, "-N")
		}
		return c.mustTool(append(argv, words...)...)
	}
	out, err := semanage("-l", "-n")
	if err != nil {
		return nil, err
	}
	differs := slices.Contains(strings.Fields(out.out), args.Domain) != args.Permissive
	if differs && !c.Check {
		flag := "-d"
		if args.Permissive {
			flag = "-a"
		}
		if _, err := semanage(flag, args.Domain); err != nil {
			return nil, err
		}
	}
	return NewResult(differs).With("store", args.Store).With("permissive", args.Permissive).With("domain", args.Domain), nil
}
