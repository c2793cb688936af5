package main

import (
	"fmt"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// moduleData is what is known of a module in the form of ansible-doc --json.
func moduleData(m *documented) *value.Dict {
	options := optionData(m.args)
	for _, o := range m.entry.Options {
		options.Set(o.Name, value.DictOf("description", value.NewList(o.Text)))
	}
	returns := value.NewDict()
	for _, r := range m.entry.Returns {
		returns.Set(r.Name, value.DictOf("description", value.NewList(r.Text)))
	}
	collection := m.names[0][:strings.LastIndexByte(m.names[0], '.')]
	doc := value.DictOf("module", m.name, "collection", collection, "short_description", m.doc,
		"description", value.NewList(m.doc), "options", options, "has_action", m.args == nil)
	return value.DictOf("doc", doc, "examples", m.entry.Examples, "metadata", nil, "return", returns)
}

func optionData(spec *argspec.Spec) *value.Dict {
	out := value.NewDict()
	if spec == nil {
		return out
	}
	for _, o := range spec.Options {
		d := value.DictOf("description", value.NewList(o.Doc), "type", o.Type, "required", o.Required)
		if o.Elements != "" {
			d.Set("elements", o.Elements)
		}
		if o.Default != nil {
			d.Set("default", o.Default)
		}
		if len(o.Choices) > 0 {
			d.Set("choices", value.NewList(o.Choices...))
		}
		if len(o.Aliases) > 0 {
			names := value.NewList()
			for _, a := range o.Aliases {
				names.Append(a)
			}
			d.Set("aliases", names)
		}
		if o.Options != nil {
			d.Set("suboptions", optionData(o.Options))
		}
		out.Set(o.Name, d)
	}
	return out
}

// printData prints data as ansible-doc --json does.
func (d *docs) printData(data any) error {
	text, err := value.EncodeJSON(data, value.JSONOptions{Multiline: true, Indent: "    ", SortKeys: true})
	if err == nil {
		_, err = fmt.Fprintln(d.out, text)
	}
	return err
}

// listData prints the names of a kind with what each is for, or where it stands.
func (d *docs) listData(kind string) error {
	list := value.NewDict()
	if builtin, err := isBuiltin(kind); err != nil {
		return err
	} else if builtin {
		for _, name := range d.env.Names(kind) {
			b, _ := d.env.Describe(kind, name)
			list.Set(name, b.Doc)
		}
		return d.printData(list)
	}
	for _, m := range documentedModules() {
		list.Set(m.names[0], m.doc)
	}
	return d.printData(list)
}

// data prints what is known of modules or functions of templates.
func (d *docs) data(kind string, names []string) error {
	out := value.NewDict()
	for _, name := range names {
		if builtin, err := isBuiltin(kind); err != nil {
			return err
		} else if builtin {
			b, ok := d.env.Describe(kind, name)
			if !ok {
				return unknown(kind, name, d.env.Names(kind))
			}
			out.Set(name, value.DictOf("doc", value.DictOf("name", b.Name, "short_description", b.Doc, "parameters", b.Params)))
			continue
		}
		m, err := d.find(name)
		if err != nil {
			return err
		}
		out.Set(name, moduleData(m))
	}
	return d.printData(out)
}

// dump prints everything that is known.
func (d *docs) dump() error {
	all, kinds := value.NewDict(), value.NewDict()
	for _, m := range documentedModules() {
		kinds.Set(m.names[0], moduleData(&m))
	}
	all.Set("module", kinds)
	return d.printData(value.DictOf("all", all, "version", ansibleVersion))
}

// snippet prints a task with all the options of a module, to be filled in.
func (d *docs) snippet(name string) error {
	m, err := d.find(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "- name: %s\n  %s:\n", m.doc, m.name)
	if m.args != nil {
		for _, o := range m.args.Options {
			mark := ""
			if o.Required {
				mark = "(required) "
			}
			fmt.Fprintf(d.out, "      %-20s # %s%s\n", o.Name+":", mark, o.Doc)
		}
	}
	for _, o := range m.entry.Options {
		fmt.Fprintf(d.out, "      %-20s # %s\n", o.Name+":", o.Text)
	}
	return nil
}

// files lists modules with where they come from.
func (d *docs) files() error {
	for _, m := range documentedModules() {
		fmt.Fprintf(d.out, "%-40s (part of play)\n", m.names[0])
	}
	return nil
}
