package argspec

import (
	"slices"
	"strings"

	"play/modules/value"
)

const (
	// Hidden stands in the place of a no_log argument.
	Hidden = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"
	// Stars stand in the place of a secret inside other text.
	Stars = "********"
)

// collectSecrets notes the texts of the no_log arguments, at the moment they
// are known, so that no error message can show them.
func (c *checker) collectSecrets(s *Spec, params *value.Dict) {
	for i := range s.Options {
		o := &s.Options[i]
		if v, ok := params.Get(o.Name); ok {
			c.secret(o, v)
		}
	}
}

func (c *checker) secret(o *Option, v any) {
	if o.NoLog {
		c.out.Secrets = appendTexts(c.out.Secrets, v)
	}
}

// appendTexts adds every text and number inside v.
func appendTexts(texts []string, v any) []string {
	switch v := v.(type) {
	case nil, bool:
		return texts
	case *value.Dict:
		for _, item := range v.All() {
			texts = appendTexts(texts, item)
		}
		return texts
	case *value.List:
		for _, item := range v.Items {
			texts = appendTexts(texts, item)
		}
		return texts
	}
	if text := value.Str(v); text != "" {
		texts = append(texts, text)
	}
	return texts
}

func longestFirst(texts []string) []string {
	slices.SortFunc(texts, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(texts)
}

// Scrub replaces every secret inside text by stars.
func Scrub(text string, secrets []string) string {
	for _, s := range secrets {
		text = strings.ReplaceAll(text, s, Stars)
	}
	return text
}

// ScrubValue returns v with every secret hidden in all its texts and keys: a
// text that is a secret becomes Hidden, one that holds a secret gets stars, a
// number that reads like one becomes Hidden. Without secrets v comes back as is.
func ScrubValue(v any, secrets []string) any {
	if len(secrets) == 0 {
		return v
	}
	switch v := v.(type) {
	case string:
		if slices.Contains(secrets, v) {
			return Hidden
		}
		return Scrub(v, secrets)
	case *value.Dict:
		out := value.NewDict()
		for k, item := range v.All() {
			if name, ok := k.(string); ok {
				k = Scrub(name, secrets)
			}
			// A key of a dict is hashable, and so is its scrubbed text.
			_ = out.SetKey(k, ScrubValue(item, secrets))
		}
		return out
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			out.Append(ScrubValue(item, secrets))
		}
		return out
	case nil, bool:
		return v
	}
	if value.IsNumber(v) && slices.Contains(secrets, value.Str(v)) {
		return Hidden
	}
	return v
}

// Invocation is the "module_args" of a result: the checked arguments with
// no_log ones hidden at every level, and without the options that are Hidden.
func (s *Spec) Invocation(params *value.Dict) *value.Dict {
	out := value.NewDict()
	for k, v := range params.All() {
		name, _ := k.(string)
		if o := s.find(name); o == nil || !o.Hidden {
			out.Set(name, s.shown(name, v))
		}
	}
	return out
}

func (s *Spec) shown(name string, v any) any {
	o := s.find(name)
	switch {
	case o == nil || v == nil:
		return v
	case o.NoLog:
		return Hidden
	case o.Options == nil:
		return v
	}
	switch v := v.(type) {
	case *value.Dict:
		return o.Options.Invocation(v)
	case *value.List:
		out := value.NewList()
		for _, item := range v.Items {
			if d, ok := item.(*value.Dict); ok {
				out.Append(o.Options.Invocation(d))
			}
		}
		return out
	}
	return v
}
