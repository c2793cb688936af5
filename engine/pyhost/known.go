package pyhost

import (
	"math/big"

	"play/engine/jinja"
	"play/modules/value"
)

// answer is what a callback asks of the run, packed. What cannot be told is
// empty.
func (c *Callbacks) answer(what, host string) any {
	var v any = value.NewList()
	switch {
	case c.known == nil:
	case what == "hosts":
		v = texts(c.known.Hosts())
	case what == "groups":
		v = texts(c.known.Groups(host))
	case what == "own":
		v = loaded(c.known.Own(host))
	case what == "extra":
		v = loaded(c.known.Extra())
	case what == "variables":
		v = c.variables(host)
	}
	p, err := pack(v)
	if err != nil {
		return value.NewList("l")
	}
	return p
}

// variables lists a host's variables as [name, whether it is a template, value].
func (c *Callbacks) variables(host string) *value.List {
	list := value.NewList()
	scope, err := c.known.Variables(host)
	if err != nil {
		c.o.Warn("cannot tell a callback plugin the variables of " + host + ": " + err.Error())
		return list
	}
	if scope == nil {
		return list
	}
	for _, name := range scope.Names() {
		v, fromHost, ok := scope.LookupFrom(name)
		if !ok {
			continue
		}
		if v, ok = asLoaded(v); ok {
			list.Append(value.NewList(name, !fromHost && hasTemplate(v), v))
		}
	}
	return list
}

// loaded is a dict as it was loaded, without what cannot be told.
func loaded(d *value.Dict) *value.Dict {
	v, _ := asLoaded(d)
	return v.(*value.Dict)
}

// asLoaded is a value without what is neither data nor a template, such as
// hostvars and values of a vault; false: nothing is left of it.
func asLoaded(v any) (any, bool) {
	switch v := v.(type) {
	case *value.Dict:
		out := value.NewDict()
		for k, item := range v.All() {
			name, isText := asLoaded(k)
			if t, ok := k.(*jinja.Template); ok {
				name = t.Source
			}
			if item, ok := asLoaded(item); ok && isText {
				_ = out.SetKey(name, item) // it was a key
			}
		}
		return out, true
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			if item, ok := asLoaded(item); ok {
				out.Append(item)
			}
		}
		return out, true
	case value.Tuple:
		return asLoaded(value.NewList(v...))
	case nil, bool, int, float64, *big.Int, string, *jinja.Template:
		return v, true
	}
	_, _, isTime := jinja.TimeOf(v)
	return v, isTime
}

// hasTemplate tells whether a template stands in a loaded value.
func hasTemplate(v any) bool {
	switch v := v.(type) {
	case *jinja.Template:
		return true
	case *value.Dict:
		for _, item := range v.All() {
			if hasTemplate(item) {
				return true
			}
		}
	case *value.List:
		for _, item := range v.Items {
			if hasTemplate(item) {
				return true
			}
		}
	}
	return false
}
