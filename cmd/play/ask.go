package main

import (
	"bufio"
	"fmt"
	"strings"

	"play/engine/debugger"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
	"play/modules/value"
	"play/strategy"
)

// question is one entry of vars_prompt.
type question struct {
	Name, Text       string
	Default          any
	Private, Confirm bool
	Pos              source.Pos
}

// prompts asks for a play's vars_prompt, except for what --extra-vars gives.
func (s *session) prompts(p *playbook.Play) (*value.Dict, error) {
	answers := value.NewDict()
	a, ok := p.Keywords["vars_prompt"]
	if !ok {
		return answers, nil
	}
	entries, ok := a.Value.(*value.List)
	if !ok {
		return nil, source.Errorf(a.Pos, "vars_prompt must be a list of variables to ask for")
	}
	for _, e := range entries.Items {
		q, err := readQuestion(e, a.Pos)
		if err != nil {
			return nil, err
		}
		if _, given := s.extra.Get(q.Name); given {
			continue
		}
		answer, err := s.prompt(q)
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
	q := &question{Name: value.Str(name), Private: true, Pos: pos}
	if v, ok := d.Get("prompt"); ok {
		q.Text = value.Str(v)
	}
	q.Default, _ = d.Get("default")
	if v, ok := d.Get("private"); ok {
		q.Private, _ = task.ToBool(v)
	}
	if v, ok := d.Get("confirm"); ok {
		q.Confirm, _ = task.ToBool(v)
	}
	return q, nil
}

// prompt asks once, or twice until both answers agree when confirm is set.
// Without a terminal the default is taken.
func (s *session) prompt(v *question) (any, error) {
	if !s.host.Interactive() {
		s.sink.Warning("Not prompting as we are not in interactive mode", v.Pos)
		if v.Default == nil {
			return "None", nil // as the reference puts no answer into words
		}
		return v.Default, nil
	}
	text := v.Text
	if text == "" {
		text = "input for " + v.Name
	}
	if v.Default != nil {
		text = fmt.Sprintf("%s [%s]", text, value.Str(v.Default))
	}
	for {
		answer, err := s.host.Ask(s.ctx, text+": ", !v.Private)
		if err != nil {
			return nil, err
		}
		if v.Confirm {
			again, err := s.host.Ask(s.ctx, "confirm "+text+": ", !v.Private)
			if err != nil {
				return nil, err
			}
			if again != answer {
				fmt.Fprintln(s.host.Out, "***** VALUES ENTERED DO NOT MATCH ****")
				continue
			}
		}
		if answer == "" && v.Default != nil {
			return v.Default, nil
		}
		return answer, nil
	}
}

// step asks before a task (--step); every other answer is no.
func (c *console) step(name string) strategy.StepAnswer {
	question := fmt.Sprintf("Perform task: %s (N)o/(y)es/(c)ontinue:", name)
	answer, err := c.Ask(question + " ")
	c.Say("\n" + question + " " + strings.Repeat("*", max(3, 79-len(question))))
	if err != nil && answer == "" {
		return strategy.StepNo
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return strategy.StepYes
	case "c", "continue":
		return strategy.StepContinue
	}
	return strategy.StepNo
}

// console is where the debugger and --step talk with a person.
type console struct {
	s     *session
	lines *bufio.Reader // of the standard input where that is no terminal
}

var _ debugger.Console = (*console)(nil)

// Ask reads a line from the terminal, or from whatever else the standard input is.
func (c *console) Ask(prompt string) (string, error) {
	h := c.s.host
	if h.Interactive() {
		return h.Ask(c.s.ctx, prompt, true)
	}
	fmt.Fprint(h.Out, prompt)
	if c.lines == nil {
		c.lines = bufio.NewReader(h.In)
	}
	line, err := c.lines.ReadString('\n')
	return trimNewline(line), err
}

// Say shows a line.
func (c *console) Say(line string) { c.s.sink.Say(line) }

// setting reads a switch of the configuration by its name in ansible-config.
func (s *session) setting(name string) bool {
	v, _ := s.opts.Config.Lookup(name)
	on, _ := task.ToBool(v)
	return on
}
