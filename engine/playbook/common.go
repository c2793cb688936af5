package playbook

import (
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

var identifier = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// common are the keywords that plays, roles, blocks and tasks share.
type common struct {
	Name     any
	Keywords Keywords
	Vars     *value.Dict
	When     []*jinja.Cond
	Tags     []any
	Notify   []Attr
}

func newCommon() common { return common{Keywords: Keywords{}, Vars: value.NewDict()} }

// decode reads one keyword that n allows into c.
func (r *reader) decode(p place, n noun, e yamlload.Entry, c *common) {
	switch e.Name {
	case "name":
		c.Name = r.nameOf(p, e.Node)
	case "vars":
		r.vars(p, n, e.Node, c.Vars)
	case "when":
		c.When = r.conditions(p, e.Node)
	case "tags":
		c.Tags = r.tags(p, e.Node)
	case "notify":
		c.Notify = r.notify(p, e.Node)
	default:
		r.keyword(p, n, e, c)
	}
}

// keyword keeps a keyword's value as it was loaded.
func (r *reader) keyword(p place, n noun, e yamlload.Entry, c *common) {
	v, err := p.file.Value(e.Node)
	if err != nil {
		r.fail(err)
		return
	}
	name := e.Name
	if name == "user" {
		name = "remote_user"
	}
	if v == nil && name != "environment" && name != "module_defaults" {
		return // "become:" says nothing
	}
	attr := Attr{Value: v, Pos: p.file.Pos(e.Node)}
	if err := checkKeyword(name, attr); err != nil {
		r.fail(err)
		return
	}
	c.Keywords[name] = attr
}

// keywordKinds are the keywords whose literal values have one shape.
var keywordKinds = map[string]string{
	"any_errors_fatal": "bool", "become": "bool", "check_mode": "bool", "diff": "bool", "delegate_facts": "bool",
	"force_handlers": "bool", "gather_facts": "bool", "ignore_errors": "bool", "ignore_unreachable": "bool",
	"no_log": "bool", "run_once": "bool", "rescue_unreachable": "bool",
	"async": "int", "poll": "int", "retries": "int", "throttle": "int", "timeout": "int", "port": "int",
	"module_defaults": "defaults",
	"gather_timeout":  "int", "delay": "float",
	"become_exe": "string", "become_flags": "string", "become_method": "string", "become_user": "string", "connection": "string",
	"debugger": "debugger", "delegate_to": "string", "fact_path": "string", "order": "string", "remote_user": "string",
	"strategy": "string",
}

// checkKeyword finds literal values that a keyword cannot have.
func checkKeyword(name string, a Attr) error {
	ok, want := true, keywordKinds[name]
	switch want {
	case "bool":
		ok = isBool(a.Value)
	case "int":
		_, isInt := a.Value.(int)
		ok = isInt || isDeferred(a.Value) || isNumeral(a.Value)
	case "float":
		_, isInt := a.Value.(int)
		_, isFloat := a.Value.(float64)
		ok = isInt || isFloat || isDeferred(a.Value) || isNumeral(a.Value)
	case "defaults":
		if !isDicts(a.Value) {
			return source.Errorf(a.Pos, "The field '%s' is supposed to be a dictionary or list of dictionaries, the keys of which must be "+
				"static action, module, or group names. Only the values may contain templates.", name).
				WithHint("write {ping: \"{{ ping_defaults }}\"}")
		}
	case "debugger":
		if s, isText := a.Value.(string); !isDeferred(a.Value) && !(isText && contains(debuggerValues, s)) {
			return source.Errorf(a.Pos, "'%s' is not a valid value for debugger. Must be one of %s", plainText(a.Value), strings.Join(debuggerValues, ", "))
		}
	case "string":
		switch a.Value.(type) {
		case *value.List, *value.Dict:
			ok = false
		}
	}
	if ok {
		return nil
	}
	return source.Errorf(a.Pos, "the field '%s' has an invalid value (%s), and could not be converted to %s", name, plainText(a.Value), want)
}

// debuggerValues say when the debugger opens.
var debuggerValues = []string{"always", "never", "on_failed", "on_skipped", "on_unreachable"}

// isDicts reports whether a value is a dict or a list of them, and no template.
func isDicts(v any) bool {
	switch v := v.(type) {
	case nil, *value.Dict:
		return true
	case *value.List:
		for _, item := range v.Items {
			if _, ok := item.(*value.Dict); !ok {
				return false
			}
		}
		return true
	}
	return false
}

func isBool(v any) bool {
	switch v := v.(type) {
	case bool, int, float64:
		return true
	case string:
		_, ok := boolWords[strings.ToLower(strings.TrimSpace(v))]
		return ok
	}
	return isDeferred(v)
}

func isDeferred(v any) bool {
	_, ok := v.(jinja.Deferred)
	return ok
}

var numeral = regexp.MustCompile(`^\s*[-+]?[0-9]+(\.[0-9]+)?\s*$`)

func isNumeral(v any) bool {
	s, ok := v.(string)
	return ok && numeral.MatchString(s)
}

// plainText shows a loaded value in a message.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case *jinja.Template:
		return v.Source
	case *value.List, *value.Dict:
		return yamlload.Kind(v)
	}
	return fmt.Sprint(v)
}

