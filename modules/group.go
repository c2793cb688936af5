package modules

import (
	"strconv"

	"play/modules/argspec"
	"play/modules/perm"
	"play/modules/value"
)

// groupArgs are the arguments of group.
type groupArgs struct {
	State     string `arg:"state,default=present,choices=absent|present" doc:"whether the group shall exist"`
	Name      string `arg:"name,required" doc:"the group"`
	GID       *int   `arg:"gid" doc:"its number"`
	System    bool   `arg:"system,default=no" doc:"make it a system group"`
	Local     bool   `arg:"local,default=no" doc:"use the libuser tools, which look at the local files only"`
	NonUnique bool   `arg:"non_unique,default=no" doc:"with gid: let the number be another group's too"`
	Force     bool   `arg:"force,hidden,default=no" doc:"with state=absent: remove it although it is a primary group"`
}

// Rules relates the arguments.
func (groupArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredIf: []argspec.RequiredIf{{Name: "non_unique", Value: true, Needs: []string{"gid"}}}}
}

func group() Module {
	return Define("group", "Manage groups", runGroup)
}

func runGroup(c *Call, args *groupArgs) (*Result, error) {
	out := &Result{value.DictOf("name", args.Name, "state", args.State)}
	gid, there := groupNamed(args.Name)
	if args.Local && !there {
		const warning = "'local: true' specified and group was not found in /etc/group. " +
			"The local group may already exist if the local group database exists somewhere other than /etc/group."
		out.warn(warning)
		out.warn(warning)
	}
	argv := groupCommand(args, gid, there)
	if args.State == "present" && args.Local && args.GID != nil && (!there || gid != *args.GID) {
		if owner, taken := perm.GroupName(*args.GID); taken && owner != args.Name {
			return nil, Failf("GID '%d' already exists with group '%s'", *args.GID, owner)
		}
	}
	changed := argv != nil
	if changed && c.Check && (args.State == "absent" || !there) {
		return NewResult(true), nil
	}
	if changed && !c.Check {
		if err := c.changeGroup(args.Name, argv, out); err != nil {
			return nil, err
		}
	}
	out.Changed(changed)
	if gid, there = groupNamed(args.Name); there {
		out.With("system", args.System).With("gid", gid)
	}
	return out, nil
}

func (c *Call) changeGroup(name string, argv []string, out *Result) error {
	done, err := c.tool(argv...)
	if err != nil {
		return err
	}
	if done.failed() {
		return &Failure{Msg: done.errOut, With: value.DictOf("name", name)}
	}
	if done.out != "" {
		out.Set("stdout", done.out)
	}
	if done.errOut != "" {
		out.Set("stderr", done.errOut)
	}
	return nil
}

// groupNamed finds a group by its name alone.
func groupNamed(name string) (int, bool) {
	if _, err := strconv.Atoi(name); err != nil {
		return perm.GroupID(name)
	}
	for _, fields := range groupEntries() {
		if fields[0] == name {
			gid, err := strconv.Atoi(fields[2])
			return gid, err == nil
		}
	}
	return 0, false
}

// groupCommand is what brings the group into the wanted state; nil: nothing.
func groupCommand(a *groupArgs, gid int, there bool) []string {
	prefix := ""
	if a.Local {
		prefix = "l"
	}
	switch {
	case a.State == "absent" && !there:
		return nil
	case a.State == "absent":
		if a.Force && !a.Local {
			return []string{"groupdel", "-f", a.Name}
		}
		return []string{prefix + "groupdel", a.Name}
	case !there:
		argv := append([]string{prefix + "groupadd"}, groupNumber(a)...)
		if a.System {
			argv = append(argv, "-r")
		}
		return append(argv, a.Name)
	case a.GID != nil && *a.GID != gid:
		argv := append([]string{prefix + "groupmod"}, groupNumber(a)...)
		return append(argv, a.Name)
	}
	return nil
}

func groupNumber(a *groupArgs) []string {
	if a.GID == nil {
		return nil
	}
	words := []string{"-g", strconv.Itoa(*a.GID)}
	if a.NonUnique {
		words = append(words, "-o")
	}
	return words
}
