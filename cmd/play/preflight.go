package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"play/engine/jinja"
	"play/engine/playbook"
	"play/engine/source"
	"play/modules/value"
)

// preflight finds, before any host is contacted, what a run could not do: it
// notes what loading meets, then reads what includes and templates name.
type preflight struct {
	s *session

	mu       sync.Mutex
	problems []error
	known    map[string]bool // problems by text
	done     bool            // loading goes on while the playbooks run
	warn     bool            // the person wants to go on

	files map[string]bool      // included files, roles and templates that were read
	dicts map[*value.Dict]bool // layers of the inventory that were read
}

// newPreflight listens to what the session loads.
func newPreflight(s *session) *preflight {
	p := &preflight{s: s, known: map[string]bool{}, files: map[string]bool{}, dicts: map[*value.Dict]bool{}}
	s.yaml.Seen = p.text
	s.loader.Unsupported = p.unknown
	return p
}

// unknown notes an unknown module or keyword; after the preflight it is a
// mistake, unless it is a module and the person wants to go on.
func (p *preflight) unknown(err error) bool {
	p.mu.Lock()
	done, warn := p.done, p.warn
	p.mu.Unlock()
	if !done {
		p.add(err)
		return true
	}
	return warn && errors.Is(err, playbook.ErrModule)
}

// text notes what a template or condition needs and there is not.
func (p *preflight) text(src string, pos source.Pos, bare bool) {
	for _, m := range p.s.env.Missing(src, pos, bare) {
		err := source.Errorf(m.Pos, "there is no %s %q", m.Kind, m.Name)
		if near := source.Nearest(m.Name, p.s.env.Names(m.Kind)); near != "" {
			err = err.WithHint("did you mean %q?", near)
		}
		p.add(err)
	}
}

func (p *preflight) add(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if key := err.Error(); !p.known[key] && !p.done {
		p.known[key] = true
		p.problems = append(p.problems, err)
	}
}

// playbooks reads what the loaded playbooks name. The error is a file of a
// targeted host, or of a play's vars_files, that cannot be read.
func (p *preflight) playbooks(books []*playbook.Playbook) error {
	p.plugins()
	p.settings()
	for _, pb := range books {
		p.s.setPlaybook(pb)
		for _, play := range pb.Plays {
			p.keyword(play.Keywords, "strategy", strategies)
			p.keywords(play.Keywords)
			visit(play, p.node)
			if err := p.hosts(play); err != nil {
				return err
			}
		}
	}
	return nil
}

// What a run knows, by the keyword that names it.
var (
	strategies = []string{"linear", "free", "host_pinned", "debug"}
	transports = []string{"ssh", "local", "smart", "paramiko", "paramiko_ssh", "docker", "podman", "kubectl", "chroot", "nspawn", "su",
		"community.docker.docker", "containers.podman.podman", "kubernetes.core.kubectl", "community.general.chroot"}
	becomeMethods = []string{"sudo", "su", "doas"}
)

// settings looks at the plugins that the command line and the configuration name.
func (p *preflight) settings() {
	o := p.s.opts
	p.plugin("connection", o.Connection.Connection, source.Pos{}, transports)
	p.plugin("become_method", o.Connection.BecomeMethod, source.Pos{}, becomeMethods)
	p.plugin("strategy", o.Settings.Strategy, o.Config.Place("DEFAULT_STRATEGY"), strategies)
}

func (p *preflight) keywords(k playbook.Keywords) {
	p.keyword(k, "connection", transports)
	p.keyword(k, "become_method", becomeMethods)
}

// keyword notes a plugin that is named literally and not known.
func (p *preflight) keyword(k playbook.Keywords, name string, known []string) {
	if a, ok := k[name]; ok {
		p.plugin(name, a.Value, a.Pos, known)
	}
}

func (p *preflight) plugin(what string, v any, pos source.Pos, known []string) {
	s, ok := v.(string)
	if !ok || s == "" || slices.Contains(known, strings.TrimPrefix(strings.TrimPrefix(s, "ansible.builtin."), "ansible.legacy.")) {
		return
	}
	p.add(source.Errorf(pos, "there is no %s %q", strings.ReplaceAll(what, "_", " "), s).
		WithHint("known are %s", strings.Join(known, ", ")))
}

