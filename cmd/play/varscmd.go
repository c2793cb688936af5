package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"play/engine/event"
	"play/engine/extravars"
	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/vars"
	"play/modules/value"
	"play/strategy"
)

// varsCommand explains where a host's variables come from.
func varsCommand(h *host) *cli.Command {
	flags := append(hostFlags()[:3:3], vaultFlags()...)
	flags = append(flags, commonFlags()...)
	return &cli.Command{
		Name: "vars", Usage: "explain where a host's variables come from", ArgsUsage: "HOST [NAME] [PLAYBOOK]", Flags: flags,
		Description: "With a NAME: every layer that sets it, the strongest first, each with its place; the first\n" +
			"one counts. Without: every layer of the host with what it sets. A PLAYBOOK adds the\n" +
			"variables of its plays, of their roles and vars_files, and names the tasks that set NAME.",
		UseShortOptionHandling: true,
		Action:                 func(c *cli.Context) error { return varsAction(h, c) },
	}
}

// isPlaybook tells a playbook from a variable's name.
func isPlaybook(arg string) bool {
	ext := filepath.Ext(arg)
	return ext == ".yml" || ext == ".yaml" || strings.Contains(arg, "/")
}

func varsAction(h *host, c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) == 0 || len(args) > 3 {
		return usagef("play vars takes a host, then a variable's name and a playbook if you like: play vars web1 port site.yml")
	}
	name, book := "", ""
	for _, a := range args[1:] {
		switch {
		case isPlaybook(a) && book == "":
			book = a
		case name == "":
			name = a
		default:
			return usagef("play vars takes one variable's name and one playbook, and %q is one too many", a)
		}
	}
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return err
	}
	s, err := newSession(c.Context, h, o, event.Locked(newOutput(h, o)))
	if err != nil {
		return err
	}
	defer s.close()
	s.loader.Trace = true
	if !s.inv.HasHost(args[0]) {
		return s.noHost(args[0])
	}
	plays, err := s.playsOf(args[0], book)
	if err != nil {
		return err
	}
	for i, p := range plays {
		if i > 0 {
			fmt.Fprintln(h.Out)
		}
		if err := s.explain(args[0], name, book != "", p); err != nil {
			return err
		}
	}
	return nil
}

