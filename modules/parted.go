package modules

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/shellquote"
	"play/modules/value"
)

// partedArgs are the arguments of parted.
type partedArgs struct {
	Device    string   `arg:"device,required" doc:"the disk"`
	Align     string   `arg:"align,default=optimal,choices=cylinder|minimal|none|optimal|undefined" doc:"how partitions are aligned"`
	Number    *int     `arg:"number" doc:"the partition"`
	Unit      string   `arg:"unit,default=KiB,choices=B|KB|MB|GB|TB|KiB|MiB|GiB|TiB|s|%|cyl|chs|compact" doc:"unit of the result"`
	Label     string   `arg:"label,default=msdos,choices=aix|amiga|bsd|dvh|gpt|loop|mac|msdos|pc98|sun" doc:"kind of the partition table; another one is replaced"`
	PartType  string   `arg:"part_type,default=primary,choices=extended|logical|primary" doc:"kind of the partition"`
	PartStart string   `arg:"part_start,default=0%" doc:"where the partition begins, with a unit"`
	PartEnd   string   `arg:"part_end,default=100%" doc:"where it ends, with a unit"`
	FSType    *string  `arg:"fs_type" doc:"file system that the partition is marked for"`
	Name      *string  `arg:"name" doc:"name of the partition"`
	Flags     []string `arg:"flags" doc:"the flags that shall be set"`
	State     string   `arg:"state,default=info,choices=absent|info|present" doc:"whether the partition shall be there; info only looks"`
	Resize    bool     `arg:"resize,default=no" doc:"move the end of a partition that is there"`
}

// Rules relates the arguments.
func (partedArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredIf: []argspec.RequiredIf{
		{Name: "state", Value: "present", Needs: []string{"number"}}, {Name: "state", Value: "absent", Needs: []string{"number"}}}}
}

func parted() Module {
	return Define("parted", "Manage partitions of disks", runParted).In("community.general", "community.general.system")
}

// partedRun is one run of parted.
type partedRun struct {
	*Call
	*partedArgs
	path    string
	scripts string // what was done, as parted's commands
	changed bool
	disk    *value.Dict
	parts   []*value.Dict
}

func runParted(c *Call, args *partedArgs) (*Result, error) {
	path, err := c.needTool("parted")
	if err != nil {
		return nil, err
	}
	p := &partedRun{Call: c, partedArgs: args, path: path}
	if args.Number != nil && *args.Number < 1 {
		return nil, Failf("The partition number must be greater then 0.")
	}
	for _, bound := range []struct{ name, text string }{{"part_start", args.PartStart}, {"part_end", args.PartEnd}} {
		size, unit, err := partedSize(bound.text, "")
		if err != nil {
			return nil, err
		}
		if !slices.Contains(partedUnits(), unit) {
			return nil, &Failure{Msg: "The argument '" + bound.name + "' doesn't respect required format.The size unit is case sensitive.",
				With: value.DictOf("err", value.NewList(size, unit))}
		}
	}
	if err := p.look(); err != nil {
		return nil, err
	}
	if err := p.act(); err != nil {
		return nil, err
	}
	if err := p.look(); err != nil {
		return nil, err
	}
	parts := value.NewList()
	for _, part := range p.parts {
		parts.Append(part)
	}
	return NewResult(p.changed).With("disk", p.disk).With("partitions", parts).With("script", strings.TrimSpace(p.scripts)), nil
}

func (p *partedRun) act() error {
	switch p.State {
	case "info":
		p.scripts = "unit '" + p.Unit + "' print"
		return nil
	case "absent":
		if p.part() == nil && !p.Check {
			return nil
		}
		return p.script("rm " + strconv.Itoa(*p.Number) + " ")
	}
	if err := p.layout(); err != nil {
		return err
	}
	return p.describe()
}

// part is the partition of the wanted number, or nil.
func (p *partedRun) part() *value.Dict {
	for _, part := range p.parts {
		if n, _ := part.Get("num"); n == *p.Number {
			return part
		}
	}
	return nil
}

