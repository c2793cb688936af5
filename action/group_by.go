package action

import (
	"context"
	"strings"

	"play/engine/task"
	"play/modules/value"
)

// groupBy names the group that the strategy puts the host into.
func groupBy(_ context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "key", "parents"); err != nil {
		return nil, err
	}
	key, ok := a.Args.Get("key")
	if !ok {
		return nil, task.Failf("the 'key' param is required when using group_by")
	}
	parents := value.NewList()
	if v, ok := a.Args.Get("parents"); ok {
		for _, p := range names(v) {
			parents.Append(strings.ReplaceAll(p, " ", "-"))
		}
	} else {
		parents.Append("all")
	}
	return value.DictOf("changed", true, "add_group", strings.ReplaceAll(value.Str(key), " ", "-"), "parent_groups", parents), nil
}
