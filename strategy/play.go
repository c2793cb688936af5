package strategy

import (
	"context"
	"strconv"

	"play/engine/event"
	"play/engine/playbook"
	"play/engine/source"
	"play/engine/vars"
	"play/modules/value"
)

// playRun is what is known of a play before its batches run.
type playRun struct {
	play    *playbook.Play
	view    *vars.Play
	eval    *playEval
	name    string
	pattern string
	listed  []string // its hosts in the inventory's order
	hosts   []string // and in its own
	batches [][]string
}

// play runs one play, batch by batch; broken tells that the run must stop.
func (r *Run) play(ctx context.Context, p *playbook.Play) (broken bool, err error) {
	run, err := r.prepare(p)
	if err != nil {
		return false, err
	}
	if len(run.hosts) == 0 {
		r.Sink.PlayStart(r.playEvent(run, nil))
		r.Sink.NoHosts()
		return false, nil
	}
	gone := map[string]bool{}
	for _, batch := range run.batches {
		b := &batchRun{Run: r, ctx: ctx, play: p, view: run.view, hosts: batch, all: run.hosts, gone: gone,
			named: run, selected: map[*playbook.Task]bool{}}
		if err := run.eval.limits(b); err != nil {
			return false, err
		}
		before := b.lost()
		r.Executor.Play = run.view
		b.setMagic(run.name)
		ev := r.playEvent(run, batch)
		ev.Tasks = b.planned()
		r.Sink.PlayStart(ev)
		if err := b.run(); err != nil {
			return false, err
		}
		r.broken = b.broken
		if b.endPlay || ctx.Err() != nil {
			return false, nil
		}
		if b.broken || b.lost()-before == len(batch) {
			return true, nil
		}
	}
	return false, nil
}

// prepare evaluates what a play says of itself.
func (r *Run) prepare(p *playbook.Play) (*playRun, error) {
	prompts := value.NewDict()
	var err error
	if r.Prompts != nil {
		if prompts, err = r.Prompts(p); err != nil {
			return nil, err
		}
	}
	run := &playRun{play: p, view: r.Builder.Play(p, value.NewDict(), prompts)}
	run.eval = &playEval{run: r, view: run.view, play: p}
	if run.pattern, err = run.eval.pattern(); err != nil {
		return nil, err
	}
	if run.listed, err = r.Inventory.Match(run.pattern); err != nil {
		return nil, err
	}
	if run.hosts, err = run.eval.ordered(run.listed); err != nil {
		return nil, err
	}
	run.name = run.eval.name(run.pattern)
	run.batches, err = run.eval.batches(run.hosts)
	return run, err
}

// playEvent describes a batch of a play; each has an id of its own.
func (r *Run) playEvent(run *playRun, hosts []string) *event.Play {
	r.IDs.plays++
	p := &event.Play{ID: "p" + strconv.Itoa(r.IDs.plays), Name: run.name, Pattern: run.pattern, Pos: absolute(run.play.Pos), Hosts: hosts, Check: r.Executor.Options.Check}
	if v, _, err := run.eval.keyword("check_mode"); err == nil && v != nil {
		p.Check, _ = toBool(v)
	}
	return p
}

// follow takes the hosts through the tasks in the way of the play's strategy.
func (b *batchRun) follow() error {
	name, pos, err := b.eval().keyword("strategy")
	if err != nil {
		return err
	}
	if name == nil {
		name = b.Strategy
	}
	b.debugging = b.EnableDebugger
	switch n := value.Str(name); n {
	case "debug", "ansible.builtin.debug":
		b.debugging = true
		return b.linear()
	case "", "None", "linear", "ansible.builtin.linear",
		"mitogen", "mitogen_linear", "ansible.netcommon.linear":
		return b.linear()
	case "free", "ansible.builtin.free", "mitogen_free":
		return b.freely(len(b.hosts))
	case "host_pinned", "ansible.builtin.host_pinned", "mitogen_host_pinned":
		return b.freely(max(1, b.Forks))
	default:
		return source.Errorf(pos, "Invalid play strategy specified: %s", n).WithHint("one of linear, free, host_pinned, debug")
	}
}

func (b *batchRun) eval() *playEval { return &playEval{run: b.Run, view: b.view, play: b.play} }
