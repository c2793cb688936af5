package action

import (
	"context"
	"errors"
	"os"
	"strings"

	"play/engine/task"
	"play/modules/argspec"
	"play/modules/value"
)

// validateArgumentSpec checks arguments against a spec; what the task does not
// give is taken from the variables of the same names, as a role's arguments are.
func validateArgumentSpec(_ context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "argument_spec", "provided_arguments", "validate_args_context"); err != nil {
		return nil, err
	}
	v, ok := a.Args.Get("argument_spec")
	if !ok {
		return nil, task.Failf("\"argument_spec\" arg is required in args: %s", value.Repr(a.Args))
	}
	data, ok := v.(*value.Dict)
	if !ok {
		return nil, task.Failf("Incorrect type for argument_spec, expected dict and got %s", value.TypeName(v))
	}
	given, _ := a.Args.Get("provided_arguments")
	provided, _ := given.(*value.Dict)
	args := value.NewDict()
	for k := range data.All() {
		name := value.Str(k)
		v, ok, err := a.Jinja.Lookup(name)
		if err != nil {
			return nil, err
		}
		if ok {
			args.Set(name, v)
		}
	}
	args.Update(provided)
	spec := specOf(data)
	if _, err := spec.Check(a.Task.Written, args, argspec.Env{Home: os.Getenv("HOME"), Getenv: os.LookupEnv}); err != nil {
		return nil, specFailure(a, data, err)
	}
	return value.DictOf("changed", false, "msg", "The arg spec validation passed"), nil
}

func specFailure(a *task.Attempt, data *value.Dict, err error) error {
	all := []string{err.Error()}
	var wrong *argspec.Error
	if errors.As(err, &wrong) {
		all = wrong.All
	}
	list := value.NewList()
	for _, msg := range all {
		list.Append(msg)
	}
	result := value.DictOf("changed", false, "failed", true, "msg", "Validation of arguments failed:\n"+strings.Join(all, "\n"),
		"argument_errors", list, "argument_spec_data", data)
	if about, ok := a.Args.Get("validate_args_context"); ok {
		result.Set("validate_args_context", about)
	}
	return &task.Fail{Result: result}
}

// specOf reads a spec as role authors write it.
func specOf(options *value.Dict) *argspec.Spec {
	s := &argspec.Spec{}
	for k, v := range options.All() {
		d, _ := v.(*value.Dict)
		o := argspec.Option{Name: value.Str(k), Type: textIn(d, "type", "str"), Elements: textIn(d, "elements", ""),
			Required: truthIn(d, "required"), NoLog: truthIn(d, "no_log"), Doc: textIn(d, "description", "")}
		o.Default, _ = d.Get("default")
		if l, _ := d.Get("choices"); l != nil {
			if l, ok := l.(*value.List); ok {
				o.Choices = l.Items
			}
		}
		if l, ok := d.Get("aliases"); ok {
			o.Aliases = names(l)
		}
		if inner, _ := d.Get("options"); inner != nil {
			if inner, ok := inner.(*value.Dict); ok {
				o.Options = specOf(inner)
			}
		}
		s.Options = append(s.Options, o)
	}
	return s
}

func textIn(d *value.Dict, name, def string) string {
	if v, ok := d.Get(name); ok && v != nil {
		return value.Str(v)
	}
	return def
}

func truthIn(d *value.Dict, name string) bool {
	v, _ := d.Get(name)
	b, _ := task.ToBool(v)
	return b
}
