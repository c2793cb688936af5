package argspec_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"play/modules/argspec"
	"play/modules/value"
)

func env(t testing.TB) argspec.Env {
	t.Helper()
	return argspec.Env{
		Home: "/home/user",
		Getenv: func(name string) (string, bool) {
			v, ok := map[string]string{"FALL": "fallen", "PLAY_DIR": "/srv", "HOME": "/home/user"}[name]
			return v, ok
		},
	}
}

// recorded holds the answers of AnsibleModule (testdata/record.py).
func recorded(t testing.TB) *value.List {
	t.Helper()
	data, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := value.DecodeJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return get(v, "cases").(*value.List)
}

func get(v any, key string) any {
	d, _ := v.(*value.Dict)
	out, _ := d.Get(key)
	return out
}

func texts(v any) []string {
	var out []string
	switch v := v.(type) {
	case string:
		out = append(out, v)
	case *value.List:
		for _, item := range v.Items {
			out = append(out, value.Str(item))
		}
	}
	return out
}

func groups(v any) [][]string {
	var out [][]string
	if l, ok := v.(*value.List); ok {
		for _, g := range l.Items {
			if _, ok := g.(*value.List); ok {
				out = append(out, texts(g))
			}
		}
	}
	return out
}

func specOf(v any, rules any) *argspec.Spec {
	s := &argspec.Spec{}
	d, _ := v.(*value.Dict)
	for k, raw := range d.All() {
		o := argspec.Option{Name: k.(string), Default: get(raw, "default"), Aliases: texts(get(raw, "aliases"))}
		o.Type, _ = get(raw, "type").(string)
		o.Elements, _ = get(raw, "elements").(string)
		o.Required = value.Truth(get(raw, "required"))
		o.NoLog = value.Truth(get(raw, "no_log"))
		o.Env, _ = get(raw, "env").(string)
		o.ApplyDefaults = get(raw, "apply_defaults") == true
		o.Removed = removalOf(raw, "removed_in_version", "removed_at_date", "removed_from_collection")
		if l, ok := get(raw, "deprecated_aliases").(*value.List); ok {
			for _, a := range l.Items {
				o.OldAliases = append(o.OldAliases, argspec.OldAlias{Name: word(a, "name"), Removal: removalOf(a, "version", "date", "collection_name")})
			}
		}
		if l, ok := get(raw, "choices").(*value.List); ok {
			o.Choices = l.Items
		}
		if sub := get(raw, "options"); sub != nil {
			o.Options = specOf(sub, raw)
		}
		s.Options = append(s.Options, o)
	}
	s.Rules = rulesOf(rules)
	return s
}

func rulesOf(v any) argspec.Rules {
	r := argspec.Rules{
		MutuallyExclusive: groups(get(v, "mutually_exclusive")),
		RequiredTogether:  groups(get(v, "required_together")),
		RequiredOneOf:     groups(get(v, "required_one_of")),
	}
	if l, ok := get(v, "required_if").(*value.List); ok {
		for _, item := range l.Items {
			f := item.(*value.List).Items
			r.RequiredIf = append(r.RequiredIf, argspec.RequiredIf{
				Name: f[0].(string), Value: f[1], Needs: texts(f[2]), Any: len(f) > 3 && value.Truth(f[3]),
			})
		}
	}
	if d, ok := get(v, "required_by").(*value.Dict); ok {
		for k, needs := range d.All() {
			r.RequiredBy = append(r.RequiredBy, argspec.RequiredBy{Name: k.(string), Needs: texts(needs)})
		}
	}
	return r
}

// sameBools drops the list of words that Python prints in random order.
func sameBools(msg string) string {
	head, _, _ := strings.Cut(msg, "Valid booleans include:")
	return head
}

func TestCheckAsAnsible(t *testing.T) {
	t.Parallel()
	for _, c := range recorded(t).Items {
		if get(c, "name") == "internal" {
			continue // _ansible_ arguments are taken out by the agent
		}
		t.Run(get(c, "name").(string), func(t *testing.T) {
			t.Parallel()
			checkCase(t, c)
		})
	}
}

