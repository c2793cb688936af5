package main

import (
	"fmt"

	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
	"play/modules/value"
)

// question is one entry of vars_prompt.
type question struct {
	Name     string
	Text     string // "": the entry says so
	Default  any
	Private  bool // what is typed is not shown
	Confirm  bool
	Unsafe   bool // what is typed is no template
	Encrypt  string
	Salt     string
	SaltSize int
	Pos      source.Pos
}

// prompts asks for a play's vars_prompt, except for what --extra-vars gives.
func (s *session) prompts(p *playbook.Play) (*value.Dict, error) {
	answers := value.NewDict()
	a, ok := p.Keywords["vars_prompt"]
	if !ok {
		return answers, nil
	}
	scope, err := s.builder.Play(p, value.NewDict(), nil).Scope("", nil)
	if err != nil {
		return nil, err
	}
	v, err := s.context(scope, nil).Resolve(a.Value)
	if err != nil {
		return nil, source.Errorf(a.Pos, "vars_prompt cannot be evaluated: %w", err)
	}
	entries, ok := v.(*value.List)
	if !ok {
		entries = value.NewList(v)
	}
	for _, e := range entries.Items {
		q, err := readQuestion(e, a.Pos)
		if err != nil {
			return nil, err
		}
		if _, given := s.extra.Get(q.Name); given {
			continue
		}
		answer, err := s.answer(q)
		if err != nil {
			return nil, err
		}
		answers.Set(q.Name, answer)
	}
	return answers, nil
}

func readQuestion(e any, pos source.Pos) (*question, error) {
	d, _ := e.(*value.Dict)
	name, ok := d.Get("name")
	if !ok {
		return nil, source.Errorf(pos, "an entry of vars_prompt has no \"name\"")
	}
	q := &question{Name: value.Str(name), Text: value.Str(name), Private: true, Pos: pos}
	for key, field := range map[string]*string{"prompt": &q.Text, "encrypt": &q.Encrypt, "salt": &q.Salt} {
		if v, ok := d.Get(key); ok && v != nil {
			*field = value.Str(v)
		} else if ok {
			*field = ""
		}
	}
	for key, field := range map[string]*bool{"private": &q.Private, "confirm": &q.Confirm, "unsafe": &q.Unsafe} {
		if v, ok := d.Get(key); ok {
			*field, _ = task.ToBool(v)
		}
	}
	q.Default, _ = d.Get("default")
	if v, ok := d.Get("salt_size"); ok && v != nil {
		if _, err := fmt.Sscan(value.Str(v), &q.SaltSize); err != nil {
			return nil, source.Errorf(pos, "the salt_size of %q is no number: %s", q.Name, value.Repr(v))
		}
	}
	return q, nil
}

// answer asks, and makes the variable's value of what was typed, or of the
// default.
func (s *session) answer(q *question) (any, error) {
	typed, err := s.typed(q)
	if err != nil {
		return nil, err
	}
	if typed == "" && q.Default != nil {
		typed = value.Str(q.Default)
	}
	switch {
	case q.Encrypt != "":
		hash, err := jinja.HashPassword(typed, q.Encrypt, q.Salt, q.SaltSize, 0, "")
		if err != nil {
			return nil, source.Errorf(q.Pos, "cannot hash the answer for %q: %w", q.Name, err)
		}
		return hash, nil
	case q.Unsafe:
		return typed, nil
	}
	return s.env.Load(typed, q.Pos)
}

// typed is what the person types: once, or twice until both agree when confirm
// is set. Without a terminal it is nothing, or "None" where there is no default.
func (s *session) typed(q *question) (string, error) {
	if !s.host.Interactive() {
		s.sink.Warning("Not prompting as we are not in interactive mode", q.Pos)
		if q.Default == nil {
			return "None", nil // as the reference puts no answer into words
		}
		return "", nil
	}
	text := q.Text + ": "
	if q.Text == "" {
		text = "input for " + q.Name + ": "
	} else if q.Default != nil {
		text = fmt.Sprintf("%s [%s]: ", q.Text, value.Str(q.Default))
	}
	for {
		answer, err := s.host.Ask(s.ctx, text, !q.Private)
		if err != nil || !q.Confirm {
			return answer, err
		}
		again, err := s.host.Ask(s.ctx, "confirm "+text, !q.Private)
		if err != nil || again == answer {
			return answer, err
		}
		fmt.Fprintln(s.host.Out, "***** VALUES ENTERED DO NOT MATCH ****")
	}
}
