package jinja_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"play/engine/jinja"
	"play/modules/value"
)

// harmless reports whether calling a builtin with any argument has no effect
// on the machine and asks nobody.
func harmless(kind, name string) bool {
	switch kind + " " + name {
	case "lookup pipe", "lookup lines", "lookup password", "lookup passwordstore", "lookup url", "lookup file", "lookup fileglob",
		"lookup filetree", "lookup unvault", "lookup template", "lookup csvfile", "lookup ini", "lookup first_found",
		"filter fileglob", "filter password_hash", "filter vault", "filter unvault":
		return false
	}
	return true
}

// FuzzBuiltins calls filters, tests and lookups with values and arguments of
// any kind: they may fail, and must not panic or run on.
func FuzzBuiltins(f *testing.F) {
	env := builtinEnv()
	var calls [][2]string
	for _, kind := range []string{"filter", "test", "lookup"} {
		for _, name := range env.Names(kind) {
			if harmless(kind, name) {
				calls = append(calls, [2]string{kind, name})
			}
		}
	}
	for i := range calls {
		f.Add(uint16(i), `["x",1]`, `[]`, `{}`)
		f.Add(uint16(i), `{"a":[1,{"b":null}],"c":"d"}`, `["a",2]`, `{}`)
		f.Add(uint16(i), `1.5`, `[[1,"x"],{"k":true}]`, `{"attribute":"a"}`)
		f.Add(uint16(i), `"10.0.0.1/24"`, `["-1"]`, `{}`)
		f.Add(uint16(i), "[\"\xe8\"]", `["\udcff"]`, `{}`)
	}
	f.Fuzz(func(t *testing.T, at uint16, v, args, kwargs string) {
		call := calls[int(at)%len(calls)]
		vars := value.NewDict()
		for name, text := range map[string]string{"v": v, "a": args, "k": kwargs} {
			x, err := value.DecodeJSON([]byte(text))
			if err != nil || len(text) > 2000 {
				return
			}
			vars.Set(name, x)
		}
		expr := map[string]string{"filter": "v | NAME(*a, **k)", "test": "v is NAME(*a, **k)", "lookup": "query('NAME', *a, **k)"}[call[0]]
		expr = strings.Replace(expr, "NAME", call[1], 1)
		if strings.ContainsAny(call[1], "<>=!") {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		start := time.Now()
		got, err := env.Expression(expr, &jinja.Context{Go: ctx, Vars: jinja.Vars{Dict: vars}})
		if err == nil {
			_ = value.Repr(got)
		}
		if took := time.Since(start); took > 8*time.Second && !strings.Contains(call[1], "regex") {
			t.Errorf("%s took %s", expr, took)
		}
	})
}
