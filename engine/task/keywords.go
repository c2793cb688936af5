package task

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// keyword evaluates an inheritable keyword; nil when it is not set or omitted.
func (r *run) keyword(name string) (any, source.Pos, error) {
	a, ok := r.task.Inherit(name)
	if !ok {
		return nil, r.task.Pos, nil
	}
	v, err := r.jinja.Resolve(a.Value)
	if err != nil {
		return nil, a.Pos, keywordError(name, err)
	}
	if isOmit(v) {
		v = nil
	}
	return v, a.Pos, nil
}

// keywordError names the keyword whose value needs a variable that is not there.
func keywordError(name string, err error) error {
	var undef *jinja.UndefinedError
	if !errors.As(err, &undef) {
		return err
	}
	return source.Errorf(undef.Pos, "The field '%s' has an invalid value, which includes an undefined variable. The error was: %s", name, undef.Msg)
}

func (r *run) boolKeyword(name string, def bool) (bool, error) {
	v, pos, err := r.keyword(name)
	if v == nil || err != nil {
		return def, err
	}
	b, ok := ToBool(v)
	if !ok {
		return def, source.Errorf(pos, "the value of %q is not a boolean", name)
	}
	return b, nil
}

func (r *run) stringKeyword(name string) (string, error) {
	v, _, err := r.keyword(name)
	if v == nil || err != nil {
		return "", err
	}
	return text(v), nil
}

func (r *run) intKeyword(name string, def int) (int, error) {
	v, pos, err := r.keyword(name)
	if v == nil || err != nil {
		return def, err
	}
	n, ok := toFloat(v)
	if !ok {
		return def, source.Errorf(pos, "the value of %q is not a number", name)
	}
	return int(n), nil
}

func (r *run) secondsKeyword(name string, def time.Duration) (time.Duration, error) {
	v, pos, err := r.keyword(name)
	if v == nil || err != nil {
		return def, err
	}
	n, ok := toFloat(v)
	if !ok {
		return def, source.Errorf(pos, "the value of %q is not a number of seconds", name)
	}
	return time.Duration(n * float64(time.Second)), nil
}

// settings evaluates the keywords that say how the task runs.
func (r *run) settings() (s Settings, err error) {
	_, s.BecomeSet = r.task.Inherit("become")
	steps := []func() error{
		func() (err error) { s.Become, err = r.boolKeyword("become", false); return },
		func() (err error) { s.BecomeUser, err = r.stringKeyword("become_user"); return },
		func() (err error) { s.BecomeMethod, err = r.stringKeyword("become_method"); return },
		func() (err error) { s.BecomeFlags, err = r.stringKeyword("become_flags"); return },
		func() (err error) { s.BecomeExe, err = r.stringKeyword("become_exe"); return },
		func() (err error) { s.RemoteUser, err = r.stringKeyword("remote_user"); return },
		func() (err error) { s.Connection, err = r.stringKeyword("connection"); return },
		func() (err error) { s.Port, err = r.intKeyword("port", 0); return },
		func() (err error) { s.Async, err = r.intKeyword("async", 0); return },
		func() (err error) { s.Poll, err = r.intKeyword("poll", 15); return },
		func() (err error) { s.Timeout, err = r.secondsKeyword("timeout", 0); return },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return s, err
		}
	}
	return s, nil
}

// environment merges the environment keywords from the play inwards.
func (r *run) environment() ([]string, error) {
	chain := r.task.Collect("environment")
	if len(chain) == 0 {
		return nil, nil
	}
	env := value.NewDict()
	for _, a := range chain {
		v, err := r.jinja.Resolve(a.Value)
		if err != nil {
			return nil, err
		}
		if err := mergeEnv(env, v, a.Pos); err != nil {
			return nil, err
		}
	}
	list := make([]string, 0, env.Len())
	for k, v := range env.All() {
		list = append(list, text(k)+"="+text(v))
	}
	return list, nil
}

func mergeEnv(env *value.Dict, v any, pos source.Pos) error {
	switch v := v.(type) {
	case nil:
	case *value.Dict:
		env.Update(v)
	case *value.List:
		for _, item := range v.Items {
			if err := mergeEnv(env, item, pos); err != nil {
				return err
			}
		}
	case string:
		if strings.TrimSpace(v) != "" {
			return source.Errorf(pos, "environment must be a dictionary, not %q", v)
		}
	default:
		if !isOmit(v) {
			return source.Errorf(pos, "environment must be a dictionary")
		}
	}
	return nil
}

// notifications evaluates the handler names that the task and its blocks notify.
func (r *run) notifications() error {
	if len(r.task.Notify) == 0 && r.task.Parent == nil {
		return nil
	}
	for _, a := range r.task.AllNotify() {
		v, err := r.jinja.Resolve(a.Value)
		if err != nil {
			return err
		}
		switch v := v.(type) {
		case *value.List:
			for _, n := range v.Items {
				r.names = append(r.names, text(n))
			}
		case nil:
		default:
			if !isOmit(v) {
				r.names = append(r.names, text(v))
			}
		}
	}
	return nil
}

// ToBool reads a boolean as Ansible's keywords and arguments do.
func ToBool(v any) (b, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case int:
		return v == 1, v == 0 || v == 1
	case float64:
		return v == 1, v == 0 || v == 1
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "yes", "on", "1", "true", "t", "y", "1.0":
			return true, true
		case "no", "off", "0", "false", "f", "n", "0.0", "":
			return false, true
		}
	}
	return false, false
}

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
		return f, err == nil
	}
	return 0, false
}

// text is a value as it stands in a command line or an environment.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(value.Str(v))
}