// noHost says that a host is in no inventory.
func (s *session) noHost(name string) error {
	err := &source.Error{Msg: fmt.Sprintf("there is no host %q in the inventory", name)}
	if near := source.Nearest(name, s.inv.HostNames()); near != "" {
		err.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	return &codeError{exitError, err}
}

// playsOf lists the plays of a playbook that run on a host; without a playbook
// it is one empty play.
func (s *session) playsOf(host, book string) ([]*playbook.Play, error) {
	if book == "" {
		s.setPlaybook(&playbook.Playbook{Path: filepath.Join(s.host.Dir, "none")})
		return []*playbook.Play{{Vars: value.NewDict(), Dir: s.host.Dir}}, nil
	}
	books, err := s.loadAll([]string{book})
	if err != nil {
		return nil, err
	}
	s.setPlaybook(books[0])
	var plays []*playbook.Play
	for _, p := range books[0].Plays {
		hosts, err := s.hostsOf(p)
		if err != nil {
			return nil, err
		}
		if slices.Contains(hosts, host) {
			plays = append(plays, p)
		}
	}
	if len(plays) == 0 {
		return nil, &codeError{exitError, fmt.Errorf("no play of %q runs on %q", book, host)}
	}
	return plays, nil
}

// hostsOf lists the hosts of a play.
func (s *session) hostsOf(p *playbook.Play) ([]string, error) {
	v := strategy.NewPreview(s.builder, s.context, p, nil, nil)
	patterns, _, err := v.Heading()
	if err != nil {
		return nil, err
	}
	return s.inv.Match(strings.Join(patterns, ","))
}

// explanation is what is printed for one host and play.
type explanation struct {
	s     *session
	out   io.Writer
	play  *playbook.Play
	scope *vars.Scope
}

// explain prints the layers of a host in a play: of one name, or all.
func (s *session) explain(host, name string, heading bool, p *playbook.Play) error {
	view := s.builder.Play(p, value.NewDict(), value.NewDict())
	scope, err := view.Scope(host, nil)
	if err != nil {
		return err
	}
	e := &explanation{s: s, out: s.host.Out, play: p, scope: scope}
	if heading {
		fmt.Fprintf(e.out, "play %s (%s)\n", quotedName(p), e.short(p.Pos))
	}
	if name == "" {
		return e.all()
	}
	return e.one(name)
}

func quotedName(p *playbook.Play) string {
	switch n := p.Name.(type) {
	case string:
		return fmt.Sprintf("%q", n)
	case *jinja.Template:
		return fmt.Sprintf("%q", n.Source)
	}
	return "without a name"
}

// one prints the layers that set a name, the winner first.
func (e *explanation) one(name string) error {
	w := tabwriter.NewWriter(e.out, 0, 8, 2, ' ', 0)
	mark := "*"
	for _, l := range e.layers() {
		v, ok := l.Lookup(name)
		if !ok {
			continue
		}
		fmt.Fprintf(w, "%s %s\t%s\t%s\n", mark, l.Name, e.where(l, name), shownValue(v))
		mark = " "
	}
	for _, t := range settersIn(e.play, name) {
		fmt.Fprintf(w, "  %s\t%s\twhen the task runs\n", t.how, e.short(t.pos))
		mark = " "
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if mark == "*" {
		err := &source.Error{Msg: fmt.Sprintf("nothing sets %q", name)}
		if near := source.Nearest(name, e.scope.Names()); near != "" {
			err.Hint = fmt.Sprintf("did you mean %q?", near)
		}
		return &codeError{exitError, err}
	}
	return e.evaluated(name)
}

// layers are the scope's, each dict once: the folders beside an inventory and
// beside a playbook may be the same.
func (e *explanation) layers() []*vars.Layer {
	seen := map[*value.Dict]bool{}
	return slices.DeleteFunc(e.scope.Layers(), func(l *vars.Layer) bool {
		twice := l.Dict != nil && seen[l.Dict]
		seen[l.Dict] = true
		return twice
	})
}

// evaluated prints what the winner's templates yield.
func (e *explanation) evaluated(name string) error {
	raw, ok := e.scope.Lookup(name)
	if !ok {
		return nil
	}
	if _, secret := raw.(jinja.Deferred); secret {
		if _, template := raw.(*jinja.Template); !template {
			return nil
		}
	}
	v, err := e.s.context(e.scope, nil).Resolve(raw)
	var undefined *jinja.UndefinedError
	switch {
	case errors.As(err, &undefined):
		_, err = fmt.Fprintf(e.out, "%s cannot be evaluated yet: %s\n", name, undefined.Msg)
		return err
	case err != nil:
		return err
	}
	_, err = fmt.Fprintf(e.out, "%s = %s\n", name, shownValue(v))
	return err
}

// all prints every layer with what it sets.
func (e *explanation) all() error {
	winner := map[string]*vars.Layer{}
	for _, l := range e.layers() {
		for _, name := range layerNames(l) {
			if winner[name] == nil {
				winner[name] = l
			}
		}
	}
	for _, l := range e.layers() {
		names := layerNames(l)
		if len(names) == 0 || l.Dict == nil {
			continue // magic variables and what only a run sets
		}
		fmt.Fprintln(e.out, l.Name)
		w := tabwriter.NewWriter(e.out, 0, 8, 2, ' ', 0)
		for _, name := range names {
			v, _ := l.Lookup(name)
			note := ""
			if winner[name] != l {
				note = "\tunder " + winner[name].Name
			}
			fmt.Fprintf(w, "  %s\t%s\t%s%s\n", name, e.where(l, name), shownValue(v), note)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// layerNames are a layer's names, sorted.
func layerNames(l *vars.Layer) []string {
	var names []string
	if l.Dict == nil && l.Names != nil {
		names = slices.Clone(l.Names())
	}
	if l.Dict != nil {
		for k := range l.Dict.All() {
			if s, ok := k.(string); ok {
				names = append(names, s)
			}
		}
	}
	slices.Sort(names)
	return names
}

// where is the place at which a layer sets a name, as exactly as it is known.
func (e *explanation) where(l *vars.Layer, name string) string {
	switch {
	case l.Where != nil:
		return e.short(l.Where(name))
	case l.Dict == nil:
		return "-"
	case l.Dict == e.s.extra:
		return e.short(extravars.Where(e.s.opts.ExtraVars, e.s.yaml, name))
	}
	if pos := e.s.loader.Where(l.Dict, name); !pos.IsZero() {
		return e.short(pos)
	}
	v, _ := l.Dict.Get(name)
	if t, ok := v.(*jinja.Template); ok {
		return e.short(t.Pos)
	}
	return "-"
}

// short is a place with its file seen from the working folder and no column.
func (e *explanation) short(pos source.Pos) string {
	if rel, err := filepath.Rel(e.s.host.Dir, pos.File); err == nil && filepath.IsAbs(pos.File) && !strings.HasPrefix(rel, "..") {
		pos.File = rel
	}
	pos.Col = 0
	if pos.IsZero() {
		return "-"
	}
	return pos.String()
}

// shownValue shows a value as it was loaded: templates as written, and nothing
// of a vault.
func shownValue(v any) string {
	switch v := v.(type) {
	case *jinja.Template:
		return value.Repr(v.Source)
	case jinja.Deferred:
		return "(vault)"
	case jinja.Binder:
		return "(worked out when it is used)"
	case *value.List:
		parts := make([]string, 0, v.Len())
		for _, item := range v.Items {
			parts = append(parts, shownValue(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *value.Dict:
		parts := make([]string, 0, v.Len())
		for k, item := range v.All() {
			parts = append(parts, shownValue(k)+": "+shownValue(item))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return value.Repr(v)
}

// setter is a task or block that sets a name while a play runs.
type setter struct {
	how string
	pos source.Pos
}

// settersIn lists what sets a name in a play while it runs.
func settersIn(p *playbook.Play, name string) []setter {
	var found []setter
	visit(p, func(n playbook.Node) {
		switch n := n.(type) {
		case *playbook.Block:
			if _, ok := n.Vars.Get(name); ok {
				found = append(found, setter{"vars of a block", n.Pos})
			}
			if _, ok := n.Params.Get(name); ok {
				found = append(found, setter{"parameter of a role", n.Pos})
			}
		case *playbook.Task:
			found = append(found, taskSetters(n, name)...)
		}
	})
	return found
}

func taskSetters(t *playbook.Task, name string) []setter {
	var found []setter
	if _, ok := t.Vars.Get(name); ok {
		found = append(found, setter{"vars of a task", t.Pos})
	}
	if t.Register == name {
		found = append(found, setter{"register", t.Pos})
	}
	if _, ok := t.Args.Get(name); ok && t.Action == "set_fact" {
		found = append(found, setter{"set_fact", t.Pos})
	}
	return found
}
