package modules

import (
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/shellquote"
	"play/modules/value"
)

// filesystemArgs are the arguments of filesystem.
type filesystemArgs struct {
	State    string  `arg:"state,default=present,choices=present|absent" doc:"whether the device shall have a file system"`
	FSType   *string `arg:"fstype,aliases=type,choices=btrfs|ext2|ext3|ext4|ext4dev|f2fs|lvm|ocfs2|reiserfs|swap|ufs|vfat|xfs" doc:"its type"`
	Dev      string  `arg:"dev,required,type=path,aliases=device" doc:"the device, or a file that stands for one"`
	Opts     *string `arg:"opts" doc:"options for mkfs"`
	Force    bool    `arg:"force,default=no" doc:"make a new file system over an old one"`
	ResizeFS bool    `arg:"resizefs,default=no" doc:"let a file system that is there fill the device"`
}

// Rules relates the arguments.
func (filesystemArgs) Rules() argspec.Rules {
	return argspec.Rules{
		MutuallyExclusive: [][]string{{"force", "resizefs"}},
		RequiredIf:        []argspec.RequiredIf{{Name: "state", Value: "present", Needs: []string{"fstype"}}},
	}
}

func filesystem() Module {
	return Define("filesystem", "Make file systems", runFilesystem).In("community.general", "community.general.system")
}

func runFilesystem(c *Call, args *filesystemArgs) (*Result, error) {
	dev := c.abs(args.Dev)
	if !exists(dev) {
		if args.State == "absent" {
			return NewResult(false).With("msg", "Device "+dev+" not found."), nil
		}
		return nil, Failf("Device %s not found.", dev)
	}
	have, err := c.deviceType(dev)
	if err != nil {
		return nil, err
	}
	if args.State == "absent" {
		if have == "" {
			return NewResult(false), nil
		}
		return c.changeDevice("wipefs", "--all", dev)
	}
	switch {
	case have == *args.FSType && args.ResizeFS:
		return c.growDevice(have, dev)
	case have == *args.FSType && !args.Force:
		return NewResult(false), nil
	case have != "" && !args.Force:
		return nil, &Failure{Msg: "'" + dev + "' is already used as " + have + ", use force=true to overwrite", With: value.DictOf("rc", 0, "err", "")}
	}
	argv := makeFilesystem(*args.FSType)
	if args.Opts != nil {
		opts, err := shellquote.Split(*args.Opts)
		if err != nil {
			return nil, Failf("cannot read the options '%s': %v", *args.Opts, err)
		}
		argv = append(argv, opts...)
	}
	return c.changeDevice(append(argv, dev)...)
}

// deviceType is the type of what a device holds, in the module's words; "" is
// nothing.
func (c *Call) deviceType(dev string) (string, error) {
	out, err := c.tool("blkid", "-c", "/dev/null", "-o", "value", "-s", "TYPE", dev)
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace(out.out)
	if name == "LVM2_member" {
		name = "lvm"
	}
	return name, nil
}

// makeFilesystem is the command that makes a file system without asking back.
func makeFilesystem(kind string) []string {
	switch kind {
	case "ext2", "ext3", "ext4", "ext4dev":
		return []string{"mkfs." + kind, "-F"}
	case "swap":
		return []string{"mkswap", "-f"}
	case "lvm":
		return []string{"pvcreate", "-f"}
	case "ocfs2":
		return []string{"mkfs.ocfs2", "-Fx"}
	case "reiserfs":
		return []string{"mkfs.reiserfs", "-q"}
	case "ufs":
		return []string{"newfs"}
	case "vfat":
		return []string{"mkfs.vfat"}
	}
	return []string{"mkfs." + kind, "-f"}
}

// changeDevice runs a command that changes a device, unless in check mode.
func (c *Call) changeDevice(argv ...string) (*Result, error) {
	if c.Check {
		return NewResult(true), nil
	}
	if _, err := c.mustTool(argv...); err != nil {
		return nil, err
	}
	return NewResult(true), nil
}

// growDevice lets a file system fill its device.
func (c *Call) growDevice(kind, dev string) (*Result, error) {
	full := NewResult(false).With("msg", kind+" filesystem is using the whole device "+dev)
	switch kind {
	case "ext2", "ext3", "ext4", "ext4dev":
		grows, err := c.extCanGrow(dev)
		if err != nil {
			return nil, err
		}
		if !grows {
			return full, nil
		}
		return c.changeDevice("resize2fs", dev)
	case "xfs":
		return c.growXFS(dev, full)
	case "lvm":
		return c.changeDevice("pvresize", dev)
	}
	return nil, Failf("module does not support resizing %s filesystem yet", kind)
}

func (c *Call) extCanGrow(dev string) (bool, error) {
	out, err := c.mustTool("tune2fs", "-l", dev)
	if err != nil {
		return false, err
	}
	number := func(name string) int {
		m := regexp.MustCompile(`(?m)^` + name + `:\s*(\d+)`).FindStringSubmatch(out.out)
		if m == nil {
			return 0
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return 0
		}
		return n
	}
	count, size := number("Block count"), number("Block size")
	if count == 0 || size == 0 {
		return false, Failf("cannot read the size of the file system on %q", dev)
	}
	device, err := c.mustTool("blockdev", "--getsize64", dev)
	if err != nil {
		return false, err
	}
	bytes, err := strconv.Atoi(strings.TrimSpace(device.out))
	if err != nil {
		return false, Failf("cannot read the size of the device %q", dev)
	}
	return bytes/size > count, nil
}

// growXFS grows a mounted XFS; how much only the real run tells.
func (c *Call) growXFS(dev string, full *Result) (*Result, error) {
	out, err := c.tool("findmnt", "--noheadings", "--output", "TARGET", "--source", dev)
	if err != nil {
		return nil, err
	}
	point, _, _ := strings.Cut(strings.TrimSpace(out.out), "\n")
	if !filepath.IsAbs(point) {
		return nil, Failf("%s needs to be mounted for xfs operations", dev)
	}
	argv := []string{"xfs_growfs", point}
	if c.Check {
		argv = []string{"xfs_growfs", "-n", point}
	}
	grown, err := c.mustTool(argv...)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(grown.out, "data blocks changed") {
		return full, nil
	}
	return NewResult(true).With("msg", grown.out), nil
}
