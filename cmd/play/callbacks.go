package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"play/engine/config"
	"play/engine/event"
	"play/engine/output"
	"play/engine/source"
	"play/engine/task"
)

// newSinks returns everything that is told of a run: the output, the enabled
// callbacks, and the file of --events, which may be "". close ends them.
func newSinks(ctx context.Context, h *host, o *options, events string) (sinks []event.Sink, close func(), err error) {
	python := newPythonCallbacks(ctx, h, o)
	sinks, close = []event.Sink{python.output(h, o)}, func() {}
	failed := func(err error) { sinks[0].Warning(err.Error(), source.Pos{}) }
	for _, name := range o.Settings.Callbacks {
		s, ok := output.Callback(name, displayOptions(h, o), callbackSettings(h, o.Config, failed))
		switch {
		case ok:
			sinks = append(sinks, s)
		case !python.has(name):
			sinks[0].Warning(fmt.Sprintf("there is no callback %q here (%s); there are: %s", name, o.Config.SetBy("CALLBACKS_ENABLED"), strings.Join(output.CallbackNames(), ", ")), source.Pos{})
		}
	}
	if told := python.sink(h, o, sinks[0]); told != nil {
		sinks, close = append(sinks, told), told.Close
	}
	if events == "" {
		return sinks, close, nil
	}
	w, err := openEvents(h, events)
	if err != nil {
		return nil, nil, usagef("%w", err)
	}
	sinks = append(sinks, output.NewEvents(w, nil, func(err error) { failed(fmt.Errorf("cannot write the events: %w", err)) }))
	ends := close
	return sinks, func() { ends(); _ = w.Close() }, nil // each line was written at once
}

// openEvents opens what --events names: an open file descriptor or a file.
func openEvents(h *host, name string) (io.WriteCloser, error) {
	if fd, err := strconv.Atoi(name); err == nil {
		f := os.NewFile(uintptr(fd), "events")
		if f == nil || fd < 3 {
			return nil, fmt.Errorf("cannot write events to the file descriptor %d: it must be an open one from 3 on", fd)
		}
		if _, err := f.Stat(); err != nil {
			return nil, fmt.Errorf("cannot write events to the file descriptor %d: it is not open", fd)
		}
		return f, nil
	}
	f, err := os.OpenFile(h.path(name), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot write events: %w", err)
	}
	return f, nil
}

// path makes a path that was given absolute.
func (h *host) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		return filepath.Join(h.env("HOME"), rest)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(h.Dir, name)
}

// env is the value of an environment variable.
func (h *host) env(name string) string {
	value := ""
	for _, e := range h.Environ {
		if k, v, _ := strings.Cut(e, "="); k == name {
			value = v
		}
	}
	return value
}

// displayOptions are the settings of the output.
func displayOptions(h *host, o *options) output.Options {
	s := o.Settings
	look := func(name string) bool { return isOn(o.Config, "callback.default."+name) }
	show := output.Options{
		Out: h.Out, Err: h.Err, Color: o.color(h), Colors: colors(o.Config), Verbosity: o.Verbosity, Width: h.width(), Check: o.Check,
		HideSkipped: !s.DisplaySkipped, HideOK: !s.DisplayOK, FailedToErr: s.DisplayFailedStderr, CheckMarkers: s.CheckModeMarkers,
		KeepWarnings: !s.ActionWarnings, HideDeprecations: !s.Deprecations, DiffContext: contextLines(s.DiffContext), Summary: terminal(h.OutFile),
		HostStarts: look("show_per_host_start"), PathOnFailure: look("show_task_path_on_failure"), CustomStats: look("show_custom_stats"),
		VerboseToErr: s.VerboseToErr, ResultFormat: s.ResultFormat, Positional: strings.Join(o.Playbooks, " "), Arguments: o.Arguments,
	}
	if v, ok := o.Config.Lookup("callback.default.pretty_results"); ok && v != nil {
		pretty, _ := task.ToBool(v)
		show.Pretty = &pretty
	}
	return show
}

// contextLines is the setting diff_context as an output has it.
func contextLines(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// colors are the configured colours (ANSIBLE_COLOR_…).
func colors(c *config.Config) output.Colors {
	name := func(kind string) string { return word(c, "COLOR_"+kind) }
	return output.Colors{
		OK: name("OK"), Changed: name("CHANGED"), Skip: name("SKIP"), Error: name("ERROR"), Unreachable: name("UNREACHABLE"),
		Warn: name("WARN"), Deprecate: name("DEPRECATE"), Debug: name("DEBUG"), Verbose: name("VERBOSE"),
		DiffAdd: name("DIFF_ADD"), DiffRemove: name("DIFF_REMOVE"), DiffLines: name("DIFF_LINES"),
	}
}

// callbackSettings are the settings of the callbacks beside the output.
func callbackSettings(h *host, c *config.Config, failed func(error)) output.Callbacks {
	junit := func(name string) string { return word(c, "callback.junit."+name) }
	is := func(name string) bool { return strings.EqualFold(junit(name), "true") }
	limit, err := strconv.Atoi(h.env("PROFILE_TASKS_TASK_OUTPUT_LIMIT"))
	if err != nil && strings.EqualFold(h.env("PROFILE_TASKS_TASK_OUTPUT_LIMIT"), "all") {
		limit = -1
	}
	return output.Callbacks{
		TreeDir: h.path(word(c, "callback.tree.directory")), TaskLimit: limit, TaskOrder: h.env("PROFILE_TASKS_SORT_ORDER"),
		ReportWriteError: failed, JUnit: output.JUnitOptions{
			Dir: h.path(junit("output_dir")), TaskClass: is("task_class"), RelativeTo: unlessNone(junit("task_relative_path")),
			OutOfTree: unlessNone(junit("replace_out_of_tree_path")), FailOnChange: is("fail_on_change"), FailOnIgnore: is("fail_on_ignore"),
			HideSetup: strings.EqualFold(junit("include_setup_tasks_in_report"), "false"), HideArguments: is("hide_task_arguments"),
			Prefix: unlessNone(junit("test_case_prefix")),
		},
	}
}

// unlessNone is a setting without the words that stand for nothing.
func unlessNone(text string) string {
	if slices.Contains([]string{"none", "<empty>"}, text) {
		return ""
	}
	return text
}

// word is a setting as text.
func word(c *config.Config, name string) string {
	switch v, _ := c.Lookup(name); v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	default:
		return fmt.Sprint(v)
	}
}

func isOn(c *config.Config, name string) bool {
	v, _ := c.Lookup(name)
	on, _ := task.ToBool(v)
	return on
}
