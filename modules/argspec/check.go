package argspec

import (
	"fmt"
	"slices"
	"strings"

	"play/modules/value"
)

// Checked is the outcome of Check: the arguments as the module sees them.
type Checked struct {
	Params   *value.Dict // every option by name, aliases as given, None for what is absent
	Secrets  []string    // texts of no_log arguments, longest first
	Warnings []string
	// Deprecations warn of arguments that go away.
	Deprecations []Deprecation
}

// checker carries one check's findings through the levels of sub-options.
type checker struct {
	env         *Env
	module      string
	out         *Checked
	mistakes    []string // in the order in which they were found
	unsupported []string
	supported   string // of the last level that had unsupported names
}

// Check validates and coerces arguments for the named module. The order of its
// checks, and so the mistake it reports first, is Ansible's. The error is an
// *Error, in which values of no_log arguments are already hidden.
func (s *Spec) Check(module string, args *value.Dict, env Env) (*Checked, error) {
	c := &checker{env: &env, module: module, out: &Checked{}}
	c.out.Params = c.level(s, args, nil, "")
	c.out.Secrets = longestFirst(c.out.Secrets)
	if len(c.unsupported) > 0 {
		slices.Sort(c.unsupported)
		names := strings.Join(c.unsupported, ", ")
		c.mistake(fmt.Sprintf("Unsupported parameters for (%s) module: %s. Supported parameters include: %s.", module, names, c.supported))
	}
	if len(c.mistakes) == 0 {
		return c.out, nil
	}
	for i, msg := range c.mistakes {
		c.mistakes[i] = Scrub(msg, c.out.Secrets)
	}
	return c.out, &Error{Msg: c.mistakes[0], All: c.mistakes, Unsupported: c.unsupported}
}

// mistake notes what is wrong, if anything.
func (c *checker) mistake(msg string) {
	if msg != "" {
		c.mistakes = append(c.mistakes, msg)
	}
}

// level checks the arguments of one level and notes its mistakes; path names the
// options above it, and prefix is what warnings put before its names.
func (c *checker) level(s *Spec, args *value.Dict, path []string, prefix string) *value.Dict {
	params := args.Clone()
	c.fallbacks(s, params)
	c.aliases(s, params, path, prefix)
	if len(path) == 0 {
		c.removed(s, params, "")
	}
	c.collectSecrets(s, params)
	below := func(msg string) {
		if msg != "" {
			c.mistake(msg + foundIn(path))
		}
	}
	below(s.Rules.exclusive(params))
	defaults(s, params)
	below(required(s, params))
	c.types(s, params, path)
	c.choices(s, params, path)
	below(s.Rules.needed(params))
	for i := range s.Options {
		if o := &s.Options[i]; !has(params, o.Name) {
			params.Set(o.Name, nil)
		}
	}
	c.nested(s, params, path, prefix)
	return params
}

func has(d *value.Dict, name string) bool {
	_, ok := d.Get(name)
	return ok
}

func foundIn(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return " found in " + strings.Join(path, " -> ")
}

// aliases gives every alias's value to its option, and notes unknown names.
func (c *checker) aliases(s *Spec, params *value.Dict, path []string, prefix string) {
	unknown := len(c.unsupported)
	for k := range params.All() {
		name := value.Str(k)
		if s.find(name) == nil {
			c.unsupported = append(c.unsupported, strings.Join(append(slices.Clone(path), name), "."))
		}
	}
	if len(c.unsupported) > unknown {
		c.supported = supportedNames(s)
	}
	for i := range s.Options {
		c.alias(&s.Options[i], params, prefix)
	}
}

func (c *checker) alias(o *Option, params *value.Dict, prefix string) {
	for _, a := range o.OldAliases {
		if has(params, a.Name) {
			c.deprecate("Alias", prefix+a.Name, a.Removal)
		}
	}
	for _, a := range o.Aliases {
		v, ok := params.Get(a)
		if !ok {
			continue
		}
		if has(params, o.Name) {
			c.out.Warnings = append(c.out.Warnings, fmt.Sprintf("Both option %s%s and its alias %s%s are set.", prefix, o.Name, prefix, a))
		}
		params.Set(o.Name, v)
	}
}

func (c *checker) deprecate(what, name string, when Removal) {
	c.out.Deprecations = append(c.out.Deprecations, Deprecation{what + " '" + name + "' is deprecated. See the module docs for more information", when})
}

// removed notes the options that are given and go away, with those below them.
func (c *checker) removed(s *Spec, params *value.Dict, prefix string) {
	for i := range s.Options {
		o := &s.Options[i]
		v, given := params.Get(o.Name)
		if !given {
			continue
		}
		name := o.Name
		if prefix != "" {
			name = fmt.Sprintf("%s[%q]", prefix, o.Name)
		}
		if o.Removed != (Removal{}) {
			c.deprecate("Param", name, o.Removed)
		}
		if o.Options == nil {
			continue
		}
		items := []any{v}
		if l, ok := v.(*value.List); ok {
			items = l.Items
		}
		for _, item := range items {
			if d, ok := item.(*value.Dict); ok {
				c.removed(o.Options, d, name)
			}
		}
	}
}

func supportedNames(s *Spec) string {
	var names, aliases []string
	for i := range s.Options {
		if s.Options[i].Hidden {
			continue
		}
		names = append(names, s.Options[i].Name)
		aliases = append(aliases, s.Options[i].Aliases...)
	}
	slices.Sort(names)
	slices.Sort(aliases)
	text := strings.Join(names, ", ")
	if len(aliases) > 0 {
		text += " (" + strings.Join(aliases, ", ") + ")"
	}
	return text
}

