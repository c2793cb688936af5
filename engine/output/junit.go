package output

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"play/engine/event"
	"play/modules/value"
)

// JUnitOptions are the settings of the callback junit.
type JUnitOptions struct {
	Dir           string // where the files are written
	TaskClass     bool   // one class for each file instead of each task
	RelativeTo    string // folder that the tasks' paths are shown from; "" shows them whole
	OutOfTree     string // stands for the folders of a path outside RelativeTo; "" shows them
	FailOnChange  bool
	FailOnIgnore  bool
	HideSetup     bool // without what setup did
	HideArguments bool // without the arguments, which are there with display_args_to_stdout
	Prefix        string
}

// junit writes one XML file about each playbook when it is over: a test case for
// each task on each host.
type junit struct {
	quiet
	c     Callbacks
	book  string
	play  string
	tasks map[string]*junitTask
	cases []*junitCase
}

// junitTask is when a task began.
type junitTask struct{ start time.Time }

type junitSuites struct {
	XMLName  xml.Name    `xml:"testsuites"`
	Disabled int         `xml:"disabled,attr"`
	Errors   int         `xml:"errors,attr"`
	Failures int         `xml:"failures,attr"`
	Tests    int         `xml:"tests,attr"`
	Time     string      `xml:"time,attr"`
	Suite    *junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Disabled int          `xml:"disabled,attr"`
	Errors   int          `xml:"errors,attr"`
	Failures int          `xml:"failures,attr"`
	Name     string       `xml:"name,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Tests    int          `xml:"tests,attr"`
	Time     string       `xml:"time,attr"`
	Cases    []*junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Time    string    `xml:"time,attr"`
	Skipped *string   `xml:"skipped,omitempty"`
	Error   *junitEnd `xml:"error,omitempty"`
	Failure *junitEnd `xml:"failure,omitempty"`
	Out     string    `xml:"system-out,omitempty"`
	took    time.Duration
}

type junitEnd struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// PlaybookStart begins a file.
func (j *junit) PlaybookStart(path string) {
	j.book, j.cases = stem(path), nil
}

// PlayStart notes the play's name.
func (j *junit) PlayStart(p *event.Play) { j.play = p.Name }

// TaskStart notes when a task began.
func (j *junit) TaskStart(t *event.Task) { j.begun(t) }

func (j *junit) begun(t *event.Task) *junitTask {
	if j.tasks[t.ID] == nil {
		j.tasks[t.ID] = &junitTask{start: j.Now()}
	}
	return j.tasks[t.ID]
}

// Included adds a case for each host of an include.
func (j *junit) Included(t *event.Task, file string, _ []string, _ string) {
	j.add(&event.Result{Host: "include", Task: t, Result: value.DictOf()}, file)
}

// Result adds a case; items and retries are part of their task's.
func (j *junit) Result(r *event.Result) {
	if r.IsItem || r.Retrying || j.c.JUnit.HideSetup && bareAction(r.Task) == "setup" {
		return
	}
	res := visibleKeys(r)
	if !j.KeepWarnings {
		res.Delete("warnings")
		res.Delete("deprecations")
	}
	exception := textOf(res, "exception")
	j.trim(res)
	text := linesJSON(res, "")
	if j.Verbosity > 2 || verboseAlways(r) {
		text = toJSON(res, 4)
	}
	j.settle(r, j.add(r, text), exception)
}

// add makes a case that went well.
func (j *junit) add(r *event.Result, text string) *junitCase {
	took := j.Now().Sub(j.begun(r.Task).start)
	c := &junitCase{Class: j.class(r.Task), Name: xmlText(j.name(r)), took: took, Time: seconds(took), Out: xmlText(text)}
	if prefix := j.c.JUnit.Prefix; prefix == "" || strings.HasPrefix(r.Task.Name, prefix) || r.Status == event.Failed {
		j.cases = append(j.cases, c)
	}
	return c
}

// settle turns a case into a skipped or failed one where it is.
func (j *junit) settle(r *event.Result, c *junitCase, exception string) {
	text := c.Out
	failed := r.Status == event.Failed && (!r.Ignored || j.c.JUnit.FailOnIgnore) || r.Status == event.Unreachable && !r.Ignored ||
		r.Status == event.OK && r.Changed && j.c.JUnit.FailOnChange
	switch {
	case strings.Contains(r.Task.Name, "EXPECTED FAILURE") && failed:
	case strings.Contains(r.Task.Name, "TOGGLE RESULT") && failed:
	case r.Status == event.Skipped:
		reason := "skipped"
		if why := textOf(r.Result, "skip_reason"); why != "" && !r.Task.NoLog {
			reason = xmlText(why)
		}
		c.Out, c.Skipped = "", &reason
	case failed && exception != "" && r.Status == event.Failed:
		lines := strings.Split(strings.TrimSpace(exception), "\n")
		c.Out, c.Error = "", &junitEnd{Message: xmlText(lines[len(lines)-1]), Type: "error", Text: xmlText(exception)}
	case failed, strings.Contains(r.Task.Name, "TOGGLE RESULT"):
		c.Out, c.Failure = "", &junitEnd{Message: xmlText(failureMessage(r)), Type: "failure", Text: text}
	}
}

// failureMessage is a result's msg, or how its command ended.
func failureMessage(r *event.Result) string {
	if r.Task.NoLog {
		return censored
	}
	if _, ok := r.Result.Get("msg"); ok {
		return textOf(r.Result, "msg")
	}
	return fmt.Sprintf("rc=%d", exitStatus(r.Result))
}

// class is the path of the task's file, with its line unless all tasks of a file
// are one class.
func (j *junit) class(t *event.Task) string {
	file := t.Pos.File
	if root := j.c.JUnit.RelativeTo; root != "" {
		if rel, err := filepath.Rel(root, file); err == nil {
			file = rel
		}
		if strings.HasPrefix(file, "..") && j.c.JUnit.OutOfTree != "" {
			file = j.c.JUnit.OutOfTree + filepath.Base(file)
		}
	}
	if j.c.JUnit.TaskClass {
		return strings.TrimSuffix(file, filepath.Ext(file))
	}
	return file + ":" + strconv.Itoa(t.Pos.Line)
}

func (j *junit) name(r *event.Result) string {
	name := "[" + r.Host + "] " + strings.TrimSpace(j.play) + ": " + strings.TrimSpace(r.Task.Name)
	if r.Task.Args != "" && !r.Task.NoLog && !j.c.JUnit.HideArguments {
		name += " " + r.Task.Args
	}
	return name
}

// Stats writes the file.
func (j *junit) Stats([]string, map[string]event.Counts, *value.Dict) {
	j.c.failedToWrite(j.write())
}

func (j *junit) write() error {
	data, err := xml.MarshalIndent(j.document(), "", "\t")
	if err != nil {
		return fmt.Errorf("cannot write the JUnit report: %w", err)
	}
	if err := os.MkdirAll(j.c.JUnit.Dir, 0o700); err != nil {
		return fmt.Errorf("cannot write the JUnit report: %w", err)
	}
	now := float64(j.Now().UnixMicro()) / 1e6
	path := filepath.Join(j.c.JUnit.Dir, fmt.Sprintf("%s-%.6f.xml", j.book, now))
	if err := os.WriteFile(path, []byte(xml.Header+string(data)+"\n"), 0o600); err != nil {
		return fmt.Errorf("cannot write the JUnit report: %w", err)
	}
	return nil
}

func (j *junit) document() *junitSuites {
	suite := &junitSuite{Name: j.book, Tests: len(j.cases), Cases: j.cases}
	total := time.Duration(0)
	for _, c := range j.cases {
		total += c.took
		switch {
		case c.Skipped != nil:
			suite.Skipped++
		case c.Error != nil:
			suite.Errors++
		case c.Failure != nil:
			suite.Failures++
		}
	}
	suite.Time = seconds(total)
	return &junitSuites{Errors: suite.Errors, Failures: suite.Failures, Tests: suite.Tests, Time: suite.Time, Suite: suite}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }

// xmlText takes out what no XML text can hold.
func xmlText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' && r != '\r' || r == 0xfffe || r == 0xffff {
			return -1
		}
		return r
	}, text)
}
