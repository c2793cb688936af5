package argspec

import (
	"fmt"
	"math"
	"math/big"
	"reflect"

	"play/modules/value"
)

// Decode checks arguments and fills the struct that into points to. The error
// is an *Error; Checked is never nil, so that a failure can still hide secrets.
func (s *Spec) Decode(module string, args *value.Dict, env Env, into any) (*Checked, error) {
	checked, err := s.Check(module, args, env)
	if err != nil {
		return checked, err
	}
	if err := s.fill(checked.Params, reflect.ValueOf(into).Elem()); err != nil {
		return checked, &Error{Msg: Scrub(err.Error(), checked.Secrets)}
	}
	return checked, nil
}

func (s *Spec) fill(params *value.Dict, into reflect.Value) error {
	for i := range s.Options {
		o := &s.Options[i]
		v, _ := params.Get(o.Name)
		if v == nil {
			continue
		}
		if err := o.fill(v, into.FieldByIndex(o.index)); err != nil {
			return err
		}
	}
	return nil
}

func (o *Option) fill(v any, field reflect.Value) error {
	t := field.Type()
	if rv := reflect.ValueOf(v); rv.Type() == t {
		field.Set(rv)
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		p := reflect.New(t.Elem())
		field.Set(p)
		return o.fill(v, p.Elem())
	case reflect.Interface:
		field.Set(reflect.ValueOf(v))
	case reflect.Slice:
		return o.fillSlice(v.(*value.List), field)
	case reflect.Struct:
		return o.Options.fill(v.(*value.Dict), field)
	default:
		return o.fillScalar(v, field)
	}
	return nil
}

func (o *Option) fillSlice(l *value.List, field reflect.Value) error {
	out := reflect.MakeSlice(field.Type(), len(l.Items), len(l.Items))
	for i, item := range l.Items {
		if item == nil {
			continue
		}
		if err := o.fill(item, out.Index(i)); err != nil {
			return err
		}
	}
	field.Set(out)
	return nil
}

func (o *Option) fillScalar(v any, field reflect.Value) error {
	switch field.Kind() {
	case reflect.String:
		field.SetString(value.Str(v))
		return nil
	case reflect.Bool:
		field.SetBool(value.Truth(v))
		return nil
	case reflect.Int, reflect.Int64:
		if n, ok := asInt(v); ok {
			field.SetInt(int64(n))
			return nil
		}
	case reflect.Float64:
		if f, ok := value.AsFloat(v); ok {
			field.SetFloat(f)
			return nil
		}
	}
	return fmt.Errorf("argument '%s' is out of range: %s", o.Name, value.Str(v))
}

func asInt(v any) (int, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return v, true
	case float64:
		return int(v), v == math.Trunc(v) && math.Abs(v) < 1<<62
	case *big.Int:
		return 0, false
	}
	return 0, false
}
