// Package schema describes the files of the language as JSON Schema (draft
// 2020-12), for editors and checkers. Flowing in: the keywords of package
// playbook and the argument structs of the modules. Flowing out: a document. It
// reads no files and knows no host; "play lint" takes its list of modules.
package schema

import (
	"fmt"
	"slices"
	"strings"

	"play/engine/playbook"
	"play/modules/argspec"
	"play/modules/value"
)

// object is a part of a schema.
type object = map[string]any

// Kinds lists the kinds of files that Of describes.
func Kinds() []string {
	return []string{"playbook", "tasks", "handlers", "role-meta", "inventory", "vars"}
}

// Of returns the schema of a kind of file.
func Of(kind string) (map[string]any, error) {
	root, ok := map[string]object{
		"playbook":  {"type": []string{"array", "null"}, "items": object{"anyOf": []any{ref("play"), ref("import_playbook")}}},
		"tasks":     {"type": []string{"array", "null"}, "items": ref("node")},
		"handlers":  {"type": []string{"array", "null"}, "items": ref("node")},
		"role-meta": ref("meta"), "inventory": ref("inventory"), "vars": ref("vars"),
	}[kind]
	if !ok {
		return nil, fmt.Errorf("cannot make a schema of %q: there are %s", kind, strings.Join(Kinds(), ", "))
	}
	out := object{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "play " + kind, "$defs": definitions(kind)}
	for k, v := range root {
		out[k] = v
	}
	return out, nil
}

func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

func definitions(kind string) object {
	defs := common()
	switch kind {
	case "inventory":
		inventory(defs)
		return defs
	case "role-meta":
		defs["meta"] = meta()
		return defs
	case "vars":
		return defs
	}
	defs["play"], defs["import_playbook"] = play(), importPlaybook()
	defs["nodes"] = object{"type": []string{"array", "null"}, "items": ref("node")}
	defs["node"] = object{"if": object{"type": "object", "required": []string{"block"}}, "then": ref("block"), "else": ref("task")}
	defs["block"], defs["task"] = block(), task()
	for _, m := range Modules() {
		defs[defName(&m)] = module(&m)
	}
	return defs
}

func defName(m *Module) string { return "module_" + m.Names[0] }

// vars are variables by name.
func vars() object {
	return object{"type": []string{"object", "null"}, "propertyNames": object{"pattern": `^[A-Za-z_][A-Za-z0-9_]*$`}}
}

// Shapes of values, by reference.
var (
	boolean  = ref("boolean")
	number   = ref("number")
	text     = ref("text")
	textList = ref("texts")
	cond     = ref("texts")
	tasks    = ref("nodes")
	anything = object{}
)

// common are the shapes that others are made of.
func common() object {
	scalar := []string{"string", "number", "boolean", "null"}
	return object{
		"template": object{"type": "string", "pattern": `\{\{|\{%`},
		"vars":     vars(),
		"boolean": object{"anyOf": []any{object{"type": "boolean"}, ref("template"),
			object{"enum": []any{"yes", "no", "on", "off", "true", "false", "y", "n", "Yes", "No", "True", "False", "1", "0", 1, 0}}}},
		"number": object{"anyOf": []any{object{"type": "number"}, ref("template"), object{"type": "string", "pattern": `^\s*-?[0-9.]+%?\s*$`}}},
		"text":   object{"type": scalar},
		"texts":  object{"anyOf": []any{object{"type": scalar}, object{"type": "array", "items": object{"type": scalar}}}},
	}
}

