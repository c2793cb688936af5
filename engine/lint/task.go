package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"play/engine/playbook"
	"play/engine/source"
	"play/modules/argspec"
	"play/modules/value"
)

// task checks one task or handler.
func (f *file) task(n *yaml.Node, at around) {
	kind := "task"
	if at.handlers {
		kind = "handler"
	}
	var action *pair
	for _, p := range pairs(n) {
		name := p.key.Value
		switch {
		case slices.Contains(playbook.KeywordsOf(kind), name):
			f.keyword(p, name)
			if name == "action" || name == "local_action" {
				action = &p
			}
		case strings.HasPrefix(name, "with_"):
			f.with(p)
		case action == nil && f.module(name):
			action = &p
			f.action(n, p)
		case name == "listen" || name == "apply":
			f.unknownKeyword(kind, p.key)
		case action == nil && !strings.Contains(name, "{{"):
			action = &p
			f.unknownModule(kind, n, p)
		case action != nil && !strings.Contains(name, "{{"):
			f.unknownKeyword(kind, p.key)
		}
	}
	f.becomeUser(n, at.become)
	if action != nil && entry(n, "name") == nil && !strings.HasSuffix(action.key.Value, "meta") && len(n.Content) > 0 {
		f.add("unnamed-task", f.pos(n), "the task has no name")
	}
}

// unknownModule is about a key that is neither a keyword nor a module: another
// key of the task tells which of both it was meant to be.
func (f *file) unknownModule(kind string, n *yaml.Node, p pair) {
	other := slices.ContainsFunc(pairs(n), func(q pair) bool { return q.key != p.key && f.module(q.key.Value) })
	if other {
		f.unknownKeyword(kind, p.key)
		return
	}
	if strings.Count(p.key.Value, ".") >= 2 {
		return // of a collection that may be installed where it runs
	}
	found := f.add("unknown-module", f.pos(p.key), "there is no module %q", p.key.Value)
	if near := source.Nearest(p.key.Value, f.names); near != "" {
		found.Hint = fmt.Sprintf("did you mean %q?", near)
	}
}

// action checks a module's name and arguments.
func (f *file) action(task *yaml.Node, p pair) {
	m := f.modules[p.key.Value]
	f.texts(p.value)
	if m == nil {
		return
	}
	short := m.Names[0]
	args := entry(task, "args")
	if p.value.Kind == yaml.MappingNode {
		f.options(m.Names[0], m.Spec, p.value, m.Open)
	}
	if args != nil && args.Kind == yaml.MappingNode {
		f.options(m.Names[0], m.Spec, args, m.Open)
	}
	if text := p.value; text.Kind == yaml.ScalarNode && text.Value != "" && args != nil && !m.Free && args.Kind == yaml.MappingNode {
		f.add("mixed-arguments", f.pos(args), "arguments of %q stand as text and under args: at once", short).Hint = "put all of them under the module"
	}
	switch short {
	case "include":
		f.add("deprecated-include", f.pos(p.key), "include is gone in ansible-core 2.16").Hint = "include_tasks is read when the task runs, import_tasks when the playbook is loaded"
	case "shell", "command", "raw", "script":
		f.command(task, p, short)
	case "assert":
		f.conditions(entry(p.value, "that"))
	}
}

// options checks the names and literal values of a module's options.
func (f *file) options(module string, spec *argspec.Spec, args *yaml.Node, open bool) {
	for _, p := range pairs(args) {
		name := p.key.Value
		o, ok := spec.Find(name)
		switch {
		case !ok && (open || strings.Contains(name, "{{") || name == "free_form" || strings.HasPrefix(name, "_")):
			continue
		case !ok:
			found := f.add("unknown-option", f.pos(p.key), "%q has no option %q", module, name)
			if near := source.Nearest(name, optionNames(spec)); near != "" {
				found.Hint = fmt.Sprintf("did you mean %q?", near)
			}
			continue
		}
		f.option(module, &o, p)
	}
}

func optionNames(spec *argspec.Spec) []string {
	var names []string
	for _, o := range spec.Options {
		names = append(append(names, o.Name), o.Aliases...)
	}
	return names
}

func (f *file) option(module string, o *argspec.Option, p pair) {
	if o.Options != nil {
		f.suboptions(module+"."+o.Name, o.Options, p.value)
	}
	if p.value.Kind != yaml.ScalarNode || strings.Contains(p.value.Value, "{{") || p.value.Tag == "!vault" {
		return
	}
	switch {
	case strings.HasSuffix(o.Name, "mode") && (o.Type == "raw" || o.Type == "str" || o.Type == "bits"):
		f.mode(p)
	case o.Type == "bool":
		f.truthy(p.value)
	case len(o.Choices) > 0 && o.Type != "list" && p.value.Tag != "!!null" && !chosen(o, p.value):
		f.add("bad-choice", f.pos(p.value), "%q of %q is one of %s, not %q", p.key.Value, module, listed(o.Choices), p.value.Value)
	}
}

func (f *file) suboptions(module string, spec *argspec.Spec, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		f.options(module, spec, n, false)
	case yaml.SequenceNode:
		for _, item := range items(n) {
			f.options(module, spec, item, false)
		}
	}
}

// chosen tells whether a literal is one of the choices, booleans in any of
// their words.
func chosen(o *argspec.Option, n *yaml.Node) bool {
	return slices.ContainsFunc(o.Choices, func(c any) bool {
		text := value.Str(c)
		return text == n.Value || strings.EqualFold(truth(text), truth(n.Value)) && truth(text) != "" && n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0
	})
}

