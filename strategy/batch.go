package strategy

import (
	"context"
	"slices"

	"play/engine/iterator"
	"play/engine/playbook"
	"play/engine/vars"
	"play/modules/value"
)

// batchRun is the run of one play over one batch of hosts.
type batchRun struct {
	*Run
	ctx       context.Context
	play      *playbook.Play
	view      *vars.Play
	hosts     []string // the batch, in order
	all       []string // the play's hosts in all batches
	named     *playRun // the play: variables list its hosts
	gone      map[string]bool
	stale     bool // the variables that list the play's hosts are out of date
	it        *iterator.Iterator
	roles     []string // the play's roles, and those that roles depend on
	dependent []string
	last      iterator.Position // of the task that ran last
	handlers  []*playbook.Task
	brought   map[string][]*playbook.Task // handlers by the include_role that brought them
	notify    map[string][]*playbook.Task // handlers by name or listen topic; built on demand
	selected  map[*playbook.Task]bool
	ids       map[*playbook.Task]string // events' ids, when free
	free      bool                      // hosts go on each in their own time
	debugging bool                      // the debugger opens for every failure
	stopped   bool                      // nothing more is run: no host is left
	broken    bool                      // any_errors_fatal or max_fail_percentage ends the run after this play
	endPlay   bool
	force     bool
	anyFatal  bool
	maxFail   float64 // percent; negative: none
}

// remaining are the hosts among these that have not left the play.
func (b *batchRun) remaining(hosts []string) []string {
	var left []string
	for _, h := range hosts {
		if !b.failed[h] && !b.unreachable[h] && !b.gone[h] {
			left = append(left, h)
		}
	}
	return left
}

// reachable are the hosts of the batch that were not lost.
func (b *batchRun) reachable() []string {
	var left []string
	for _, h := range b.hosts {
		if !b.unreachable[h] {
			left = append(left, h)
		}
	}
	return left
}

// leaves takes a host off the lists of the play's hosts.
func (b *batchRun) leaves(host string) {
	b.gone[host] = true
	b.stale = true
}

// joins puts a host that add_host made on the lists of the play's hosts, whatever
// the play's pattern says; it runs none of the play's tasks.
func (b *batchRun) joins(host string) {
	if !contains(b.named.listed, host) {
		b.named.listed = append(b.named.listed[:len(b.named.listed):len(b.named.listed)], host)
		b.stale = true
	}
}

// setMagic sets the play's magic variables for the batch.
func (b *batchRun) setMagic(name string) {
	b.view.SetMagic("ansible_play_name", name)
	b.stale = true
	b.updateHosts()
	b.roles, b.dependent = nil, nil
	for _, block := range b.play.Roles {
		b.noteRole(block.Role)
	}
	for _, block := range b.play.Roles {
		b.noteRoles(block.Body)
	}
	for _, nodes := range [][]playbook.Node{b.play.PostTasks, b.play.PreTasks, b.play.Tasks} {
		b.noteRoles(nodes)
	}
	b.setRoleNames()
	b.view.SetMagic("environment", value.NewList())
}

// noteRoles adds the roles among the nodes, and below them, to those of the play.
func (b *batchRun) noteRoles(nodes []playbook.Node) {
	for _, n := range nodes {
		block, ok := n.(*playbook.Block)
		if !ok {
			continue
		}
		if r := block.Role; r != nil && (block.Parent == nil || block.Parent.Role != r) {
			b.noteRole(r)
		}
		for _, part := range [][]playbook.Node{block.Body, block.Rescue, block.Always} {
			b.noteRoles(part)
		}
	}
}

func (b *batchRun) noteRole(r *playbook.Role) {
	if !r.Dependency {
		b.roles = append(b.roles, r.Name)
	} else if !contains(b.dependent, r.Name) {
		b.dependent = append(b.dependent, r.Name)
	}
}

// setRoleNames sets the variables that list the play's roles.
func (b *batchRun) setRoleNames() {
	all := slices.Clone(b.dependent)
	for _, name := range b.roles {
		if !contains(all, name) {
			all = append(all, name)
		}
	}
	b.view.SetMagic("ansible_play_role_names", list(b.roles))
	b.view.SetMagic("role_names", list(b.roles))
	b.view.SetMagic("ansible_dependent_role_names", list(b.dependent))
	b.view.SetMagic("ansible_role_names", list(all))
}