// shapes are the values of keywords; those that are not here take anything.
var shapes = map[string]object{
	"any_errors_fatal": boolean, "become": boolean, "become_exe": text, "become_flags": text, "become_method": text, "become_user": text,
	"check_mode": boolean, "collections": textList, "connection": text, "delegate_to": text, "delegate_facts": boolean, "diff": boolean,
	"ignore_errors": boolean, "ignore_unreachable": boolean, "name": text, "no_log": boolean, "port": number, "remote_user": text, "run_once": boolean,
	"tags": textList, "throttle": number, "timeout": number, "when": cond, "changed_when": cond, "failed_when": cond, "until": cond,
	"async": number, "poll": number, "delay": number, "retries": number, "register": object{"type": "string", "pattern": `^[A-Za-z_][A-Za-z0-9_]*$|\{\{`},
	"loop_control": object{"type": "object", "additionalProperties": false, "properties": object{"loop_var": text, "index_var": text, "label": anything, "pause": number,
		"extended": boolean, "extended_allitems": boolean, "break_when": cond}},
	"listen": textList, "notify": textList, "fact_path": text, "force_handlers": boolean, "gather_facts": boolean, "gather_subset": textList, "gather_timeout": number,
	"hosts": textList, "max_fail_percentage": number, "order": object{"anyOf": []any{object{"enum": []string{"inventory", "sorted", "reverse_sorted", "reverse_inventory", "shuffle"}}, ref("template")}},
	"strategy": text, "user": text, "pre_tasks": tasks, "tasks": tasks, "post_tasks": tasks, "handlers": tasks, "block": tasks, "rescue": tasks, "always": tasks,
	"vars_files": object{"anyOf": []any{text, object{"type": "array", "items": textList}}},
	"serial":     object{"anyOf": []any{number, object{"type": "array", "items": number}}},
	"debugger":   object{"anyOf": []any{object{"enum": []string{"always", "never", "on_failed", "on_unreachable", "on_skipped"}}, ref("template")}},
	"roles":      object{"type": []string{"array", "null"}, "items": object{"anyOf": []any{object{"type": "string"}, object{"type": "object", "anyOf": []any{object{"required": []string{"role"}}, object{"required": []string{"name"}}}}}}},
	"vars":       object{"anyOf": []any{ref("vars"), object{"type": "array", "items": ref("vars")}}},
}

// keywords are the properties of a noun.
func keywords(noun string) object {
	out := object{}
	for _, name := range playbook.KeywordsOf(noun) {
		shape := shapes[name]
		if shape == nil {
			shape = anything
		}
		out[name] = shape
	}
	return out
}

func play() object {
	return object{"type": "object", "required": []string{"hosts"}, "properties": keywords("play"), "additionalProperties": false}
}

func importPlaybook() object {
	p := keywords("import_playbook")
	p["import_playbook"] = text
	for _, full := range []string{"ansible.builtin.import_playbook", "ansible.legacy.import_playbook"} {
		p[full] = text
	}
	return object{"type": "object", "anyOf": []any{object{"required": []string{"import_playbook"}}, object{"required": []string{"ansible.builtin.import_playbook"}},
		object{"required": []string{"ansible.legacy.import_playbook"}}}, "properties": p, "additionalProperties": false}
}

func block() object {
	return object{"type": "object", "properties": keywords("block"), "additionalProperties": false}
}

// task has the keywords of tasks and handlers, and each module as a property.
func task() object {
	p := keywords("handler")
	for name, shape := range keywords("task") {
		p[name] = shape
	}
	for _, m := range Modules() {
		for _, name := range m.Names {
			p[name] = ref(defName(&m))
		}
	}
	return object{"type": "object", "properties": p, "additionalProperties": false,
		"patternProperties": object{`^with_[a-z_.]+$`: anything, `^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_.]*$`: anything}}
}

// module is what stands behind a module's name: its options, or text.
func module(m *Module) object {
	shape := []any{object{"type": "string"}}
	if m.Free || len(required(m.Spec)) == 0 || m.Open {
		shape = append(shape, object{"type": "null"})
	}
	return object{"description": m.Doc, "anyOf": append(shape, options(m.Spec, m.Open, m.Names[0] != "meta"))}
}

// options is a dict of a spec's options.
func options(spec *argspec.Spec, open, needs bool) object {
	p := object{}
	for _, o := range spec.Options {
		if strings.HasPrefix(o.Name, "_") {
			continue
		}
		for i, name := range append([]string{o.Name}, o.Aliases...) {
			shape := option(&o)
			if i > 0 {
				shape["description"] = "the same as " + o.Name
			}
			p[name] = shape
		}
	}
	out := object{"type": "object", "properties": p, "additionalProperties": open}
	if list := required(spec); needs && len(list) > 0 {
		out["allOf"] = list
	}
	return out
}

