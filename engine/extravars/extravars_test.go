package extravars

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"play/engine/jinja"
	"play/engine/yamlload"
	"play/modules/value"
)

// extraVarsCase is one recorded reading of -e arguments.
type extraVarsCase struct {
	Args  []string
	Vars  json.RawMessage
	Fails bool
}

func TestAsAnsible(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Scan() // version and command
	for lines.Scan() {
		var c extraVarsCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		args := make([]string, len(c.Args))
		for i, a := range c.Args {
			args[i] = a
			if strings.HasPrefix(a, "@") {
				args[i] = "@testdata/files/" + a[1:]
			}
		}
		got, err := Parse(args, &yamlload.Loader{}, false)
		if (err != nil) != c.Fails {
			t.Errorf("%q: error %v, want failure %v", c.Args, err, c.Fails)
			continue
		}
		if c.Fails {
			continue
		}
		want, err := value.DecodeJSON(c.Vars)
		if err != nil {
			t.Fatal(err)
		}
		if !value.Equal(got, want) {
			t.Errorf("%q: %s, want %s", c.Args, value.Repr(got), value.Repr(want))
		}
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	l := &yamlload.Loader{Env: jinja.NewEnv(jinja.Options{})}
	got, err := Parse([]string{"a={{ b }} c=plain", `{"d": "{{ b }}"}`}, l, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "d"} {
		if v, _ := got.Get(name); !got.Lazy {
			t.Errorf("%s is %v in a dict that is not lazy", name, v)
		} else if _, ok := v.(*jinja.Template); !ok {
			t.Errorf("%s is %T, want a template", name, v)
		}
	}
	if v, _ := got.Get("c"); v != "plain" {
		t.Errorf("c is %v", v)
	}
	if _, err := Parse([]string{"a={{ ( }}"}, l, false); err == nil {
		t.Error("a bad template was read")
	}
}
