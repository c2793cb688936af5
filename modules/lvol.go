package modules

import (
	"math"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// lvolArgs are the arguments of lvol.
type lvolArgs struct {
	VG       string  `arg:"vg,required" doc:"the volume group"`
	LV       *string `arg:"lv" doc:"the volume"`
	Size     *string `arg:"size" doc:"its size, with a unit (MiB without one), or a share such as 50%FREE; with + or - in front to grow or shrink by"`
	Opts     *string `arg:"opts" doc:"options of lvcreate"`
	State    string  `arg:"state,default=present,choices=absent|present" doc:"whether the volume shall be there"`
	Force    bool    `arg:"force,default=no" doc:"allow removing and shrinking"`
	Shrink   bool    `arg:"shrink,default=yes" doc:"shrink a volume that is larger"`
	Active   bool    `arg:"active,default=yes" doc:"whether it shall be active"`
	Snapshot *string `arg:"snapshot" doc:"make a snapshot of this name"`
	PVs      *string `arg:"pvs" doc:"devices to use, with commas between"`
	ResizeFS bool    `arg:"resizefs,default=no" doc:"resize the file system too"`
	ThinPool *string `arg:"thinpool" doc:"the thin pool"`
}

// Rules relates the arguments.
func (lvolArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredOneOf: [][]string{{"lv", "thinpool"}}}
}

func lvol() Module {
	return Define("lvol", "Manage volumes of LVM", runLVOL).In("community.general", "community.general.system")
}

// lvmSize is a size as it was asked for.
type lvmSize struct {
	number   string // without operator and unit; with the % sign and what it is a share of
	operator string // "", + or -
	unit     string // "" for a share
	percent  int
	of       string // VG, PVS or FREE; "": no share
}

// flag is the option that takes the size.
func (s *lvmSize) flag() string {
	if s.of != "" {
		return "-l"
	}
	return "-L"
}

// readLVMSize reads a size.
func readLVMSize(text string) (s lvmSize, err error) {
	s.unit = "m"
	if text != "" && strings.ContainsAny(text[:1], "+-") {
		s.operator, text = text[:1], text[1:]
	}
	s.number = text
	if share, of, ok := strings.Cut(text, "%"); ok {
		s.unit, s.of = "", of
		s.percent, err = strconv.Atoi(share)
		switch {
		case err != nil:
			return s, Failf("Bad size specification of '%s'", text)
		case s.percent > 100:
			return s, Failf("Size percentage cannot be larger than 100%%")
		case of == "ORIGIN":
			return s, Failf("Snapshot Volumes are not supported")
		case of != "VG" && of != "PVS" && of != "FREE":
			return s, Failf("Specify extents as a percentage of VG|PVS|FREE")
		}
		return s, nil
	}
	if text != "" && strings.ContainsAny(text[len(text)-1:], "bskmgtpeBSKMGTPE") {
		s.unit, s.number = text[len(text)-1:], text[:len(text)-1]
	}
	if _, err := strconv.ParseFloat(s.number, 64); err != nil || s.number[0] < '0' || s.number[0] > '9' {
		return s, Failf("Bad size specification of '%s'", s.number)
	}
	return s, nil
}

// logicalVolume is what lvs tells of one.
type logicalVolume struct {
	name                 string
	size                 float64
	active, pool, thinly bool
}

// lvolRun is one run of lvol.
type lvolRun struct {
	*Call
	*lvolArgs
	size                lvmSize
	unit                string // in which sizes are told
	total, free, extent float64
	volumes             []logicalVolume
	yes                 bool // this lvm knows --yes
}

func runLVOL(c *Call, args *lvolArgs) (*Result, error) {
	v := &lvolRun{Call: c, lvolArgs: args, unit: "m"}
	if err := v.version(); err != nil {
		return nil, err
	}
	if args.Size != nil && *args.Size != "" {
		var err error
		if v.size, err = readLVMSize(*args.Size); err != nil {
			return nil, err
		}
		if v.size.of == "" {
			v.unit = strings.ToLower(v.size.unit)
		}
	}
	if gone, err := v.inspect(); gone != nil || err != nil {
		return gone, err
	}
	name, err := v.name()
	if err != nil {
		return nil, err
	}
	short := name[strings.LastIndexByte(name, '/')+1:]
	for i := range v.volumes {
		if n := v.volumes[i].name; n == name || n == short {
			return v.existing(&v.volumes[i])
		}
	}
	if args.State == "absent" {
		return NewResult(false).With("msg", ""), nil
	}
	return v.create()
}

// version asks lvm for its version.
func (v *lvolRun) version() error {
	out, err := v.tool("lvm", "version")
	if err != nil {
		return err
	}
	_, text, _ := strings.Cut(out.out, "LVM version:")
	parts := strings.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	if out.failed() || len(parts) < 3 {
		return Failf("Failed to get LVM version number")
	}
	n := 0
	for _, p := range parts[:3] {
		part, err := strconv.Atoi(p)
		if err != nil {
			return Failf("Failed to get LVM version number")
		}
		n = n*1000 + part
	}
	const firstWithYes = 2_002_099
	v.yes = n >= firstWithYes
	return nil
}