// required asks for each required option, under any of its names.
func required(spec *argspec.Spec) []any {
	var all []any
	for _, o := range spec.Options {
		if !o.Required || strings.HasPrefix(o.Name, "_") {
			continue
		}
		var names []any
		for _, name := range append([]string{o.Name}, o.Aliases...) {
			names = append(names, object{"required": []string{name}})
		}
		all = append(all, object{"anyOf": names})
	}
	return all
}

// option is an option's value, or a template that makes it.
func option(o *argspec.Option) object {
	out := object{"description": o.Doc}
	if o.Default != nil {
		out["default"] = plain(o.Default)
	}
	if len(o.Choices) > 0 && o.Type != "list" {
		out["anyOf"] = []any{object{"enum": choices(o.Choices)}, ref("template")}
		return out
	}
	if shape := typed(o); shape != nil {
		out["anyOf"] = append(shape, ref("template"))
	}
	return out
}

// plain is a default as JSON can hold it.
func plain(v any) any {
	switch v := v.(type) {
	case string, bool, int, float64:
		return v
	}
	return value.Str(v)
}

// choices are the allowed values; of "yes" and its like booleans, too, since
// YAML reads them so.
func choices(values []any) []any {
	var out []any
	add := func(v any) {
		if !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	for _, v := range values {
		v = plain(v)
		add(v)
		switch text := strings.ToLower(value.Str(v)); text {
		case "yes", "true", "on":
			add(true)
		case "no", "false", "off":
			add(false)
		}
	}
	return out
}

// typed are the forms in which a value of the option's type may be written; nil
// means any.
func typed(o *argspec.Option) []any {
	str := text
	switch o.Type {
	case "str", "path", "bytes", "bits":
		return []any{str}
	case "bool":
		return []any{boolean}
	case "int", "float":
		return []any{number}
	case "list":
		items := anything
		if o.Elements == "dict" && o.Options != nil {
			items = object{"anyOf": []any{options(o.Options, false, true), object{"type": "string"}}}
		}
		return []any{object{"type": "array", "items": items}, str}
	case "dict":
		shape := object{"type": "object"}
		if o.Options != nil {
			shape = options(o.Options, false, true)
		}
		return []any{shape, object{"type": []string{"string", "null"}}}
	}
	return nil
}

func sorted(list []Module) []Module {
	slices.SortFunc(list, func(a, b Module) int { return strings.Compare(a.Names[0], b.Names[0]) })
	return list
}

func meta() object {
	return object{"type": []string{"object", "null"}, "additionalProperties": false, "properties": object{
		"allow_duplicates": boolean, "collections": textList, "galaxy_info": object{"type": "object"}, "argument_specs": object{"type": "object"},
		"dependencies": object{"type": []string{"array", "null"}, "items": object{"anyOf": []any{object{"type": "string"},
			object{"type": "object", "anyOf": []any{object{"required": []string{"role"}}, object{"required": []string{"name"}}, object{"required": []string{"src"}}}}}}},
	}}
}

// inventory is a YAML inventory: groups by name, or a plugin's settings.
func inventory(defs object) {
	defs["inventory"] = object{"type": "object", "if": object{"required": []string{"plugin"}}, "then": object{"properties": object{"plugin": object{"type": "string"}}},
		"else": object{"additionalProperties": ref("group")}}
	defs["group"] = object{"type": []string{"object", "null"}, "additionalProperties": false, "properties": object{
		"hosts":    object{"anyOf": []any{object{"type": []string{"string", "null"}}, object{"type": "object", "additionalProperties": ref("vars")}}},
		"vars":     ref("vars"),
		"children": object{"anyOf": []any{object{"type": []string{"string", "null"}}, object{"type": "object", "additionalProperties": ref("group")}}},
	}}
}
