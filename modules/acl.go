package modules

import (
	"runtime"
	"strings"
)

// aclArgs are the arguments of acl.
type aclArgs struct {
	Path        string  `arg:"path,required,type=path,aliases=name" doc:"the file or folder"`
	Entry       *string `arg:"entry" doc:"the whole entry, as setfacl takes it; instead of etype, entity and permissions"`
	Entity      string  `arg:"entity,default=" doc:"the user or group"`
	Etype       *string `arg:"etype,choices=group|mask|other|user" doc:"the entry's kind"`
	Permissions *string `arg:"permissions" doc:"letters of rwx"`
	State       string  `arg:"state,default=query,choices=absent|present|query" doc:"whether the entry shall be there"`
	Follow      bool    `arg:"follow,default=yes" doc:"act on what a link points to"`
	Default     bool    `arg:"default,default=no" doc:"the entry is for what will be made in the folder"`
	Recursive   bool    `arg:"recursive,default=no,aliases=recurse" doc:"also everything below"`
	Mask        string  `arg:"recalculate_mask,default=default,choices=default|mask|no_mask" doc:"whether the mask is calculated anew"`
	NFSv4       bool    `arg:"use_nfsv4_acls,default=no" doc:"write entries of NFSv4"`
}

func acl() Module {
	return Define("acl", "Set and read access control lists of files", runACL).In("ansible.posix")
}

func runACL(c *Call, args *aclArgs) (*Result, error) {
	if !exists(c.abs(args.Path)) {
		return nil, Failf("Path not found or not accessible.")
	}
	if msg := args.wrong(); msg != "" {
		return nil, Failf("%s", msg)
	}
	entry := args.entry()
	out := NewResult(false).With("msg", "current acl")
	switch args.State {
	case "present":
		out.Set("msg", entry+" is present")
	case "absent":
		out.Set("msg", entry+" is absent")
	}
	if args.State != "query" {
		if err := args.set(c, entry, out); err != nil {
			return nil, err
		}
	}
	lines, err := args.run(c, args.command("getfacl", "--omit-header", "--absolute-names"))
	if err != nil {
		return nil, err
	}
	return out.With("acl", stringList(lines)), nil
}

// set changes the list if a trial says that this would make a difference.
func (a *aclArgs) set(c *Call, entry string, out *Result) error {
	flag := map[string]string{"present": "-m", "absent": "-x"}[a.State]
	argv := a.command("setfacl", flag, entry)
	differs := runtime.GOOS == "freebsd" // its setfacl has no trial
	if !differs {
		lines, err := a.run(c, append([]string{argv[0], "--test"}, argv[1:]...))
		if err != nil {
			return err
		}
		for _, line := range lines {
			differs = differs || !strings.HasSuffix(line, "*,*")
		}
	}
	out.Changed(differs)
	if !differs || c.Check {
		return nil
	}
	if a.State == "absent" {
		_, err := c.tool(argv...) // an entry may be missing somewhere in a tree
		return err
	}
	_, err := a.run(c, argv)
	return err
}

// wrong says what is wrong about the arguments together.
func (a *aclArgs) wrong() string {
	if a.State == "query" {
		switch {
		case a.Recursive:
			return "'recursive' MUST NOT be set when 'state=query'."
		case a.Mask != "default":
			return "'recalculate_mask' MUST NOT be set to 'mask' or 'no_mask' when 'state=query'."
		}
	}
	if a.Entry == nil || *a.Entry == "" {
		return a.wrongParts()
	}
	return a.wrongEntry()
}

func (a *aclArgs) wrongParts() string {
	absent := a.State == "absent"
	switch {
	case absent && a.Permissions != nil && *a.Permissions != "":
		return "'permissions' MUST NOT be set when 'state=absent'."
	case absent && a.Entity == "":
		return "'entity' MUST be set when 'state=absent'."
	case a.State != "query" && a.Etype == nil:
		return "'etype' MUST be set when 'state=" + a.State + "'."
	}
	return ""
}

func (a *aclArgs) wrongEntry() string {
	colons := strings.Count(*a.Entry, ":")
	switch {
	case a.Etype != nil || a.Entity != "" || a.Permissions != nil:
		return "'entry' MUST NOT be set when 'entity', 'etype' or 'permissions' are set."
	case a.State == "present" && colons != 2 && colons != 3:
		return "'entry' MUST have 3 or 4 sections divided by ':' when 'state=present'."
	case a.State == "absent" && colons != 1 && colons != 2:
		return "'entry' MUST have 2 or 3 sections divided by ':' when 'state=absent'."
	case a.State == "query":
		return "'entry' MUST NOT be set when 'state=query'."
	}
	return ""
}

// entry puts the entry together; a given one may also say that it is a default.
func (a *aclArgs) entry() string {
	kind, entity, permissions := "", a.Entity, ""
	if a.Etype != nil {
		kind = *a.Etype
	}
	if a.Permissions != nil {
		permissions = *a.Permissions
	}
	if a.Entry != nil && *a.Entry != "" {
		parts := strings.Split(*a.Entry, ":")
		if strings.HasPrefix(strings.ToLower(parts[0]), "d") {
			a.Default = true
			parts = parts[1:]
		}
		parts = append(parts, "", "")
		kind, entity, permissions = aclKind(parts[0]), parts[1], parts[2]
	}
	switch {
	case a.State == "absent":
		return kind + ":" + entity
	case a.NFSv4:
		return kind + ":" + entity + ":" + permissions + ":allow"
	case permissions != "":
		return kind + ":" + entity + ":" + permissions
	}
	return kind + ":" + entity
}

// aclKind reads an entry's first word, which may be shortened.
func aclKind(word string) string {
	for _, kind := range []string{"user", "group", "mask", "other"} {
		if word != "" && strings.EqualFold(word[:1], kind[:1]) {
			return kind
		}
	}
	return ""
}

// command is getfacl or setfacl with the options that the arguments ask for.
func (a *aclArgs) command(program string, words ...string) []string {
	argv := []string{program}
	if a.Default {
		argv = append(argv, "-d")
	}
	argv = append(argv, words...)
	if a.Recursive {
		argv = append(argv, "--recursive")
	}
	if program == "setfacl" && a.Mask != "default" {
		argv = append(argv, "--"+strings.ReplaceAll(a.Mask, "_", "-"))
	}
	if !a.Follow {
		argv = append(argv, "--physical")
	}
	return append(argv, a.Path)
}

// run returns the lines of the output that are no comments.
func (a *aclArgs) run(c *Call, argv []string) ([]string, error) {
	out, err := c.mustTool(argv...)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(out.out) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	if n := len(lines); n > 0 && lines[n-1] == "" {
		lines = lines[:n-1]
	}
	return lines, nil
}
