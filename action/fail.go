package action

import (
	"context"

	"play/engine/task"
	"play/modules/value"
)

// fail fails the task with a message.
func fail(_ context.Context, a *task.Attempt) (*value.Dict, error) {
	if err := onlyArgs(a, "msg"); err != nil {
		return nil, err
	}
	return nil, &task.Fail{Result: value.DictOf("changed", false, "failed", true,
		"msg", message(a, "Failed as requested from task", "msg"))}
}