// layout makes the table and the partition, and resizes it.
func (p *partedRun) layout() error {
	script := ""
	table, _ := p.disk.Get("table")
	if table != p.Label {
		script = "mklabel " + p.Label + " "
	}
	part := p.part()
	if script != "" || part == nil {
		script += "mkpart " + p.PartType + " "
		if p.FSType != nil {
			script += *p.FSType + " "
		}
		script += p.PartStart + " " + p.PartEnd + " "
	}
	if script != "" {
		script = "unit " + p.Unit + " " + script
	}
	if p.Resize && part != nil {
		moves, err := p.moves(part)
		if err != nil {
			return err
		}
		if moves {
			script += "resizepart " + strconv.Itoa(*p.Number) + " " + p.PartEnd + " "
		}
	}
	if script == "" {
		return nil
	}
	if err := p.script(script); err != nil || p.Check {
		return err
	}
	return p.look()
}

// moves tells whether the partition's end is another than the wanted one.
func (p *partedRun) moves(part *value.Dict) (bool, error) {
	end, _ := part.Get("end")
	now, ok := end.(float64)
	if !ok {
		return false, Failf("cannot resize with sizes in %s: choose another unit", p.Unit)
	}
	wanted, unit, err := partedSize(p.PartEnd, p.Unit)
	if err != nil {
		return false, err
	}
	size, ok := wanted.(float64)
	if !ok {
		return false, Failf("cannot resize to %q: give a size", p.PartEnd)
	}
	if unit == "%" {
		whole, _ := p.disk.Get("size")
		all, _ := whole.(float64)
		size, unit = math.Trunc(math.Trunc(all)*size/100), p.Unit
	}
	return partedBytes(now, p.Unit) != partedBytes(size, unit), nil
}

// describe sets name and flags.
func (p *partedRun) describe() error {
	part, number, script := p.part(), strconv.Itoa(*p.Number), ""
	if p.changed && p.Check {
		part = value.DictOf("flags", value.NewList())
	}
	if part == nil {
		return nil
	}
	if name, _ := part.Get("name"); p.Name != nil && name != *p.Name {
		script += "name " + number + ` '"` + *p.Name + `"' `
	}
	if len(p.Flags) > 0 {
		wanted := slices.Clone(p.Flags)
		if slices.Contains(wanted, "esp") && !slices.Contains(wanted, "boot") {
			wanted = append(wanted, "boot")
		}
		script += flagScript(number, wanted, part)
	}
	if script == "" {
		return nil
	}
	return p.script("unit " + p.Unit + " " + script)
}

func flagScript(number string, wanted []string, part *value.Dict) (script string) {
	v, _ := part.Get("flags")
	list, _ := v.(*value.List)
	var set []string
	for _, f := range list.Items {
		set = append(set, value.Str(f))
	}
	for _, f := range wanted {
		if !slices.Contains(set, f) {
			script += "set " + number + " " + f + " on "
		}
	}
	for _, f := range set {
		if !slices.Contains(wanted, f) {
			script += "set " + number + " " + f + " off "
		}
	}
	return script
}

// script runs parted's commands, unless in check mode.
func (p *partedRun) script(script string) error {
	p.changed = true
	p.scripts += script
	if p.Check {
		return nil
	}
	command := p.path + " -s -m "
	if p.Align != "undefined" {
		command += "-a " + p.Align
	}
	command += " " + p.Device + " -- " + script
	return p.run(command, "Error while running parted script: "+strings.TrimSpace(command), func(*toolOutcome) error { return nil })
}

// run runs a command line and hands on what it printed.
func (p *partedRun) run(command, failure string, use func(*toolOutcome) error) error {
	argv, err := shellquote.Split(command)
	if err != nil {
		return Failf("%v", err)
	}
	out, err := p.tool(argv...)
	if err != nil {
		return err
	}
	if out.failed() && !(strings.HasSuffix(command, "print") && strings.Contains(out.errOut, "unrecognised disk label")) {
		return &Failure{Msg: failure, With: value.DictOf("rc", out.rc, "out", out.out, "err", out.errOut)}
	}
	return use(out)
}

// look reads the disk and its partitions.
func (p *partedRun) look() error {
	command := p.path + " -s -m " + p.Device + " -- unit '" + p.Unit + "' print"
	return p.run(command, "Error while getting device information with parted script: '"+command+"'", p.read)
}

