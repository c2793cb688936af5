package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"play/engine/history"
)

// runsCommand lists and compares the runs of the history.
func runsCommand(h *host) *cli.Command {
	asJSON := &cli.BoolFlag{Name: "json", Usage: "as JSON"}
	sub := func(name, usage, args string, action func(*host, *cli.Context, *history.Store) error, flags ...cli.Flag) *cli.Command {
		return &cli.Command{Name: name, Usage: usage, ArgsUsage: args, Flags: flags,
			Action: func(c *cli.Context) error { return withHistory(h, c, action) }}
	}
	return &cli.Command{Name: "runs", Usage: "list, show and compare earlier runs", UseShortOptionHandling: true,
		Flags:  []cli.Flag{&cli.IntFlag{Name: "limit", Aliases: []string{"n"}, Value: 20, Usage: "the last `N` runs; 0 for all"}, asJSON},
		Action: func(c *cli.Context) error { return listRuns(h, c) },
		Subcommands: []*cli.Command{
			sub("show", "what a run did, task by task", "[N]", showRun, asJSON),
			sub("diff", "what two runs did differently", "A B", diffRuns),
			sub("export", "everything that is kept of a run, as JSON", "[N]", exportRun, asJSON),
		}}
}

// withHistory calls an action with the open history.
func withHistory(h *host, c *cli.Context, action func(*host, *cli.Context, *history.Store) error) error {
	store, err := openHistory(h)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := action(h, c, store); err != nil {
		var ce *codeError
		if errors.As(err, &ce) {
			return err
		}
		return &codeError{exitError, err}
	}
	return nil
}

func openHistory(h *host) (*history.Store, error) {
	path := historyPath(h)
	if path == "" {
		return nil, &codeError{exitError, errors.New("cannot find the history: neither XDG_DATA_HOME nor HOME names a folder")}
	}
	store, err := history.OpenExisting(path)
	if errors.Is(err, history.ErrNone) {
		err = fmt.Errorf("cannot open %q: %w; each \"play PLAYBOOK\" adds to it", path, err)
	}
	if err != nil {
		return nil, &codeError{exitError, err}
	}
	return store, nil
}

func listRuns(h *host, c *cli.Context) error {
	if c.Args().Present() {
		return usagef("there is no \"play runs %s\": show, diff, export", c.Args().First())
	}
	return withHistory(h, c, func(h *host, c *cli.Context, s *history.Store) error {
		list, err := s.List(c.Int("limit"))
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return printJSON(h.Out, list)
		}
		w := tabwriter.NewWriter(h.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "RUN\tSTARTED\tTOOK\tPLAYBOOK\tHOSTS\tOK\tCHANGED\tFAILED\tUNREACHABLE\tENDED")
		for _, r := range list {
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n", r.ID, r.Start.Format(time.DateTime), took(&r), what(&r), r.Hosts,
				r.Total.OK, r.Total.Changed, r.Total.Failed, r.Total.Unreachable, ended(&r))
		}
		return w.Flush()
	})
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func took(r *history.Summary) string {
	if !r.Finished() {
		return "-"
	}
	return shortly(r.Took())
}

