package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/engine/yamlload"
	"play/modules/value"
)

// roleDocs shows the argument specs of roles on disk.
type roleDocs struct {
	*docs
	host  *host
	dirs  []string // where roles are looked for
	entry string   // the only entry point to show; "": all
	yaml  yamlload.Loader
}

// specs reads a role's entry points; nil: it describes none.
func (r *roleDocs) specs(dir string) (*value.Dict, error) {
	for _, name := range []string{"argument_specs.yml", "argument_specs.yaml", "main.yml", "main.yaml"} {
		path := filepath.Join(dir, "meta", name)
		text, err := os.ReadFile(r.host.path(path))
		if err != nil {
			continue // the next name may be there
		}
		data, err := r.yaml.Data(path, text)
		if err != nil {
			return nil, err
		}
		top, _ := data.(*value.Dict)
		if specs, ok := top.Get("argument_specs"); ok {
			found, _ := specs.(*value.Dict)
			return found, nil
		}
	}
	return nil, nil
}

// all lists the roles that describe their arguments, by name.
func (r *roleDocs) all(show func(name, dir string, specs *value.Dict)) error {
	seen := map[string]bool{}
	for _, parent := range r.dirs {
		found, _ := os.ReadDir(r.host.path(parent)) // a folder that is not there holds no roles
		for _, e := range found {
			dir := filepath.Join(parent, e.Name())
			specs, err := r.specs(dir)
			if err != nil {
				return err
			}
			if specs != nil && !seen[e.Name()] {
				seen[e.Name()] = true
				show(e.Name(), dir, specs)
			}
		}
	}
	return nil
}

func (r *roleDocs) list() error {
	return r.all(func(name, _ string, specs *value.Dict) {
		for point, spec := range specs.All() {
			fmt.Fprintf(r.out, "%-20s %-12s %s\n", name, value.Str(point), text(spec, "short_description"))
		}
	})
}

// show prints the entry points of roles by name.
func (r *roleDocs) show(names []string) error {
	var known []string
	err := r.all(func(name, dir string, specs *value.Dict) {
		known = append(known, name)
		if slices.Contains(names, name) {
			fmt.Fprintf(r.out, "> %s    (%s)\n\n", strings.ToUpper(name), dir)
			r.points(specs)
		}
	})
	for _, name := range names {
		if err == nil && !slices.Contains(known, name) {
			return unknown("role with an argument spec", name, known)
		}
	}
	return err
}

func (r *roleDocs) points(specs *value.Dict) {
	for point, spec := range specs.All() {
		if r.entry != "" && value.Str(point) != r.entry {
			continue
		}
		fmt.Fprintf(r.out, "ENTRY POINT: %s - %s\n\n", value.Str(point), text(spec, "short_description"))
		if long := text(spec, "description"); long != "" {
			fmt.Fprintln(r.out, indented(long))
		}
		r.roleOptions(spec, "")
	}
}

// roleOptions prints the options of an entry point, or of one of its options.
func (r *roleDocs) roleOptions(spec any, indent string) {
	d, _ := spec.(*value.Dict)
	options, _ := d.Get("options")
	list, _ := options.(*value.Dict)
	if list.Len() > 0 && indent == "" {
		fmt.Fprint(r.out, "OPTIONS (= is mandatory):\n\n")
	}
	for name, o := range list.All() {
		mark, kind := "-", first(text(o, "type"), "str")
		if value.Truth(entryOf(o, "required")) {
			mark = "="
		}
		fmt.Fprintf(r.out, "%s%s %s (%s)\n", indent, mark, value.Str(name), kind)
		for line := range strings.Lines(text(o, "description")) {
			fmt.Fprintf(r.out, "%s        %s\n", indent, strings.TrimSuffix(line, "\n"))
		}
		for _, key := range []string{"choices", "default"} {
			if v := entryOf(o, key); v != nil {
				fmt.Fprintf(r.out, "%s        %s: %s\n", indent, key, value.Str(v))
			}
		}
		fmt.Fprintln(r.out)
		r.roleOptions(o, indent+"    ")
	}
}

// entryOf is an entry of a dict; nil: there is none.
func entryOf(v any, key string) any {
	d, _ := v.(*value.Dict)
	found, _ := d.Get(key)
	return found
}

// text is an entry as text: a list is a line each.
func text(v any, key string) string {
	switch found := entryOf(v, key).(type) {
	case nil:
		return ""
	case *value.List:
		var lines []string
		for _, item := range found.Items {
			lines = append(lines, value.Str(item))
		}
		return strings.Join(lines, "\n")
	default:
		return value.Str(found)
	}
}
