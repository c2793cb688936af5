package xmldoc

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

type recordedDocument struct {
	Text, Plain, ASCII, Pretty string
	Error                      *string
}

type recordedExpression struct {
	Text  string
	Nodes []string
	Value any
	Error *string
}

type recording struct {
	Tree        string
	Spaces      map[string]string
	Documents   []recordedDocument
	Expressions []recordedExpression
}

func recorded(t testing.TB) *recording {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{}
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestDocumentsAsLxml prints documents as lxml does, and refuses what it refuses.
func TestDocumentsAsLxml(t *testing.T) {
	t.Parallel()
	for _, c := range recorded(t).Documents {
		doc, err := Parse(c.Text, Options{})
		var syntax *SyntaxError
		if c.Error != nil {
			if !errors.As(err, &syntax) || syntax.Error() != *c.Error {
				t.Errorf("%q: got error %v, want %s", c.Text, err, *c.Error)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.Text, err)
			continue
		}
		if got := doc.String(Format{Declaration: true}); got != c.Plain {
			t.Errorf("%q: got %q, want %q", c.Text, got, c.Plain)
		}
		if got := doc.Clone().String(Format{ASCII: true}); !strings.Contains(c.Text, "CDATA") && got != c.ASCII {
			t.Errorf("%q: got %q, want %q", c.Text, got, c.ASCII)
		}
		doc, err = Parse(c.Text, Options{DropBlank: true})
		if got := doc.String(Format{Declaration: true, Pretty: true}); err != nil || got != c.Pretty {
			t.Errorf("%q, pretty: got %q, want %q", c.Text, got, c.Pretty)
		}
	}
}

// TestExpressionsAsLxml gives what lxml gives.
func TestExpressionsAsLxml(t *testing.T) {
	t.Parallel()
	r := recorded(t)
	doc, err := Parse(r.Tree, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Expressions {
		got := evaluated(c.Text, doc, r.Spaces)
		want := recordedExpression{Text: c.Text, Nodes: c.Nodes, Value: c.Value}
		if c.Error != nil {
			want.Error = c.Error
		}
		if !reflect.DeepEqual(got, want) {
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(want)
			t.Errorf("got %s, want %s", g, w)
		}
	}
}

func evaluated(text string, doc *Node, spaces map[string]string) recordedExpression {
	out := recordedExpression{Text: text}
	var v Value
	x, err := Compile(text)
	if err == nil {
		v, err = x.Eval(doc.Root(), spaces)
	}
	if err != nil {
		msg := err.Error()
		out.Error = &msg
		return out
	}
	switch v := v.(type) {
	case []*Node:
		out.Nodes = []string{}
		for _, n := range v {
			switch {
			case n.Kind == Document || n.Kind == Doctype: // lxml has no object for it
			case n.isText() || n.Kind == Attribute:
				out.Nodes = append(out.Nodes, n.Text)
			default:
				out.Nodes = append(out.Nodes, n.Path())
			}
		}
	case float64:
		out.Value = pythonFloat(v)
	default:
		out.Value = v
	}
	return out
}

func pythonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'f', -1, 64), "+"))
	case f == math.Trunc(f):
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// FuzzXPath: no expression and no document ends the program.
func FuzzXPath(f *testing.F) {
	for _, e := range recorded(f).Expressions {
		f.Add(e.Text, "<a b='1'>x<c/></a>")
	}
	f.Fuzz(func(_ *testing.T, expression, text string) {
		doc, err := Parse(text, Options{})
		x, wrong := Compile(expression)
		if err == nil && wrong == nil {
			_, _ = x.Eval(doc, nil)
		}
	})
}
