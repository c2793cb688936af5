package modules

import (
	"slices"
	"strconv"
	"strings"

	"play/modules/value"
)

// lvgArgs are the arguments of lvg.
type lvgArgs struct {
	VG        string   `arg:"vg,required" doc:"the volume group"`
	PVs       []string `arg:"pvs" doc:"its devices"`
	PESize    string   `arg:"pesize,default=4" doc:"the size of an extent, in MiB or with a unit"`
	PVOptions string   `arg:"pv_options,default=" doc:"options of pvcreate"`
	PVResize  bool     `arg:"pvresize,default=no" doc:"let physical volumes fill their devices"`
	VGOptions string   `arg:"vg_options,default=" doc:"options of vgcreate"`
	State     string   `arg:"state,default=present,choices=absent|present" doc:"whether the group shall be there"`
	Force     bool     `arg:"force,default=no" doc:"remove a group that has volumes"`
}

func lvg() Module {
	return Define("lvg", "Manage volume groups of LVM", runLVG).In("community.general", "community.general.system")
}

// volumeGroup is one run of lvg.
type volumeGroup struct {
	*Call
	*lvgArgs
	devices []string // wanted, with links followed
	current []string // in the group
}

func runLVG(c *Call, args *lvgArgs) (*Result, error) {
	g := &volumeGroup{Call: c, lvgArgs: args}
	if len(args.PVs) == 0 && args.State == "present" {
		return nil, Failf("No physical volumes given.")
	}
	for _, dev := range args.PVs {
		g.devices = append(g.devices, realPath(dev))
	}
	if args.State == "present" {
		if err := g.inspect(); err != nil {
			return nil, err
		}
	}
	volumes, err := g.volumes()
	if err != nil {
		return nil, err
	}
	switch {
	case args.State == "absent":
		return g.absent(volumes)
	case volumes < 0:
		return g.create()
	}
	return g.adjust()
}

// lvm runs a program of LVM; its failure is the task's, with the message.
func (g *volumeGroup) lvm(msg string, argv ...string) (string, error) {
	out, err := g.tool(argv...)
	if err != nil {
		return "", err
	}
	if out.failed() {
		return "", &Failure{Msg: msg, With: value.DictOf("rc", out.rc, "err", out.errOut)}
	}
	return out.out, nil
}

// inspect looks at the devices and at those of the group.
func (g *volumeGroup) inspect() error {
	for _, dev := range g.devices {
		if !exists(dev) {
			return Failf("Device %s not found.", dev)
		}
	}
	var names []string
	for _, dev := range slices.Concat(g.devices, g.PVs) {
		names = append(names, "pv_name = "+dev)
	}
	filter := strings.Join(names, " || ") + " || vg_name = " + g.VG
	text, err := g.lvm("Failed executing pvs command.", "pvs", "--noheadings", "-o", "pv_name,vg_name", "--separator", ";", "--select", filter)
	if err != nil {
		return err
	}
	for line := range strings.Lines(text) {
		dev, group, _ := strings.Cut(strings.TrimSpace(line), ";")
		if strings.HasPrefix(dev, "/dev/dm-") {
			name, err := g.lvm("Failed executing dmsetup command.", "dmsetup", "info", "-C", "--noheadings", "-o", "name", dev)
			if err != nil {
				return err
			}
			dev = "/dev/mapper/" + strings.TrimRight(name, " \n")
		}
		switch {
		case group == g.VG:
			g.current = append(g.current, realPath(dev))
		case group != "" && slices.Contains(g.devices, dev):
			return Failf("Device %s is already in %s volume group.", dev, group)
		}
	}
	return nil
}

// volumes is how many volumes the group has; negative: there is no such group.
func (g *volumeGroup) volumes() (int, error) {
	text, err := g.lvm("Failed executing vgs command.", "vgs", "--noheadings", "-o", "vg_name,pv_count,lv_count", "--separator", ";")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		if f := strings.Split(strings.TrimSpace(line), ";"); len(f) > 2 && f[0] == g.VG {
			return strconv.Atoi(f[2])
		}
	}
	return -1, nil
}

func (g *volumeGroup) absent(volumes int) (*Result, error) {
	switch {
	case volumes < 0:
		return NewResult(false), nil
	case g.Check:
		return NewResult(true), nil
	case volumes > 0 && !g.Force:
		return nil, Failf("Refuse to remove non-empty volume group %s without force=true", g.VG)
	}
	_, err := g.lvm("Failed to remove volume group "+g.VG, "vgremove", "--force", g.VG)
	return NewResult(true), err
}

func (g *volumeGroup) create() (*Result, error) {
	if g.Check {
		return NewResult(true), nil
	}
	if err := g.initialise(g.devices); err != nil {
		return nil, err
	}
	argv := append([]string{"vgcreate"}, strings.Fields(g.VGOptions)...)
	argv = append(append(argv, "-s", g.PESize, g.VG), g.devices...)
	_, err := g.lvm("Creating volume group '"+g.VG+"' failed", argv...)
	return NewResult(true), err
}

// initialise makes physical volumes.
func (g *volumeGroup) initialise(devices []string) error {
	for _, dev := range devices {
		argv := append([]string{"pvcreate"}, strings.Fields(g.PVOptions)...)
		if _, err := g.lvm("Creating physical volume '"+dev+"' failed", append(argv, "-f", dev)...); err != nil {
			return err
		}
	}
	return nil
}

// adjust brings the devices of the group to those that are wanted.
func (g *volumeGroup) adjust() (*Result, error) {
	changed := false
	if g.PVResize {
		for _, dev := range g.current {
			grown, err := g.grow(dev)
			if err != nil {
				return nil, err
			}
			changed = changed || grown
		}
	}
	without := func(list, other []string) (rest []string) {
		for _, dev := range list {
			if !slices.Contains(other, dev) {
				rest = append(rest, dev)
			}
		}
		return rest
	}
	add, remove := without(g.devices, g.current), without(g.current, g.devices)
	if len(add)+len(remove) == 0 || g.Check {
		return NewResult(changed || len(add)+len(remove) > 0), nil
	}
	if len(add) > 0 {
		if err := g.initialise(add); err != nil {
			return nil, err
		}
		msg := "Unable to extend " + g.VG + " by " + strings.Join(add, " ") + "."
		if _, err := g.lvm(msg, append([]string{"vgextend", g.VG}, add...)...); err != nil {
			return nil, err
		}
	}
	if len(remove) > 0 {
		msg := "Unable to reduce " + g.VG + " by " + strings.Join(remove, " ") + "."
		if _, err := g.lvm(msg, append([]string{"vgreduce", "--force", g.VG}, remove...)...); err != nil {
			return nil, err
		}
	}
	return NewResult(true), nil
}

// grow lets a physical volume fill its device if an extent more has room.
func (g *volumeGroup) grow(dev string) (bool, error) {
	var sizes [4]int
	for i, column := range []string{"dev_size", "pv_size", "pe_start", "vg_extent_size"} {
		out, err := g.tool("pvdisplay", dev, "--units", "b", "--columns", "--noheadings", "--nosuffix", "-o", column)
		if err != nil {
			return false, err
		}
		if sizes[i], err = strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(out.out), " ", "")); err != nil {
			return false, Failf("cannot read the %s of %q from pvdisplay: %q", column, dev, out.out)
		}
	}
	if sizes[0]-(sizes[2]+sizes[1]) <= sizes[3] {
		return false, nil
	}
	if g.Check {
		return true, nil
	}
	_, err := g.lvm("Failed executing pvresize command.", "pvresize", dev)
	return true, err
}
