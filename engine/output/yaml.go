package output

import (
	"strings"
	"unicode/utf8"

	"play/engine/yamldump"
	"play/modules/value"
)

// maxYAMLDepth is how deep a result is shown as YAML.
const maxYAMLDepth = 200

// toYAML prints a result as YAML with an indent, on lines of their own after
// the one that it belongs to. Texts that also stand there as lines are left out.
func toYAML(res *value.Dict, indent int) string {
	for _, name := range []string{"stdout", "stderr"} {
		_, text := res.Get(name)
		if _, lines := res.Get(name + "_lines"); text && lines {
			res.Set(name+"_lines", "<omitted>")
		}
	}
	text, err := yamldump.Dump(unshared(res, 0), yamldump.Options{
		Indent: indent, Width: 1000, Flow: yamldump.FlowNever, Literal: readableText,
	})
	if err != nil {
		return toJSON(res, indent)
	}
	margin := "\n" + strings.Repeat(" ", indent)
	return margin + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", margin)
}

// briefYAML is toYAML in the form of the stdout callback yaml: an indent of two,
// and whether something changed on the first line.
func briefYAML(res *value.Dict) string {
	head := ""
	if changed, ok := res.Get("changed"); ok {
		head = "changed=" + toJSON(changed, 0) + " "
		res.Delete("changed")
	}
	if res.Len() == 0 {
		return head
	}
	return head + toYAML(res, 2)
}

// unshared copies a value so that nothing stands in two places, and YAML needs
// no anchors.
func unshared(v any, depth int) any {
	if depth > maxYAMLDepth {
		return "…"
	}
	switch v := v.(type) {
	case *value.Dict:
		out := value.NewDict()
		for k, item := range v.All() {
			_ = out.SetKey(k, unshared(item, depth+1)) // it was a key before
		}
		return out
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			out.Append(unshared(item, depth+1))
		}
		return out
	}
	return v
}

// readableText takes from a text of several lines what would keep it from being
// a literal block; other texts stay as they are.
func readableText(text string) (string, bool) {
	const breaks = "\n\r\u0085\u2028\u2029"
	if !strings.ContainsAny(text, breaks) {
		return text, false
	}
	text = strings.TrimRight(strings.ReplaceAll(text, "\r", ""), " \t\n\v\f")
	var b strings.Builder
	for len(text) > 0 {
		line, end := text, len(text)
		if i := strings.IndexAny(text, breaks); i >= 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			line, end = text[:i], i+size
		}
		b.WriteString(strings.TrimRight(tabsToSpaces(printable(line)), " "))
		b.WriteString(text[len(line):end])
		text = text[end:]
	}
	return b.String(), true
}

// tabsToSpaces replaces tabs by spaces up to the next multiple of eight.
func tabsToSpaces(line string) string {
	var b strings.Builder
	column := 0
	for _, r := range line {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		n := 8 - column%8
		b.WriteString(strings.Repeat(" ", n))
		column += n
	}
	return b.String()
}
