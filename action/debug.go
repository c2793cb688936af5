package action

import (
	"context"

	"play/engine/jinja"
	"play/engine/task"
	"play/modules/value"
)

// debug shows a message or a variable.
func debug(_ context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "msg", "var", "verbosity"); err != nil {
		return nil, err
	}
	_, hasMsg := a.Args.Get("msg")
	raw, hasVar := a.Args.Get("var")
	if hasMsg && hasVar {
		return nil, task.Failf("'msg' and 'var' are incompatible options")
	}
	if v, ok := a.Args.Get("verbosity"); ok {
		level, ok := number(v)
		if !ok {
			return nil, task.Failf("argument 'verbosity' is of type %s and we were unable to convert to int", value.TypeName(v))
		}
		if int(level) > a.Executor.Options.Verbosity {
			return value.DictOf("skipped", true, "skipped_reason", "Verbosity threshold not met."), nil
		}
	}
	result := value.DictOf("changed", false)
	switch {
	case hasVar:
		name, v, err := debugVar(a, raw)
		if err != nil {
			return nil, err
		}
		result.Set(name, v)
	case hasMsg:
		msg, _ := a.Args.Get("msg")
		result.Set("msg", msg)
	default:
		result.Set("msg", "Hello world!")
	}
	result.Set("_ansible_verbose_always", true)
	return result, nil
}

// debugVar evaluates the expression that var names; an unknown variable is
// shown, not an error.
func debugVar(a *task.Attempt, raw any) (name string, v any, err error) {
	if t, ok := raw.(*jinja.Template); ok {
		v, err = a.Jinja.Resolve(t)
		if err != nil {
			return "", nil, err
		}
		if s, ok := v.(string); ok {
			return named(a, s)
		}
		return "<class '" + value.TypeName(v) + "'>", v, nil
	}
	src, ok := raw.(string)
	if !ok {
		return "<class '" + value.TypeName(raw) + "'>", raw, nil
	}
	// The text stands in the playbook, so it may be compiled.
	t, err := a.Executor.Jinja.Template("{{ "+src+" }}", a.Task.Pos)
	if err != nil {
		return "", nil, err
	}
	v, err = t.Value(a.Jinja)
	if isUndefined(v, err) {
		return src, "VARIABLE IS NOT DEFINED!", nil
	}
	return src, v, err
}

// named shows the variable whose name was worked out. Such a name may be a
// host's data, so it is looked up and never compiled.
func named(a *task.Attempt, name string) (string, any, error) {
	if !variableName.MatchString(name) {
		return name, name, nil
	}
	v, ok, err := a.Jinja.Lookup(name)
	if !ok || isUndefined(v, err) {
		return name, "VARIABLE IS NOT DEFINED!", nil
	}
	return name, v, err
}
