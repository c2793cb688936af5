package jinja

// node is a part of a parsed expression; at is its byte offset in the text.
type node interface{ offset() int }

type at int

func (a at) offset() int { return int(a) }

type (
	constNode struct {
		at
		val any
	}
	nameNode struct {
		at
		name string
	}
	// listNode is a list or, with tuple set, a tuple.
	listNode struct {
		at
		items []node
		tuple bool
	}
	dictNode struct {
		at
		keys, vals []node
	}
	attrNode struct {
		at
		base node
		name string
	}
	itemNode struct {
		at
		base, key node
	}
	sliceNode struct {
		at
		start, stop, step node // nil where left out
	}
	callNode struct {
		at
		fn   node
		args argList
	}
	filterNode struct {
		at
		base node // nil in a filter block
		name string
		args argList
	}
	testNode struct {
		at
		base node
		name string
		args argList
		not  bool
	}
	unaryNode struct {
		at
		op string
		x  node
	}
	binaryNode struct {
		at
		op   string
		x, y node
	}
	// compareNode is a chain: x op[0] y[0] op[1] y[1] …
	compareNode struct {
		at
		x   node
		ops []string
		ys  []node
	}
	concatNode struct {
		at
		parts []node
	}
	// logicNode is "and" or "or".
	logicNode struct {
		at
		or   bool
		x, y node
	}
	condNode struct {
		at
		test, then, other node // other is nil without else
	}
)

// argList holds the arguments of a call as written.
type argList struct {
	pos        []node
	names      []string
	named      []node
	star, dbl  node // *args and **kwargs, or nil
	parenthese bool // a "(" was there at all
}
