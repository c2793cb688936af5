package main

import (
	"fmt"
	"slices"
	"strings"

	"play/action"
	"play/modules"
	"play/modules/argspec"
	"play/modules/moddoc"
	"play/modules/value"
)

// documented is one native module or action, as documentation shows it.
type documented struct {
	name  string   // the short one
	names []string // the full ones, its own first
	doc   string
	args  *argspec.Spec // nil: an action, whose options stand in its entry
	entry moddoc.Entry
}

// documentedModules lists modules and actions by short name.
func documentedModules() []documented {
	var list []documented
	have := map[string]bool{}
	for _, m := range modules.All() {
		if strings.HasPrefix(m.Name, "_") { // of the agent's own
			continue
		}
		e, _ := moddoc.Find(m.Name) // options are shown without one
		entry := documented{m.Name, m.FullNames(), m.Doc, argspec.Of(m.Args), e}
		if e.Options != nil { // its action's; the module is the action's other half
			entry.doc, entry.args = e.Doc, nil
		}
		list = append(list, entry)
		have[m.Name] = true
	}
	for _, name := range action.Names() {
		if e, ok := moddoc.Find(name); ok && !have[name] {
			list = append(list, documented{name, modules.FullNames(name, action.Collections[name]), e.Doc, nil, e})
		}
	}
	slices.SortFunc(list, func(a, b documented) int { return strings.Compare(a.name, b.name) })
	return list
}

func (d *docs) listModules() error {
	for _, m := range documentedModules() {
		fmt.Fprintf(d.out, "%-30s %s\n", m.name, m.doc)
	}
	return nil
}

// module prints one module by its short or a full name.
func (d *docs) module(name string) error {
	m, err := d.find(name)
	if err == nil {
		d.showModule(m)
	}
	return err
}

// find looks a module up by its short or a full name.
func (d *docs) find(name string) (*documented, error) {
	short := strings.TrimPrefix(name, "ansible.legacy.")
	var names []string
	for _, m := range documentedModules() {
		if m.name == short || slices.Contains(m.names, short) {
			return &m, nil
		}
		names = append(names, m.name)
	}
	return nil, unknown("module", name, names)
}

func (d *docs) showModule(m *documented) {
	fmt.Fprintf(d.out, "> %s    (%s)\n\n  %s\n\nOPTIONS (= is mandatory):\n\n", strings.ToUpper(m.name), m.names[0], m.doc)
	d.options(m.args, "")
	for _, o := range m.entry.Options {
		fmt.Fprintf(d.out, "%s\n        %s\n\n", o.Name, o.Text)
	}
	if m.entry.Examples != "" {
		fmt.Fprintf(d.out, "EXAMPLES:\n\n%s\n", indented(m.entry.Examples))
	}
	fmt.Fprint(d.out, "RETURNS:\n\n  changed\n        whether anything was changed, or would be\n")
	for _, r := range m.entry.Returns {
		fmt.Fprintf(d.out, "  %s\n        %s\n", r.Name, r.Text)
	}
	if len(m.entry.Gaps) > 0 {
		fmt.Fprintf(d.out, "\nKNOWN GAPS:\n\n  %s\n", strings.Join(m.entry.Gaps, "\n  "))
	}
	fmt.Fprintln(d.out)
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// options prints the options of a module or of one of its options.
func (d *docs) options(spec *argspec.Spec, indent string) {
	if spec == nil {
		return
	}
	for _, o := range spec.Options {
		mark := "-"
		if o.Required {
			mark = "="
		}
		fmt.Fprintf(d.out, "%s%s %s (%s)\n%s        %s\n", indent, mark, o.Name, o.Type, indent, o.Doc)
		if len(o.Aliases) > 0 {
			fmt.Fprintf(d.out, "%s        aliases: %s\n", indent, strings.Join(o.Aliases, ", "))
		}
		if len(o.Choices) > 0 {
			fmt.Fprintf(d.out, "%s        choices: %s\n", indent, strings.Join(choices(o.Choices), ", "))
		}
		if o.Default != nil {
			fmt.Fprintf(d.out, "%s        default: %s\n", indent, value.Str(o.Default))
		}
		fmt.Fprintln(d.out)
		d.options(o.Options, indent+"    ")
	}
}

func choices(values []any) []string {
	var out []string
	for _, v := range values {
		out = append(out, value.Str(v))
	}
	return out
}