func listed(choices []any) string {
	var words []string
	for _, c := range choices {
		words = append(words, value.Str(c))
	}
	return strings.Join(words, ", ")
}

// truth is the boolean that a word stands for in YAML 1.1, or "".
func truth(word string) string {
	switch word {
	case "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE":
		return "true"
	case "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE":
		return "false"
	}
	return ""
}

var decimalMode = regexp.MustCompile(`^[1-7][0-7]{2,3}$`)

// mode finds modes that YAML takes for decimal numbers.
func (f *file) mode(p pair) {
	if p.value.Style != 0 || !decimalMode.MatchString(p.value.Value) {
		return
	}
	zero := "0"
	f.add("bad-mode", f.pos(p.value), "the mode %s is read as a decimal number", p.value.Value).edit =
		&edit{p.value.Line, p.value.Column, p.value.Value, `"` + zero + p.value.Value + `"`}
	f.found[len(f.found)-1].Hint = fmt.Sprintf("write it as %q, in quotes", zero+p.value.Value)
}

// truthy finds booleans that are not written as true or false.
func (f *file) truthy(n *yaml.Node) {
	want := truth(n.Value)
	if n.Kind != yaml.ScalarNode || n.Style != 0 || want == "" || want == n.Value {
		return
	}
	f.add("truthy", f.pos(n), "%s is a boolean that is better written as %s", n.Value, want).edit = &edit{n.Line, n.Column, n.Value, want}
}

// plainWords is a command line that no shell is needed for.
var plainWords = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+ -]+$`)

// assignment begins a command line with a variable of the environment.
var assignment = regexp.MustCompile(`^\s*[A-Za-z_][A-Za-z0-9_]*=`)

// shellBuiltins are commands that only a shell has.
var shellBuiltins = []string{"cd", "source", ".", "export", "ulimit", "umask", "type", "command", "set", "exec", "eval", "alias", "hash", "wait", "read", "test", "if", "for", "while"}

// command checks the tasks that run programs.
func (f *file) command(task *yaml.Node, p pair, module string) {
	text, quiet := p.value, false
	if p.value.Kind == yaml.MappingNode {
		if text = entry(p.value, "cmd"); text == nil {
			text = entry(p.value, "_raw_params")
		}
	}
	for _, n := range []*yaml.Node{p.value, entry(task, "args")} {
		if n == nil {
			continue
		}
		for _, name := range []string{"creates", "removes"} {
			quiet = quiet || entry(n, name) != nil || n.Kind == yaml.ScalarNode && strings.Contains(n.Value, name+"=")
		}
	}
	if !quiet && entry(task, "changed_when") == nil {
		f.add("no-changed-when", f.pos(p.key), "%s says changed at every run", module).Hint = "say changed_when, creates or removes"
	}
	if module != "shell" || text == nil || text.Kind != yaml.ScalarNode || !plainWords.MatchString(text.Value) || assignment.MatchString(text.Value) {
		return
	}
	if words := strings.Fields(text.Value); len(words) > 0 && !slices.Contains(shellBuiltins, words[0]) && !strings.Contains(text.Value, "executable=") {
		f.add("shell-not-needed", f.pos(p.key), "nothing in this line needs a shell").Hint = "command runs it, too, and nothing is expanded"
	}
}

// boolKeywords are the keywords that are booleans.
var boolKeywords = []string{"any_errors_fatal", "become", "check_mode", "delegate_facts", "diff", "force_handlers", "gather_facts", "ignore_errors", "ignore_unreachable", "no_log", "run_once"}

// keyword checks a keyword's value.
func (f *file) keyword(p pair, name string) {
	switch {
	case name == "when" || name == "changed_when" || name == "failed_when" || name == "until":
		f.conditions(p.value)
		return
	case slices.Contains(boolKeywords, name):
		f.truthy(p.value)
	case name == "loop":
		f.bare(p, "loop")
	}
	f.texts(p.value)
}

var bareName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$`)

// bareLookups are the with_ that took the bare name of a variable once.
var bareLookups = []string{"items", "list", "dict", "flattened", "indexed_items", "random_choice", "sequence_of", "subelements_of"}

func (f *file) with(p pair) {
	f.texts(p.value)
	if name := strings.TrimPrefix(p.key.Value, "with_"); slices.Contains(bareLookups, name) {
		f.bare(p, p.key.Value)
	} else if !strings.Contains(name, ".") && !slices.Contains(f.Env.Names("lookup"), name) {
		found := f.add("unknown-filter", f.pos(p.key), "there is no lookup %q", name)
		if near := source.Nearest(name, f.Env.Names("lookup")); near != "" {
			found.Hint = fmt.Sprintf("did you mean \"with_%s\"?", near)
		}
	}
}

// bare finds the name of a variable where a list is wanted.
func (f *file) bare(p pair, what string) {
	n := p.value
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" || n.Style != 0 || !bareName.MatchString(n.Value) {
		return
	}
	f.add("bare-variable", f.pos(n), "%s takes a list, and %q is text, not the variable of that name", what, n.Value).edit =
		&edit{n.Line, n.Column, n.Value, `"{{ ` + n.Value + ` }}"`}
	f.found[len(f.found)-1].Hint = fmt.Sprintf(`write "{{ %s }}"`, n.Value)
}
