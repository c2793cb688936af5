package argspec

import (
	"errors"
	"strings"

	"play/modules/value"
)

var errDict = errors.New("dictionary requested, could not parse JSON or key=value")

// toDict reads a dict, a text with a JSON or Python dict, or "a=1, b='x y'".
func toDict(v any) (any, error) {
	if d, ok := v.(*value.Dict); ok {
		return d, nil
	}
	s, ok := v.(string)
	if !ok {
		return nil, cannot(v, "a dict")
	}
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, "{") {
		if d, ok := literalDict(s); ok {
			return d, nil
		}
		return nil, errors.New("unable to evaluate string as dictionary")
	}
	if strings.Contains(s, "=") {
		return pairsDict(s)
	}
	return nil, errDict
}

// pairsDict reads name=value fields separated by commas or blanks; quotes hold
// a value together and a backslash takes the next character as it is.
func pairsDict(s string) (any, error) {
	d := value.NewDict()
	for _, field := range splitFields(s) {
		key, val, ok := strings.Cut(field, "=")
		if !ok {
			return nil, errDict
		}
		d.Set(key, val)
	}
	return d, nil
}

func splitFields(s string) []string {
	var fields []string
	var field strings.Builder
	var quote byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && i+1 < len(s):
			i++
			field.WriteByte(s[i])
		case quote != 0:
			if c == quote {
				quote = 0
			} else {
				field.WriteByte(c)
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ' || c == ',':
			if field.Len() > 0 {
				fields = append(fields, field.String())
				field.Reset()
			}
		default:
			field.WriteByte(c)
		}
	}
	if field.Len() > 0 {
		fields = append(fields, field.String())
	}
	return fields
}

// literalDict reads a JSON object, or a Python dict display with simple values.
func literalDict(s string) (*value.Dict, bool) {
	if v, err := value.DecodeJSON([]byte(s)); err == nil {
		d, ok := v.(*value.Dict)
		return d, ok
	}
	v, err := value.DecodeJSON([]byte(jsonFromPython(s)))
	if err != nil {
		return nil, false
	}
	d, ok := v.(*value.Dict)
	return d, ok
}

// jsonFromPython rewrites a Python literal's strings and constants to JSON's.
func jsonFromPython(s string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '\'' || c == '"':
			n := pythonString(&out, s[i:])
			i += n
		case wordByte(c):
			j := i
			for j < len(s) && wordByte(s[j]) {
				j++
			}
			out.WriteString(jsonWord(s[i:j]))
			i = j
		default:
			out.WriteByte(c)
			i++
		}
	}
	return out.String()
}

func jsonWord(w string) string {
	switch w {
	case "True":
		return "true"
	case "False":
		return "false"
	case "None":
		return "null"
	}
	return w
}

// pythonString writes the string that s begins with as a JSON string and
// returns its length in s.
func pythonString(out *strings.Builder, s string) int {
	quote := s[0]
	out.WriteByte('"')
	i := 1
	for ; i < len(s) && s[i] != quote; i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] != '\'' {
				out.WriteByte('\\')
			}
			out.WriteByte(s[i])
		case s[i] == '"':
			out.WriteString(`\"`)
		default:
			out.WriteByte(s[i])
		}
	}
	out.WriteByte('"')
	return min(i+1, len(s))
}
