package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"play/engine/event"
	"play/engine/playbook"
	"play/engine/source"
	"play/modules/value"
)

// jobsCommand finds and re-attaches to the detached jobs of async tasks.
func jobsCommand(h *host) *cli.Command {
	sub := func(name, usage, args string) *cli.Command {
		flags := append(hostFlags(), connectFlags()...)
		flags = append(flags, vaultFlags()...)
		flags = append(flags, commonFlags()...)
		flags = append(flags, &cli.IntFlag{Name: "forks", Aliases: []string{"f"}, Usage: "at most `N` hosts at a time"})
		return &cli.Command{Name: name, Usage: usage, ArgsUsage: args, Flags: flags, UseShortOptionHandling: true,
			Action: func(c *cli.Context) error { return jobsAction(h, c, name) }}
	}
	return &cli.Command{
		Name: "jobs", Usage: "find and re-attach to detached jobs (async)",
		Subcommands: []*cli.Command{
			sub("list", "list the jobs on the hosts", "[HOSTS]"),
			sub("show", "show the status or result of jobs", "JOB..."),
			sub("wait", "wait until jobs have ended; without JOB all that run", "[JOB...]"),
			sub("kill", "end jobs with everything they started", "JOB..."),
		},
	}
}

// jobsAction lists the jobs of all hosts and does with the chosen ones what was
// asked.
func jobsAction(h *host, c *cli.Context, verb string) error {
	ids := c.Args().Slice()
	pattern := "all"
	switch {
	case verb == "list" && len(ids) > 1:
		return usagef("play jobs list takes one host pattern")
	case verb == "list" && len(ids) == 1:
		pattern, ids = ids[0], nil
	case (verb == "show" || verb == "kill") && len(ids) == 0:
		return usagef("play jobs %s takes the ids of jobs; \"play jobs list\" shows them", verb)
	}
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return err
	}
	seen := &jobResults{host: h}
	s, err := newSession(c.Context, h, o, event.Locked(seen))
	if err != nil {
		return err
	}
	defer s.close()
	j := &jobs{session: s, seen: seen}
	found, err := j.list(pattern)
	if err != nil {
		return err
	}
	if verb == "list" {
		j.print(found)
		return j.end()
	}
	chosen, err := choose(found, ids)
	if err != nil {
		return err
	}
	for _, one := range chosen {
		if err := j.do(verb, one); err != nil {
			return err
		}
	}
	return j.end()
}

// detachedJob is one job on one host.
type detachedJob struct {
	host, id, module, state string
	begun, ended            int // Unix time; 0: not known, or it runs
}

// choose picks the jobs with the ids, or all that run where none is given.
func choose(found []detachedJob, ids []string) ([]detachedJob, error) {
	if len(ids) == 0 {
		return slices.DeleteFunc(found, func(j detachedJob) bool { return j.state != "running" }), nil
	}
	var chosen []detachedJob
	for _, id := range ids {
		before := len(chosen)
		for _, j := range found {
			if j.id == id {
				chosen = append(chosen, j)
			}
		}
		if len(chosen) == before {
			return nil, fmt.Errorf("cannot find the job %q on any of the hosts that answered", id)
		}
	}
	return chosen, nil
}

// jobs is one invocation of play jobs.
type jobs struct {
	*session
	seen *jobResults
	code int // the exit code so far
}

// list asks every host of the pattern for its jobs.
func (j *jobs) list(pattern string) ([]detachedJob, error) {
	results, err := j.ask(pattern, "list", "")
	if err != nil {
		return nil, err
	}
	var all []detachedJob
	for _, r := range results {
		v, _ := r.Result.Get("jobs")
		entries, ok := v.(*value.List)
		if !ok {
			j.failed(r)
			continue
		}
		for _, e := range entries.Items {
			if d, ok := e.(*value.Dict); ok {
				all = append(all, readJob(r.Host, d))
			}
		}
	}
	return all, nil
}

// readJob reads an entry; what a host says of its jobs may be anything.
func readJob(host string, d *value.Dict) detachedJob {
	text := func(name string) string {
		v, _ := d.Get(name)
		s, _ := v.(string)
		return printableWord(s)
	}
	number := func(name string) int {
		v, _ := d.Get(name)
		n, _ := v.(int)
		return n
	}
	return detachedJob{host: host, id: text("id"), module: text("module"), state: text("state"), begun: number("begun"), ended: number("ended")}
}