// node looks at a block or task.
func (p *preflight) node(n playbook.Node) {
	switch n := n.(type) {
	case *playbook.Block:
		p.keywords(n.Keywords)
	case *playbook.Task:
		p.keywords(n.Keywords)
		switch n.Action {
		case "include_tasks":
			p.applied(n)
			p.includeTasks(n)
		case "include_role":
			p.applied(n)
			p.includeRole(n)
		case "template":
			p.template(n)
		}
	}
}

// literal is an argument that is plain text, or "".
func literal(t *playbook.Task, names ...string) string {
	for _, name := range names {
		v, ok := t.Args.Get(name)
		if s, isText := v.(string); ok && isText {
			return s
		}
	}
	return ""
}

// first reports whether something is met for the first time.
func (p *preflight) first(parts ...string) bool {
	key := strings.Join(parts, "\x00")
	met := p.files[key]
	p.files[key] = true
	return !met
}

// applied reads the conditions of an include's apply option, which loading leaves
// to the run.
func (p *preflight) applied(t *playbook.Task) {
	v, _ := t.Args.Get("apply")
	d, _ := v.(*value.Dict)
	when, _ := d.Get("when")
	items := []any{when}
	if l, ok := when.(*value.List); ok {
		items = l.Items
	}
	for _, item := range items {
		if src, ok := item.(string); ok {
			p.text(src, t.Pos, true)
		}
	}
}

func (p *preflight) includeTasks(t *playbook.Task) {
	name := literal(t, "file", "_raw_params")
	if name == "" || !p.first("tasks", t.Dir, rolePath(t), name) {
		return
	}
	block, _, err := p.s.loader.IncludeTasks(name, t, t.Args, nil)
	if err != nil {
		return // it concerns only a run that comes to the include
	}
	visitNodes([]playbook.Node{block}, p.node)
}

func (p *preflight) includeRole(t *playbook.Task) {
	name := literal(t, "role", "name")
	if name == "" || !p.first("role", rolePath(t), name, literal(t, "tasks_from"), literal(t, "vars_from"), literal(t, "defaults_from")) {
		return
	}
	block, handlers, err := p.s.loader.IncludeRole(t, t.Args, nil)
	if err != nil {
		return
	}
	visitNodes([]playbook.Node{block}, p.node)
	visitNodes(taskNodes(handlers), p.node)
}

func rolePath(t *playbook.Task) string {
	if t.Role == nil {
		return ""
	}
	return t.Role.Path
}

// template reads the file of a template task; one with delimiters of its own
// is left to the run.
func (p *preflight) template(t *playbook.Task) {
	src := literal(t, "src")
	for _, option := range []string{"block_start_string", "variable_start_string", "comment_start_string"} {
		if _, ok := t.Args.Get(option); ok {
			return
		}
	}
	path := findTemplate(t, src)
	if path == "" || !p.first("template", path) {
		return
	}
	text, err := p.s.yaml.ReadBytes(path)
	if err != nil || strings.HasPrefix(string(text), "#jinja2:") {
		return
	}
	p.text(string(text), source.Pos{File: path, Line: 1, Col: 1}, false)
}

