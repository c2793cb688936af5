package yamldump

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxSimpleKey is the length from which a key gets a "?" in front.
const maxSimpleKey = 128

// emitter writes nodes. Column, whitespace (the last thing written was a
// blank) and indention (nothing but indentation stands on the line) decide where
// blanks and line breaks go.
type emitter struct {
	out        strings.Builder
	indentStep int
	width      int
	unicode    bool
	head, end  bool

	indent     int
	flowLevel  int
	column     int
	whitespace bool
	indention  bool
	openEnded  bool
	ids        int
}

// place is where a node stands: in a mapping, and as a simple key.
type place struct{ mapping, simpleKey bool }

func newEmitter(o Options) *emitter {
	e := &emitter{indentStep: o.Indent, width: o.Width, unicode: !o.ASCII, head: o.ExplicitHead, end: o.ExplicitEnd,
		indent: -1, whitespace: true, indention: true}
	if e.indentStep < 2 || e.indentStep > 9 {
		e.indentStep = 2
	}
	if e.width >= 0 && e.width <= e.indentStep*2 {
		e.width = 80
	}
	if e.width < 0 {
		e.width = int(^uint(0) >> 1)
	}
	return e
}

// anchors names the nodes that are met more than once.
func (e *emitter) anchors(n *node) {
	if n.kind == scalar {
		return
	}
	if n.met {
		if n.anchor == "" {
			e.ids++
			n.anchor = fmt.Sprintf("id%03d", e.ids)
		}
		return
	}
	n.met = true
	for _, child := range n.children {
		e.anchors(child)
	}
}

func (e *emitter) document(root *node) {
	// From here on met means written: a second time, an alias is enough.
	unmeet(root)
	if e.head {
		e.writeIndent()
		e.indicator("---", true, false, false)
	}
	e.node(root, place{})
	if e.openEnded || e.end {
		e.writeIndent()
		e.indicator("...", true, false, false)
	}
	e.writeIndent()
}

func unmeet(n *node) {
	if !n.met {
		return
	}
	n.met = false
	for _, child := range n.children {
		unmeet(child)
	}
}

func (e *emitter) node(n *node, at place) {
	if n.anchor != "" && n.met {
		e.indicator("*"+n.anchor, true, false, false)
		return
	}
	n.met = true
	if n.anchor != "" {
		e.indicator("&"+n.anchor, true, false, false)
	}
	switch n.kind {
	case scalar:
		e.scalar(n, at)
	case sequence:
		if e.flowLevel > 0 || n.flow || len(n.children) == 0 {
			e.flowSequence(n)
		} else {
			e.blockSequence(n, at)
		}
	case mapping:
		if e.flowLevel > 0 || n.flow || len(n.children) == 0 {
			e.flowMapping(n)
		} else {
			e.blockMapping(n)
		}
	}
}

// deeper raises the indentation and returns what restores it.
func (e *emitter) deeper(flow, indentless bool) func() {
	old := e.indent
	switch {
	case e.indent < 0 && flow:
		e.indent = e.indentStep
	case e.indent < 0:
		e.indent = 0
	case !indentless:
		e.indent += e.indentStep
	}
	return func() { e.indent = old }
}

func (e *emitter) flowSequence(n *node) {
	e.indicator("[", true, true, false)
	restore := e.deeper(true, false)
	e.flowLevel++
	for i, child := range n.children {
		e.flowSeparator(i)
		e.node(child, place{})
	}
	e.flowLevel--
	restore()
	e.indicator("]", false, false, false)
}

func (e *emitter) flowSeparator(i int) {
	if i > 0 {
		e.indicator(",", false, false, false)
	}
	if e.column > e.width {
		e.writeIndent()
	}
}

func (e *emitter) flowMapping(n *node) {
	e.indicator("{", true, true, false)
	restore := e.deeper(true, false)
	e.flowLevel++
	for i := 0; i < len(n.children); i += 2 {
		e.flowSeparator(i)
		e.entry(n.children[i], n.children[i+1], func() {
			if e.column > e.width {
				e.writeIndent()
			}
		})
	}
	e.flowLevel--
	restore()
	e.indicator("}", false, false, false)
}

func (e *emitter) blockSequence(n *node, at place) {
	restore := e.deeper(false, at.mapping && !e.indention)
	for _, child := range n.children {
		e.writeIndent()
		e.indicator("-", true, false, true)
		e.node(child, place{})
	}
	restore()
}

func (e *emitter) blockMapping(n *node) {
	restore := e.deeper(false, false)
	for i := 0; i < len(n.children); i += 2 {
		e.writeIndent()
		e.entry(n.children[i], n.children[i+1], e.writeIndent)
	}
	restore()
}

// entry writes a key and its value; a key that is too long or complex stands
// behind "?", and before the ":" then comes what beforeColon writes.
func (e *emitter) entry(key, val *node, beforeColon func()) {
	if e.isSimpleKey(key) {
		e.node(key, place{mapping: true, simpleKey: true})
		e.indicator(":", false, false, false)
	} else {
		e.indicator("?", true, false, e.flowLevel == 0)
		e.node(key, place{mapping: true})
		beforeColon()
		e.indicator(":", true, false, e.flowLevel == 0)
	}
	e.node(val, place{mapping: true})
}

func (e *emitter) isSimpleKey(n *node) bool {
	if n.anchor != "" && n.met {
		return true
	}
	if n.kind != scalar {
		return len(n.children) == 0
	}
	return !strings.ContainsAny(n.text, "\n\r\u0085\u2028\u2029") && len(n.text)+len(n.anchor) <= maxSimpleKey
}

func (e *emitter) put(s string) {
	e.out.WriteString(s)
	e.column += utf8.RuneCountInString(s)
}

func (e *emitter) lineBreak() {
	e.out.WriteByte('\n')
	e.column = 0
}

func (e *emitter) writeIndent() {
	indent := max(e.indent, 0)
	if !e.indention || e.column > indent || e.column == indent && !e.whitespace {
		e.lineBreak()
	}
	if e.column < indent {
		e.put(strings.Repeat(" ", indent-e.column))
	}
	e.whitespace, e.indention = true, true
}

func (e *emitter) indicator(s string, needSpace, isSpace, isIndention bool) {
	if needSpace && !e.whitespace {
		e.put(" ")
	}
	e.put(s)
	e.whitespace = isSpace
	e.indention = e.indention && isIndention
}
