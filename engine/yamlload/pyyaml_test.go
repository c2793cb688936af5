package yamlload

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"testing"

	"play/modules/value"
)

// differs lists the texts that are read differently on purpose, and why.
var differs = map[string]string{
	"a: =\n":                                "PyYAML has no constructor for its default value tag; here it is text",
	"a: <<\n":                               "PyYAML has no constructor for a merge tag as a value; here it is text",
	"a: !unsafe [1, '{{ x }}', {b: 'c'}]\n": "ansible-core 2.14 loses the dict inside an unsafe list",
}

// TestPyYAML compares every recorded answer of PyYAML.
func TestPyYAML(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/pyyaml.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // the versions
	count := 0
	for lines.Scan() {
		var c struct {
			YAML  string
			Value string
			Error bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		count++
		got := answer(c.YAML)
		want := c.Value
		if c.Error {
			want = "error"
		}
		if why := differs[c.YAML]; got != want && why == "" {
			t.Errorf("%q: got %s, PyYAML gives %s", c.YAML, got, want)
		}
	}
	if count < 250 {
		t.Errorf("only %d cases", count)
	}
}

func answer(text string) string {
	v, err := (&Loader{}).Data("test.yml", []byte(text))
	if err != nil {
		return "error"
	}
	return show(v, strings.Contains(text, "!!set"))
}

func show(v any, sorted bool) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case float64:
		if math.IsNaN(v) {
			return "fnan"
		}
		return fmt.Sprintf("f%016x", math.Float64bits(v))
	case string:
		return ascii(v)
	case *value.List:
		items := make([]string, 0, v.Len())
		for _, item := range v.Items {
			items = append(items, show(item, sorted))
		}
		if sorted {
			sort.Strings(items)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case *value.Dict:
		var items []string
		for k, item := range v.All() {
			items = append(items, show(k, sorted)+": "+show(item, sorted))
		}
		return "{" + strings.Join(items, ", ") + "}"
	}
	return fmt.Sprint(v)
}

// ascii writes a string as Python's json.dumps does.
func ascii(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString("\\" + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r >= 0x20 && r < 0x7f:
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
