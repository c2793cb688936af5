package argspec

import (
	"errors"
	"math/big"
	"strconv"
	"strings"

	"play/modules/value"
)

// boolWords are listed in one fixed order; Ansible prints them in the random
// order of a Python set.
const boolWords = "'0', 'n', 'true', '1', 'y', 'no', 0, 'yes', 'on', 1, 'f', 'off', 't', 'false'"

// coerce converts a value that is not None to a type. The error is the second
// half of Ansible's message.
func coerce(typ string, v any, env *Env) (any, error) {
	switch typ {
	case "", "str":
		return value.Str(v), nil
	case "raw":
		return v, nil
	case "bool":
		return toBool(v)
	case "int":
		return toInt(v)
	case "float":
		return toFloat(v)
	case "list":
		return toList(v)
	case "dict":
		return toDict(v)
	case "path":
		return expandPath(value.Str(v), env), nil
	case "json", "jsonarg":
		return toJSONText(v)
	case "bytes":
		return toAmount(v, 'B', "byte", "a Byte value")
	case "bits":
		return toAmount(v, 'b', "bit", "a Bit value")
	}
	return nil, errors.New("unknown type '" + typ + "' requested")
}

func cannot(v any, what string) error {
	return errors.New("<class '" + value.TypeName(v) + "'> cannot be converted to " + what)
}

func toBool(v any) (any, error) {
	if b, ok := v.(bool); ok {
		return b, nil
	}
	text, ok := v.(string)
	if !ok {
		if !value.IsNumber(v) {
			return nil, cannot(v, "a bool")
		}
		if value.Equal(v, 0) || value.Equal(v, 1) {
			return value.Equal(v, 1), nil
		}
		text = value.Str(v)
	}
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "y", "yes", "on", "1", "true", "t":
		return true, nil
	case "n", "no", "off", "0", "false", "f":
		return false, nil
	}
	return nil, errors.New("The value '" + text + "' is not a valid boolean.  Valid booleans include: " + boolWords)
}

func toInt(v any) (any, error) {
	switch v := v.(type) {
	case bool, int, *big.Int:
		return v, nil
	case string:
		if n, ok := value.ParseInt(v, 10); ok {
			return n, nil
		}
	}
	return nil, cannot(v, "an int")
}

func toFloat(v any) (any, error) {
	if s, ok := v.(string); ok {
		s = strings.TrimSpace(s)
		f, err := strconv.ParseFloat(dropDigitBars(s), 64)
		if (err == nil || errors.Is(err, strconv.ErrRange)) && !strings.ContainsAny(s, "xX") {
			return f, nil
		}
		return nil, cannot(v, "a float")
	}
	if f, ok := value.AsFloat(v); ok {
		return f, nil
	}
	return nil, cannot(v, "a float")
}

// dropDigitBars removes underscores between digits, as Python reads them.
func dropDigitBars(s string) string {
	if !strings.Contains(s, "_") {
		return s
	}
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != '_' || !digit(i-1) || !digit(i+1) {
			out = append(out, s[i])
		}
	}
	return string(out)
}

func toList(v any) (any, error) {
	switch v := v.(type) {
	case *value.List:
		return v, nil
	case value.Tuple:
		return value.NewList(v...), nil
	case string:
		l := value.NewList()
		for item := range strings.SplitSeq(v, ",") {
			l.Append(item)
		}
		return l, nil
	}
	if value.IsNumber(v) {
		return value.NewList(value.Str(v)), nil
	}
	return nil, cannot(v, "a list")
}

func toJSONText(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v), nil
	case *value.Dict, *value.List, value.Tuple:
		text, err := value.EncodeJSON(v, value.JSONOptions{})
		if err == nil {
			return text, nil
		}
	}
	return nil, cannot(v, "a json string")
}

// expandPath replaces ~, ~user, $VAR and ${VAR}; unknown ones stay.
func expandPath(path string, env *Env) string {
	return expandVars(expandHome(path, env), env)
}

func expandHome(path string, env *Env) string {
	if !strings.HasPrefix(path, "~") {
		return path
	}
	user, rest := path[1:], ""
	if i := strings.IndexByte(path, '/'); i >= 0 {
		user, rest = path[1:i], path[i:]
	}
	home, ok := env.Home, env.Home != ""
	if user != "" {
		ok = env.UserHome != nil
		if ok {
			home, ok = env.UserHome(user)
		}
	}
	if !ok {
		return path
	}
	if home = strings.TrimRight(home, "/") + rest; home == "" {
		return "/"
	}
	return home
}

// ExpandVars replaces $VAR and ${VAR} in text; unknown names stay as they are.
func ExpandVars(text string, getenv func(string) (string, bool)) string {
	return expandVars(text, &Env{Getenv: getenv})
}

func expandVars(s string, env *Env) string {
	if env.Getenv == nil || !strings.Contains(s, "$") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		if name, n := varAt(s[i:]); n > 0 {
			if v, ok := env.Getenv(name); ok {
				out.WriteString(v)
			} else {
				out.WriteString(s[i : i+n])
			}
			i += n
			continue
		}
		out.WriteByte(s[i])
		i++
	}
	return out.String()
}

// varAt returns the variable that s begins with and the length of its mention.
func varAt(s string) (name string, n int) {
	if len(s) < 2 || s[0] != '$' {
		return "", 0
	}
	if s[1] == '{' {
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return "", 0
		}
		return s[2:end], end + 1
	}
	n = 1
	for n < len(s) && wordByte(s[n]) {
		n++
	}
	if n == 1 {
		return "", 0
	}
	return s[1:n], n
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