// fallbacks fills in what the environment gives.
func (c *checker) fallbacks(s *Spec, params *value.Dict) {
	for i := range s.Options {
		o := &s.Options[i]
		if o.Env == "" || has(params, o.Name) || c.env.Getenv == nil {
			continue
		}
		if v, ok := c.env.Getenv(o.Env); ok {
			params.Set(o.Name, v)
			c.secret(o, v)
		}
	}
}

func defaults(s *Spec, params *value.Dict) {
	for i := range s.Options {
		o := &s.Options[i]
		if o.Default != nil && !has(params, o.Name) {
			params.Set(o.Name, o.Default)
		}
	}
}

func required(s *Spec, params *value.Dict) string {
	var missing []string
	for i := range s.Options {
		if o := &s.Options[i]; o.Required && !has(params, o.Name) {
			missing = append(missing, o.Name)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	slices.Sort(missing)
	return "missing required arguments: " + strings.Join(missing, ", ")
}

func (c *checker) types(s *Spec, params *value.Dict, path []string) {
	for i := range s.Options {
		o := &s.Options[i]
		v, _ := params.Get(o.Name)
		if v == nil {
			continue
		}
		v, msg := c.typed(o, v, path)
		c.mistake(msg)
		if msg == "" {
			params.Set(o.Name, v)
		}
	}
}

func (c *checker) typed(o *Option, v any, path []string) (any, string) {
	got, err := coerce(o.Type, v, c.env)
	if err != nil {
		return nil, fmt.Sprintf("argument '%s' is of type <class '%s'>%s and we were unable to convert to %s: %v",
			o.Name, value.TypeName(v), quotedPath(path), o.typeName(), err)
	}
	list, ok := got.(*value.List)
	if !ok || o.Type != "list" || o.Elements == "" {
		return got, ""
	}
	out := value.NewList()
	for _, item := range list.Items {
		if item == nil && o.Elements == "raw" {
			out.Append(nil)
			continue
		}
		// A wrong element of a list with sub-options is told by nested, in other words.
		_, isDict := item.(*value.Dict)
		_, isText := item.(string)
		if o.Options != nil && !isDict && !isText {
			out.Append(item)
			continue
		}
		el, err := coerce(o.Elements, item, c.env)
		if err != nil {
			return nil, fmt.Sprintf("Elements value for option '%s' is of type <class '%s'>%s and we were unable to convert to %s: %v",
				o.Name, value.TypeName(item), quotedPath(path), o.Elements, err)
		}
		out.Append(el)
	}
	return out, ""
}

func (o *Option) typeName() string {
	if o.Type == "" {
		return "str"
	}
	return o.Type
}

func quotedPath(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return " found in '" + strings.Join(path, " -> ") + "'."
}

func (c *checker) choices(s *Spec, params *value.Dict, path []string) {
	for i := range s.Options {
		o := &s.Options[i]
		v, given := params.Get(o.Name)
		if len(o.Choices) == 0 || !given {
			continue
		}
		if l, ok := v.(*value.List); ok {
			if wrong := outside(o, l); len(wrong) > 0 {
				c.mistake(fmt.Sprintf("value of %s must be one or more of: %s. Got no match for: %s%s",
					o.Name, joined(o.Choices), joined(wrong), foundIn(path)))
			}
			continue
		}
		if o.allows(v) {
			continue
		}
		word, ok := o.boolChoice(v)
		if !ok {
			c.mistake(fmt.Sprintf("value of %s must be one of: %s, got: %s%s", o.Name, joined(o.Choices), value.Str(v), foundIn(path)))
			continue
		}
		params.Set(o.Name, word)
	}
}

func (o *Option) allows(v any) bool {
	return slices.ContainsFunc(o.Choices, func(c any) bool { return value.Equal(c, v) })
}

func outside(o *Option, l *value.List) []any {
	var wrong []any
	for _, item := range l.Items {
		if !o.allows(item) {
			wrong = append(wrong, item)
		}
	}
	return wrong
}

func joined(items []any) string {
	texts := make([]string, len(items))
	for i, v := range items {
		texts[i] = value.Str(v)
	}
	return strings.Join(texts, ", ")
}

// boolChoice finds the one choice that YAML had read as True or False.
func (o *Option) boolChoice(v any) (any, bool) {
	if v != "True" && v != "False" {
		return nil, false
	}
	var found []any
	for _, c := range o.Choices {
		if b, err := toBool(c); err == nil && b == (v == "True") {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return nil, false
	}
	return found[0], true
}

// nested checks the sub-options.
func (c *checker) nested(s *Spec, params *value.Dict, path []string, prefix string) {
	for i := range s.Options {
		o := &s.Options[i]
		v, _ := params.Get(o.Name)
		if v == nil && o.ApplyDefaults {
			v = value.NewDict()
		}
		if o.Options == nil || v == nil {
			continue
		}
		below := append(slices.Clone(path), o.Name)
		switch v := v.(type) {
		case *value.List:
			params.Set(o.Name, c.nestedList(o, v, below, prefix+o.Name))
		case *value.Dict:
			params.Set(o.Name, c.level(o.Options, v, below, prefix+o.Name+"."))
		}
	}
}

// nestedList checks a list of sub-options; a wrong item ends it.
func (c *checker) nestedList(o *Option, l *value.List, path []string, prefix string) *value.List {
	out := value.NewList()
	for i, item := range l.Items {
		d, ok := item.(*value.Dict)
		if !ok {
			c.mistake(fmt.Sprintf("Value '%s' in the sub parameter field '%s' must by a list, not '%s'", value.Str(item), o.Name, value.TypeName(item)))
			return out
		}
		out.Append(c.level(o.Options, d, path, fmt.Sprintf("%s[%d].", prefix, i)))
	}
	return out
}
