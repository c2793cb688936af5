package playbook

import (
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/source"
	"play/engine/yamlload"
)

// loopOptions are what loop_control knows; break_when is an extension that
// later versions of Ansible have too.
var loopOptions = []string{"break_when", "extended", "extended_allitems", "index_var", "label", "loop_var", "pause"}

// loop reads loop or with_* and loop_control.
func (d *taskDecoder) loop() {
	f := d.place.file
	if len(d.loops) > 1 {
		second := d.loops[1]
		d.failf(f.Pos(second.KeyNode), "duplicate loop in task: %s", strings.TrimPrefix(second.Name, "with_"))
		return
	}
	if len(d.loops) == 0 {
		if d.control != nil {
			d.loopControl(&Loop{}) // checked, and without effect
		}
		return
	}
	e := d.loops[0]
	l := &Loop{Pos: f.Pos(e.Node), Lookup: strings.TrimPrefix(e.Name, "with_")}
	if e.Name == "loop" {
		l.Lookup = ""
	} else if !d.lookupKnown(e) {
		return
	}
	items, err := f.Value(e.Node)
	if err != nil {
		d.fail(err)
		return
	}
	if items == nil && l.Lookup != "" {
		d.failf(f.Pos(e.KeyNode), "you must specify a value when using %s", e.Name)
		return
	}
	l.Items = items
	d.task.Loop = l
	if d.control != nil {
		d.loopControl(l)
	}
}

// lookupKnown reports whether with_<name> names a lookup, and notes the mistake
// when it does not.
func (d *taskDecoder) lookupKnown(e yamlload.Entry) bool {
	if _, ok := d.env().Describe("lookup", strings.TrimPrefix(e.Name, "with_")); ok {
		return true
	}
	if d.l.IgnoreInvalid {
		d.warn(d.place.file.Pos(e.KeyNode), "Ignoring invalid attribute: "+e.Name)
		return false
	}
	var names []string
	for _, n := range d.env().Names("lookup") {
		names = append(names, "with_"+n)
	}
	d.fail(unknownKeyword(d.on, e.Name, d.place.file.Pos(e.KeyNode), names))
	return false
}

func (d *taskDecoder) loopControl(l *Loop) {
	f := d.place.file
	if f.IsNull(d.control) {
		return
	}
	if d.control.Kind != yaml.MappingNode {
		d.failf(f.Pos(d.control), "the `loop_control` value must be specified as a dictionary and cannot be a variable itself (though it can contain variables)")
		return
	}
	entries, err := f.Entries(d.control)
	if err != nil {
		d.fail(err)
		return
	}
	for _, e := range entries {
		d.loopOption(l, e)
	}
}

func (d *taskDecoder) loopOption(l *Loop, e yamlload.Entry) {
	if e.Name == "break_when" {
		l.BreakWhen = d.conditions(d.place, e.Node)
		return
	}
	fields := map[string]*any{"loop_var": &l.Var, "index_var": &l.IndexVar, "label": &l.Label, "pause": &l.Pause,
		"extended": &l.Extended, "extended_allitems": &l.ExtendedAllItems}
	field := fields[e.Name]
	if field == nil {
		err := source.Errorf(d.place.file.Pos(e.KeyNode), "'%s' is not a valid attribute for a LoopControl", keyText(e))
		if near := source.Nearest(e.Name, loopOptions); near != "" {
			err = err.WithHint("did you mean %q?", near)
		}
		d.fail(err)
		return
	}
	v, err := d.place.file.Value(e.Node)
	d.fail(err)
	*field = v
}
