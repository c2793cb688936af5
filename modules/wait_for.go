package modules

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"play/modules/pyre"
	"play/modules/value"
)

// waitForArgs are the arguments of wait_for. Times are in seconds.
type waitForArgs struct {
	Host           string   `arg:"host,default=127.0.0.1" doc:"host name or address to connect to"`
	Timeout        int      `arg:"timeout,default=300" doc:"give up after so long"`
	ConnectTimeout int      `arg:"connect_timeout,default=5" doc:"give one connection up after so long"`
	Delay          int      `arg:"delay,default=0" doc:"wait so long before the first look"`
	Port           *int     `arg:"port" doc:"port to watch"`
	States         []string `arg:"active_connection_states,default=ESTABLISHED|FIN_WAIT1|FIN_WAIT2|SYN_RECV|SYN_SENT|TIME_WAIT" doc:"states that count as active, for drained"`
	Path           *string  `arg:"path,type=path" doc:"file to watch"`
	Regex          *string  `arg:"search_regex" doc:"text to look for in the file, or in what the port sends"`
	State          string   `arg:"state,choices=absent|drained|present|started|stopped,default=started" doc:"what to wait for"`
	Exclude        []string `arg:"exclude_hosts" doc:"peers that do not count, for drained"`
	Sleep          int      `arg:"sleep,default=1" doc:"time between two looks"`
	Msg            *string  `arg:"msg" doc:"the message of a failure by time-out"`
}

func waitFor() Module {
	return Define("wait_for", "Wait for a port, a file or a time", runWaitFor).NoCheck()
}

// waiting is one run of wait_for.
type waiting struct {
	c       *Call
	args    *waitForArgs
	began   time.Time
	ends    time.Time
	re      *pyre.Regexp // nil: no text is looked for
	matched *pyre.Match
}

// look tells whether what is waited for is there.
type look func() bool

func runWaitFor(c *Call, args *waitForArgs) (*Result, error) {
	w := &waiting{c: c, args: args, began: time.Now()}
	if err := w.check(); err != nil {
		return nil, err
	}
	w.sleep(time.Duration(args.Delay) * time.Second)
	w.ends = time.Now().Add(time.Duration(args.Timeout) * time.Second)
	if args.Port == nil && args.Path == nil && args.State != "drained" {
		w.sleep(time.Until(w.ends))
		return w.result()
	}
	see, missing, err := w.goal()
	if err != nil {
		return nil, err
	}
	for !see() {
		pause := time.Duration(args.Sleep) * time.Second
		if w.c.Err() != nil || time.Now().Add(min(pause, time.Millisecond)).After(w.ends) {
			return nil, w.timedOut(missing)
		}
		w.sleep(min(pause, time.Until(w.ends)+time.Millisecond))
	}
	return w.result()
}

// check refuses arguments that do not go together, and compiles the pattern.
func (w *waiting) check() error {
	a := w.args
	if a.Regex != nil {
		re, err := pyre.Compile(*a.Regex, pyre.Multiline)
		if err != nil {
			return Failf("Invalid regular expression: %s", err)
		}
		w.re = re
	}
	switch {
	case a.Port != nil && a.Path != nil:
		return w.fail("port and path parameter can not both be passed to wait_for")
	case a.Path != nil && (a.State == "stopped" || a.State == "drained"):
		return w.fail("state=%s should only be used for checking a port in the wait_for module", a.State)
	case len(a.Exclude) > 0 && a.State != "drained":
		return w.fail("exclude_hosts should only be with state=drained")
	case a.State == "drained" && a.Port == nil:
		return w.fail("state=drained needs a port")
	}
	for _, s := range a.States {
		if !slices.Contains(tcpStates(), s) {
			return w.fail("unknown active_connection_state (%s) defined", s)
		}
	}
	return nil
}

// goal returns how to look, and the message when the time is over.
func (w *waiting) goal() (see look, missing string, err error) {
	a := w.args
	if a.Path != nil {
		return w.pathGoal(*a.Path)
	}
	target := fmt.Sprintf("%s:%d", a.Host, *a.Port)
	switch a.State {
	case "absent", "stopped":
		return func() bool { return !w.connects() }, "Timeout when waiting for " + target + " to stop.", nil
	case "drained":
		idle, err := w.newDrain()
		if err != nil {
			return nil, "", w.fail("%s", err)
		}
		return idle, "Timeout when waiting for " + target + " to drain", nil
	}
	if w.re != nil {
		return w.portSends, "Timeout when waiting for search string " + *a.Regex + " in " + target, nil
	}
	return w.connects, "Timeout when waiting for " + target, nil
}

func (w *waiting) pathGoal(path string) (see look, missing string, err error) {
	there := func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
	if w.args.State == "absent" {
		return func() bool { return !there() }, "Timeout when waiting for " + path + " to be absent.", nil
	}
	if w.re == nil {
		return there, "Timeout when waiting for file " + path, nil
	}
	return func() bool { return w.fileHas(path) }, "Timeout when waiting for search string " + *w.args.Regex + " in " + path, nil
}

func (w *waiting) fileHas(path string) bool {
	data, err := os.ReadFile(path)
	return err == nil && w.matches(string(data))
}

func (w *waiting) matches(text string) bool {
	m, err := w.re.Search(text)
	if err != nil || m == nil {
		return false
	}
	w.matched = m
	return true
}

// sleep waits, or until the call ends.
func (w *waiting) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.c.Done():
	}
}

func (w *waiting) elapsed() int { return int(time.Since(w.began) / time.Second) }

func (w *waiting) fail(format string, args ...any) error {
	return &Failure{Msg: fmt.Sprintf(format, args...), With: value.DictOf("elapsed", w.elapsed())}
}

func (w *waiting) timedOut(missing string) error {
	if w.c.Err() != nil {
		return context.Cause(w.c)
	}
	if w.args.Msg != nil {
		missing = *w.args.Msg
	}
	return w.fail("%s", missing)
}

func (w *waiting) result() (*Result, error) {
	if w.c.Err() != nil {
		return nil, context.Cause(w.c)
	}
	a := w.args
	groups, named := w.groups()
	r := NewResult(false).With("state", a.State).With("port", orNone(a.Port)).With("search_regex", orNone(a.Regex)).
		With("match_groups", groups).With("match_groupdict", named).
		With("path", orNone(a.Path)).With("elapsed", w.elapsed())
	return withPathInfo(r, nil)
}

func orNone[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

func (w *waiting) groups() (*value.List, *value.Dict) {
	list, named := value.NewList(), value.NewDict()
	if w.matched == nil {
		return list, named
	}
	for i := 1; i <= w.re.NumGroups(); i++ {
		text, ok := w.matched.Group(i)
		list.Append(textOrNone(text, ok))
	}
	for _, name := range w.re.GroupNames() {
		if name == "" {
			continue
		}
		text, ok := w.matched.Named(name)
		named.Set(name, textOrNone(text, ok))
	}
	return list, named
}

func textOrNone(text string, ok bool) any {
	if !ok {
		return nil
	}
	return text
}

// errNoConnections says that the system does not tell of its connections.
var errNoConnections = errors.New("cannot see this system's connections: it has no /proc/net/tcp")

// tcpStates are the kernel's states by name; the kernel counts them from 1.
func tcpStates() []string {
	return strings.Fields("ESTABLISHED SYN_SENT SYN_RECV FIN_WAIT1 FIN_WAIT2 TIME_WAIT CLOSE CLOSE_WAIT LAST_ACK LISTEN CLOSING")
}
