package modules

import (
	"os"
	"regexp"
	"strconv"
	"strings"

	"play/modules/value"
)

// fsGrowth is how a type of file system is let fill its device.
type fsGrowth struct {
	name string   // what messages call the type
	info []string // the program that tells the size, and its options
	size []string // patterns of what it prints: the numbers' product is the size in bytes
	grow []string // the program that grows it, and its options
	// mounted tells that growing needs the mount point; asksMount that the
	// program which tells the size does, too.
	mounted, asksMount bool
}

// fsGrowths are the types that can grow. An ext4dev is an ext4.
func fsGrowths() map[string]fsGrowth {
	ext := fsGrowth{
		info: []string{"tune2fs", "-l"}, grow: []string{"resize2fs"},
		size: []string{`(?m)Block count:\s*(\d+)`, `(?m)Block size:\s*(\d+)`},
	}
	table := map[string]fsGrowth{
		"xfs": {
			name: "XFS", info: []string{"xfs_info"}, grow: []string{"xfs_growfs"}, mounted: true,
			size: []string{`(?m)^data\s*=\s*bsize=(\d+)`, `(?m)^data\s*=.*\bblocks=(\d+)`},
		},
		"btrfs": {
			name: "Btrfs", info: []string{"btrfs", "filesystem", "usage", "-b"}, grow: []string{"btrfs", "filesystem", "resize", "max"},
			mounted: true, asksMount: true, size: []string{`(?m)Device size.*\s(\d+)$`},
		},
		"f2fs": {
			name: "F2fs", info: []string{"dump.f2fs"}, grow: []string{"resize.f2fs"},
			size: []string{`Info: sector size = (\d+)`, `Info: total FS sectors = (\d+)`},
		},
		"vfat": {
			name: "VFAT", info: []string{"fatresize", "--info"}, grow: []string{"fatresize", "-s", "max"},
			size: []string{`(?m)^\s*(?:Size|Cur size)\s*:\s*(\d+)`},
		},
		"lvm": {
			name: "LVM", info: []string{"pvs", "--noheadings", "-o", "pv_size", "--units", "b", "--nosuffix"}, grow: []string{"pvresize"},
			size: []string{`^\s*(\d+)\s*$`},
		},
		"ufs": {
			name: "UFS", info: []string{"dumpfs"}, grow: []string{"growfs", "-y"},
			size: []string{`(?m)^fsize\s+(\d+)`, `(?m)providersize.*\s(\d+)$`},
		},
	}
	for _, kind := range []string{"ext2", "ext3", "ext4"} {
		ext.name = strings.ToUpper(kind[:1]) + kind[1:]
		table[kind] = ext
	}
	table["ext4dev"] = ext
	return table
}

// growDevice lets a file system fill its device.
func (c *Call) growDevice(kind, dev string) (*Result, error) {
	g, ok := fsGrowths()[kind]
	if !ok {
		return nil, &Failure{Msg: "module does not support resizing " + kind + " filesystem yet.", With: value.DictOf("changed", false)}
	}
	device, err := c.deviceSize(dev)
	if err != nil {
		return nil, err
	}
	target := dev
	point := ""
	if g.mounted {
		if point, err = c.mountPointOf(dev); err != nil {
			return nil, err
		}
	}
	unmounted := Failf("%s needs to be mounted for %s operations", dev, g.name)
	switch {
	case point != "":
		target = point
	case g.asksMount:
		return nil, unmounted
	}
	size, err := c.filesystemSize(g, target, dev)
	switch {
	case err != nil:
		return nil, err
	case size >= device:
		return NewResult(false).With("msg", g.name+" filesystem is using the whole device "+dev), nil
	case c.Check:
		return NewResult(true).With("msg", "resizing filesystem "+g.name+" on device "+dev), nil
	case g.mounted && point == "":
		return nil, unmounted
	}
	out, err := c.mustTool(append(g.grow, target)...)
	if err != nil {
		return nil, err
	}
	return NewResult(true).With("msg", out.out), nil
}

// deviceSize is the size of a device, or of a file that stands for one, in bytes.
func (c *Call) deviceSize(dev string) (int64, error) {
	info, err := os.Stat(dev)
	switch {
	case err != nil:
		return 0, Failf("cannot read the size of the device %q: %v", dev, err)
	case info.Mode().IsRegular():
		return info.Size(), nil
	case info.Mode()&(os.ModeDevice|os.ModeCharDevice) != os.ModeDevice:
		return 0, &Failure{Msg: "Target device not supported: " + dev, With: value.DictOf("changed", false)}
	}
	out, err := c.mustTool("blockdev", "--getsize64", dev)
	if err != nil {
		return 0, err
	}
	size, err := strconv.ParseInt(strings.TrimSpace(out.out), 10, 64)
	if err != nil {
		return 0, Failf("cannot read the size of the device %q: %v", dev, err)
	}
	return size, nil
}

// mountPointOf is the first place where a device is mounted, or "".
func (c *Call) mountPointOf(dev string) (string, error) {
	out, err := c.tool("findmnt", "--mtab", "--noheadings", "--output", "TARGET", "--source", dev)
	if err != nil || out.failed() {
		return "", err
	}
	point, _, _ := strings.Cut(out.out, "\n")
	return point, nil
}

// filesystemSize asks the type's own program for the size in bytes.
func (c *Call) filesystemSize(g fsGrowth, target, dev string) (int64, error) {
	out, err := c.mustTool(append(g.info, target)...)
	if err != nil {
		return 0, err
	}
	size := int64(1)
	for _, pattern := range g.size {
		number := int64(0)
		m := regexp.MustCompile(pattern).FindStringSubmatch(out.out)
		if m != nil {
			number, err = strconv.ParseInt(m[1], 10, 64)
		}
		if m == nil || err != nil {
			warning := "unable to process " + g.info[0] + " output '" + value.Repr(out.out) + "'"
			return 0, &Failure{Msg: "unable to process " + g.info[0] + " output for " + dev, With: value.DictOf("warnings", value.NewList(warning))}
		}
		size *= number
	}
	return size, nil
}
