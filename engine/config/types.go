package config

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// value finds an option's text, environment before file before default, and
// reads it by its type.
func (l *loader) value(o Option, file *iniFile) (*Value, error) {
	v := &Value{Option: o}
	text, set := "", false
	for _, place := range o.Ini {
		if e, ok := file.get(place); ok {
			text, set, v.Pos = e.value, true, e.pos
		}
	}
	for _, name := range o.Env {
		if t, ok := l.env[name]; ok {
			text, set, v.Env, v.Pos = t, true, name, source.Pos{}
		}
	}
	if !set {
		return v, l.defaultValue(v)
	}
	base := l.Dir
	if !v.Pos.IsZero() {
		base = filepath.Dir(v.Pos.File)
	}
	var err error
	if v.Value, err = l.typed(o, unquoted(text), base); err != nil {
		return nil, source.Errorf(placeOf(v), "cannot use %q as %s: %w", text, o.Name, err)
	}
	return v, nil
}

// placeOf is where a value was set; a variable's name stands for a file.
func placeOf(v *Value) source.Pos {
	if v.Env != "" {
		return source.Pos{File: v.Env}
	}
	return v.Pos
}

// unquoted takes matching quotes off a value.
func unquoted(s string) string {
	if len(s) > 1 && s[0] == s[len(s)-1] && (s[0] == '"' || s[0] == '\'') && s[len(s)-2] != '\\' {
		return s[1 : len(s)-1]
	}
	return s
}

// homeDefault is a default below ANSIBLE_HOME.
var homeDefault = regexp.MustCompile(`\{\{ ANSIBLE_HOME ~ "([^"]*)" \}\}`)

func (l *loader) defaultValue(v *Value) error {
	d, err := value.DecodeJSON([]byte(v.Default))
	if err != nil {
		return fmt.Errorf("cannot read the default of %s: %w", v.Name, err)
	}
	text, isText := d.(string)
	if !isText {
		v.Value = d
		return nil
	}
	text = homeDefault.ReplaceAllStringFunc(text, func(m string) string {
		return l.ansibleHome() + homeDefault.FindStringSubmatch(m)[1]
	})
	v.Value, err = l.typed(v.Option, text, l.Dir)
	return err
}

// ansibleHome is ~/.ansible unless ANSIBLE_HOME says otherwise.
func (l *loader) ansibleHome() string {
	if h := l.env["ANSIBLE_HOME"]; h != "" {
		return l.absolute(expandUser(h, l.Home), l.Dir)
	}
	return filepath.Join(l.Home, ".ansible")
}

// typed reads text as a value of the option's type; paths are relative to base.
func (l *loader) typed(o Option, text, base string) (any, error) {
	if len(o.Choices) > 0 && o.Type != "list" && text != "" && !slices.Contains(o.Choices, text) {
		return nil, fmt.Errorf("the choices are %s", strings.Join(o.Choices, ", "))
	}
	switch o.Type {
	case "bool":
		return isTrue(text), nil
	case "int":
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("it must be a whole number")
		}
		return n, nil
	case "float":
		f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, fmt.Errorf("it must be a number")
		}
		return f, nil
	case "list":
		return stringList(split(text, ",")), nil
	case "pathlist":
		return stringList(l.paths(split(text, ","), base)), nil
	case "pathspec":
		return stringList(l.paths(split(text, ":"), base)), nil
	case "path", "tmp":
		return l.resolve(text, base), nil
	}
	return text, nil
}

// isTrue reads a boolean; every other word is false.
func isTrue(text string) bool {
	return slices.Contains([]string{"y", "yes", "on", "1", "true", "t", "1.0"}, strings.ToLower(strings.TrimSpace(text)))
}

func split(text, sep string) []string {
	var items []string
	for _, item := range strings.Split(text, sep) {
		items = append(items, strings.TrimSpace(item))
	}
	return slices.DeleteFunc(items, func(s string) bool { return s == "" })
}

func stringList(items []string) *value.List {
	list := value.NewList()
	for _, s := range items {
		list.Append(s)
	}
	return list
}

func (l *loader) paths(items []string, base string) []string {
	for i, p := range items {
		if !strings.Contains(p, "\x00") {
			items[i] = l.resolve(p, base)
		}
	}
	return items
}

// resolve expands ~, $NAME and {{CWD}} and makes a path absolute.
func (l *loader) resolve(text, base string) string {
	if text == "" {
		return ""
	}
	text = strings.ReplaceAll(text, "{{CWD}}", l.Dir)
	return l.absolute(l.expandVars(expandUser(text, l.Home)), base)
}

func (l *loader) absolute(path, base string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path)
}

func expandUser(path, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return home + path[1:]
	}
	return path
}

var envName = regexp.MustCompile(`\$(\w+|\{\w+\})`)

// expandVars replaces $NAME and ${NAME}; an unset one stays as it is.
func (l *loader) expandVars(text string) string {
	return envName.ReplaceAllStringFunc(text, func(m string) string {
		if v, ok := l.env[strings.Trim(m, "${}")]; ok {
			return v
		}
		return m
	})
}
