package jinja

import (
	"play/modules/value"
)

func dictMethods() []method {
	return []method{
		{name: "clear", run: dictClear},
		{name: "copy", run: dictCopy},
		{name: "fromkeys", params: "iterable, value=none", run: dictFromKeys},
		{name: "get", params: "key, default=none", run: dictGet},
		{name: "items", run: dictItems},
		{name: "keys", run: dictKeys},
		{name: "pop", params: "key, *default", run: dictPop},
		{name: "popitem", run: dictPopItem},
		{name: "setdefault", params: "key, default=none", run: dictSetDefault},
		{name: "update", params: "*other, **kwargs", run: dictUpdate},
		{name: "values", run: dictValues},
		{name: "__contains__", params: "key", run: containsMethod},
		{name: "__getitem__", params: "key", run: dictGetItem},
		{name: "__setitem__", params: "key, value", run: dictSetItem},
		{name: "__delitem__", params: "key", run: dictDelItem},
		{name: "__len__", run: seqLen},
	}
}

// dictSelf returns the dict to change; a dict-like object cannot be changed.
func dictSelf(c *Call) (*value.Dict, error) {
	d, ok := c.Value.(*value.Dict)
	if !ok {
		return nil, errorText("'" + value.TypeName(c.Value) + "' object cannot be changed")
	}
	return d, nil
}

func dictClear(c *Call) (any, error) {
	d, err := dictSelf(c)
	if err == nil {
		*d = value.Dict{}
	}
	return nil, err
}

func dictCopy(c *Call) (any, error) {
	d, err := readDict(c.Value)
	if err != nil {
		return nil, err
	}
	return d.Clone(), nil
}

// readDict returns a dict, or the entries of a dict-like object as one.
func readDict(v any) (*value.Dict, error) {
	switch m := v.(type) {
	case *value.Dict:
		return m, nil
	case value.Mapping:
		d := value.NewDict()
		for _, k := range m.Keys() {
			item, _, err := m.Get(k)
			if err == nil {
				err = d.SetKey(k, item)
			}
			if err != nil {
				return nil, err
			}
		}
		return d, nil
	}
	return nil, errorText("'" + value.TypeName(v) + "' object is not a mapping")
}

func dictFromKeys(c *Call) (any, error) {
	items, err := iterate(c.Args[0])
	if err != nil {
		return nil, err
	}
	d := value.NewDict()
	for _, k := range items {
		if err := d.SetKey(k, c.Args[1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// lookUp finds a key; an unhashable one is an error.
func lookUp(base, key any) (any, bool, error) {
	v, ok, err := item(base, key)
	if ok || err != nil {
		return v, ok, err
	}
	_, err = value.Contains(value.NewDict(), key)
	return nil, false, err
}

func dictGet(c *Call) (any, error) {
	v, ok, err := lookUp(c.Value, c.Args[0])
	if err != nil || ok {
		return v, err
	}
	return c.Args[1], nil
}

func dictItems(c *Call) (any, error) {
	d, err := readDict(c.Value)
	if err != nil {
		return nil, err
	}
	items := make([]any, 0, d.Len())
	for k, v := range d.All() {
		items = append(items, value.Tuple{k, v})
	}
	return &value.List{Items: items}, nil
}

func dictKeys(c *Call) (any, error) {
	items, err := iterate(c.Value)
	return &value.List{Items: append([]any(nil), items...)}, err
}

func dictValues(c *Call) (any, error) {
	d, err := readDict(c.Value)
	if err != nil {
		return nil, err
	}
	return &value.List{Items: d.Values()}, nil
}

func dictPop(c *Call) (any, error) {
	d, err := dictSelf(c)
	if err != nil {
		return nil, err
	}
	v, ok, err := lookUp(d, c.Args[0])
	switch {
	case err != nil:
		return nil, err
	case ok:
		d.Delete(c.Args[0])
		return v, nil
	case len(c.Rest) > 0:
		return c.Rest[0], nil
	}
	return nil, errorText(value.Repr(c.Args[0]))
}

func dictPopItem(c *Call) (any, error) {
	d, err := dictSelf(c)
	if err != nil {
		return nil, err
	}
	if d.Len() == 0 {
		return nil, errorText("'popitem(): dictionary is empty'")
	}
	k, v := d.At(d.Len() - 1)
	d.Delete(k)
	return value.Tuple{k, v}, nil
}

func dictSetDefault(c *Call) (any, error) {
	d, err := dictSelf(c)
	if err != nil {
		return nil, err
	}
	if v, ok := d.GetKey(c.Args[0]); ok {
		return v, nil
	}
	return c.Args[1], d.SetKey(c.Args[0], c.Args[1])
}

func dictUpdate(c *Call) (any, error) {
	d, err := dictSelf(c)
	if err != nil {
		return nil, err
	}
	if len(c.Rest) > 1 {
		return nil, errorText("update expected at most 1 argument, got " + itoa(len(c.Rest)))
	}
	for _, other := range c.Rest {
		more, err := dictFrom(other)
		if err != nil {
			return nil, err
		}
		d.Update(more)
	}
	d.Update(c.Kwargs)
	return nil, nil
}

// dictFrom is Python's dict(v): of a mapping, or of pairs.
func dictFrom(v any) (*value.Dict, error) {
	if isMapping(v) {
		return readDict(v)
	}
	items, err := iterate(v)
	if err != nil {
		return nil, err
	}
	d := value.NewDict()
	for i, item := range items {
		pair, err := iterate(item)
		if err != nil {
			return nil, errorText("cannot convert dictionary update sequence element #" + itoa(i) + " to a sequence")
		}
		if len(pair) != 2 {
			return nil, errorText("dictionary update sequence element #" + itoa(i) + " has length " + itoa(len(pair)) + "; 2 is required")
		}
		if err := d.SetKey(pair[0], pair[1]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func dictGetItem(c *Call) (any, error) {
	v, ok, err := lookUp(c.Value, c.Args[0])
	if err == nil && !ok {
		err = errorText(value.Repr(c.Args[0]))
	}
	return v, err
}

func dictSetItem(c *Call) (any, error) {
	d, err := dictSelf(c)
	if err != nil {
		return nil, err
	}
	return nil, d.SetKey(c.Args[0], c.Args[1])
}

func dictDelItem(c *Call) (any, error) {
	if _, err := dictGetItem(c); err != nil {
		return nil, err
	}
	d, err := dictSelf(c)
	if err == nil {
		d.Delete(c.Args[0])
	}
	return nil, err
}
