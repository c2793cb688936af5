package modules

import (
	"strings"

	"play/modules/value"
)

// zfsArgs are the arguments of zfs.
type zfsArgs struct {
	Name       string      `arg:"name,required" doc:"file system, volume or snapshot: rpool/myfs"`
	State      string      `arg:"state,required,choices=absent|present" doc:"whether it shall be there"`
	Origin     string      `arg:"origin" doc:"the snapshot to clone"`
	Properties *value.Dict `arg:"extra_zfs_properties" doc:"properties to set"`
}

func zfs() Module {
	return Define("zfs", "Manage file systems, volumes and snapshots of ZFS", runZFS).In("community.general", "community.general.storage.zfs")
}

// zfsRun is one run of zfs.
type zfsRun struct {
	*Call
	*zfsArgs
	changed bool
}

func runZFS(c *Call, args *zfsArgs) (*Result, error) {
	if args.Origin != "" && strings.Contains(args.Name, "@") {
		return nil, Failf("cannot specify origin when operating on a snapshot")
	}
	z := &zfsRun{Call: c, zfsArgs: args}
	z.words()
	for _, name := range []string{"zfs", "zpool"} {
		if _, err := c.needTool(name); err != nil {
			return nil, err
		}
	}
	pool, _, _ := strings.Cut(args.Name, "/")
	pool, _, _ = strings.Cut(pool, "@")
	if _, err := c.mustTool("zpool", "get", "version", pool); err != nil {
		return nil, err
	}
	diff, err := z.act()
	if err != nil {
		return nil, err
	}
	diff.Set("before_header", args.Name)
	diff.Set("after_header", args.Name)
	out := NewResult(z.changed).With("name", args.Name).With("state", args.State).With("diff", diff)
	for k, v := range args.Properties.All() {
		out.Set(value.Str(k), v)
	}
	return out.Changed(z.changed), nil
}

// words turns booleans back into the words of ZFS.
func (z *zfsRun) words() {
	if z.Properties == nil {
		z.Properties = value.NewDict()
	}
	for k, v := range z.Properties.Clone().All() {
		switch v {
		case true:
			z.Properties.Set(value.Str(k), "on")
		case false:
			z.Properties.Set(value.Str(k), "off")
		}
	}
}

func (z *zfsRun) act() (*value.Dict, error) {
	out, err := z.tool("zfs", "list", "-t", "all", z.Name)
	if err != nil {
		return nil, err
	}
	before := "present"
	switch there := !out.failed(); {
	case there && z.State == "present":
		return z.set()
	case there:
		err = z.do("destroy", "-R", z.Name)
	case z.State == "absent":
		return value.NewDict(), nil
	default:
		before = "absent"
		err = z.do(z.creation()...)
	}
	return value.DictOf("before", value.DictOf("state", before), "after", value.DictOf("state", z.State)), err
}

// do changes something, unless in check mode.
func (z *zfsRun) do(words ...string) error {
	z.changed = true
	if z.Check {
		return nil
	}
	_, err := z.mustTool(append([]string{"zfs"}, words...)...)
	return err
}

// creation is the command that makes the data set.
func (z *zfsRun) creation() []string {
	argv := []string{"create", "-p"}
	switch {
	case strings.Contains(z.Name, "@"):
		argv = []string{"snapshot"}
	case z.Origin != "":
		argv = []string{"clone", "-p"}
	}
	for k, v := range z.Properties.All() {
		switch text := value.Str(v); k {
		case "volsize":
			argv = append(argv, "-V", text)
		case "volblocksize":
			argv = append(argv, "-b", text)
		default:
			argv = append(argv, "-o", value.Str(k)+"="+text)
		}
	}
	if argv[0] == "clone" {
		argv = append(argv, z.Origin)
	}
	return append(argv, z.Name)
}

// set sets the properties that differ. The task has changed something when one
// is another afterwards: ZFS may word a value in its own way.
func (z *zfsRun) set() (*value.Dict, error) {
	before, after := value.NewDict(), value.NewDict()
	diff := value.DictOf("before", value.DictOf("extra_zfs_properties", before), "after", value.DictOf("extra_zfs_properties", after))
	now, err := z.properties()
	if err != nil {
		return nil, err
	}
	for k, v := range z.Properties.All() {
		old, _ := now.Get(value.Str(k))
		if value.Equal(old, v) {
			continue
		}
		if err := z.do("set", value.Str(k)+"="+value.Str(v), z.Name); err != nil {
			return nil, err
		}
		before.Set(value.Str(k), old)
		after.Set(value.Str(k), v)
	}
	if z.Check {
		return diff, nil
	}
	return diff, z.verify(now, after)
}

func (z *zfsRun) verify(old, told *value.Dict) error {
	now, err := z.properties()
	if err != nil {
		return err
	}
	z.changed = false
	for k := range z.Properties.All() {
		name := value.Str(k)
		v, ok := now.Get(name)
		if !ok {
			return Failf("zfsprop was not present after being successfully set: %s", name)
		}
		if was, had := old.Get(name); !had || was != v {
			z.changed = true
		}
		if _, set := told.Get(name); set {
			told.Set(name, v)
		}
	}
	return nil
}

// properties are those that were set, or cannot be.
func (z *zfsRun) properties() (*value.Dict, error) {
	out, err := z.tool("zfs", "get", "-H", "-p", "-o", "property,value,source", "all", z.Name)
	if err != nil {
		return nil, err
	}
	properties := value.NewDict()
	for line := range strings.Lines(out.out) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) == 3 && (f[2] == "local" || f[2] == "received" || f[2] == "-") {
			properties.Set(f[0], f[1])
		}
	}
	return properties, nil
}
