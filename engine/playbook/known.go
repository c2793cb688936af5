package playbook

// nounNames are the things that keywords are written on, as KeywordsOf takes them.
var nounNames = map[string]noun{
	"play": onPlay, "role": onRole, "block": onBlock, "task": onTask, "handler": onHandler, "import_playbook": onImport,
}

// KeywordsOf lists, sorted, the keywords that may stand on a play, role, block,
// task, handler or import_playbook, without with_ and the names of modules.
func KeywordsOf(what string) []string { return keywordsOf(nounNames[what]) }
