package jinja

import (
	"sort"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// exprFn is a compiled expression.
type exprFn func(f *frame) (any, error)

// compiler turns parsed expressions into closures.
type compiler struct {
	env  *Env
	text text
	use  *usage
}

// usage tells what the expressions of a document need.
type usage struct {
	names   map[string]bool // names that were read
	sets    map[string]bool // names that the document itself gives a value
	mutates bool            // a method that changes its object is called
}

func newUsage() *usage { return &usage{names: map[string]bool{}, sets: map[string]bool{}} }

// outside lists the names that are read and never set, sorted.
func (u *usage) outside(e *Env) []string {
	var out []string
	for name := range u.names {
		if _, known := e.functions[name]; !known && !u.sets[name] && !strings.HasPrefix(name, " ") {
			out = append(out, name)
		}
	}
	sort.Strings(out)
	return out
}

// mutators are the methods that change their object.
var mutators = map[string]bool{
	"append": true, "extend": true, "insert": true, "pop": true, "remove": true, "clear": true, "sort": true,
	"reverse": true, "update": true, "setdefault": true, "popitem": true, "__setitem__": true, "__delitem__": true,
}

// wrap gives an error its place.
func (c *compiler) wrap(n node, err error) error {
	if err == nil || isLocated(err) {
		return err
	}
	return locate(err, c.text.place(n.offset()))
}

// expr compiles an expression whose value is complete: nothing waits in it.
func (c *compiler) expr(n node) exprFn {
	name := pathName(n)
	if name == "" {
		return c.path(n)
	}
	fn := c.path(n)
	return func(f *frame) (any, error) {
		v, err := fn(f)
		switch x := v.(type) {
		case *value.Dict:
			if !x.Lazy {
				return v, err
			}
		case *value.List:
			if !x.Lazy {
				return v, err
			}
		default:
			return v, err
		}
		v, err = f.settle(v, name)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		return v, nil
	}
}

// pathName names a variable path as the person wrote it; it is empty for
// anything but names with attributes and items.
func pathName(n node) string {
	switch n := n.(type) {
	case nameNode:
		return n.name
	case attrNode:
		if base := pathName(n.base); base != "" {
			return base + "." + n.name
		}
		return n.name
	case itemNode:
		key := "…"
		if v, ok := constant(n.key); ok {
			key = value.Repr(v)
		}
		return pathName(n.base) + "[" + key + "]"
	}
	return ""
}

// path compiles an expression; the value of a name, attribute or item may be a
// container in which something still waits.
func (c *compiler) path(n node) exprFn {
	switch n := n.(type) {
	case constNode:
		v := n.val
		return func(*frame) (any, error) { return v, nil }
	case nameNode:
		return c.name(n)
	case attrNode:
		return c.attr(n)
	case itemNode:
		return c.item(n)
	case listNode:
		return c.list(n)
	case dictNode:
		return c.dict(n)
	case sliceNode:
		return c.slice(n)
	case callNode:
		return c.call(n)
	case filterNode:
		return c.filter(n)
	case testNode:
		return c.test(n)
	}
	return c.operation(n)
}

func (c *compiler) operation(n node) exprFn {
	switch n := n.(type) {
	case unaryNode:
		return c.unary(n)
	case binaryNode:
		return c.binary(n)
	case compareNode:
		return c.compare(n)
	case concatNode:
		return c.concat(n)
	case logicNode:
		return c.logic(n)
	case condNode:
		return c.cond(n)
	}
	return func(*frame) (any, error) { return nil, c.wrap(n, errorText("cannot evaluate this")) }
}

func (c *compiler) name(n nameNode) exprFn {
	c.use.names[n.name] = true
	name, env, pos := n.name, c.env, c.text.place(n.offset())
	return func(f *frame) (any, error) {
		v, err := f.name(env, name)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		return placed(v, pos), nil
	}
}

func (c *compiler) attr(n attrNode) exprFn {
	base, name := c.path(n.base), n.name
	full, method, pos := pathName(n), isDictMethod(name), c.text.place(n.offset())
	return func(f *frame) (any, error) {
		b, err := base(f)
		if err != nil {
			return nil, err
		}
		if d, ok := b.(*value.Dict); ok && !method {
			if v, ok := d.Get(name); ok {
				return c.forced(f, n, v, full)
			}
			return placed(undefinedAttr(b, name), pos), nil
		}
		v, err := getAttr(b, name)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		return c.forced(f, n, placed(v, pos), full)
	}
}

// forced evaluates an attribute or item that waits.
func (c *compiler) forced(f *frame, n node, v any, full string) (any, error) {
	switch v.(type) {
	case Deferred, Binder:
	default:
		return v, nil
	}
	v, err := f.force(v, full)
	if err != nil {
		return nil, c.wrap(n, err)
	}
	return v, nil
}

func (c *compiler) item(n itemNode) exprFn {
	base, key, full := c.path(n.base), c.expr(n.key), pathName(n)
	pos := c.text.place(n.offset())
	return func(f *frame) (any, error) {
		b, err := base(f)
		if err != nil {
			return nil, err
		}
		k, err := key(f)
		if err != nil {
			return nil, err
		}
		v, err := getItem(b, k)
		if err != nil {
			return nil, c.wrap(n, err)
		}
		return c.forced(f, n, placed(v, pos), full)
	}
}

// placed gives an Undefined that was just made its place.
func placed(v any, pos source.Pos) any {
	if u, ok := v.(*Undefined); ok && u.Pos.IsZero() {
		u.Pos = pos
	}
	return v
}

func (c *compiler) exprs(ns []node) []exprFn {
	fns := make([]exprFn, len(ns))
	for i, n := range ns {
		fns[i] = c.expr(n)
	}
	return fns
}

func evalAll(f *frame, fns []exprFn) ([]any, error) {
	out := make([]any, len(fns))
	for i, fn := range fns {
		v, err := fn(f)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (c *compiler) list(n listNode) exprFn {
	fns, tuple := c.exprs(n.items), n.tuple
	return func(f *frame) (any, error) {
		items, err := evalAll(f, fns)
		if err != nil {
			return nil, err
		}
		if tuple {
			return value.Tuple(items), nil
		}
		return &value.List{Items: items}, nil
	}
}

func (c *compiler) dict(n dictNode) exprFn {
	keys, vals := c.exprs(n.keys), c.exprs(n.vals)
	return func(f *frame) (any, error) {
		d := value.NewDict()
		for i := range keys {
			k, err := keys[i](f)
			if err != nil {
				return nil, err
			}
			v, err := vals[i](f)
			if err != nil {
				return nil, err
			}
			if err := defined(k); err != nil {
				return nil, c.wrap(n.keys[i], err)
			}
			if err := d.SetKey(k, v); err != nil {
				return nil, c.wrap(n.keys[i], err)
			}
		}
		return d, nil
	}
}

func (c *compiler) slice(n sliceNode) exprFn {
	parts := make([]exprFn, 3)
	for i, part := range []node{n.start, n.stop, n.step} {
		if part != nil {
			parts[i] = c.expr(part)
		}
	}
	return func(f *frame) (any, error) {
		s := &slice{}
		for i, fn := range parts {
			if fn == nil {
				continue
			}
			v, err := fn(f)
			if err != nil {
				return nil, err
			}
			s.part[i] = v
		}
		return s, nil
	}
}
