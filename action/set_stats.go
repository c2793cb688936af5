package action

import (
	"context"

	"play/engine/task"
	"play/modules/value"
)

// setStats adds to the run's custom statistics.
func setStats(_ context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "aggregate", "data", "per_host"); err != nil {
		return nil, err
	}
	stats := value.DictOf("data", value.NewDict(), "per_host", false, "aggregate", true)
	for _, name := range []string{"per_host", "aggregate"} {
		if v, ok := a.Args.Get(name); ok {
			b, ok := task.ToBool(v)
			if !ok {
				return nil, task.Failf("The '%s' option needs to be a boolean, got %s", name, value.Repr(v))
			}
			stats.Set(name, b)
		}
	}
	if v, ok := a.Args.Get("data"); ok {
		data, ok := v.(*value.Dict)
		if !ok {
			return nil, task.Failf("The 'data' option needs to be a dictionary/hash")
		}
		for k := range data.All() {
			if !variableName.MatchString(value.Str(k)) {
				return nil, task.Failf("The variable name '%s' is not valid. Variables must start with a letter or underscore character, "+
					"and contain only letters, numbers and underscores.", value.Str(k))
			}
		}
		stats.Set("data", data)
	}
	return value.DictOf("changed", false, "ansible_stats", stats), nil
}
