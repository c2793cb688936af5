package jinja

import (
	"strconv"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// Undefined is the value of a missing variable, attribute or item.
type Undefined struct {
	Name string
	Msg  string // "'x' is undefined"
	Pos  source.Pos

	// lenient is the value of an inline if without else: it prints as nothing,
	// is false and empty, and fails only where a value is really needed.
	lenient bool
	// base is the dict that has no such entry; or nil, and then hinted is the
	// entry that may have been meant, if that is known.
	base   *value.Dict
	hinted string
}

// maxNear is how many entries a dict may have to be searched for a like name.
const maxNear = 2000

// Len is the length of a lenient Undefined.
func (u *Undefined) Len() int { return 0 }

// Items are the items of a lenient Undefined: none.
func (u *Undefined) Items() []any { return nil }

// err is the error of using it where a value is needed.
func (u *Undefined) err() error { return &UndefinedError{Msg: u.Msg, Pos: u.Pos, Near: u.near()} }

// near is the entry of the dict that may have been meant; "": there is none.
func (u *Undefined) near() string {
	if u.base == nil || u.base.Len() > maxNear {
		return u.hinted
	}
	var names []string
	for _, k := range u.base.Keys() {
		if name, ok := k.(string); ok {
			names = append(names, name)
		}
	}
	return source.Nearest(u.Name, names)
}

// Err is the error of using the Undefined where a value is needed.
func (u *Undefined) Err() error { return u.err() }

// TypeName is the Python type's name.
func (u *Undefined) TypeName() string { return "AnsibleUndefined" }

// Repr is how it shows inside a container.
func (u *Undefined) Repr() string {
	if u.lenient {
		return "Undefined"
	}
	return "AnsibleUndefined"
}

// Str is how a lenient one prints.
func (u *Undefined) Str() string { return "" }

// UndefinedError is returned when an Undefined is used where a value is needed.
type UndefinedError struct {
	Msg  string
	Pos  source.Pos
	Near string // the entry of a dict that may have been meant; "" for none
}

// Error gives the message.
func (e *UndefinedError) Error() string { return e.Msg }

func undefinedName(name string) *Undefined {
	return &Undefined{Name: name, Msg: "'" + name + "' is undefined"}
}

func undefinedAttr(base any, name string) *Undefined {
	dict, _ := base.(*value.Dict)
	return &Undefined{Name: name, Msg: objectType(base) + " has no attribute " + value.Repr(name), base: dict}
}

func undefinedItem(base, key any) *Undefined {
	if s, ok := key.(string); ok {
		return undefinedAttr(base, s)
	}
	name := value.Repr(key)
	return &Undefined{Name: name, Msg: strings.Trim(objectType(base), "'") + " has no element " + name}
}

func objectType(v any) string {
	if v == nil {
		return "'None'"
	}
	return "'" + moduleOf(v) + value.TypeName(v) + " object'"
}

// moduleOf is the Python module of the types that Jinja2 itself makes.
func moduleOf(v any) string {
	switch v.(type) {
	case *loopVar, *boundMacro:
		return "jinja2.runtime."
	case *Namespace:
		return "jinja2.utils."
	case *module:
		return "jinja2.environment."
	}
	return ""
}

// defined returns the error of the first strict Undefined among the values.
func defined(vals ...any) error {
	for _, v := range vals {
		if u, ok := v.(*Undefined); ok && !u.lenient {
			return u.err()
		}
	}
	return nil
}

// undefinedFirst prefers the error of an Undefined among an operator's
// operands, lenient or not, to the operator's own.
func undefinedFirst(err error, operands ...any) error {
	for _, v := range operands {
		if u, ok := v.(*Undefined); ok {
			return u.err()
		}
	}
	return err
}

// truth is the value's truth; an Undefined has none.
func truth(v any) (bool, error) {
	switch v := v.(type) {
	case bool:
		return v, nil
	case *Undefined:
		if !v.lenient {
			return false, v.err()
		}
	}
	return value.Truth(v), nil
}

// inspection walks over a value that was just made, at every depth. A value
// too large to look at as a whole is taken as it is.
type inspection struct {
	left    int  // values that it may still look at
	objects bool // there is something that is no plain data
}

func newInspection() *inspection { return &inspection{left: 20_000_000} }

// checkDefined finds an Undefined at any depth of a value that stands depth
// levels deep itself.
func checkDefined(v any, depth int) error { return newInspection().check(v, depth) }

func (in *inspection) check(v any, depth int) error {
	if in.left--; in.left < 0 || depth > maxResolveDepth {
		return nil
	}
	switch v := v.(type) {
	case nil, string, bool, int, float64:
		return nil
	case *Undefined:
		return defined(v)
	case *value.List:
		return in.items(v.Items, depth+1)
	case value.Tuple:
		return in.items(v, depth+1)
	case *value.Dict:
		for i := range v.Len() {
			_, item := v.At(i)
			if err := in.check(item, depth+1); err != nil {
				return err
			}
		}
	case value.Object, value.Mapping, value.Bytes:
		in.objects = true
	}
	return nil
}

func (in *inspection) items(items []any, depth int) error {
	for _, item := range items {
		if err := in.check(item, depth); err != nil {
			return err
		}
	}
	return nil
}

// within is what an attribute or item of an Undefined is: itself, and strict.
func (u *Undefined) within() *Undefined {
	if !u.lenient {
		return u
	}
	return &Undefined{Name: u.Name, Msg: u.Msg, Pos: u.Pos, base: u.base}
}

func itoa(n int) string { return strconv.Itoa(n) }
