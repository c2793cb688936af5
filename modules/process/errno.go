package process

import (
	"fmt"
	"strings"
	"syscall"
)

// ErrnoText words a system error as Python does for a path given as bytes:
// [Errno 2] No such file or directory: b'/nope'.
func ErrnoText(errno syscall.Errno, path string) string {
	return fmt.Sprintf("[Errno %d] %s: %s", int(errno), Strerror(errno), bytesRepr(path))
}

// Strerror is the C library's text of an error: Go's, with a capital letter.
func Strerror(errno syscall.Errno) string {
	text := errno.Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

// bytesRepr prints text as Python prints a bytes object.
func bytesRepr(text string) string {
	quote := byte('\'')
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteString("b")
	b.WriteByte(quote)
	for i := range len(text) {
		switch c := text[i]; {
		case c == quote || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\r':
			b.WriteString(`\r`)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte(quote)
	return b.String()
}
