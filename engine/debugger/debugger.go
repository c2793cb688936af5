// Package debugger talks with a person about a task that stopped: it shows the
// task, its variables and its result, takes changes to its arguments and
// variables, and says whether to try again. A Stop flows in, lines of a terminal
// in and out, an Answer flows out, with the changes left in the Stop. It runs no
// task and knows no host.
package debugger

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

// Answer is what the person wants of the run.
type Answer int

// The answers.
const (
	Quit     Answer = iota // end the run; also the answer at the end of the input
	Continue               // leave the task as it ended
	Redo                   // run the task again, with the changes
)

// Stop is one task that stopped on one host.
type Stop struct {
	Host   string
	Name   string      // as Ansible names the task: role and name
	Action string      // the module or action
	Args   *value.Dict // its arguments; changed by the person
	Result *value.Dict
	// Vars are what the host's task sees; Names lists them.
	Vars  jinja.Scope
	Names func() []string
	// Changed are the variables that the person set.
	Changed *value.Dict
	// Update evaluates the arguments anew, with the changed variables.
	Update func(changed *value.Dict) (*value.Dict, error)

	Env     *jinja.Env
	Context *jinja.Context
}

// Console is where the person sits.
type Console interface {
	// Ask shows a prompt and reads a line; the error is io.EOF when there are no
	// more.
	Ask(prompt string) (string, error)
	Say(line string)
}

// Talk asks until the person decides. An error is of the console; at the end of
// its input the answer is Quit.
func Talk(s *Stop, c Console) (Answer, error) {
	if s.Changed == nil {
		s.Changed = value.NewDict()
	}
	last := ""
	for {
		line, err := c.Ask(fmt.Sprintf("[%s] %s (debug)> ", s.Host, s.title()))
		if err != nil && !errors.Is(err, io.EOF) {
			return Quit, err
		}
		if line = strings.TrimSpace(line); line == "" && err != nil {
			line = "EOF"
		} else if line == "" {
			line = last // an empty line repeats, as in Python's prompts
		}
		last = line
		if answer, done := s.command(line, c); done {
			return answer, nil
		}
	}
}

func (s *Stop) title() string { return "TASK: " + s.Name }

// commands are the words a line may start with, and what each is for.
var commands = []struct{ name, alias, help string }{
	{"EOF", "", "Quit"},
	{"continue", "c", "Continue to next result"},
	{"help", "h", "List available commands with \"help\" or detailed help with \"help cmd\"."},
	{"pprint", "p", "Pretty Print"},
	{"quit", "q", "Quit"},
	{"redo", "r", "Schedule task for re-execution. The re-execution may not be the next result"},
	{"update_task", "u", "Evaluate the task's arguments again, with the changed task_vars"},
}

func commandNamed(word string) string {
	for _, c := range commands {
		if word == c.name || word == c.alias && word != "" {
			return c.name
		}
	}
	return ""
}

var firstWord = regexp.MustCompile(`^[A-Za-z_]*`)

// command carries out one line; done tells that the person has decided.
func (s *Stop) command(line string, c Console) (answer Answer, done bool) {
	word := firstWord.FindString(line)
	rest := strings.TrimSpace(line[len(word):])
	if strings.HasPrefix(line, "?") {
		word, rest = "help", strings.TrimSpace(line[1:])
	}
	switch commandNamed(word) {
	case "EOF", "quit":
		c.Say("User interrupted execution")
		return Quit, true
	case "continue":
		return Continue, true
	case "redo":
		return Redo, true
	case "help":
		help(rest, c)
	case "pprint":
		s.show(rest, c)
	case "update_task":
		s.update(c)
	default:
		s.statement(line, c)
	}
	return Quit, false
}

func help(topic string, c Console) {
	if topic == "" {
		var names []string
		for _, cmd := range commands {
			if cmd.alias != "" {
				names = append(names, cmd.alias)
			}
			names = append(names, cmd.name)
		}
		c.Say("\nDocumented commands (type help <topic>):\n========================================\n" + strings.Join(names, "  ") + "\n")
		return
	}
	for _, cmd := range commands {
		if commandNamed(topic) == cmd.name {
			c.Say(cmd.help)
			return
		}
	}
	c.Say("*** No help on " + topic)
}

// show prints the value of an expression.
func (s *Stop) show(expr string, c Console) {
	switch expr {
	case "task":
		c.Say(s.title())
		return
	case "host":
		c.Say(s.Host)
		return
	}
	v, err := s.eval("(" + expr + ") | pprint")
	if err != nil {
		c.Say(complaint(err))
		return
	}
	c.Say(value.Str(v))
}

func (s *Stop) update(c Console) {
	args, err := s.Update(s.Changed)
	if err != nil {
		c.Say(complaint(err))
		return
	}
	s.Args = args
}

var assignment = regexp.MustCompile(`^(task\.args|task_vars)\s*\[(.+?)\]\s*=\s*([^=].*)$`)

// statement changes an argument or a variable; every other line is shown as an
// expression.
func (s *Stop) statement(line string, c Console) {
	m := assignment.FindStringSubmatch(line)
	if m == nil {
		s.showLine(line, c)
		return
	}
	key, err := s.eval(m[2])
	if err != nil {
		c.Say(complaint(err))
		return
	}
	v, err := s.eval(m[3])
	if err != nil {
		c.Say(complaint(err))
		return
	}
	into := s.Changed
	if m[1] == "task.args" {
		into = s.Args
	}
	into.Set(value.Str(key), v)
}

func (s *Stop) showLine(line string, c Console) {
	v, err := s.eval(line)
	if err != nil {
		c.Say(complaint(err))
		return
	}
	c.Say(value.Repr(v))
}

// eval evaluates an expression that the person typed.
func (s *Stop) eval(expr string) (any, error) {
	t, err := s.Env.Template("{{ "+expr+" }}", source.Pos{})
	if err != nil {
		return nil, err
	}
	return s.Context.With(&sight{stop: s}).Resolve(t)
}

// sight is what expressions see: the task, its variables, the host, the result.
type sight struct{ stop *Stop }

var _ jinja.Scope = (*sight)(nil)

// Lookup finds a name that the debugger knows.
func (g *sight) Lookup(name string) (any, bool) {
	s := g.stop
	switch name {
	case "task":
		return value.DictOf("name", s.Name, "action", s.Action, "args", s.Args), true
	case "task_vars":
		return s.allVars(), true
	case "host":
		return value.DictOf("name", s.Host), true
	case "result":
		return value.DictOf("_result", s.Result), true
	}
	return nil, false
}

// allVars are the task's variables as one dict; its templates are evaluated
// when they are looked at.
func (s *Stop) allVars() *value.Dict {
	all := value.NewDict()
	all.Lazy = true
	for _, name := range s.Names() {
		if v, ok := s.Vars.Lookup(name); ok {
			all.Set(name, v)
		}
	}
	all.Update(s.Changed)
	return all
}

var undefinedName = regexp.MustCompile(`^'([A-Za-z_]\w*)' is undefined$`)

// complaint is an error as Python's debugger words it.
func complaint(err error) string {
	msg := err.Error()
	var placed *source.Error
	if errors.As(err, &placed) {
		msg = placed.Msg
	}
	var undef *jinja.UndefinedError
	if errors.As(err, &undef) {
		if m := undefinedName.FindStringSubmatch(undef.Msg); m != nil {
			return fmt.Sprintf(`***NameError:NameError("name '%s' is not defined")`, m[1])
		}
		msg = undef.Msg
	}
	return "***" + msg
}
