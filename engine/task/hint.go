package task

import (
	"fmt"
	"regexp"
	"slices"

	"play/engine/source"
	"play/engine/vars"
	"play/modules/value"
)

// undefinedName finds the variable that an error about an undefined one names.
var undefinedName = regexp.MustCompile(`(?:^|: )'([A-Za-z_][A-Za-z0-9_]*)' is undefined$`)

// undefinedHint says what an undefined variable may have been meant to be: the
// entry near of a dict, a name like it that this host has, or the same one that
// only other hosts have. It is "" when nothing is like it.
func (r *run) undefinedHint(msg, near string) string {
	if near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	m := undefinedName.FindStringSubmatch(msg)
	if m == nil || r.scope == nil {
		return ""
	}
	names := r.scope.Names()
	slices.Sort(names)
	if near = source.Nearest(m[1], names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return r.elsewhere(m[1])
}

// elsewhere names the group, or the host, other than this one that has a
// variable.
func (r *run) elsewhere(name string) string {
	for _, host := range r.otherHosts() {
		scope, err := r.x.Play.Scope(host, r.task)
		if err != nil {
			continue
		}
		if layer := layerOf(scope, name); layer != nil {
			return fmt.Sprintf("host %q has %q, from %s; host %q has not", host, name, layer.Name, r.host)
		}
	}
	return ""
}

// maxOthers is how many other hosts are asked for a variable.
const maxOthers = 50

// otherHosts are the first hosts of the inventory but this one.
func (r *run) otherHosts() (others []string) {
	groups, _ := r.scope.Lookup("groups")
	d, _ := groups.(*value.Dict)
	if d == nil {
		return nil
	}
	all, _ := d.Get("all")
	l, _ := all.(*value.List)
	if l == nil {
		return nil
	}
	for _, item := range l.Items {
		if name, ok := item.(string); ok && name != r.host && len(others) < maxOthers {
			others = append(others, name)
		}
	}
	return others
}

// layerOf is the layer of variables that gives a name its value.
func layerOf(s *vars.Scope, name string) *vars.Layer {
	for _, l := range s.Layers() {
		if _, ok := l.Lookup(name); ok {
			return l
		}
	}
	return nil
}
