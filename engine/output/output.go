// Package output shows a run to people and programs. Flowing in: the events of
// package event. Flowing out: text on two writers. The command line chooses one
// output and hands it to the run. It decides nothing about the run, and never
// prints more of a no_log task than that it has no output to show.
//
// What goes where:
//
//   - Out (stdout) gets the plays, tasks, results, diffs and the recap, and for
//     the json output exactly one document and nothing else.
//   - Err (stderr) gets warnings, deprecations and, when asked for, the list of
//     failures at the end; results of failed tasks too with FailedToErr.
//
// The look is that of ansible-playbook 2.14, byte for byte: testdata/recorded
// holds its runs.
package output

import (
	"io"
	"strings"
	"time"

	"play/engine/event"
)

// Options are the display settings of an output. The zero value, with writers,
// has Ansible's defaults.
type Options struct {
	Out, Err  io.Writer
	Color     bool
	Colors    Colors // the zero value means Ansible's own
	Verbosity int    // the number of -v
	Width     int    // columns of the terminal less one; under 79 means 79

	HideSkipped      bool             // display_skipped_hosts = no
	HideOK           bool             // display_ok_hosts = no
	FailedToErr      bool             // display_failed_stderr
	HostStarts       bool             // show_per_host_start
	CheckMarkers     bool             // check_mode_markers
	PathOnFailure    bool             // show_task_path_on_failure
	CustomStats      bool             // show_custom_stats
	VerboseToErr     bool             // verbose_to_stderr: words about the run go to Err
	KeepWarnings     bool             // action_warnings = no: a result's warnings stay in the result
	HideDeprecations bool             // deprecation_warnings = no
	ResultFormat     string           // result_format: "json" (also for "") or "yaml"
	Pretty           *bool            // pretty_results; nil lets the verbosity decide
	Brief            bool             // with YAML: the form of the stdout callback yaml
	Apart            bool             // what a result printed and says stands below it, as in the callback debug
	NoSkipLines      bool             // no line for what is skipped, as in the callback skippy
	DiffContext      int              // lines around a change; 0 means 3, negative none
	Check            bool             // --check was given
	Now              func() time.Time // nil means time.Now
	Summary          bool             // list the failures with their places after the recap, on Err
	Positional       string
	Arguments        []string // "name: value", shown at the start with -vvvv
}

// New returns the output of the given name
// and whether there is one.
func New(name string, o Options) (event.Sink, bool) {
	switch strings.TrimPrefix(strings.TrimPrefix(name, "ansible.builtin."), "ansible.legacy.") {
	case "", "default":
		return NewDefault(o), true
	case "yaml", "community.general.yaml":
		o.ResultFormat, o.Brief = "yaml", true
		return NewDefault(o), true
	case "debug", "ansible.posix.debug", "community.general.debug":
		o.Apart = true
		return NewDefault(o), true
	case "skippy", "ansible.posix.skippy", "community.general.skippy":
		o.NoSkipLines = true
		return NewDefault(o), true
	case "dense", "community.general.dense":
		return NewDense(o), true
	case "unixy", "community.general.unixy":
		return NewUnixy(o), true
	case "null", "community.general.null":
		return &Null{newWords(o)}, true
	case "minimal":
		return NewMinimal(o), true
	case "oneline":
		return NewOneline(o), true
	case "json", "ansible.posix.json":
		return NewJSON(o), true
	}
	return nil, false
}

// Names are the names that New knows, without their collections, sorted.
func Names() []string {
	return []string{"debug", "default", "dense", "json", "minimal", "null", "oneline", "skippy", "unixy", "yaml"}
}

// Null shows nothing but warnings.
type Null struct{ words }

var _ event.Sink = (*Null)(nil)

// diffContext is the number of unchanged lines shown around a change.
func (o *Options) diffContext() int {
	switch {
	case o.DiffContext == 0:
		return 3
	case o.DiffContext < 0:
		return 0
	}
	return o.DiffContext
}
