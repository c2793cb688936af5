package jinja

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"play/modules/value"
)

// The forms that urlize takes for links.
var (
	linkForm = regexp.MustCompile(`(?i)^(?:(?:https?://|www\.)(?:(?:[\w%-]+\.)+)?(?:[a-z]{2,63}|xn--[\w%]{2,59})` +
		`|(?:[\w%-]{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil)` +
		`|https?://(?:\d{1,3}(?:\.\d{1,3}){3}|\[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\]))(?::\d{1,5})?(?:[/?#]\S*)?$`)
	mailForm  = regexp.MustCompile(`^\S+@\w[\w.-]*\.\w+$`)
	linkHead  = regexp.MustCompile(`^(?:[(<]|&lt;)+`)
	linkTail  = regexp.MustCompile(`(?:[)>.,\n]|&gt;)+$`)
	blankRuns = regexp.MustCompile(`\s+|\S+`)
)

// linker makes links of what looks like one.
type linker struct {
	limit   int // -1: the text stays whole
	attrs   string
	schemes []string
}

func filterUrlize(c *Call) (any, error) {
	limit, err := optInt(c.Args[0], -1)
	if err != nil {
		return nil, err
	}
	l := linker{limit: limit, attrs: linkAttrs(c)}
	if c.Args[4] != nil {
		items, err := iterate(c.Args[4])
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			l.schemes = append(l.schemes, value.Str(item))
		}
	}
	return blankRuns.ReplaceAllStringFunc(htmlEscape(value.Str(c.Value)), l.word), nil
}

// linkAttrs makes the rel and target attributes.
func linkAttrs(c *Call) string {
	rel := []string{"noopener"}
	if c.Args[3] != nil {
		rel = append(rel, strings.Fields(value.Str(c.Args[3]))...)
	}
	if value.Truth(c.Args[1]) {
		rel = append(rel, "nofollow")
	}
	slices.Sort(rel)
	attrs := ` rel="` + htmlEscape(strings.Join(slices.Compact(rel), " ")) + `"`
	if c.Args[2] != nil {
		attrs += ` target="` + htmlEscape(value.Str(c.Args[2])) + `"`
	}
	return attrs
}

func (l *linker) word(word string) string {
	head := linkHead.FindString(word)
	middle := word[len(head):]
	tail := linkTail.FindString(middle)
	middle = middle[:len(middle)-len(tail)]
	middle, tail = balance(middle, tail)
	return head + l.link(middle) + tail
}

// balance gives brackets back to a URL that has their other halves.
func balance(middle, tail string) (string, string) {
	for _, pair := range [][2]string{{"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}} {
		missing := strings.Count(middle, pair[0])
		if missing <= strings.Count(middle, pair[1]) {
			continue
		}
		for range min(missing, strings.Count(tail, pair[1])) {
			end := strings.Index(tail, pair[1]) + len(pair[1])
			middle, tail = middle+tail[:end], tail[end:]
		}
	}
	return middle, tail
}

func (l *linker) link(s string) string {
	switch {
	case linkForm.MatchString(s):
		href := s
		if !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "http://") {
			href = "https://" + s
		}
		return `<a href="` + href + `"` + l.attrs + `>` + l.shown(s) + `</a>`
	case strings.HasPrefix(s, "mailto:") && mailForm.MatchString(s[7:]):
		return `<a href="` + s + `">` + s[7:] + `</a>`
	case !strings.HasPrefix(s, "www.") && !strings.Contains(s, ":") && mailForm.MatchString(s):
		return `<a href="mailto:` + s + `">` + s + `</a>`
	}
	for _, scheme := range l.schemes {
		if s != scheme && strings.HasPrefix(s, scheme) {
			return `<a href="` + s + `"` + l.attrs + `>` + s + `</a>`
		}
	}
	return s
}

func (l *linker) shown(s string) string {
	if l.limit < 0 || utf8.RuneCountInString(s) <= l.limit {
		return s
	}
	return string([]rune(s)[:l.limit]) + "..."
}