// inspect reads the group and its volumes. A result that is not nil ends the
// run: there is nothing to be absent.
func (v *lvolRun) inspect() (*Result, error) {
	groups, gone, err := v.table("vgs", "vg_name,size,free,vg_extent_size")
	if gone != nil || err != nil {
		return gone, err
	}
	if len(groups) > 0 && len(groups[0]) > 3 {
		for i, into := range []*float64{&v.total, &v.free, &v.extent} {
			*into, _ = strconv.ParseFloat(groups[0][i+1], 64) // lvm's own numbers
		}
	}
	lines, gone, err := v.table("lvs", "lv_name,size,lv_attr", "-a")
	if gone != nil || err != nil {
		return gone, err
	}
	for _, f := range lines {
		if len(f) < 3 || len(f[2]) < 5 {
			continue
		}
		size, _ := strconv.ParseFloat(f[1], 64) // lvm's own number
		v.volumes = append(v.volumes, logicalVolume{strings.Trim(f[0], "[]"), size, f[2][4] == 'a', f[2][0] == 't', f[2][0] == 'V'})
	}
	return nil, nil
}

// table runs vgs or lvs and splits its lines.
func (v *lvolRun) table(program, columns string, first ...string) (lines [][]string, gone *Result, err error) {
	argv := append([]string{program}, first...)
	argv = append(argv, "--noheadings", "--nosuffix", "-o", columns, "--units", v.unit, "--separator", ";", v.VG)
	out, err := v.tool(argv...)
	if err != nil {
		return nil, nil, err
	}
	msg := "Volume group " + v.VG + " does not exist."
	if out.failed() && v.State == "absent" {
		return nil, NewResult(false).With("stdout", msg), nil
	}
	if out.failed() {
		return nil, nil, &Failure{Msg: msg, With: value.DictOf("rc", out.rc, "err", out.errOut)}
	}
	for line := range strings.Lines(out.out) {
		lines = append(lines, strings.Split(strings.TrimSpace(line), ";"))
	}
	return lines, nil, nil
}

func (v *lvolRun) find(name string) *logicalVolume {
	for i := range v.volumes {
		if v.volumes[i].name == name {
			return &v.volumes[i]
		}
	}
	return nil
}

// name is the volume that the task is about.
func (v *lvolRun) name() (string, error) {
	lv, pool := textOr(v.LV), textOr(v.ThinPool)
	switch {
	case textOr(v.Snapshot) != "":
		origin := v.find(lv)
		if origin == nil && pool != "" {
			origin = v.find(pool)
		}
		if origin == nil {
			return "", Failf("Snapshot origin LV %s does not exist in volume group %s.", lv, v.VG)
		}
		if origin.pool || pool != "" {
			return "", Failf("Snapshots of thin pool LVs are not supported.")
		}
		return *v.Snapshot, nil
	case pool != "" && lv != "" && v.find(pool) == nil:
		return "", Failf("Thin pool LV %s does not exist in volume group %s.", pool, v.VG)
	case lv == "":
		return pool, nil
	}
	return lv, nil
}

// trial are the words that keep lvm from changing anything in check mode.
func (v *lvolRun) trial() []string {
	if v.Check {
		return []string{"--test"}
	}
	return nil
}

func (v *lvolRun) devices() []string {
	return strings.Fields(strings.ReplaceAll(textOr(v.PVs), ",", " "))
}

func (v *lvolRun) create() (*Result, error) {
	lv, pool, snapshot := textOr(v.LV), textOr(v.ThinPool), textOr(v.Snapshot)
	if v.size.operator == "-" || v.size.operator != "" && v.size.of == "" {
		return nil, Failf("Bad size specification of '%s%s' for creating LV", v.size.operator, v.size.number)
	}
	if v.size.number == "" {
		if origin := v.find(lv); snapshot == "" || origin == nil || !origin.thinly {
			return nil, Failf("No size given.")
		}
	}
	argv := append([]string{"lvcreate"}, v.trial()...)
	if v.yes {
		argv = append(argv, "--yes")
	}
	size := []string{v.size.flag(), v.size.number + v.size.unit}
	opts := strings.Fields(textOr(v.Opts))
	switch {
	case snapshot != "":
		if v.size.number != "" {
			argv = append(argv, size...)
		}
		argv = append(append(append(argv, "-s", "-n", snapshot), opts...), v.VG+"/"+lv)
	case pool != "" && lv != "":
		if v.size.of != "" {
			return nil, &Failure{Msg: "Thin volume sizing with percentage not supported.", With: value.DictOf("changed", false)}
		}
		argv = append(append(append(argv, "-n", lv, "-V", size[1]), opts...), "-T", v.VG+"/"+pool)
	case pool != "":
		argv = append(append(append(argv, size...), opts...), "-T", v.VG+"/"+pool)
	default:
		argv = append(append(append(append(argv, "-n", lv), size...), opts...), v.VG)
		argv = append(argv, v.devices()...)
	}
	out, err := v.tool(argv...)
	if err != nil {
		return nil, err
	}
	if out.failed() {
		return nil, lvmFailure("Creating logical volume '"+value.Str(orNil(v.LV))+"' failed", out)
	}
	return NewResult(true).With("msg", ""), nil
}

