package modules

import (
	"os"
	"strings"
)

// sebooleanArgs are the arguments of seboolean.
type sebooleanArgs struct {
	IgnoreState bool   `arg:"ignore_selinux_state,default=no" doc:"go on although SELinux is off"`
	Name        string `arg:"name,required" doc:"the boolean"`
	Persistent  bool   `arg:"persistent,default=no" doc:"keep it over a boot"`
	State       bool   `arg:"state,required" doc:"the wanted value"`
}

// seboolean was compared with the documentation only: no SELinux ran where it
// was written.
func seboolean() Module {
	return Define("seboolean", "Switch SELinux booleans", runSeboolean).In("ansible.posix")
}

func runSeboolean(c *Call, args *sebooleanArgs) (*Result, error) {
	if !args.IgnoreState && !exists("/sys/fs/selinux/enforce") && c.findTool("selinuxenabled") == "" {
		return nil, Failf("SELinux is disabled on this host.")
	}
	if !args.IgnoreState && c.findTool("selinuxenabled") != "" {
		out, err := c.tool("selinuxenabled")
		if err != nil {
			return nil, err
		}
		if out.failed() {
			return nil, Failf("SELinux is disabled on this host.")
		}
	}
	out, err := c.tool("getsebool", args.Name)
	if err != nil {
		return nil, err
	}
	if out.failed() {
		return nil, Failf("SELinux boolean %s does not exist.", args.Name)
	}
	differs := strings.HasSuffix(strings.TrimSpace(out.out), " on") != args.State
	if args.Persistent && !differs {
		if differs, err = c.bootsOtherwise(args); err != nil {
			return nil, err
		}
	}
	result := NewResult(differs).With("name", args.Name).With("persistent", args.Persistent).With("state", args.State)
	if !differs || c.Check {
		return result, nil
	}
	argv := []string{"setsebool"}
	if args.Persistent {
		argv = append(argv, "-P")
	}
	word := "off"
	if args.State {
		word = "on"
	}
	_, err = c.mustTool(append(argv, args.Name, word)...)
	return result, err
}

// bootsOtherwise tells whether the boolean will have another value after a boot.
func (c *Call) bootsOtherwise(args *sebooleanArgs) (bool, error) {
	if c.findTool("semanage") == "" {
		return !persistedBoolean(args), nil
	}
	out, err := c.mustTool("semanage", "boolean", "-l", "-n")
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(out.out) {
		// name (current , default) description
		fields := strings.Fields(strings.NewReplacer("(", " ", ")", " ", ",", " ").Replace(line))
		if len(fields) > 2 && fields[0] == args.Name {
			return (fields[2] == "on") != args.State, nil
		}
	}
	return false, nil
}

// persistedBoolean looks for the value among the local changes of the policy.
func persistedBoolean(args *sebooleanArgs) bool {
	digit := "0"
	if args.State {
		digit = "1"
	}
	for _, kind := range []string{"targeted", "minimum", "mls"} {
		data, err := os.ReadFile("/var/lib/selinux/" + kind + "/active/booleans.local")
		if err == nil && strings.Contains("\n"+string(data), "\n"+args.Name+"="+digit) {
			return true
		}
	}
	return false
}
