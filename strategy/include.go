package strategy

import (
	"fmt"
	"path/filepath"
	"strings"

	"play/engine/event"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/task"
	"play/modules/value"
)

// inclusion is one file or role that some hosts include together.
type inclusion struct {
	inc   task.Include
	hosts []string
}

// include loads what the hosts asked for and sends each host there. Hosts that
// include the same file with the same variables share it.
func (s *settle) include() {
	for i, group := range s.inclusions() {
		if err := s.bringIn(group, i); err != nil {
			for _, h := range group.hosts {
				s.failInclude(group, h, err)
			}
		}
	}
	for _, h := range s.hosts {
		s.b.it.Release(h)
	}
}

// inclusions groups the includes in the order in which they were asked for.
func (s *settle) inclusions() []*inclusion {
	var groups []*inclusion
	byKey := map[string][]*inclusion{}
	for _, h := range s.hosts {
		o := s.includes[h]
		if o == nil {
			continue
		}
		for _, inc := range o.Includes {
			key := includeKey(inc)
			g := withoutHost(byKey[key], h)
			if g == nil {
				g = &inclusion{inc: inc}
				byKey[key] = append(byKey[key], g)
				groups = append(groups, g)
			}
			g.hosts = append(g.hosts, h)
		}
	}
	return groups
}

// withoutHost is the first of the equal inclusions that the host, the last to be
// asked, is not in yet.
func withoutHost(groups []*inclusion, host string) *inclusion {
	for _, g := range groups {
		if g.hosts[len(g.hosts)-1] != host {
			return g
		}
	}
	return nil
}

func includeKey(inc task.Include) string {
	args, _ := value.EncodeJSON(inc.Args, value.WireJSON())
	vars, _ := value.EncodeJSON(inc.Vars, value.WireJSON())
	return fmt.Sprint(args, "\x00", vars, "\x00", inc.ArgsFromHost, inc.VarsFromHost)
}

// bringIn loads one inclusion and queues it for its hosts.
func (s *settle) bringIn(g *inclusion, index int) error {
	block, err := s.load(g)
	if err != nil {
		return err
	}
	for _, h := range g.hosts {
		s.b.it.Queue(h, index, []playbook.Node{block})
	}
	return nil
}

func (s *settle) load(g *inclusion) (*playbook.Block, error) {
	if err := s.judged(g.inc); err != nil {
		return nil, err
	}
	block, err := s.loadBlock(g)
	if err == nil {
		block.ParamsFromHost = g.inc.VarsFromHost
	}
	return block, err
}

// judged tells whether the files that a host's data named may be included.
func (s *settle) judged(inc task.Include) error {
	if !inc.ArgsFromHost {
		return nil
	}
	if s.task.Action != "include_role" {
		path := playbook.FindTasks(s.task, includePath(inc.Args))
		if path == "" {
			return nil // the loader says so
		}
		return s.b.Executor.MayInclude(s.task, path)
	}
	for _, name := range []string{"name", "role", "tasks_from", "vars_from", "defaults_from", "handlers_from"} {
		v, _ := inc.Args.Get(name)
		part := value.Str(v)
		if !leadsAway(part) {
			continue
		}
		if err := s.b.Executor.MayInclude(s.task, s.beside(part)); err != nil {
			return err
		}
	}
	return nil
}

// leadsAway tells whether the name of a role, or of a file in it, may lead out of
// the folders of roles.
func leadsAway(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(name, "~") || strings.Contains("/"+name+"/", "/../")
}

// beside is where a name leads that may be relative to the task's file.
func (s *settle) beside(name string) string {
	if filepath.IsAbs(name) || strings.HasPrefix(name, "~") {
		return name
	}
	return filepath.Join(s.task.Dir, name)
}

func (s *settle) loadBlock(g *inclusion) (*playbook.Block, error) {
	b := s.b
	if s.task.Action == "include_role" {
		block, handlers, err := b.Loader.IncludeRole(s.task, g.inc.Args, g.inc.Vars)
		if err != nil {
			return nil, err
		}
		b.addHandlers(g.inc.Args, handlers)
		b.publish(block, g.inc.Args, s.task.Vars)
		return block, nil
	}
	block, path, err := b.Loader.IncludeTasks(includePath(g.inc.Args), s.task, g.inc.Args, g.inc.Vars)
	if err != nil {
		return nil, err
	}
	if block.Body == nil {
		return block, nil // an empty file is not told of
	}
	b.Sink.Included(s.event, path, g.hosts, g.inc.Label)
	for _, h := range g.hosts {
		b.count(h).OK++
	}
	return block, nil
}

// addHandlers puts the handlers that a role brought after all others. A role
// that was included before with the same files has its handlers already: they
// take the place of the new ones.
func (b *batchRun) addHandlers(args *value.Dict, brought []*playbook.Task) {
	key := ""
	for _, name := range []string{"name", "role", "tasks_from", "vars_from", "defaults_from", "handlers_from"} {
		v, _ := args.Get(name)
		key += value.Str(v) + "\x00"
	}
	if b.brought == nil {
		b.brought = map[string][]*playbook.Task{}
	}
	if had, ok := b.brought[key]; ok {
		brought = had // listed twice: they run at their first place, and are found at the last
	}
	b.brought[key] = brought
	b.handlers = append(b.handlers[:len(b.handlers):len(b.handlers)], brought...)
	b.notify = nil
}

// publish makes the vars and defaults of roles included with public, and the vars
// that the include gives the role, visible to the rest of the play.
func (b *batchRun) publish(block *playbook.Block, args, given *value.Dict) {
	v, _ := args.Get("public")
	if public, _ := toBool(v); !public {
		return
	}
	for _, n := range block.Body {
		inner, ok := n.(*playbook.Block)
		if !ok || inner.Role == nil {
			continue
		}
		role := *inner.Role
		if !role.Dependency && given.Len() > 0 {
			role.Vars = given.Clone()
			role.Vars.Update(inner.Role.Vars)
			role.Vars.Lazy = given.Lazy || inner.Role.Vars.Len() > 0 && inner.Role.Vars.Lazy
		}
		b.view.AddRole(&role)
	}
	b.noteRoles(block.Body)
	b.setRoleNames()
}

func includePath(args *value.Dict) string {
	for _, name := range []string{"file", "_raw_params"} {
		if v, ok := args.Get(name); ok && v != nil {
			return value.Str(v)
		}
	}
	return ""
}

// failInclude fails the include task on a host.
func (s *settle) failInclude(g *inclusion, host string, err error) {
	b := s.b
	pos := s.task.Pos
	msg := err.Error()
	if se, ok := err.(*source.Error); ok {
		msg = se.Msg
		if !se.Pos.IsZero() {
			pos = se.Pos
		}
	}
	if name := includePath(g.inc.Args); name != "" && !filepath.IsAbs(name) && msg == notFound(name) {
		if abs, err := filepath.Abs(filepath.Join(s.task.Dir, name)); err == nil {
			msg = notFound(abs)
		}
	}
	res := value.DictOf("failed", true, "reason", msg)
	b.count(host).Failed++
	b.Sink.Result(&event.Result{Host: host, Task: s.event, Status: event.Failed, Result: res, Pos: pos})
	s.fail(host, []string{host}, res)
}

func notFound(path string) string {
	return "Could not find or access '" + path + "' on the Ansible Controller."
}