func lvmFailure(msg string, out *toolOutcome) error {
	return &Failure{Msg: msg, With: value.DictOf("rc", out.rc, "err", out.errOut)}
}

// existing removes, resizes and switches a volume that is there.
func (v *lvolRun) existing(lv *logicalVolume) (*Result, error) {
	if v.State == "absent" {
		if !v.Force {
			return nil, Failf("Sorry, no removal of logical volume %s without force=true.", lv.name)
		}
		argv := append(append([]string{"lvremove"}, v.trial()...), "--force", v.VG+"/"+lv.name)
		out, err := v.tool(argv...)
		if err == nil && out.failed() {
			err = lvmFailure("Failed to remove logical volume "+value.Str(orNil(v.LV)), out)
		}
		return NewResult(true), err
	}
	changed := false
	if v.size.number != "" {
		argv, err := v.resizing(lv)
		if err != nil {
			return nil, err
		}
		if argv != nil {
			same, err := v.resize(lv, argv)
			if same != nil || err != nil {
				return same, err
			}
			changed = true
		}
	}
	return v.activate(lv, changed)
}

// resizing is the program that resizes, nil when the size is right.
func (v *lvolRun) resizing(lv *logicalVolume) ([]string, error) {
	if v.size.of != "" {
		return v.resizingToShare(lv)
	}
	size, _ := strconv.ParseFloat(v.size.number, 64) // it was checked when it was read
	switch {
	case size > lv.size || v.size.operator == "+":
		return []string{"lvextend"}, nil
	case !(v.Shrink && size < lv.size) && v.size.operator != "-":
		return nil, nil
	case size == 0:
		return nil, Failf("Sorry, no shrinking of %s to 0 permitted.", lv.name)
	case !v.Force:
		return nil, Failf("Sorry, no shrinking of %s without force=true.", lv.name)
	}
	return []string{"lvreduce", "--force"}, nil
}

func (v *lvolRun) resizingToShare(lv *logicalVolume) ([]string, error) {
	of := v.total
	if v.size.of == "FREE" {
		of = v.free
	}
	wanted := float64(v.size.percent) * of / 100
	switch v.size.operator {
	case "+":
		wanted += lv.size
	case "-":
		wanted = lv.size - wanted
	}
	if v.extent > 0 {
		wanted -= math.Mod(wanted, v.extent)
	}
	switch {
	case lv.size < wanted && v.free > 0 && v.free >= wanted-lv.size:
		return []string{"lvextend"}, nil
	case lv.size < wanted:
		return nil, Failf("Logical Volume %s could not be extended. Not enough free space left (%s%s required / %s%s available)",
			lv.name, value.FloatRepr(wanted-lv.size), v.unit, value.FloatRepr(v.free), v.unit)
	case !v.Shrink || lv.size <= wanted+v.extent:
		return nil, nil
	case wanted < 1:
		return nil, Failf("Sorry, no shrinking of %s to 0 permitted.", lv.name)
	case !v.Force:
		return nil, Failf("Sorry, no shrinking of %s without force=true", lv.name)
	}
	return []string{"lvreduce", "--force"}, nil
}

// resize runs the program. A result that is not nil says that the size was right
// after all.
func (v *lvolRun) resize(lv *logicalVolume, argv []string) (*Result, error) {
	if v.ResizeFS {
		argv = append(argv, "--resizefs")
	}
	argv = append(append(argv, v.trial()...), v.size.flag(), v.size.operator+v.size.number+v.size.unit, v.VG+"/"+lv.name)
	out, err := v.tool(append(argv, v.devices()...)...)
	if err != nil {
		return nil, err
	}
	msg := "Unable to resize " + value.Str(orNil(v.LV)) + " to " + v.size.number + v.size.unit
	same := NewResult(false).With("vg", v.VG).With("lv", lv.name).With("size", lv.size)
	switch {
	case strings.Contains(out.out, "Reached maximum COW size"):
		return nil, &Failure{Msg: msg, With: value.DictOf("rc", out.rc, "err", out.errOut, "out", out.out)}
	case !out.failed():
		return nil, nil
	case strings.Contains(out.errOut, "matches existing size"):
		return same, nil
	case strings.Contains(out.errOut, "not larger than existing size"):
		return same.With("msg", "Original size is larger than requested size").With("err", out.errOut), nil
	}
	return nil, lvmFailure(msg, out)
}

// activate switches the volume on or off.
func (v *lvolRun) activate(lv *logicalVolume, changed bool) (*Result, error) {
	flag, word := "-an", "deactivate"
	if v.Active {
		flag, word = "-ay", "activate"
	}
	if !v.Check {
		out, err := v.tool("lvchange", flag, v.VG+"/"+lv.name)
		if err != nil {
			return nil, err
		}
		if out.failed() {
			return nil, lvmFailure("Failed to "+word+" logical volume "+value.Str(orNil(v.LV)), out)
		}
	}
	return NewResult(changed || lv.active != v.Active).With("vg", v.VG).With("lv", lv.name).With("size", lv.size), nil
}
