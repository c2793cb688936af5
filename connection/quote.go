package connection

import "strings"

// Quote makes one word of s for a POSIX shell. A word without backslash,
// exclamation mark and line break is also one word, unchanged, for csh and fish,
// however often it is quoted: a quote in it is written without a backslash, which
// fish would take for an escape.
func Quote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}
