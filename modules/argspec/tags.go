package argspec

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"play/modules/value"
)

var (
	dictType = reflect.TypeFor[*value.Dict]()
	listType = reflect.TypeFor[*value.List]()
)

// Of reads the tags of an argument struct, or of a pointer to one. It panics on
// a malformed tag, which is a defect of the module.
func Of(args any) *Spec {
	return specOf(reflect.TypeOf(args))
}

func specOf(t reflect.Type) *Spec {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := &Spec{}
	for _, f := range reflect.VisibleFields(t) {
		tag, ok := f.Tag.Lookup("arg")
		if ok {
			s.Options = append(s.Options, optionOf(f, tag))
		}
	}
	for _, name := range tagged(t) {
		if s.find(name) == nil {
			panic(fmt.Sprintf("argspec: %s hides the field of %q in what it embeds: name its own otherwise", t, name))
		}
	}
	if r, ok := reflect.New(t).Interface().(Ruled); ok {
		s.Rules = r.Rules()
	}
	return s
}

// tagged lists the options of a struct, those of embedded structs too.
func tagged(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		if tag, ok := f.Tag.Lookup("arg"); ok {
			names = append(names, splitTag(tag)[0])
		} else if f.Anonymous && f.Type.Kind() == reflect.Struct {
			names = append(names, tagged(f.Type)...)
		}
	}
	return names
}

func optionOf(f reflect.StructField, tag string) Option {
	words := splitTag(tag)
	o := Option{Name: words[0], Doc: f.Tag.Get("doc"), index: f.Index}
	o.infer(f.Type)
	var fallback *string
	for _, w := range words[1:] {
		key, val, _ := strings.Cut(w, "=")
		if key == "default" {
			fallback = &val
			continue
		}
		if !o.set(key, val) {
			panic(fmt.Sprintf("argspec: field %s: unknown tag word %q", f.Name, w))
		}
	}
	if o.Type == "int" { // the choices are numbers too
		for i, c := range o.Choices {
			o.Choices[i] = o.defaultOf(c.(string))
		}
	}
	if fallback != nil {
		o.Default = o.defaultOf(*fallback)
	}
	return o
}

func (o *Option) set(key, val string) bool {
	switch key {
	case "required":
		o.Required = true
	case "nolog":
		o.NoLog = true
	case "hidden":
		o.Hidden = true
	case "aliases":
		o.Aliases = strings.Split(val, "|")
	case "choices":
		for _, c := range strings.Split(val, "|") {
			o.Choices = append(o.Choices, c)
		}
	case "env":
		o.Env = val
	case "applydefaults":
		o.ApplyDefaults = true
	case "removed":
		o.Removed = removal(val)
	case "oldaliases":
		for _, a := range strings.Split(val, "|") {
			name, when, _ := strings.Cut(a, "@")
			o.OldAliases = append(o.OldAliases, OldAlias{name, removal(when)})
		}
	case "type":
		o.Type = val
	case "elements":
		o.Elements = val
	default:
		return false
	}
	return true
}

// removal reads "1.2.3" or "2027-01-31", with "@ns.coll" behind it or not.
func removal(text string) Removal {
	when, coll, _ := strings.Cut(text, "@")
	if _, err := time.Parse(time.DateOnly, when); err == nil {
		return Removal{Date: when, Collection: coll}
	}
	return Removal{Version: when, Collection: coll}
}

// defaultOf is a default's text as a value of the option's type.
func (o *Option) defaultOf(text string) any {
	if o.Type == "list" {
		l := value.NewList()
		if text != "" {
			for _, item := range strings.Split(text, "|") {
				l.Append(item)
			}
		}
		return l
	}
	v, err := coerce(o.Type, text, &Env{})
	if err != nil {
		panic(fmt.Sprintf("argspec: default of %q: %v", o.Name, err))
	}
	if o.Type == "path" {
		return text // ~ and $VAR belong to the target
	}
	return v
}

// infer fills in what the field's Go type says.
func (o *Option) infer(t reflect.Type) {
	if t == dictType {
		o.Type = "dict"
		return
	}
	if t == listType {
		o.Type = "list"
		return
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		o.Type, o.Options = "dict", specOf(t)
	case reflect.Slice:
		var item Option
		item.infer(t.Elem())
		o.Type, o.Elements, o.Options = "list", item.Type, item.Options
	default:
		o.Type = scalarType(t)
	}
}

func scalarType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "str"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int64:
		return "int"
	case reflect.Float64:
		return "float"
	case reflect.Interface:
		return "raw"
	}
	panic("argspec: no argument type for Go type " + t.String())
}

// splitTag cuts a tag at its commas; one inside single quotes does not count,
// and the quotes are dropped.
func splitTag(tag string) []string {
	var words []string
	var word strings.Builder
	quoted := false
	for _, r := range tag {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == ',' && !quoted:
			words = append(words, word.String())
			word.Reset()
		default:
			word.WriteRune(r)
		}
	}
	return append(words, word.String())
}
