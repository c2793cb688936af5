package xmldoc

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// operation joins two operands.
func operation(op string, left, right expr) expr {
	return func(c *context) (Value, error) {
		a, err := left(c)
		if err != nil {
			return nil, err
		}
		if op == "or" && truth(a) || op == "and" && !truth(a) {
			return op == "or", nil
		}
		b, err := right(c)
		if err != nil {
			return nil, err
		}
		switch op {
		case "or", "and":
			return truth(b), nil
		case "+", "-", "*", "div", "mod":
			return arithmetic(op, toNumber(a), toNumber(b)), nil
		}
		return compared(op, a, b), nil
	}
}

func arithmetic(op string, a, b float64) float64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "div":
		return a / b
	}
	return math.Mod(a, b)
}

// compared compares as XPath does: of node sets, one pair suffices.
func compared(op string, a, b Value) bool {
	equality := op == "=" || op == "!="
	nodes, isNodes := a.([]*Node)
	_, otherIsBool := b.(bool)
	if isNodes && !(otherIsBool && equality) {
		for _, n := range nodes {
			if compared(op, n.StringValue(), b) {
				return true
			}
		}
		return false
	}
	if nodes, ok := b.([]*Node); ok {
		if _, isBool := a.(bool); !(isBool && equality) {
			for _, n := range nodes {
				if compared(op, a, n.StringValue()) {
					return true
				}
			}
			return false
		}
	}
	if equality {
		return equal(a, b) == (op == "=")
	}
	return ordered(op, toNumber(a), toNumber(b))
}

func ordered(op string, x, y float64) bool {
	switch op {
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

func equal(a, b Value) bool {
	_, aBool := a.(bool)
	_, bBool := b.(bool)
	if aBool || bBool {
		return truth(a) == truth(b)
	}
	_, aNumber := a.(float64)
	_, bNumber := b.(float64)
	if aNumber || bNumber {
		return toNumber(a) == toNumber(b)
	}
	return toString(a) == toString(b)
}

// StringValue is XPath's string-value of a node.
func (n *Node) StringValue() string {
	if n.Kind != Element && n.Kind != Document {
		return n.Text
	}
	var b strings.Builder
	below(n.Children, func(m *Node) {
		if m.isText() {
			b.WriteString(m.Text)
		}
	})
	return b.String()
}

func truth(v Value) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0 && !math.IsNaN(v)
	case string:
		return v != ""
	case []*Node:
		return len(v) > 0
	}
	return false
}

func toString(v Value) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case float64:
		return number(v)
	case string:
		return v
	case []*Node:
		if len(v) > 0 {
			return v[0].StringValue()
		}
	}
	return ""
}

func number(f float64) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

func toNumber(v Value) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	}
	text := strings.TrimSpace(toString(v))
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "eExXpPnN_+") {
		return math.NaN()
	}
	return f
}

// function is one of XPath's functions.
type function struct {
	least, most int
	run         func(c *context, args []Value) (Value, error)
}

const many = 1 << 20

