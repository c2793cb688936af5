package foreign

import (
	"bytes"
	"fmt"
	"strings"

	"play/modules/process"
	"play/modules/value"
)

// read finds the result in a module's output.
func (p *Program) read(out *process.Outcome) *value.Dict {
	if out.Dropped > 0 {
		return value.DictOf("changed", false, "failed", true, "rc", out.RC, "msg", fmt.Sprintf(
			"cannot read the result of the module %q: it printed %d bytes, and at most %d are read", p.Name, out.Dropped+int64(len(out.Stdout)+len(out.Stderr)), process.MaxOutput))
	}
	text, junk := jsonIn(out.Stdout)
	v, err := value.DecodeJSON(text)
	result, ok := v.(*value.Dict)
	if err != nil || !ok {
		return p.failure(out)
	}
	dropInternal(result)
	for _, k := range []string{"warnings", "deprecations"} {
		if v, _ := result.Get(k); v != nil && !value.Truth(v) {
			result.Delete(k)
		}
	}
	if junk != "" {
		warn(result, "Module invocation had junk after the JSON data: "+junk)
	}
	if rc, has := result.Get("rc"); has && !hasKey(result, "failed") && value.Truth(rc) && value.Str(rc) != "0" {
		result.Set("failed", true)
	}
	if !hasKey(result, "changed") {
		result.Set("changed", false)
	}
	return result
}

// dropInternal takes out the keys that are the controller's own words, wherever
// a module put them.
func dropInternal(v any) {
	switch v := v.(type) {
	case *value.Dict:
		for _, k := range v.Keys() {
			if name, ok := k.(string); ok && strings.HasPrefix(name, "_ansible_") {
				v.Delete(name)
			}
		}
		for _, item := range v.All() {
			dropInternal(item)
		}
	case *value.List:
		for _, item := range v.Items {
			dropInternal(item)
		}
	}
}

func hasKey(d *value.Dict, key string) bool {
	_, ok := d.Get(key)
	return ok
}

// jsonIn cuts a JSON object out of noise: from the first line that begins with
// "{" to the last one that ends with "}". junk is what stands after it.
func jsonIn(out []byte) (text []byte, junk string) {
	start := -1
	end := -1
	for at := 0; at < len(out); {
		line, next := out[at:], len(out)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], at+i+1
		}
		trimmed := bytes.TrimSpace(line)
		if start < 0 && bytes.HasPrefix(trimmed, []byte("{")) {
			start = at
		}
		if start >= 0 && bytes.HasSuffix(trimmed, []byte("}")) {
			end = at + len(line)
		}
		at = next
	}
	if end < 0 {
		return nil, ""
	}
	return out[start:end], strings.TrimSpace(string(out[end:]))
}

// failure is the result of a module that printed none.
func (p *Program) failure(out *process.Outcome) *value.Dict {
	stdout, stderr := string(out.Stdout), string(out.Stderr)
	r := value.DictOf("changed", false, "failed", true, "module_stdout", stdout, "module_stderr", stderr)
	for _, text := range []string{stdout, stderr} {
		if strings.HasPrefix(text, "Traceback") {
			r.Set("exception", text)
		}
	}
	msg := "MODULE FAILURE"
	if used := strings.Join(p.Interpreter, " "); used != "" &&
		(strings.Contains(stderr, used+": not found") || strings.Contains(stderr, used+": No such file or directory")) {
		msg = "The module failed to execute correctly, you probably need to set the interpreter."
	}
	r.Set("msg", msg+"\nSee stdout/stderr for the exact error")
	r.Set("rc", out.RC)
	return r
}

// warn adds a warning to a result.
func warn(result *value.Dict, text string) {
	list := value.NewList()
	if v, ok := result.Get("warnings"); ok {
		if own, ok := v.(*value.List); ok {
			list.Append(own.Items...)
		}
	}
	list.Append(text)
	result.Set("warnings", list)
}
