package action

import (
	"context"

	"play/engine/task"
	"play/modules/value"
)

// assert fails the task when one of its conditions is false.
func assert(_ context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "fail_msg", "msg", "quiet", "success_msg", "that"); err != nil {
		return nil, err
	}
	raw, ok := a.Args.Get("that")
	if !ok {
		return nil, task.Failf("conditional required in \"that\" string")
	}
	conds := []any{raw}
	if l, ok := raw.(*value.List); ok {
		conds = l.Items
	}
	quiet := false
	if v, ok := a.Args.Get("quiet"); ok {
		quiet, _ = task.ToBool(v)
	}
	for _, c := range conds {
		cond, err := a.Executor.Jinja.Cond(c, a.Task.Pos)
		if err != nil {
			return nil, err
		}
		holds, err := cond.Eval(a.Jinja)
		if err != nil {
			return nil, task.NewConditionError(cond, err)
		}
		if !holds {
			return nil, assertFailure(a, cond.Source, quiet)
		}
	}
	result := value.DictOf("changed", false, "msg", message(a, "All assertions passed", "success_msg"))
	if !quiet {
		result.Set("_ansible_verbose_always", true)
	}
	return result, nil
}

func assertFailure(a *task.Attempt, assertion string, quiet bool) error {
	result := value.DictOf("changed", false, "failed", true, "evaluated_to", false, "assertion", assertion,
		"msg", message(a, "Assertion failed", "fail_msg", "msg"))
	if !quiet {
		result.Set("_ansible_verbose_always", true)
	}
	return &task.Fail{Result: result}
}

// message is the first of the arguments that is given, else def.
func message(a *task.Attempt, def any, names ...string) any {
	for _, n := range names {
		if v, ok := a.Args.Get(n); ok && v != nil {
			return v
		}
	}
	return def
}
