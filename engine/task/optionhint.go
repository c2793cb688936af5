package task

import (
	"fmt"
	"regexp"
	"strings"

	"play/engine/playbook"
	"play/engine/source"
	"play/modules/value"
)

// unsupported finds in a module's message the options that it has not, and those
// that it has.
var unsupported = regexp.MustCompile(`^Unsupported parameters for \(([^)]*)\) module: (.*?)\. Supported parameters include: (.*?)\.?$`)

// aboutOptions begin or hold what modules say of wrong options.
var aboutOptions = regexp.MustCompile(`^(missing required arguments: |value of \S+ must be |argument '[^']*' is of type )`)

// optionHint says what helps when a module refuses its options: the option like
// it, the keyword that stands among the options by its indentation, or where the
// options are described. It is "" for other failures.
func (r *run) optionHint(res *value.Dict) string {
	v, _ := res.Get("msg")
	msg, _ := v.(string)
	look := fmt.Sprintf("\"play doc %s\" lists the options", r.task.Action)
	m := unsupported.FindStringSubmatch(msg)
	if m == nil {
		if aboutOptions.MatchString(msg) {
			return look
		}
		return ""
	}
	known := strings.Split(m[3], ", ")
	for _, name := range strings.Split(m[2], ", ") {
		if playbook.IsTaskKeyword(name) {
			return fmt.Sprintf("%q is a keyword of the task: indent it like the module's name", name)
		}
		if near := source.Nearest(name, known); near != "" {
			return fmt.Sprintf("did you mean %q?", near)
		}
	}
	return look
}