// updateHosts sets the variables that list the hosts still in the play, when one
// has left or come back since.
func (b *batchRun) updateHosts() {
	if !b.stale {
		return
	}
	b.stale = false
	batch := list(b.remaining(b.hosts))
	b.view.SetMagic("ansible_play_hosts_all", list(b.named.listed))
	b.view.SetMagic("ansible_play_hosts", list(b.remaining(b.named.listed)))
	b.view.SetMagic("ansible_play_batch", batch)
	b.view.SetMagic("play_hosts", batch)
}

// run takes the batch through the play's tasks.
func (b *batchRun) run() error {
	var hosts []string
	for _, h := range b.hosts {
		if !b.failed[h] {
			hosts = append(hosts, h)
		}
	}
	if _, err := b.view.Scope(b.hosts[0], nil); err != nil {
		return err // a vars file that cannot be read is nobody's failure but the operator's
	}
	b.handlers = b.play.Handlers
	b.it = iterator.New(hosts, b.compile())
	b.it.Select = b.wanted
	err := b.follow()
	for _, h := range b.hosts {
		if b.it.Failed(h) {
			b.failed[h] = true
		}
	}
	return err
}

// lost counts the batch's hosts that failed or were unreachable.
func (b *batchRun) lost() int {
	n := 0
	for _, h := range b.hosts {
		if b.failed[h] || b.unreachable[h] {
			n++
		}
	}
	return n
}

// compile puts the play's parts into the order in which they run. With
// force_handlers a flush follows its part even for hosts that failed in it.
func (b *batchRun) compile() []playbook.Node {
	p := b.play
	var roles []playbook.Node
	for _, role := range p.Roles {
		roles = append(roles, role)
	}
	parts := [][]playbook.Node{p.PreTasks, append(roles, p.Tasks...), p.PostTasks}
	var nodes []playbook.Node
	if t := b.gatherTask(); t != nil {
		nodes = append(nodes, t)
	}
	for _, part := range parts {
		flush := b.own("meta", value.DictOf("_raw_params", "flush_handlers"))
		if b.force {
			nodes = append(nodes, &playbook.Block{Pos: p.Pos, Keywords: playbook.Keywords{}, Vars: value.NewDict(), Body: part,
				Always: []playbook.Node{flush}, Implicit: true, Play: p})
			continue
		}
		nodes = append(append(nodes, part...), flush)
	}
	return nodes
}

// planned counts the tasks that the tags select, as far as they are known before
// the batch runs: not those of files that are included while it does.
func (b *batchRun) planned() int { return b.countTasks(b.compile()) }

func (b *batchRun) countTasks(nodes []playbook.Node) int {
	n := 0
	for _, node := range nodes {
		switch node := node.(type) {
		case *playbook.Block:
			n += b.countTasks(node.Body) + b.countTasks(node.Always)
		case *playbook.Task:
			if node.Action != "meta" && selects(b.tags(node), b.OnlyTags, b.SkipTags) {
				n++
			}
		}
	}
	return n
}

// own makes a task that nobody wrote.
func (b *batchRun) own(action string, args *value.Dict) *playbook.Task {
	return &playbook.Task{Pos: b.play.Pos, Action: action, Written: action, Args: args, Vars: value.NewDict(),
		Play: b.play, Dir: b.play.Dir, Tags: []any{"always"}}
}

// isOwn reports whether the task is one that nobody wrote.
func (b *batchRun) isOwn(t *playbook.Task) bool { return t.Parent == nil && t.Pos == b.play.Pos }

// gatherTask is the play's own fact gathering, or nil.
func (b *batchRun) gatherTask() *playbook.Task {
	gather := b.Gather
	if a, ok := b.play.Keywords["gather_facts"]; ok {
		if v, err := b.eval().resolve(a.Value); err == nil {
			gather, _ = toBool(v)
		}
	}
	if !gather {
		return nil
	}
	args := value.NewDict()
	for _, name := range []string{"gather_subset", "gather_timeout", "fact_path"} {
		if a, ok := b.play.Keywords[name]; ok {
			args.Set(name, a.Value)
		}
	}
	t := b.own("gather_facts", args)
	t.Name = "Gathering Facts"
	if len(b.play.Tags) > 0 {
		t.Tags = nil // a play with tags gathers when they are asked for
	}
	return t
}

func list(items []string) *value.List {
	l := &value.List{Items: make([]any, len(items))}
	for i, s := range items {
		l.Items[i] = s
	}
	return l
}

func contains(items []string, s string) bool {
	for _, i := range items {
		if i == s {
			return true
		}
	}
	return false
}