// nameOf reads a name: text, or a number or boolean as text.
func (r *reader) nameOf(p place, n *yaml.Node) any {
	v, err := p.file.Value(n)
	if err != nil {
		r.fail(err)
		return nil
	}
	switch v.(type) {
	case nil, string:
		return v
	case *value.List, *value.Dict:
		r.failf(p.file.Pos(n), "The field 'name' is supposed to be a string type, not %s", yamlload.Kind(v))
		return nil
	}
	if isDeferred(v) {
		return v
	}
	return value.Str(v)
}

// vars adds a vars keyword's variables to d: a dict, or (old) a list of dicts.
func (r *reader) vars(p place, n noun, node *yaml.Node, d *value.Dict) {
	if node.Kind == yaml.SequenceNode {
		for _, item := range node.Content {
			r.vars(p, n, yamlload.Follow(item), d)
		}
		return
	}
	if p.file.IsNull(node) {
		return
	}
	if node.Kind != yaml.MappingNode && node.Style&yaml.TaggedStyle == 0 {
		r.fail(source.Errorf(p.file.Pos(node), "Vars in a %s must be specified as a dictionary, or a list of dictionaries", n))
		return
	}
	vars, err := p.file.Vars(node)
	if err != nil {
		r.fail(err)
		return
	}
	if entries, err := p.file.Entries(node); err == nil {
		for _, e := range entries {
			if !identifier.MatchString(e.Name) {
				r.failf(p.file.Pos(e.KeyNode), "Invalid variable name in vars specified for %s: '%s' is not a valid variable name", n, plainText(e.Key))
			}
		}
	}
	d.Update(vars)
	d.Lazy = d.Lazy || vars.Lazy
	r.l.note(d, p.file, node)
}

// conditions reads when, changed_when, failed_when, until: one condition or a
// list of them.
func (r *reader) conditions(p place, node *yaml.Node) []*jinja.Cond {
	if node.Kind == yaml.SequenceNode {
		var all []*jinja.Cond
		for _, item := range node.Content {
			all = append(all, r.conditions(p, yamlload.Follow(item))...)
		}
		return all
	}
	v, err := p.file.Value(node)
	if err != nil {
		r.fail(err)
		return nil
	}
	switch x := v.(type) {
	case nil:
		return nil
	case int:
		v = x != 0
	case string:
		if strings.TrimSpace(x) == "" {
			return nil
		}
	case bool, *jinja.Template:
	default:
		r.failf(p.file.Pos(node), "the conditional must be a string or a boolean, not %s", yamlload.Kind(v))
		return nil
	}
	cond, err := p.file.Cond(v, p.file.TextPos(node))
	if err != nil {
		r.fail(err)
		return nil
	}
	return []*jinja.Cond{cond}
}

// tags reads a tags keyword: a text with commas, or a list.
func (r *reader) tags(p place, node *yaml.Node) []any {
	v, err := p.file.Value(node)
	if err != nil {
		r.fail(err)
		return nil
	}
	if t, ok := v.(*jinja.Template); ok {
		return r.templateTags(p, t)
	}
	tags, ok := tagsOf(v)
	switch v.(type) {
	case bool, int, float64:
		ok = false
	}
	if !ok {
		r.failf(p.file.Pos(node), "tags must be specified as a list, not %s", yamlload.Kind(v))
	}
	return tags
}

// templateTags splits "{{ a }},b" into its tags: commas inside braces are part
// of an expression.
func (r *reader) templateTags(p place, t *jinja.Template) []any {
	var tags []any
	depth, start := 0, 0
	for i, c := range t.Source + "," {
		switch c {
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth > 0 {
				continue
			}
			v, err := p.file.Load(strings.TrimSpace(t.Source[start:i]), t.Pos)
			r.fail(err)
			tags = append(tags, v)
			start = i + 1
		}
	}
	return tags
}

// tagsOf lists the tags in a loaded value: strings and templates.
func tagsOf(v any) (tags []any, ok bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		for tag := range strings.SplitSeq(v, ",") {
			tags = append(tags, strings.TrimSpace(tag))
		}
		return tags, true
	case *value.List:
		for _, item := range v.Items {
			if tag, ok := item.(string); ok {
				tags = append(tags, tag) // commas split only a text by itself
				continue
			}
			inner, ok := tagsOf(item)
			if !ok {
				return nil, false
			}
			tags = append(tags, inner...)
		}
		return tags, true
	case *value.Dict:
		return nil, false
	}
	if isDeferred(v) {
		return []any{v}, true
	}
	return []any{value.Str(v)}, true
}

// notify reads the names to notify: one, or a list.
func (r *reader) notify(p place, node *yaml.Node) []Attr {
	if node.Kind == yaml.SequenceNode {
		var all []Attr
		for _, item := range node.Content {
			all = append(all, r.notify(p, yamlload.Follow(item))...)
		}
		return all
	}
	v, err := p.file.Value(node)
	if err != nil {
		r.fail(err)
		return nil
	}
	if v == nil {
		return nil
	}
	if _, ok := v.(*value.Dict); ok {
		r.failf(p.file.Pos(node), "notify takes the name of a handler or a list of names, not a dict")
		return nil
	}
	return []Attr{{Value: v, Pos: p.file.Pos(node)}}
}