var functions = map[string]function{
	"last":            {0, 0, func(c *context, _ []Value) (Value, error) { return float64(c.size), nil }},
	"position":        {0, 0, func(c *context, _ []Value) (Value, error) { return float64(c.pos), nil }},
	"true":            {0, 0, func(*context, []Value) (Value, error) { return true, nil }},
	"false":           {0, 0, func(*context, []Value) (Value, error) { return false, nil }},
	"not":             {1, 1, func(_ *context, a []Value) (Value, error) { return !truth(a[0]), nil }},
	"boolean":         {1, 1, func(_ *context, a []Value) (Value, error) { return truth(a[0]), nil }},
	"string":          {0, 1, func(c *context, a []Value) (Value, error) { return c.text(a), nil }},
	"number":          {0, 1, func(c *context, a []Value) (Value, error) { return c.number(a), nil }},
	"normalize-space": {0, 1, func(c *context, a []Value) (Value, error) { return strings.Join(strings.Fields(c.text(a)), " "), nil }},
	"string-length":   {0, 1, func(c *context, a []Value) (Value, error) { return float64(utf8.RuneCountInString(c.text(a))), nil }},
	"floor":           {1, 1, func(_ *context, a []Value) (Value, error) { return math.Floor(toNumber(a[0])), nil }},
	"ceiling":         {1, 1, func(_ *context, a []Value) (Value, error) { return math.Ceil(toNumber(a[0])), nil }},
	"round":           {1, 1, func(_ *context, a []Value) (Value, error) { return math.Floor(toNumber(a[0]) + 0.5), nil }},
	"concat":          {2, many, func(_ *context, a []Value) (Value, error) { return concat(a), nil }},
	"starts-with": {2, 2, func(_ *context, a []Value) (Value, error) {
		return strings.HasPrefix(toString(a[0]), toString(a[1])), nil
	}},
	"contains": {2, 2, func(_ *context, a []Value) (Value, error) {
		return strings.Contains(toString(a[0]), toString(a[1])), nil
	}},
	"substring-before": {2, 2, func(_ *context, a []Value) (Value, error) { return cut(a, true), nil }},
	"substring-after":  {2, 2, func(_ *context, a []Value) (Value, error) { return cut(a, false), nil }},
	"substring":        {2, 3, func(_ *context, a []Value) (Value, error) { return substring(a), nil }},
	"translate":        {3, 3, func(_ *context, a []Value) (Value, error) { return translated(a), nil }},
	"count":            {1, 1, count},
	"sum":              {1, 1, sum},
	"name":             {0, 1, nameOf((*Node).Name)},
	"local-name":       {0, 1, nameOf(func(n *Node) string { return n.Local })},
	"namespace-uri":    {0, 1, nameOf(func(n *Node) string { return n.Space })},
	"lang":             {1, 1, lang},
	"id":               {1, 1, func(*context, []Value) (Value, error) { return []*Node(nil), nil }}, // no document type is read
}

// text is the argument, or the context's node, as a string.
func (c *context) text(args []Value) string {
	if len(args) == 0 {
		return c.node.StringValue()
	}
	return toString(args[0])
}

func (c *context) number(args []Value) float64 {
	if len(args) == 0 {
		return toNumber(c.node.StringValue())
	}
	return toNumber(args[0])
}

func concat(args []Value) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(toString(a))
	}
	return b.String()
}

func cut(args []Value, before bool) string {
	head, tail, ok := strings.Cut(toString(args[0]), toString(args[1]))
	switch {
	case !ok:
		return ""
	case before:
		return head
	}
	return tail
}

func substring(args []Value) string {
	start := math.Floor(toNumber(args[1]) + 0.5)
	end := math.Inf(1)
	if len(args) == 3 {
		end = start + math.Floor(toNumber(args[2])+0.5)
	}
	var b strings.Builder
	at := 0.0
	for _, r := range toString(args[0]) {
		if at++; at >= start && at < end {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func translated(args []Value) string {
	from, to := []rune(toString(args[1])), []rune(toString(args[2]))
	return strings.Map(func(r rune) rune {
		for i, f := range from {
			switch {
			case f != r:
			case i < len(to):
				return to[i]
			default:
				return -1
			}
		}
		return r
	}, toString(args[0]))
}

func count(_ *context, args []Value) (Value, error) {
	nodes, ok := args[0].([]*Node)
	if !ok {
		return nil, ErrType
	}
	return float64(len(nodes)), nil
}

func sum(_ *context, args []Value) (Value, error) {
	nodes, ok := args[0].([]*Node)
	if !ok {
		return nil, ErrType
	}
	total := 0.0
	for _, n := range nodes {
		total += toNumber(n.StringValue())
	}
	return total, nil
}

// nameOf makes a function of the first node's name, or the context's.
func nameOf(of func(*Node) string) func(*context, []Value) (Value, error) {
	return func(c *context, args []Value) (Value, error) {
		if len(args) == 0 {
			return of(c.node), nil
		}
		nodes, ok := args[0].([]*Node)
		switch {
		case !ok:
			return nil, ErrType
		case len(nodes) == 0:
			return "", nil
		}
		return of(nodes[0]), nil
	}
}

func lang(c *context, args []Value) (Value, error) {
	wanted := strings.ToLower(toString(args[0]))
	for n := c.node; n != nil; n = n.Parent {
		if v, ok := n.Attr("{http://www.w3.org/XML/1998/namespace}lang"); ok {
			v = strings.ToLower(v)
			return v == wanted || strings.HasPrefix(v, wanted+"-"), nil
		}
	}
	return false, nil
}