// read reads what parted prints for machines: a line with the unit, one for the
// disk, in cylinders one for its geometry, and one for each partition.
func (p *partedRun) read(out *toolOutcome) error {
	var lines [][]string
	for line := range strings.Lines(out.out) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, strings.Split(strings.TrimRight(line, ";"), ":"))
		}
	}
	if len(lines) < 2 || len(lines[1]) < 7 {
		return Failf("Error interpreting parted size output: '%s'", out.out)
	}
	d := lines[1]
	size, unit, err := partedSize(d[1], p.Unit)
	if err != nil {
		return err
	}
	logical, _ := strconv.Atoi(d[3])
	physical, _ := strconv.Atoi(d[4])
	p.disk = value.DictOf("dev", d[0], "size", size, "unit", strings.ToLower(unit), "table", d[5], "model", d[6],
		"logical_block", logical, "physical_block", physical)
	lines = lines[2:]
	if (unit == "cyl" || unit == "chs") && len(lines) > 0 && len(lines[0]) >= 4 {
		if err := p.geometry(lines[0]); err != nil {
			return err
		}
		lines = lines[1:]
	}
	p.parts = nil
	for _, line := range lines {
		part, err := partedPart(line, unit)
		if err != nil {
			return err
		}
		p.parts = append(p.parts, part)
	}
	return nil
}

func (p *partedRun) geometry(f []string) error {
	size, unit, err := partedSize(f[3], "")
	if err != nil {
		return err
	}
	n := make([]int, 3)
	for i := range n {
		n[i], _ = strconv.Atoi(f[i])
	}
	p.disk.Set("chs_info", value.DictOf("cylinders", n[0], "heads", n[1], "sectors", n[2], "cyl_size", size, "cyl_size_unit", strings.ToLower(unit)))
	return nil
}

func partedPart(f []string, unit string) (*value.Dict, error) {
	var size any = ""
	rest := 3
	if unit != "chs" {
		rest = 4
	}
	if len(f) < rest+3 {
		return nil, Failf("Error interpreting parted size output: '%s'", strings.Join(f, ":"))
	}
	bounds := make([]any, 3)
	for i := range rest - 1 {
		var err error
		if bounds[i], _, err = partedSize(f[i+1], unit); err != nil {
			return nil, err
		}
	}
	if rest == 4 {
		size = bounds[2]
	}
	flags := value.NewList()
	for _, flag := range strings.Split(f[rest+2], ", ") {
		if flag != "" {
			flags.Append(strings.TrimSpace(flag))
		}
	}
	number, _ := strconv.Atoi(f[0])
	return value.DictOf("num", number, "begin", bounds[0], "end", bounds[1], "size", size, "fstype", f[rest], "name", f[rest+1],
		"flags", flags, "unit", strings.ToLower(unit)), nil
}

func partedUnits() []string {
	return []string{"B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB", "s", "%", "cyl", "chs", "compact"}
}

// partedSize reads "10.5GiB", or "cylinder,head,sector".
func partedSize(text, unit string) (size any, of string, err error) {
	if chs := strings.Split(text, ","); len(chs) == 3 {
		d := value.NewDict()
		for i, name := range []string{"cylinder", "head", "sector"} {
			n, err := strconv.Atoi(chs[i])
			if err != nil {
				return nil, "", Failf("Error interpreting parted size output: '%s'", text)
			}
			d.Set(name, n)
		}
		return d, "chs", nil
	}
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.' || end == 0 && text[end] == '-') {
		end++
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	rest := strings.TrimLeft(text[end:], " ")
	if err != nil || strings.ContainsAny(rest, " .,:;-") {
		return nil, "", Failf("Error interpreting parted size output: '%s'", text)
	}
	if rest != "" {
		unit = rest
	}
	return n, unit, nil
}

// partedBytes is a size in bytes; in blocks and percents the number itself.
func partedBytes(size float64, unit string) float64 {
	if i := slices.Index([]string{"B", "KB", "MB", "GB", "TB"}, unit); i >= 0 {
		return math.Trunc(size * math.Pow(1000, float64(i)))
	}
	if i := slices.Index([]string{"KiB", "MiB", "GiB", "TiB"}, unit); i >= 0 {
		return math.Trunc(size * math.Pow(1024, float64(i+1)))
	}
	if unit == "compact" || unit == "cyl" || unit == "chs" || unit == "" {
		return math.Trunc(size * 1e6)
	}
	return math.Trunc(size)
}