// shortly is a duration in at most four digits.
func shortly(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// what names a run's playbooks and what was unusual about it.
func what(r *history.Summary) string {
	var names []string
	for _, p := range r.Options.Playbooks {
		names = append(names, filepath.Base(p))
	}
	text := strings.Join(names, " ")
	switch {
	case r.Kind == history.KindDrift:
		text += " (drift)"
	case r.Options.Check:
		text += " (check)"
	}
	return text
}

// ended says how a run ended.
func ended(r *history.Summary) string {
	switch {
	case !r.Finished():
		return "unfinished"
	case r.Code == exitOK:
		return "well"
	case r.Kind == history.KindDrift && r.Code == exitDrift:
		return "drift"
	case r.Code == exitFailed:
		return "failed"
	case r.Code == exitUnreachable:
		return "unreachable"
	case r.Code == exitInterrupted:
		return "interrupted"
	}
	return "exit " + strconv.Itoa(r.Code)
}

// numbered loads the run that argument i names; without it, the last one.
func numbered(c *cli.Context, s *history.Store, i int) (*history.Run, error) {
	text := c.Args().Get(i)
	if text == "" {
		return s.Load(0)
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		return nil, usagef("%q is no number of a run; \"play runs\" lists them", text)
	}
	return s.Load(n)
}

func exportRun(h *host, c *cli.Context, s *history.Store) error {
	r, err := numbered(c, s, 0)
	if err != nil {
		return err
	}
	return printJSON(h.Out, r)
}

func showRun(h *host, c *cli.Context, s *history.Store) error {
	if c.Bool("json") {
		return exportRun(h, c, s)
	}
	r, err := numbered(c, s, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(h.Out, "Run %d of %s by %s, %s, took %s, ended: %s\n", r.ID, what(&r.Summary), r.User, r.Start.Format(time.DateTime), took(&r.Summary), ended(&r.Summary))
	showOptions(h.Out, &r.Options)
	showTasks(h.Out, r)
	showDetails(h.Out, r)
	return nil
}

// showOptions prints the part of the command line that is kept.
func showOptions(w io.Writer, o *history.Options) {
	for _, line := range []struct{ name, value string }{
		{"inventory", strings.Join(o.Inventory, " ")}, {"limit", o.Limit}, {"tags", strings.Join(o.Tags, ",")},
		{"skip tags", strings.Join(o.SkipTags, ",")}, {"started at", o.StartAt},
	} {
		if line.value != "" {
			fmt.Fprintf(w, "%s: %s\n", line.name, line.value)
		}
	}
}

// showTasks prints how many hosts had which end of each task.
func showTasks(w io.Writer, r *history.Run) {
	counts := make([]map[history.Status]int, len(r.Tasks))
	for i := range counts {
		counts[i] = map[history.Status]int{}
	}
	for _, res := range r.Results {
		counts[res.Task][res.Status]++
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	play := -1
	for i, task := range r.Tasks {
		if task.Play != play && task.Play < len(r.Plays) {
			play = task.Play
			fmt.Fprintf(t, "\nPLAY %s\n", r.Plays[play].Name)
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", task.Name, countText(counts[i]), shortly(task.Took), shortPlace(task.Place))
	}
	_ = t.Flush() // to standard output, as every other line
}

func countText(counts map[history.Status]int) string {
	var parts []string
	for _, s := range []history.Status{history.OK, history.Changed, history.Skipped, history.Ignored, history.Failed, history.Unreachable} {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%s=%d", s, counts[s]))
		}
	}
	return strings.Join(parts, " ")
}

// shortPlace is a place without its folder and column.
func shortPlace(place string) string {
	parts := strings.Split(filepath.Base(place), ":")
	return strings.Join(parts[:min(2, len(parts))], ":")
}

// showDetails prints what failed and what changed with a diff.
func showDetails(w io.Writer, r *history.Run) {
	title := false
	for _, res := range r.Results {
		bad := res.Status == history.Failed || res.Status == history.Unreachable
		if res.Detail == nil || !bad {
			continue
		}
		if !title {
			title = true
			fmt.Fprintln(w, "\nFAILURES")
		}
		fmt.Fprintf(w, "  %s  %s (%s)\n", hostName(r, res.Host), r.Tasks[res.Task].Name, shortPlace(r.Tasks[res.Task].Place))
		for _, text := range []string{res.Detail.Msg, res.Detail.Stderr, res.Detail.Hint} {
			for line := range strings.Lines(text) {
				fmt.Fprintf(w, "      %s\n", strings.TrimRight(line, "\n"))
			}
		}
	}
}

func hostName(r *history.Run, n int) string {
	if n < len(r.Hosts) {
		return r.Hosts[n].Name
	}
	return fmt.Sprint("host ", n)
}

// end of a task on a host, found in one of two runs.
type runEnd struct {
	status history.Status
	took   time.Duration
}

type taskOnHost struct {
	task, host string
	nth        int // of several of the same name
}

// ends are the ends of a run by task and host.
func ends(r *history.Run) (map[taskOnHost]runEnd, []taskOnHost) {
	found, order := map[taskOnHost]runEnd{}, []taskOnHost{}
	nth, seen := make([]int, len(r.Tasks)), map[string]int{}
	for i, t := range r.Tasks {
		nth[i] = seen[t.Name]
		seen[t.Name]++
	}
	for _, res := range r.Results {
		k := taskOnHost{r.Tasks[res.Task].Name, hostName(r, res.Host), nth[res.Task]}
		found[k] = runEnd{res.Status, res.Took}
		order = append(order, k)
	}
	return found, order
}

// diffRuns prints which ends differ between two runs.
func diffRuns(h *host, c *cli.Context, s *history.Store) error {
	if c.NArg() != 2 {
		return usagef("play runs diff takes two numbers of runs")
	}
	a, err := numbered(c, s, 0)
	if err != nil {
		return err
	}
	b, err := numbered(c, s, 1)
	if err != nil {
		return err
	}
	fmt.Fprintf(h.Out, "--- run %d: %s, %s, took %s, ended: %s\n", a.ID, what(&a.Summary), a.Start.Format(time.DateTime), took(&a.Summary), ended(&a.Summary))
	fmt.Fprintf(h.Out, "+++ run %d: %s, %s, took %s, ended: %s\n", b.ID, what(&b.Summary), b.Start.Format(time.DateTime), took(&b.Summary), ended(&b.Summary))
	left, before := ends(a)
	right, after := ends(b)
	same := true
	for _, k := range before {
		if now, ok := right[k]; !ok {
			fmt.Fprintf(h.Out, "- %s  %s: %s\n", k.host, k.task, left[k].status)
			same = false
		} else if now.status != left[k].status {
			fmt.Fprintf(h.Out, "! %s  %s: %s -> %s\n", k.host, k.task, left[k].status, now.status)
			same = false
		}
	}
	for _, k := range after {
		if _, ok := left[k]; !ok {
			fmt.Fprintf(h.Out, "+ %s  %s: %s\n", k.host, k.task, right[k].status)
			same = false
		}
	}
	if same {
		fmt.Fprintln(h.Out, "Every task ended alike on every host.")
	}
	return nil
}