// printableWord leaves out what could confuse a terminal or a column.
func printableWord(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, s)
}

// ask runs the agent's play_jobs on hosts and returns what came, by host name.
func (j *jobs) ask(pattern, mode, id string) ([]*event.Result, error) {
	dir, err := j.env.Load("{{ ansible_async_dir | default(usual_async_dir) }}", source.Pos{})
	if err != nil {
		return nil, err
	}
	args := value.DictOf("mode", mode, "_async_dir", dir)
	args.Lazy = true
	if id != "" {
		args.Set("jid", id)
	}
	play := &playbook.Play{Name: "jobs", Hosts: pattern, Keywords: playbook.Keywords{"gather_facts": {Value: false}},
		Vars: value.DictOf("usual_async_dir", j.opts.Connection.AsyncDir), Dir: j.host.Dir, Path: j.host.Dir + "/jobs"}
	task := &playbook.Task{Action: "play_jobs", Written: "play_jobs", Args: args, Keywords: playbook.Keywords{}, Vars: value.NewDict(), Play: play, Dir: j.host.Dir}
	play.Tasks = []playbook.Node{task}
	if _, err := j.run(&playbook.Playbook{Path: play.Path, Plays: []*playbook.Play{play}}); err != nil {
		return nil, err
	}
	if j.ctx.Err() != nil {
		return nil, context.Cause(j.ctx)
	}
	return j.seen.take(), nil
}

// do does one thing with one job.
func (j *jobs) do(verb string, one detachedJob) error {
	results, err := j.ask(one.host, verb, one.id)
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.Status != event.OK {
			j.failed(r)
			continue
		}
		if verb == "show" {
			j.show(one, r.Result)
			continue
		}
		v, _ := r.Result.Get("state")
		state := printableWord(value.Str(v))
		fmt.Fprintf(j.host.Out, "%s %s %s\n", one.host, one.id, state)
		if verb == "wait" && state != "finished" {
			j.code = max(j.code, exitFailed)
		}
	}
	return nil
}

// show prints what is known of a job as JSON.
func (j *jobs) show(one detachedJob, result *value.Dict) {
	v, _ := result.Get("job")
	text, err := value.AppendJSON(nil, v, value.WireJSON())
	var out bytes.Buffer
	if err == nil {
		err = json.Indent(&out, text, "", "    ")
	}
	if err != nil {
		out.Reset()
		fmt.Fprintf(&out, "cannot show the result: %v", err)
	}
	fmt.Fprintf(j.host.Out, "%s %s %s => %s\n", one.host, one.id, one.state, out.String())
}

// failed tells why a host gave no answer.
func (j *jobs) failed(r *event.Result) {
	v, _ := r.Result.Get("msg")
	what, code := "FAILED", exitFailed
	if r.Status == event.Unreachable {
		what, code = "UNREACHABLE", exitUnreachable
	}
	fmt.Fprintf(j.host.Err, "%s: %s: %s\n", r.Host, what, value.Str(v))
	j.code = max(j.code, code)
}

// end is the command's exit code.
func (j *jobs) end() error {
	if j.code == exitOK {
		return nil
	}
	return &codeError{code: j.code}
}

// print lists jobs, those of a host together and the oldest first.
func (j *jobs) print(found []detachedJob) {
	w := tabwriter.NewWriter(j.host.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "HOST\tJOB\tSTATE\tSTARTED\tENDED\tMODULE")
	for _, one := range found {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", one.host, one.id, one.state, clock(one.begun), clock(one.ended), one.module)
	}
	_ = w.Flush() // like every other line on stdout
}

func clock(unix int) string {
	if unix == 0 {
		return "-"
	}
	return time.Unix(int64(unix), 0).Format("2006-01-02 15:04:05")
}

// jobResults is the sink that keeps the hosts' answers and shows warnings.
type jobResults struct {
	event.Nop
	host *host

	mu  sync.Mutex
	all []*event.Result
}

// Result keeps an answer.
func (s *jobResults) Result(r *event.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, r)
}

// Warning shows a warning.
func (s *jobResults) Warning(msg string, _ source.Pos) {
	fmt.Fprintf(s.host.Err, "[WARNING]: %s\n", msg)
}

// take returns the answers so far, sorted by host.
func (s *jobResults) take() []*event.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.all
	s.all = nil
	slices.SortStableFunc(taken, func(a, b *event.Result) int { return strings.Compare(a.Host, b.Host) })
	return taken
}
