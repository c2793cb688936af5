package yamldump_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"play/engine/yamldump"
	"play/modules/value"
)

// The answers in testdata/dump.jsonl are those of PyYAML 6.0 with libyaml
// 0.2.5, recorded by testdata/record.py.

func options(name string) yamldump.Options {
	switch name {
	case "nice":
		return yamldump.Options{Flow: yamldump.FlowNever, Indent: 4}
	case "plain":
		return yamldump.Options{Flow: yamldump.FlowNever, KeepOrder: true}
	case "flow":
		return yamldump.Options{Flow: yamldump.FlowAlways, Width: 40}
	case "wide":
		return yamldump.Options{Flow: yamldump.FlowNever, Width: 1000}
	case "ascii":
		return yamldump.Options{ASCII: true}
	case "explicit":
		return yamldump.Options{Flow: yamldump.FlowNever, ExplicitHead: true, ExplicitEnd: true}
	case "double":
		return yamldump.Options{Flow: yamldump.FlowNever, Style: `"`}
	case "literal":
		return yamldump.Options{Flow: yamldump.FlowNever, Style: "|", Indent: 4}
	}
	return yamldump.Options{}
}

func TestAsPyYAML(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/dump.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		row, err := value.DecodeJSON(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		in, _ := row.(*value.Dict).Get("in")
		out, _ := row.(*value.Dict).Get("out")
		for name, want := range out.(*value.Dict).All() {
			got, err := yamldump.Dump(in, options(name.(string)))
			if err != nil || got != want {
				t.Errorf("%s %s: %v\n got %q\nwant %q", value.Repr(in), name, err, got, want)
			}
		}
	}
}

func FuzzDump(f *testing.F) {
	f.Add("a\xff: \xe8\n b", 4, 80)
	f.Add("- # x\u2028", 0, 0)
	f.Fuzz(func(t *testing.T, s string, indent, width int) {
		for _, style := range []string{"", "'", `"`, "|", ">"} {
			_, err := yamldump.Dump(value.NewList(s, value.DictOf(s, value.NewList(s))), yamldump.Options{Indent: indent, Width: width, Style: style})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestAliases(t *testing.T) {
	t.Parallel()
	shared := value.NewList("x")
	got, err := yamldump.Dump(value.DictOf("a", shared, "b", shared), yamldump.Options{Flow: yamldump.FlowNever})
	if want := "a: &id001\n- x\nb: *id001\n"; err != nil || got != want {
		t.Errorf("got %q %v, want %q", got, err, want)
	}
}

func TestCircular(t *testing.T) {
	t.Parallel()
	l := value.NewList()
	l.Append(l)
	got, err := yamldump.Dump(l, yamldump.Options{})
	if want := "&id001\n- *id001\n"; err != nil || got != want {
		t.Errorf("got %q %v, want %q", got, err, want)
	}
}

func TestDeep(t *testing.T) {
	t.Parallel()
	v := any("x")
	for range 2000 {
		v = value.NewList(v)
	}
	if _, err := yamldump.Dump(v, yamldump.Options{}); err == nil || !strings.Contains(err.Error(), "too deeply") {
		t.Errorf("got %v", err)
	}
}
