package moddoc

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"play/modules"
	"play/modules/argspec"
	"play/modules/value"
)

// TestEntries reads every entry strictly.
func TestEntries(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		text, err := data.ReadFile("data/" + name + ".yml")
		if err != nil {
			t.Fatal(err)
		}
		if e, err := read(text); err != nil || e.Examples == "" {
			t.Errorf("%s: %v, examples %q", name, err, e.Examples)
		}
	}
}

// TestEveryModuleHasAnEntry wants examples that the module would accept, and
// every returned value told.
func TestEveryModuleHasAnEntry(t *testing.T) {
	t.Parallel()
	for _, m := range modules.All() {
		if strings.HasPrefix(m.Name, "_") {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			e, ok := Find(m.Name)
			if !ok {
				t.Fatalf("there is no data/%s.yml: it holds the module's examples and returned values", m.Name)
			}
			if e.Options == nil { // otherwise the options are an action's
				checkExamples(t, m, e.Examples)
			}
			checkReturns(t, m, e)
		})
	}
}

// checkExamples decodes the arguments of each example that calls the module.
func checkExamples(t *testing.T, m modules.Module, text string) {
	var tasks []map[string]yaml.Node
	if err := yaml.Unmarshal([]byte(text), &tasks); err != nil {
		t.Fatalf("examples: %v", err)
	}
	seen := false
	for _, task := range tasks {
		args, ok := task[m.FullNames()[0]]
		if !ok || args.Kind != yaml.MappingNode {
			seen = seen || ok
			continue
		}
		seen = true
		var into map[string]any
		if err := args.Decode(&into); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(into)
		if err != nil {
			t.Fatal(err)
		}
		dict, err := value.DecodeJSON(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(encoded), "{{") {
			continue // its values are known in a run only
		}
		if _, err := argspec.Of(m.Args).Decode("play", dict.(*value.Dict), argspec.Env{}, m.New()); err != nil {
			t.Errorf("example %s: %v", encoded, err)
		}
	}
	if !seen {
		t.Errorf("no example calls %s", m.FullNames()[0])
	}
}

// everywhere are values that need no word of each module's own.
var everywhere = strings.Fields(`changed failed skipped msg diff exception warnings deprecations invocation
	path dest state mode owner group uid gid size secontext backup_file backup`)

// checkReturns looks through the recorded results for values that are not told.
// An entry that tells of "others" leaves the rest open: an answer's headers, a
// certificate's extensions.
func checkReturns(t *testing.T, m modules.Module, e Entry) {
	text, err := os.ReadFile("../testdata/cases/" + m.Name + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var recorded struct {
		Cases []struct{ Result map[string]json.RawMessage }
	}
	if err != nil || json.Unmarshal(text, &recorded) != nil {
		t.Fatalf("cannot read the recorded cases: %v", err)
	}
	told := slices.Clone(everywhere)
	for _, r := range e.Returns {
		told = append(told, r.Name)
	}
	for _, o := range argspec.Of(m.Args).Options {
		told = append(append(told, o.Name), o.Aliases...)
	}
	for _, c := range recorded.Cases {
		if string(c.Result["failed"]) == "true" || c.Result["crash"] != nil {
			continue
		}
		for key := range c.Result {
			if !slices.Contains(told, key) && !slices.Contains(told, "others") {
				t.Errorf("data/%s.yml does not tell of %q, which results have", m.Name, key)
				told = append(told, key)
			}
		}
	}
}

func TestCover(t *testing.T) {
	t.Parallel()
	uses := []Use{{"a.b.c", 6}, {"a.b.d", 3}, {"a.b.e", 1}}
	c := Cover(uses, func(name string) bool { return name != "a.b.d" })
	if c.Native != 7 || c.Total != 10 || c.Percent() != 70 || len(c.Missing) != 1 || c.Missing[0].Name != "a.b.d" {
		t.Errorf("got %+v", c)
	}
}
