package modulefind

import (
	"bytes"
	"path"
	"regexp"
	"strings"

	"play/modules/shellquote"
)

// Kind is how a module takes its arguments.
type Kind string

// The kinds, told apart by what stands in the file.
const (
	Python     Kind = "python"     // imports module_utils: sent as a zip, arguments by stdin
	PowerShell Kind = "powershell" // for Windows hosts
	JSONArgs   Kind = "jsonargs"   // the arguments replace a marker in its text
	WantJSON   Kind = "want_json"  // arguments in a JSON file, named as its argument
	Binary     Kind = "binary"     // an executable; arguments as for WantJSON
	Old        Kind = "old"        // arguments as key=value in a file, named as its argument
)

// The markers that modules bear in their text.
var (
	commonMarker  = []byte("#<<INCLUDE_ANSIBLE_MODULE_COMMON>>")
	windowsMarker = []byte("# POWERSHELL_COMMON")
	jsonMarker    = []byte("<<INCLUDE_ANSIBLE_MODULE_JSON_ARGS>>")
	wantMarker    = []byte("WANT_JSON")
)

var (
	importsUtils = regexp.MustCompile(`from +(?:\.{2,} *module_utils|ansible_collections\.[^.]+\.[^.]+\.plugins\.module_utils|ansible\.module_utils).* +import |` +
		`import +(?:ansible_collections\.[^.]+\.[^.]+\.plugins\.module_utils|ansible\.module_utils\.)`)
	requiresPower = regexp.MustCompile(`(?i)#requires -(?:module|version)|#ansiblerequires -(?:osversion|powershell|csharputil)`)
)

// KindOf recognises a module by its text, as Ansible does. A file with bytes
// that no text has is a binary one.
func KindOf(text []byte) Kind {
	switch {
	case isBinary(text):
		return Binary
	case bytes.Contains(text, commonMarker), importsUtils.Match(text):
		return Python
	case bytes.Contains(text, windowsMarker), requiresPower.Match(text):
		return PowerShell
	case bytes.Contains(text, jsonMarker):
		return JSONArgs
	case bytes.Contains(text, wantMarker):
		return WantJSON
	}
	return Old
}

// isBinary looks for control characters at the file's start.
func isBinary(text []byte) bool {
	for _, c := range text[:min(len(text), 1024)] {
		switch {
		case c >= 0x20 && c != 0x7f, c >= 7 && c <= 10, c == 12, c == 13, c == 27:
		default:
			return true
		}
	}
	return false
}

// Expand replaces the marker of the oldest Python modules by the import that
// took its place.
func Expand(text []byte) []byte {
	return bytes.ReplaceAll(text, commonMarker, []byte("from ansible.module_utils.basic import *"))
}

// Shebang is the interpreter that a file's first line names, and its arguments;
// "" when there is no such line.
func Shebang(text []byte) (interpreter string, args []string) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	rest, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return "", nil
	}
	words, err := shellquote.Split(strings.TrimSpace(string(rest)))
	if err != nil || len(words) == 0 {
		return "", nil
	}
	return words[0], words[1:]
}

// InterpreterName is the <name> of ansible_<name>_interpreter for a shebang: the
// program's, and for env the program that env is asked to find.
func InterpreterName(interpreter string, args []string) string {
	name := path.Base(interpreter)
	if name == "env" && len(args) > 0 {
		return path.Base(args[0])
	}
	return name
}
