package playbook

import (
	"sort"
	"strings"

	"play/engine/source"
)

// noun is a kind of thing that keywords are written on.
type noun int

const (
	onPlay noun = 1 << iota
	onRole
	onBlock
	onTask
	onHandler
	onImport // import_playbook

	anywhere = onPlay | onRole | onBlock | onTask | onHandler | onImport
	onTasks  = onTask | onHandler
)

// String names the noun as messages do.
func (n noun) String() string {
	switch n {
	case onPlay:
		return "Play"
	case onRole:
		return "RoleDefinition"
	case onBlock:
		return "Block"
	case onHandler:
		return "Handler"
	case onImport:
		return "PlaybookInclude"
	}
	return "Task"
}

// keywords says which keyword may stand on which nouns. It is never changed.
var keywords = map[string]noun{
	"any_errors_fatal":   anywhere,
	"become":             anywhere,
	"become_exe":         anywhere,
	"become_flags":       anywhere,
	"become_method":      anywhere,
	"become_user":        anywhere,
	"check_mode":         anywhere,
	"collections":        anywhere,
	"connection":         anywhere,
	"debugger":           anywhere,
	"diff":               anywhere,
	"environment":        anywhere,
	"ignore_errors":      anywhere,
	"ignore_unreachable": anywhere,
	"module_defaults":    anywhere,
	"name":               anywhere,
	"no_log":             anywhere,
	"port":               anywhere,
	"remote_user":        anywhere,
	"run_once":           anywhere,
	"tags":               anywhere,
	"throttle":           anywhere,
	"timeout":            anywhere,
	"vars":               anywhere,

	"when":           anywhere &^ onPlay,
	"delegate_to":    onRole | onBlock | onTasks,
	"delegate_facts": onRole | onBlock | onTasks,
	"notify":         onBlock | onTasks,

	"action":       onTasks,
	"args":         onTasks,
	"async":        onTasks,
	"changed_when": onTasks,
	"delay":        onTasks,
	"failed_when":  onTasks,
	"local_action": onTasks,
	"loop":         onTasks,
	"loop_control": onTasks,
	"poll":         onTasks,
	"register":     onTasks,
	"retries":      onTasks,
	"until":        onTasks,
	"listen":       onHandler,

	"always":             onBlock,
	"block":              onBlock,
	"rescue":             onBlock,
	"rescue_unreachable": onBlock,

	"role": onRole,

	"import_playbook": onImport,

	"fact_path":           onPlay,
	"force_handlers":      onPlay,
	"gather_facts":        onPlay,
	"gather_subset":       onPlay,
	"gather_timeout":      onPlay,
	"handlers":            onPlay,
	"hosts":               onPlay,
	"max_fail_percentage": onPlay,
	"order":               onPlay,
	"post_tasks":          onPlay,
	"pre_tasks":           onPlay,
	"roles":               onPlay,
	"serial":              onPlay,
	"strategy":            onPlay,
	"tasks":               onPlay,
	"user":                onPlay,
	"vars_files":          onPlay,
	"vars_prompt":         onPlay,
}

// boolWords are the texts that Ansible takes for a boolean.
var boolWords = map[string]bool{
	"y": true, "yes": true, "on": true, "1": true, "true": true, "t": true, "1.0": true,
	"n": false, "no": false, "off": false, "0": false, "false": false, "f": false, "0.0": false,
}

// allowed reports whether a keyword may stand on a noun.
func (n noun) allows(name string) bool { return keywords[name]&n != 0 }

// IsTaskKeyword reports whether a name is a keyword of tasks.
func IsTaskKeyword(name string) bool { return onTask.allows(name) }

// keywordsOf lists what may stand on a noun, sorted.
func keywordsOf(n noun) []string {
	var names []string
	for name, on := range keywords {
		if on&n != 0 {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// unknownKeyword is the error about a key that means nothing on its noun.
func unknownKeyword(n noun, name string, pos source.Pos, also []string) error {
	err := source.Errorf(pos, "'%s' is not a valid attribute for a %s", name, n)
	err.Err = ErrKeyword
	if on := keywords[name]; on != 0 {
		return err.WithHint("%q belongs on a %s", name, nounsOf(on))
	}
	if n&onTasks == 0 && (strings.HasPrefix(name, "with_") || name == "loop") {
		return err.WithHint("a %s cannot loop", strings.ToLower(n.String()))
	}
	if near := source.Nearest(name, append(keywordsOf(n), also...)); near != "" {
		return err.WithHint("did you mean %q?", near)
	}
	return err
}

func nounsOf(on noun) string {
	var names []string
	for _, n := range []noun{onPlay, onRole, onBlock, onTask, onHandler, onImport} {
		if on&n != 0 {
			names = append(names, map[noun]string{onPlay: "play", onRole: "role", onBlock: "block",
				onTask: "task", onHandler: "handler", onImport: "import_playbook"}[n])
		}
	}
	return strings.Join(names, ", ")
}
