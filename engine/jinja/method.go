package jinja

import (
	"math/big"
	"sync"

	"play/modules/value"
)

// method is a method of a Python type: Call.Value is the object.
type method struct {
	name   string
	params string // as in Builtin
	run    func(c *Call) (any, error)
	sig    signature
}

// boundMethod is a method taken from its object but not yet called.
type boundMethod struct {
	self any
	fn   *method
}

// Call calls the method.
func (m *boundMethod) Call(c *Context, args []any, kwargs *value.Dict) (any, error) {
	return c.frame().callMethod(m.fn, m.self, args, kwargs)
}

// TypeName is the Python type's name.
func (m *boundMethod) TypeName() string { return "builtin_function_or_method" }

// Repr shows the method without an address.
func (m *boundMethod) Repr() string {
	return "<built-in method " + m.fn.name + " of " + value.TypeName(m.self) + " object>"
}

func (f *frame) callMethod(m *method, self any, args []any, kwargs *value.Dict) (any, error) {
	if err := f.step(1); err != nil {
		return nil, err
	}
	call := Call{Ctx: f.ctx, Name: m.name, Value: self}
	if err := m.sig.bind(m.name, &call, args, kwargs); err != nil {
		return nil, err
	}
	return m.run(&call)
}

// methodTable holds the methods of each Python type by name.
type methodTable struct {
	str, list, tuple, dict, bytes, num map[string]*method
}

var (
	methodsOnce  sync.Once
	methodsTable *methodTable // made once, then only read
)

func methods() *methodTable {
	methodsOnce.Do(func() {
		methodsTable = &methodTable{
			str:   byName(strMethods(), strFormatMethods()),
			list:  byName(listMethods(), seqMethods()),
			tuple: byName(seqMethods()),
			dict:  byName(dictMethods()),
			bytes: byName(bytesMethods()),
			num:   byName(numMethods()),
		}
	})
	return methodsTable
}

func byName(lists ...[]method) map[string]*method {
	out := map[string]*method{}
	for _, list := range lists {
		for _, m := range list {
			m.sig = mustSignature(m.name, m.params)
			out[m.name] = &m
		}
	}
	return out
}

// isDictMethod tells whether a dict's attribute is a method rather than an item.
func isDictMethod(name string) bool { return methods().dict[name] != nil }

// findMethod returns the method of v's Python type, or nil.
func findMethod(v any, name string) *method {
	switch v.(type) {
	case *value.Dict, value.Mapping:
		return methods().dict[name]
	case string:
		return methods().str[name]
	case *value.List:
		return methods().list[name]
	case value.Tuple:
		return methods().tuple[name]
	case value.Bytes:
		return methods().bytes[name]
	case int, float64, bool, *big.Int:
		return methods().num[name]
	}
	return nil
}

// argument readers of methods; what names the argument's place in the error.

func strArg(c *Call, i int) (string, error) {
	s, ok := c.Args[i].(string)
	if !ok {
		return "", errorText(c.Name + "() argument must be str, not " + value.TypeName(c.Args[i]))
	}
	return s, nil
}

func intArg(c *Call, i int) (int, error) {
	n, ok := value.AsInt(c.Args[i])
	if !ok {
		return 0, errorText("'" + value.TypeName(c.Args[i]) + "' object cannot be interpreted as an integer")
	}
	return n, nil
}

// spanArgs reads the start and stop arguments at i and i+1 against a length.
func spanArgs(c *Call, i, n int) (start, stop int, err error) {
	s := slice{part: [3]any{c.Args[i], c.Args[i+1], nil}}
	start, stop, _, err = s.bounds(n)
	return start, stop, err
}
