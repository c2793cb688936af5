// Command benchcmp measures play's Jinja2 beside Python's: the same four jobs,
// one after the other on the same machine. It reads the folder it is given
// (default: its own), runs python3 with bench.py there, prints a line for each
// job with both times and their ratio, and fails when play is the slower one
// or the two render different text. It writes no file.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"play/engine/jinja"
	"play/engine/source"
	"play/modules/value"
)

func main() {
	dir := "engine/jinja/benchcmp"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := compare(dir); err != nil {
		fmt.Fprintln(os.Stderr, "benchcmp:", err)
		os.Exit(1)
	}
}

// job is one thing to measure: what it does, how often to try, and how many
// times as fast as Python it has to be.
type job struct {
	name string
	run  func() error
	try  int
	goal float64
}

func compare(dir string) error {
	ours, err := newJobs(dir)
	if err != nil {
		return err
	}
	theirs, err := python(dir)
	if err != nil {
		return err
	}
	if theirs["output"] != ours.output {
		return errors.New("the two render different text")
	}
	slow := false
	for _, j := range ours.jobs {
		took, err := best(j)
		if err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
		py, _ := theirs[j.name].(float64)
		ratio := py / took.Seconds()
		fmt.Printf("%-30s python %10.1f µs   play %10.1f µs   %6.1f times as fast (goal %g)\n", j.name, py*1e6, float64(took.Nanoseconds())/1e3, ratio, j.goal)
		slow = slow || ratio < j.goal
	}
	if slow {
		return errors.New("a goal was missed")
	}
	return nil
}

// best is the shortest of several runs.
func best(j job) (time.Duration, error) {
	shortest := time.Hour
	for range j.try {
		start := time.Now()
		if err := j.run(); err != nil {
			return 0, err
		}
		shortest = min(shortest, time.Since(start))
	}
	return shortest, nil
}

func python(dir string) (map[string]any, error) {
	cmd := exec.Command("python3", filepath.Join(dir, "bench.py"), dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot run python3 with bench.py (python3-jinja2 is needed): %w", err)
	}
	var m map[string]any
	return m, json.Unmarshal(out, &m)
}

type jobs struct {
	output string
	jobs   []job
}

func newJobs(dir string) (*jobs, error) {
	config, err := os.ReadFile(filepath.Join(dir, "config.j2"))
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(dir, "vars.json"))
	if err != nil {
		return nil, err
	}
	vars, err := value.DecodeJSON(data)
	if err != nil {
		return nil, err
	}
	b := &bench{env: jinja.NewEnv(jinja.Options{}), vars: jinja.Vars{Dict: vars.(*value.Dict)}}
	parseRender := func() (string, error) {
		t, err := b.env.TemplateFile("config.j2", config, jinja.FileOptions{})
		if err != nil {
			return "", err
		}
		return t.Render(b.context())
	}
	out, err := parseRender()
	if err != nil {
		return nil, err
	}
	if out != "" {
		out = out[:len(out)-1] // Jinja2 alone drops the last newline
	}
	run := func() error { _, err := parseRender(); return err }
	list := []job{{"parse and render 200 lines", run, 30, 1}}
	for _, j := range []struct {
		name, src string
		try       int
		goal      float64
	}{
		{"loop of 100 steps", "{% for i in range(100) %}{{ loop.index }}:{{ i }}{% if not loop.last %},{% endif %}{% endfor %}", 400, 1},
		{"empty loop of 3000000 steps", "{% for i in range(3000000) %}{% endfor %}", 3, 1},
	} {
		render, err := b.renderer(j.src)
		if err != nil {
			return nil, err
		}
		list = append(list, job{j.name, render, j.try, j.goal})
	}
	expressions, err := b.expressions("{{ a.b | default('x') }}", 10000)
	if err != nil {
		return nil, err
	}
	return &jobs{out, append(list, job{"10000 expressions", expressions, 20, 5})}, nil
}

type bench struct {
	env  *jinja.Env
	vars jinja.Vars
}

func (b *bench) context() *jinja.Context { return &jinja.Context{Vars: b.vars} }

func (b *bench) renderer(src string) (func() error, error) {
	t, err := b.env.Template(src, source.Pos{File: "bench", Line: 1, Col: 1})
	return func() error {
		_, err := t.Render(b.context())
		return err
	}, err
}

func (b *bench) expressions(src string, n int) (func() error, error) {
	t, err := b.env.Template(src, source.Pos{File: "bench", Line: 1, Col: 1})
	return func() error {
		for range n {
			if _, err := t.Value(b.context()); err != nil {
				return err
			}
		}
		return nil
	}, err
}
