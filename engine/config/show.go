package config

import (
	"fmt"
	"slices"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// Kinds are what a Choice takes: the core's options, those of one type of
// plugin, or all.
var Kinds = []string{"all", "base", "become", "cache", "callback", "cliconf", "connection", "httpapi", "inventory", "lookup", "netconf", "shell", "vars"}

// Choice says which options are shown.
type Choice struct {
	Kind    string   // one of Kinds; "" is base
	Plugins []string // of that kind; none: all of them
}

func (c Choice) takes(o Option) bool {
	kind, rest, ofPlugin := strings.Cut(o.Name, ".")
	switch {
	case c.Kind == "all":
		return true
	case c.Kind == "" || c.Kind == "base":
		return !ofPlugin
	case !ofPlugin || kind != c.Kind:
		return false
	}
	plugin, _, _ := strings.Cut(rest, ".")
	return len(c.Plugins) == 0 || slices.Contains(c.Plugins, plugin)
}

// Entries lists the chosen options as "config dump" in JSON or YAML does: name,
// value, origin; with changed only those that are not at their default.
func (c *Config) Entries(choice Choice, changed bool) *value.List {
	list := value.NewList()
	for _, name := range c.names {
		v := c.values[name]
		if !choice.takes(v.Option) {
			continue
		}
		if name == fileOption {
			v = &Value{Option: v.Option}
			if c.File != "" {
				v.Value = c.File
			}
			list.Append(value.DictOf("name", name, "origin", "", "type", nil, "value", v.Value))
		} else if !changed || v.Origin() != "default" {
			list.Append(value.DictOf("name", name, "origin", v.Origin(), "type", nil, "value", v.Value))
		}
	}
	return list
}

// Table describes the chosen options: type, default, choices, and where they can
// be set; of those that are set, value and origin.
func (c *Config) Table(choice Choice) *value.Dict {
	table := value.NewDict()
	for _, name := range c.names {
		v := c.values[name]
		if choice.takes(v.Option) {
			table.Set(name, v.describe())
		}
	}
	return table
}

func (v *Value) describe() *value.Dict {
	d := value.DictOf("default", v.written(), "type", v.typeName())
	env, ini, choices := value.NewList(), value.NewList(), value.NewList()
	for _, name := range v.Option.Env {
		env.Append(value.DictOf("name", name))
	}
	for _, place := range v.Ini {
		section, key, _ := strings.Cut(place, ".")
		ini.Append(value.DictOf("key", key, "section", section))
	}
	for _, c := range v.Choices {
		choices.Append(c)
	}
	for name, list := range map[string]*value.List{"env": env, "ini": ini, "choices": choices} {
		if list.Len() > 0 {
			d.Set(name, list)
		}
	}
	if v.Origin() != "default" {
		d.Set("value", v.Value)
		d.Set("origin", v.Origin())
	}
	return d
}

// typeName is an option's type as people write it.
func (o Option) typeName() string {
	switch o.Type {
	case "":
		return "string"
	case "bool":
		return "boolean"
	case "int":
		return "integer"
	case "tmp":
		return "tmppath"
	}
	return o.Type
}

// written is the default as the table of options has it, with its templates.
func (o Option) written() any {
	v, err := value.DecodeJSON([]byte(o.Default))
	if err != nil {
		panic(err) // the tables are part of the program, and checked when read
	}
	return v
}

// Forms are what Init writes: an ansible.cfg, a shell's variables, a vars file.
var Forms = []string{"ini", "env", "vars"}

// Init writes a first configuration with every chosen option at its default, in
// one of the Forms. With disabled each is commented out.
func (c *Config) Init(choice Choice, form string, disabled bool) string {
	var options []Option
	for _, name := range c.names {
		if o := c.values[name].Option; choice.takes(o) {
			options = append(options, o)
		}
	}
	switch form {
	case "env":
		return initEnv(options, disabled)
	case "vars":
		return initVars(options, disabled)
	}
	return initINI(options, disabled)
}

func initINI(options []Option, disabled bool) string {
	var order []string
	sections, seen := map[string]*strings.Builder{}, map[string]bool{}
	for _, o := range options {
		if len(o.Ini) == 0 || seen[o.Ini[len(o.Ini)-1]] {
			continue
		}
		place := o.Ini[len(o.Ini)-1]
		seen[place] = true
		section, key, _ := strings.Cut(place, ".")
		if sections[section] == nil {
			sections[section] = &strings.Builder{}
			order = append(order, section)
		}
		also := ""
		if len(o.Env) > 0 {
			also = "; also " + o.Env[len(o.Env)-1]
		}
		fmt.Fprintf(sections[section], "# %s%s\n%s%s=%s\n\n", o.about(), also, mark(disabled, ";"), key, iniText(o.written()))
	}
	var out strings.Builder
	for _, name := range order {
		fmt.Fprintf(&out, "[%s]\n%s\n", name, sections[name])
	}
	return out.String()
}

func initEnv(options []Option, disabled bool) string {
	var out strings.Builder
	for _, o := range options {
		if len(o.Env) == 0 || o.Env[0][0] == '_' { // the latter are not for people
			continue
		}
		text := iniText(o.written())
		switch v := o.written().(type) {
		case bool:
			text = map[bool]string{false: "0", true: "1"}[v]
		case string:
			text = shellquote.Quote(text)
		case *value.List:
			if v.Len() > 0 {
				text = shellquote.Quote(text)
			}
		}
		fmt.Fprintf(&out, "# %s: %s\n%s%s=%s\n\n", o.Name, o.about(), mark(disabled, "#"), o.Env[len(o.Env)-1], text)
	}
	return out.String()
}

func initVars(options []Option, disabled bool) string {
	var out strings.Builder
	for _, o := range options {
		if name, ok := asVariable[o.Name]; ok {
			text := iniText(o.written())
			switch v := o.written().(type) {
			case *value.List:
				text = "[" + text + "]"
			case bool:
				text = fmt.Sprint(v)
			}
			fmt.Fprintf(&out, "# %s: %s\n%s%s: %s\n\n", o.Name, o.about(), mark(disabled, "#"), name, text)
		}
	}
	return out.String()
}

// asVariable are the core's options that hosts may set by a variable.
var asVariable = map[string]string{
	"DEFAULT_NO_TARGET_SYSLOG": "ansible_no_target_syslog", "FACTS_MODULES": "ansible_facts_modules", "INTERPRETER_PYTHON": "ansible_python_interpreter",
	"PYTHON_MODULE_RLIMIT_NOFILE": "ansible_python_module_rlimit_nofile", "WIN_ASYNC_STARTUP_TIMEOUT": "ansible_win_async_startup_timeout",
}

// about says of what type an option is, and what it may be.
func (o Option) about() string {
	if len(o.Choices) == 0 {
		return o.typeName()
	}
	return o.typeName() + ": " + strings.Join(o.Choices, ", ")
}

func mark(disabled bool, sign string) string {
	if disabled {
		return sign
	}
	return ""
}

// iniText is a default as an ansible.cfg has it.
func iniText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case *value.List:
		texts := make([]string, v.Len())
		for i, item := range v.Items {
			texts[i] = value.Str(item)
		}
		return strings.Join(texts, ", ")
	}
	return value.Str(v)
}
