package action

import (
	"context"
	"regexp"
	"strings"

	"play/engine/task"
	"play/modules/value"
)

// variableName is what Ansible accepts as a variable's name.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// setFact sets variables of the host for the rest of the run.
func setFact(_ context.Context, a *task.Attempt) (*value.Dict, error) {
	facts := value.NewDict()
	for k, v := range a.Args.All() {
		name := value.Str(k)
		if name == "cacheable" {
			continue
		}
		if !variableName.MatchString(name) {
			return nil, task.Failf("The variable name '%s' is not valid. Variables must start with a letter or underscore character, "+
				"and contain only letters, numbers and underscores.", name)
		}
		if s, ok := v.(string); ok && booleanWord(s) {
			v, _ = task.ToBool(s)
		}
		facts.Set(name, v)
	}
	if facts.Len() == 0 {
		return nil, task.Failf("No key/value pairs provided, at least one is required for this action to succeed")
	}
	return value.DictOf("changed", false, "ansible_facts", facts), nil
}

// booleanWord reports whether set_fact takes a text for a boolean.
func booleanWord(s string) bool {
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no":
		return true
	}
	return false
}
