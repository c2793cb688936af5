package jinja

import (
	"sort"

	"play/modules/value"
)

// seqMethods are the methods of lists and tuples.
func seqMethods() []method {
	return []method{
		{name: "count", params: "value", run: seqCount},
		{name: "index", params: "value, start=none, stop=none", run: seqIndex},
	}
}

func listMethods() []method {
	return []method{
		{name: "append", params: "object", run: listAppend},
		{name: "clear", run: listClear},
		{name: "copy", run: listCopyMethod},
		{name: "extend", params: "iterable", run: listExtend},
		{name: "insert", params: "index, object", run: listInsert},
		{name: "pop", params: "index=-1", run: listPop},
		{name: "remove", params: "value", run: listRemove},
		{name: "reverse", run: listReverse},
		{name: "sort", params: "*, key=none, reverse=false", run: listSort},
		{name: "__len__", run: seqLen},
		{name: "__contains__", params: "key", run: containsMethod},
	}
}

func seqLen(c *Call) (any, error) {
	n, _ := value.Len(c.Value)
	return n, nil
}

func containsMethod(c *Call) (any, error) { return value.Contains(c.Value, c.Args[0]) }

func seqCount(c *Call) (any, error) {
	items, _ := value.Items(c.Value)
	n := 0
	for _, item := range items {
		if value.Equal(item, c.Args[0]) {
			n++
		}
	}
	return n, nil
}

func seqIndex(c *Call) (any, error) {
	items, _ := value.Items(c.Value)
	start, stop, err := spanArgs(c, 1, len(items))
	if err != nil {
		return nil, err
	}
	for i := start; i < stop; i++ {
		if value.Equal(items[i], c.Args[0]) {
			return i, nil
		}
	}
	if _, ok := c.Value.(value.Tuple); ok {
		return nil, errorText("tuple.index(x): x not in tuple")
	}
	return nil, errorText(value.Repr(c.Args[0]) + " is not in list")
}

func self(c *Call) *value.List { return c.Value.(*value.List) }

func listAppend(c *Call) (any, error) {
	self(c).Append(c.Args[0])
	return nil, nil
}

func listClear(c *Call) (any, error) {
	self(c).Items = nil
	return nil, nil
}

func listCopyMethod(c *Call) (any, error) {
	return value.NewList(append([]any(nil), self(c).Items...)...), nil
}

func listExtend(c *Call) (any, error) {
	items, err := iterate(c.Args[0])
	if err != nil {
		return nil, err
	}
	self(c).Append(items...)
	return nil, nil
}

func listInsert(c *Call) (any, error) {
	i, err := intArg(c, 0)
	if err != nil {
		return nil, err
	}
	l := self(c)
	i = clampIndex(i, len(l.Items), 0, len(l.Items))
	l.Items = append(l.Items, nil)
	copy(l.Items[i+1:], l.Items[i:])
	l.Items[i] = c.Args[1]
	return nil, nil
}

func listPop(c *Call) (any, error) {
	i, err := intArg(c, 0)
	if err != nil {
		return nil, err
	}
	l := self(c)
	if len(l.Items) == 0 {
		return nil, errorText("pop from empty list")
	}
	n, ok := index(i, len(l.Items))
	if !ok {
		return nil, errorText("pop index out of range")
	}
	v := l.Items[n]
	l.Items = append(l.Items[:n:n], l.Items[n+1:]...)
	return v, nil
}

func listRemove(c *Call) (any, error) {
	l := self(c)
	for i, item := range l.Items {
		if value.Equal(item, c.Args[0]) {
			l.Items = append(l.Items[:i:i], l.Items[i+1:]...)
			return nil, nil
		}
	}
	return nil, errorText("list.remove(x): x not in list")
}

func listReverse(c *Call) (any, error) {
	items := self(c).Items
	for i, j := 0, len(items)-1; i < j; i, j = i+1, j-1 {
		items[i], items[j] = items[j], items[i]
	}
	return nil, nil
}

func listSort(c *Call) (any, error) {
	if c.Args[0] != nil {
		return nil, errorText("sort() cannot take a key here: use the sort filter")
	}
	items := append([]any(nil), self(c).Items...)
	reverse := value.Truth(c.Args[1])
	var failed error
	sort.SliceStable(items, func(i, j int) bool {
		if reverse {
			i, j = j, i
		}
		n, err := value.Compare(items[i], items[j], "<")
		if err != nil {
			failed = err
		}
		return n < 0
	})
	if failed != nil {
		return nil, failed
	}
	self(c).Items = items
	return nil, nil
}