// findTemplate finds a template where its task would, or returns "".
func findTemplate(t *playbook.Task, src string) string {
	var dirs []string
	if filepath.IsAbs(src) {
		dirs = []string{""}
	} else if src != "" {
		if t.Role != nil {
			dirs = append(dirs, filepath.Join(t.Role.Path, "templates"), t.Role.Path)
		}
		dirs = append(dirs, filepath.Join(t.Dir, "templates"), t.Dir)
		if t.Play != nil {
			dirs = append(dirs, filepath.Join(t.Play.Dir, "templates"), t.Play.Dir)
		}
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, src)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// hosts reads the variables of a play's hosts and its vars_files.
func (p *preflight) hosts(play *playbook.Play) error {
	hosts, err := p.s.hostsOf(play)
	if err != nil {
		return nil // the play's own keywords are told of when it begins
	}
	for _, h := range hosts {
		layers, err := p.s.inv.inv.Load().Layers(h, p.s.inv.dir)
		if err != nil {
			return err
		}
		for _, l := range layers {
			if p.dicts[l.Vars] {
				continue
			}
			p.dicts[l.Vars] = true
			p.values(l.Vars)
			for name, known := range map[string][]string{"ansible_connection": transports, "ansible_become_method": becomeMethods} {
				if v, ok := l.Vars.Get(name); ok {
					p.plugin(strings.TrimPrefix(name, "ansible_"), v, l.Where(name), known)
				}
			}
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	return p.varsFiles(play)
}

// varsFiles reads the vars_files of a play that are there already.
func (p *preflight) varsFiles(play *playbook.Play) error {
	for _, a := range play.VarsFiles {
		name, ok := a.Value.(string)
		if !ok {
			continue
		}
		_, err := p.s.loader.VarsFile(play, []string{name})
		var located *source.Error
		if errors.As(err, &located) && located.Pos.File != play.Path {
			return err
		}
	}
	return nil
}

// values looks at every template in a loaded value.
func (p *preflight) values(v any) {
	switch v := v.(type) {
	case *jinja.Template:
		p.text(v.Source, v.Pos, false)
	case *value.List:
		for _, item := range v.Items {
			p.values(item)
		}
	case *value.Dict:
		for _, item := range v.All() {
			p.values(item)
		}
	}
}

// finish ends the preflight. In mode "warn" what was found is warned of; else
// it is the error, with the other mistakes of loading. A keyword that is not
// known is a mistake in every mode.
func (p *preflight) finish(mode string, mistakes error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.warn = true, mode == "warn"
	if p.warn && mistakes == nil && !slices.ContainsFunc(p.problems, isKeyword) {
		for _, err := range p.problems {
			p.s.sink.Warning(fmt.Sprintf("%s (%s)", plainMessage(err), place(err)), source.Pos{})
		}
		return nil
	}
	if len(p.problems) == 0 {
		return mistakes
	}
	all := p.problems
	if mistakes != nil {
		all = append(all, flat(mistakes)...)
	}
	last := &source.Error{Msg: "nothing was run: " + counted(len(p.problems))}
	if mistakes == nil && !slices.ContainsFunc(p.problems, isKeyword) {
		last.Hint = "--preflight=warn runs it all the same"
	}
	return &codeError{exitUnreachable, &playbook.Errors{List: append(byPlace(all), last)}}
}

// loaded keeps, for a listing, only what keeps a playbook from being loaded.
func (p *preflight) loaded() {
	p.problems = slices.DeleteFunc(p.problems, func(err error) bool {
		return !isKeyword(err) && !errors.Is(err, playbook.ErrModule)
	})
}

func isKeyword(err error) bool { return errors.Is(err, playbook.ErrKeyword) }

func counted(n int) string {
	if n == 1 {
		return "1 name is not known here"
	}
	return fmt.Sprintf("%d names are not known here", n)
}

// flat takes an error of several apart.
func flat(err error) []error {
	var several *playbook.Errors
	if errors.As(err, &several) {
		return several.List
	}
	var ce *codeError
	if errors.As(err, &ce) && ce.err != nil {
		return []error{ce.err}
	}
	return []error{err}
}

func place(err error) source.Pos {
	var located *source.Error
	if errors.As(err, &located) {
		return located.Pos
	}
	return source.Pos{}
}

func plainMessage(err error) string {
	var located *source.Error
	if errors.As(err, &located) {
		return located.Msg
	}
	return err.Error()
}

// byPlace sorts errors by line within each file; files stay in the order in
// which they were met.
func byPlace(list []error) []error {
	order := map[string]int{}
	for _, err := range list {
		if f := place(err).File; order[f] == 0 {
			order[f] = len(order) + 1
		}
	}
	slices.SortStableFunc(list, func(a, b error) int {
		pa, pb := place(a), place(b)
		if pa.File != pb.File {
			return order[pa.File] - order[pb.File]
		}
		return pa.Line - pb.Line
	})
	return list
}