func checkCase(t *testing.T, c any) {
	spec := specOf(get(c, "spec"), get(c, "rules"))
	got, err := spec.Check("basic.py", get(c, "params").(*value.Dict), env(t))
	want := get(c, "want")
	compareTold(t, got, want)
	if msg, ok := get(want, "error").(string); ok {
		if err == nil {
			t.Fatalf("got %s, want the error %q", value.Repr(got.Params), msg)
		}
		if sameBools(err.Error()) != sameBools(msg) {
			t.Fatalf("error\n got %s\nwant %s", err, msg)
		}
		return
	}
	if err != nil {
		t.Fatalf("cannot check: %v; want %s", err, value.Repr(get(want, "params")))
	}
	if g, w := value.Repr(got.Params), value.Repr(get(want, "params")); g != w {
		t.Fatalf("params\n got %s\nwant %s", g, w)
	}
}

// compareTold compares warnings and deprecations.
func compareTold(t *testing.T, got *argspec.Checked, want any) {
	t.Helper()
	if w := texts(get(want, "warnings")); !slices.Equal(got.Warnings, w) {
		t.Errorf("warnings\n got %q\nwant %q", got.Warnings, w)
	}
	var deprecations []argspec.Deprecation
	if l, ok := get(want, "deprecations").(*value.List); ok {
		for _, d := range l.Items {
			deprecations = append(deprecations, argspec.Deprecation{Msg: word(d, "msg"), Removal: removalOf(d, "version", "date", "collection_name")})
		}
	}
	if !slices.Equal(got.Deprecations, deprecations) {
		t.Errorf("deprecations\n got %q\nwant %q", got.Deprecations, deprecations)
	}
}

func word(v any, key string) string {
	text, _ := get(v, key).(string)
	return text
}

func removalOf(v any, version, date, collection string) argspec.Removal {
	return argspec.Removal{Version: word(v, version), Date: word(v, date), Collection: word(v, collection)}
}

type inner struct {
	Name string `arg:"name,required"`
	Size int    `arg:"size,default=3"`
}

type sample struct {
	Path   string      `arg:"path,required,aliases=dest|name,type=path" doc:"the file"`
	State  string      `arg:"state,choices=file|absent,default=file"`
	Force  bool        `arg:"force,default=yes"`
	Count  *int        `arg:"count"`
	Ratio  float64     `arg:"ratio,default=0.5"`
	Mode   any         `arg:"mode"`
	Token  string      `arg:"token,nolog"`
	Names  []string    `arg:"names,default=a|b"`
	Parts  []inner     `arg:"parts"`
	Main   *inner      `arg:"main"`
	Keys   *value.Dict `arg:"keys"`
	Size   int         `arg:"size,type=bytes"`
	Marker string      `arg:"marker,default='a,b'"`
	other  string
}

func (sample) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"keys", "parts"}}}
}

