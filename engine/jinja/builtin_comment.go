package jinja

import (
	"errors"
	"fmt"
	"strings"

	"play/modules/value"
)

// commentFilters turn text into comments.
func commentFilters() []Builtin {
	return []Builtin{{
		Name:   "comment",
		Params: "style='plain', **options",
		Doc:    "the text as a comment of some language",
		Fn:     filterComment,
	}}
}

// commentStyle says what stands around and before the lines of a comment.
type commentStyle struct{ beginning, decoration, end string }

func commentStyles(name string) (commentStyle, bool) {
	switch name {
	case "plain":
		return commentStyle{decoration: "# "}, true
	case "erlang":
		return commentStyle{decoration: "% "}, true
	case "c":
		return commentStyle{decoration: "// "}, true
	case "cblock":
		return commentStyle{"/*", " * ", " */"}, true
	case "xml":
		return commentStyle{"<!--", " - ", "-->"}, true
	}
	return commentStyle{}, false
}

// commentSize refuses a comment that would be too large.
func commentSize(prefixes, prefix, postfixes, postfix, text int) error {
	if prefixes > maxBuiltinItems || postfixes > maxBuiltinItems {
		return errTooMany
	}
	return checkText(prefixes*prefix + postfixes*postfix + text)
}

func filterComment(c *Call) (any, error) {
	name := value.Str(c.Args[0])
	style, ok := commentStyles(name)
	if !ok {
		return nil, fmt.Errorf("Invalid style '%s'", name)
	}
	text, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("'%s' object has no attribute 'replace'", value.TypeName(c.Value))
	}
	set := func(key, fallback string) string {
		if v, ok := c.Kwargs.Get(key); ok {
			return value.Str(v)
		}
		return fallback
	}
	count := func(key string) int {
		v, _ := c.Kwargs.Get(key)
		n, err := optInt(v, 1)
		if err != nil || n < 0 {
			n = 0
		}
		return n
	}
	newline, decoration := set("newline", "\n"), set("decoration", style.decoration)
	bare := strings.TrimRight(decoration, " \t\r\n")
	prefix, postfix := set("prefix", bare), set("postfix", bare)
	prefixes, postfixes := count("prefix_count"), count("postfix_count")
	if err := commentSize(prefixes, len(prefix)+len(newline), postfixes, len(postfix)+len(newline), len(text)*(1+len(decoration))); err != nil {
		return nil, err
	}
	if newline == "" {
		return nil, errors.New("cannot comment without a newline text")
	}
	if prefix != "" && prefix != newline {
		prefix += newline
	}
	body := decoration + strings.ReplaceAll(text, newline, newline+decoration)
	body = strings.ReplaceAll(body, decoration+newline, bare+newline)
	out := strings.Repeat(prefix, prefixes) + body + strings.Repeat(newline+postfix, postfixes)
	if beginning := set("beginning", style.beginning); beginning != "" {
		out = beginning + newline + out
	}
	if end := set("end", style.end); end != "" {
		out += newline + end
	}
	return out, nil
}
