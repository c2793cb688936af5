package main

import (
	"bufio"
	"fmt"
	"strings"

	"play/engine/debugger"
	"play/strategy"
)

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
func (s *session) setting(name string) bool { return configured(s.opts.Config, name) }
