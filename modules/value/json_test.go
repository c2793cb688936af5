package value_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"play/modules/value"
)

// The answers in testdata/json.jsonl are those of Python 3.11.2's json module,
// recorded by testdata/record_json.py.

type jsonCase struct {
	In  string            `json:"in"`
	Err string            `json:"err"`
	Out map[string]string `json:"out"`
}

func jsonOptions(name string) value.JSONOptions {
	switch name {
	case "plain":
		return value.JSONOptions{EnsureASCII: true}
	case "nice":
		return value.JSONOptions{EnsureASCII: true, SortKeys: true, Multiline: true, Indent: "    "}
	case "tab":
		return value.JSONOptions{EnsureASCII: true, Multiline: true, Indent: "\t"}
	case "zero":
		return value.JSONOptions{EnsureASCII: true, Multiline: true}
	case "compact":
		return value.JSONOptions{EnsureASCII: true, ItemSep: ",", KeySep: ":"}
	}
	return value.JSONOptions{}
}

// bytesOf undoes the recorder's latin-1 form.
func bytesOf(s string) string {
	var b []byte
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}

func TestJSONAsPython(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/json.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var c jsonCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		checkJSON(t, c)
	}
}

func checkJSON(t *testing.T, c jsonCase) {
	in := bytesOf(c.In)
	v, err := value.DecodeJSON([]byte(in))
	if c.Err != "" {
		if err == nil || err.Error() != c.Err {
			t.Errorf("%q: error %v, want %s", in, err, c.Err)
		}
		return
	}
	if err != nil {
		t.Errorf("%q: %v", in, err)
		return
	}
	for name, want := range c.Out {
		got, err := value.EncodeJSON(v, jsonOptions(name))
		if err != nil || got != bytesOf(want) {
			t.Errorf("%q %s:\n got %q %v\nwant %q", in, name, got, err, bytesOf(want))
		}
	}
}

func TestJSONDepth(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 100000)
	if _, err := value.DecodeJSON([]byte(deep)); err == nil || !strings.Contains(err.Error(), "deeper") {
		t.Errorf("deep document: %v", err)
	}
	loop := value.NewList()
	loop.Append(loop)
	if _, err := value.EncodeJSON(loop, value.JSONOptions{}); err == nil || !strings.Contains(err.Error(), "Circular") {
		t.Errorf("circular list: %v", err)
	}
}

func TestJSONEncodeErrors(t *testing.T) {
	t.Parallel()
	tupleKey := value.NewDict()
	_ = tupleKey.SetKey(value.Tuple{1}, 1)
	mixed := value.DictOf("a", 1)
	_ = mixed.SetKey(1, 1)
	for _, c := range []struct {
		v    any
		want string
	}{
		{tupleKey, "keys must be str, int, float, bool or None, not tuple"},
		{mixed, "'<' not supported between instances of 'int' and 'str'"},
		{struct{}{}, "Object of type object is not JSON serializable"},
	} {
		_, err := value.EncodeJSON(c.v, value.JSONOptions{SortKeys: true})
		var je *value.JSONError
		if !errors.As(err, &je) || err.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.v, err, c.want)
		}
	}
}

type shown struct{}

func (shown) JSONValue() (any, error) { return value.NewList("x", value.Tuple{1}), nil }

func TestJSONValuer(t *testing.T) {
	t.Parallel()
	got, err := value.EncodeJSON(value.DictOf("k", shown{}), value.WireJSON())
	if err != nil || got != `{"k":["x",[1]]}` {
		t.Errorf("got %s %v", got, err)
	}
}

func TestJSONRawBytes(t *testing.T) {
	t.Parallel()
	raw := "a\xff\xc3(é"
	got, err := value.EncodeJSON(raw, value.WireJSON())
	if err != nil || got != `"a\udcff\udcc3(é"` {
		t.Errorf("got %s %v", got, err)
	}
	back, err := value.DecodeJSON([]byte(got))
	if err != nil || back != raw {
		t.Errorf("back: %q %v", back, err)
	}
}

// FuzzJSON checks that whatever decodes also encodes, to valid UTF-8, and that
// this text is stable under another round.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5,"x\ud800\udc00",null,true]}`, `[NaN,-Infinity,1e5,123456789012345678901]`,
		`"\udcff\udcc3(é"`, "\"\xff\xed\xa0\x80\"", `[[[{}]]]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := value.DecodeJSON(data)
		if err != nil {
			var je *value.JSONError
			if !errors.As(err, &je) || je.Line < 1 || je.Offset > len(data) {
				t.Fatalf("bad error %#v", err)
			}
			return
		}
		once, err := value.AppendJSON(nil, v, value.WireJSON())
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(once) {
			t.Fatalf("not UTF-8: %q", once)
		}
		w, err := value.DecodeJSON(once)
		if err != nil {
			t.Fatalf("%v in %q", err, once)
		}
		twice, err := value.AppendJSON(nil, w, value.WireJSON())
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q then %q: %v", once, twice, err)
		}
	})
}
