package modules

import (
	"strings"

	"play/modules/argspec"
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
		RequiredIf: []argspec.RequiredIf{{Name: "state", Value: "present", Needs: []string{"fstype"}}},
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
	wanted := *args.FSType
	switch wanted {
	case "ext4dev":
		wanted = "ext4"
	case "lvm":
		wanted = "LVM2_member"
	}
	same := have == wanted
	switch {
	case same && args.ResizeFS:
		return c.growDevice(*args.FSType, dev)
	case same && !args.Force:
		return NewResult(false), nil
	case have != "" && !args.Force:
		return nil, &Failure{Msg: "'" + dev + "' is already used as " + have + ", use force=true to overwrite", With: value.DictOf("rc", 0, "err", "")}
	}
	argv := makeFilesystem(*args.FSType)
	if args.Opts != nil {
		argv = append(argv, strings.Fields(*args.Opts)...)
	}
	return c.changeDevice(append(argv, dev)...)
}

// deviceType is the type of what a device holds, in blkid's words; "" is nothing.
func (c *Call) deviceType(dev string) (string, error) {
	out, err := c.tool("blkid", "-c", "/dev/null", "-o", "value", "-s", "TYPE", dev)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(out.out), nil
}

// makeFilesystem is the command that makes a file system without asking back.
func makeFilesystem(kind string) []string {
	switch kind {
	case "ext2", "ext3", "ext4":
		return []string{"mkfs." + kind, "-F"}
	case "ext4dev":
		return []string{"mkfs.ext4", "-F"}
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