func TestDecodeStruct(t *testing.T) {
	t.Parallel()
	spec := argspec.Of(sample{})
	args := value.DictOf("dest", "~/f", "force", "no", "count", "7", "mode", "0644", "token", "s3cret",
		"parts", value.NewList("name=x", value.DictOf("name", "y", "size", 4)), "size", "2K")
	var got sample
	checked, err := spec.Decode("sample", args, env(t), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := sample{Path: "/home/user/f", State: "file", Ratio: 0.5, Mode: "0644", Token: "s3cret",
		Names: []string{"a", "b"}, Parts: []inner{{"x", 3}, {"y", 4}}, Size: 2048, Marker: "a,b"}
	if got.Count == nil || *got.Count != 7 || got.Main != nil || got.Keys != nil || got.Force || got.other != "" {
		t.Errorf("pointers and bools: %+v", got)
	}
	if got.Path != want.Path || got.State != want.State || got.Ratio != want.Ratio || got.Mode != want.Mode ||
		!slices.Equal(got.Names, want.Names) || !slices.Equal(got.Parts, want.Parts) || got.Size != want.Size || got.Marker != want.Marker {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if !slices.Equal(checked.Secrets, []string{"s3cret"}) {
		t.Errorf("secrets %q", checked.Secrets)
	}
	shown, _ := spec.Invocation(checked.Params).Get("token")
	if shown != argspec.Hidden {
		t.Errorf("invocation shows token as %v", shown)
	}
}

func TestRulesOfStruct(t *testing.T) {
	t.Parallel()
	args := value.DictOf("path", "/f", "keys", value.NewDict(), "parts", value.NewList())
	_, err := argspec.Of(sample{}).Check("sample", args, env(t))
	if err == nil || err.Error() != "parameters are mutually exclusive: keys|parts" {
		t.Errorf("got %v", err)
	}
}

func TestScrub(t *testing.T) {
	t.Parallel()
	in := value.DictOf("stdout", "pass=hunter22 end", "rc", 42, "exact", "hunter22", "list", value.NewList("xhunter2y"), "ok", true)
	got := value.Repr(argspec.ScrubValue(in, []string{"hunter22", "hunter2", "42"}))
	want := "{'stdout': 'pass=******** end', 'rc': 'VALUE_SPECIFIED_IN_NO_LOG_PARAMETER', 'exact': 'VALUE_SPECIFIED_IN_NO_LOG_PARAMETER', 'list': ['x********y'], 'ok': True}"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSecretNotInError(t *testing.T) {
	t.Parallel()
	type args struct {
		Token string `arg:"token,nolog"`
		Kind  string `arg:"kind,choices=a|b"`
	}
	_, err := argspec.Of(args{}).Check("m", value.DictOf("token", "s3cret", "kind", "xs3crety"), env(t))
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{`{"path":"~/x","parts":["name=a"]}`, `{"keys":"{'a':1}"}`, `{"size":"1.5 KB","count":1e99}`} {
		f.Add([]byte(s))
	}
	spec := argspec.Of(sample{})
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := value.DecodeJSON(data)
		args, ok := v.(*value.Dict)
		if err != nil || !ok {
			return
		}
		var into sample
		checked, err := spec.Decode("sample", args, env(t), &into)
		if err == nil && into.Path == "" && value.Truth(get(checked.Params, "path")) {
			t.Errorf("path was lost: %s", value.Repr(checked.Params))
		}
	})
}

type ageing struct {
	Old  string `arg:"old,removed=2.20@ns.coll"`
	Due  string `arg:"due,removed=2027-01-31"`
	New  string `arg:"new,aliases=was|before,oldaliases=was@2.19|before@2028-02-01@ns.coll"`
	Main inner2 `arg:"main,applydefaults"`
}

type inner2 struct {
	Size int `arg:"size,default=3"`
}

// TestAgeingFields: tags tell what goes away, and defaults of what is absent.
func TestAgeingFields(t *testing.T) {
	t.Parallel()
	var into ageing
	got, err := argspec.Of(&into).Decode("m", value.DictOf("old", "1", "due", "2", "was", "3", "before", "4"), env(t), &into)
	if err != nil || into.Main.Size != 3 || into.New != "4" {
		t.Fatalf("%+v %v", into, err)
	}
	want := []string{"Alias 'was' {2.19  }", "Alias 'before' { 2028-02-01 ns.coll}", "Param 'old' {2.20  ns.coll}", "Param 'due' { 2027-01-31 }"}
	var told []string
	for _, d := range got.Deprecations {
		told = append(told, fmt.Sprint(strings.TrimSuffix(d.Msg, " is deprecated. See the module docs for more information"), " ", d.Removal))
	}
	if !slices.Equal(told, want) {
		t.Errorf("got %q, want %q", told, want)
	}
}

// TestHiddenFields: a struct whose own field hides one that it embeds would lose
// an option.
func TestHiddenFields(t *testing.T) {
	t.Parallel()
	type login struct {
		Password string `arg:"login_password"`
	}
	type args struct {
		Password string `arg:"password"`
		login
	}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, `hides the field of "login_password"`) {
			t.Errorf("got %q", text)
		}
	}()
	argspec.Of(args{})
}

// TestEveryMistake: a role's specs tell all that is wrong, in Ansible's order.
func TestEveryMistake(t *testing.T) {
	t.Parallel()
	sub := &argspec.Spec{Options: []argspec.Option{{Name: "x", Type: "int", Required: true}}}
	s := argspec.Spec{Options: []argspec.Option{
		{Name: "n", Type: "int", Required: true}, {Name: "c", Type: "str", Choices: []any{"a", "b"}},
		{Name: "d", Type: "dict", Options: sub}, {Name: "q", Required: true},
	}}
	_, err := s.Check("m", value.DictOf("n", "abc", "c", "q", "d", value.DictOf(), "zz", 1), env(t))
	var wrong *argspec.Error
	if !errors.As(err, &wrong) {
		t.Fatalf("got %v", err)
	}
	want := []string{"missing required arguments: q", "argument 'n' is of type", "value of c must be one of: a, b, got: q",
		"missing required arguments: x found in d", "Unsupported parameters for (m) module: zz."}
	if len(wrong.All) != len(want) || wrong.Msg != wrong.All[0] {
		t.Fatalf("got %q", wrong.All)
	}
	for i, text := range want {
		if !strings.HasPrefix(wrong.All[i], text) {
			t.Errorf("mistake %d is %q, want %q", i, wrong.All[i], text)
		}
	}
}
