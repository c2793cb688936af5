package modules

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode"

	"play/modules/leftover"
	"play/modules/process"
	"play/modules/pyre"
	"play/modules/value"
)

// expectArgs are the arguments of expect.
type expectArgs struct {
	Command   string      `arg:"command,required" doc:"the command, without a shell"`
	Chdir     string      `arg:"chdir,type=path" doc:"change into this folder first"`
	Creates   string      `arg:"creates,type=path" doc:"do nothing when this path exists"`
	Removes   string      `arg:"removes,type=path" doc:"do nothing when this path does not exist"`
	Responses *value.Dict `arg:"responses,required" doc:"what to answer, by regular expressions of questions; a list is answered in turn"`
	Timeout   int         `arg:"timeout,default=30" doc:"seconds to wait for a question, or for the end"`
	Echo      bool        `arg:"echo,default=no" doc:"show the answers in the output"`
}

func expect() Module {
	return Define("expect", "Run a command and answer its questions", runExpect).NoCheck()
}

func runExpect(c *Call, args *expectArgs) (*Result, error) {
	questions, err := readQuestions(args.Responses)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(args.Command) == "" {
		return nil, &Failure{Msg: "no command given", With: value.DictOf("rc", 256)}
	}
	dir := commandDir(c, args.Chdir)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, Failf("cannot change to the folder: %s", strings.Replace(chdirText(dir, err), ": b'", ": '", 1))
	}
	own := *c
	own.Dir = dir
	done := NewResult(false).With("cmd", args.Command)
	switch {
	case args.Creates != "" && exists(own.abs(args.Creates)):
		return done.With("stdout", "skipped, since "+args.Creates+" exists").With("rc", 0), nil
	case args.Removes != "" && !exists(own.abs(args.Removes)):
		return done.With("stdout", "skipped, since "+args.Removes+" does not exist").With("rc", 0), nil
	}
	d := &dialogue{Call: &own, questions: questions, timeout: inSeconds(args.Timeout)}
	start := time.Now()
	rc, err := d.run(splitExpect(args.Command), args.Echo)
	if err != nil {
		return nil, err
	}
	out := done.Changed(true).With("stdout", strings.TrimRight(d.output.String(), "\r\n")).With("rc", rc).
		With("start", stamp(start)).With("end", stamp(time.Now())).With("delta", delta(time.Since(start)))
	switch rc {
	case nil:
		return nil, &Failure{Msg: "command exceeded timeout", With: out.Dict}
	case 0:
		return out, nil
	}
	return nil, &Failure{Msg: "non-zero return code", With: out.Dict}
}

// question is a pattern with its answers.
type question struct {
	text    string
	pattern *pyre.Regexp
	answers []string
	forever bool // the only answer is given each time
}

func readQuestions(responses *value.Dict) (questions []*question, err error) {
	for k, v := range responses.All() {
		q := &question{text: value.Str(k)}
		if q.pattern, err = compilePattern(q.text, pyre.DotAll|pyre.Bytes); err != nil {
			return nil, err
		}
		items := []any{v}
		if list, ok := v.(*value.List); ok {
			items = list.Items
		} else {
			q.forever = true
		}
		for _, item := range items {
			q.answers = append(q.answers, strings.TrimRight(value.Str(item), "\n")+"\n")
		}
		questions = append(questions, q)
	}
	return questions, nil
}

// splitExpect splits a command line as pexpect does: quotes keep all that is in them.
func splitExpect(line string) (words []string) {
	word, inWord := "", false
	var quote rune
	for _, r := range line {
		switch {
		case quote == '\\':
			word, quote = word+string(r), 0
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word += string(r)
		case r == '\\' || r == '\'' || r == '"':
			quote, inWord = r, true
		case unicode.IsSpace(r):
			if inWord {
				words = append(words, word)
			}
			word, inWord = "", false
		default:
			word, inWord = word+string(r), true
		}
	}
	if word != "" {
		words = append(words, word)
	}
	return words
}

// dialogue is a command at a terminal of its own.
type dialogue struct {
	*Call
	questions []*question
	timeout   time.Duration
	terminal  *os.File // the side of the terminal that a person would sit at
	output    strings.Builder
	fresh     string // output in which no question has been found
}

// run starts the command and answers until it ends. rc is nil when the time was
// up or a signal ended it.
func (d *dialogue) run(argv []string, echo bool) (rc any, err error) {
	path := ""
	if len(argv) > 0 {
		path = d.findTool(argv[0])
	}
	if path == "" || !accessible(d.abs(path), 1) || isDir(d.abs(path)) {
		return nil, Failf("The command was not found or was not executable: %s.", strings.Join(argv[:min(1, len(argv))], ""))
	}
	own, theirs, err := openTerminal(echo)
	if err != nil {
		return nil, Failf("cannot open a terminal for %q: %v", argv[0], err)
	}
	d.terminal = own
	defer own.Close()
	cmd := &exec.Cmd{Path: path, Args: argv, Dir: d.Dir, Env: d.Env, Stdin: theirs, Stdout: theirs, Stderr: theirs,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true}}
	leftover.Prepare()
	if err := cmd.Start(); err != nil {
		theirs.Close()
		return nil, Failf("cannot run %q: %v", argv[0], err)
	}
	theirs.Close()
	defer leftover.Group(cmd.Process.Pid)()
	stop := d.hangUpAtEnd()
	ended, err := d.talk()
	stop()
	state := hangUp(cmd, own, ended && err == nil)
	if d.Err() != nil {
		return nil, d.Err()
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Exited() {
		rc = ws.ExitStatus()
	}
	return rc, err
}

// hangUpAtEnd ends reading when the call ends.
func (d *dialogue) hangUpAtEnd() (stop func()) {
	cancel := context.AfterFunc(d, func() { _ = d.terminal.SetDeadline(time.Unix(1, 0)) })
	return func() { cancel() }
}

// hangUp waits for the command, and ends one that runs on without its terminal,
// or after its time.
func hangUp(cmd *exec.Cmd, terminal *os.File, ended bool) *os.ProcessState {
	const patience = 2 * time.Second
	finished := make(chan struct{})
	go func() {
		_ = cmd.Wait() // its state says more
		close(finished)
	}()
	signals := []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGKILL}
	if !ended {
		terminal.Close()
		_ = syscall.Kill(-cmd.Process.Pid, signals[0]) // it may have ended
		signals = signals[1:]
	}
	for _, s := range signals {
		select {
		case <-finished:
			return cmd.ProcessState
		case <-time.After(patience):
			_ = syscall.Kill(-cmd.Process.Pid, s)
		}
	}
	<-finished
	return cmd.ProcessState
}

// talk reads and answers. ended is false when the time was up.
func (d *dialogue) talk() (ended bool, err error) {
	buf := make([]byte, 2000)
	_ = d.terminal.SetDeadline(time.Now().Add(d.timeout))
	for d.Err() == nil {
		n, err := d.terminal.Read(buf)
		d.output.Write(buf[:n])
		d.fresh += string(buf[:n])
		_, _ = d.Output.Write(buf[:n]) // a display that is gone ends nothing
		if d.output.Len() > process.MaxOutput {
			return false, Failf("cannot keep more than %d bytes of output", process.MaxOutput)
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return false, nil
		}
		if err != nil {
			return true, endOfTerminal(err)
		}
		if err := d.answer(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// endOfTerminal is nil when the error says that nobody holds the other side.
func endOfTerminal(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) && p.Err != syscall.EIO {
		return Failf("cannot read from the terminal: %v", err)
	}
	return nil
}

// answer answers the questions in what was read, the first one first.
func (d *dialogue) answer() error {
	for {
		q, before, after, err := d.asked()
		if q == nil {
			return err
		}
		if len(q.answers) == 0 {
			return Failf("No remaining responses for '%s', output was 'b%s'", q.text, value.Repr(before))
		}
		reply := q.answers[0]
		if !q.forever {
			q.answers = q.answers[1:]
		}
		d.fresh = after
		if err := d.reply(reply); err != nil {
			return err
		}
	}
}

// asked finds the question that stands first.
func (d *dialogue) asked() (first *question, before, after string, err error) {
	start := 0
	for _, q := range d.questions {
		m, err := q.pattern.Search(d.fresh)
		if err != nil {
			return nil, "", "", Failf("cannot look for %q: %v", q.text, err)
		}
		if m == nil || first != nil && len(m.Before()) >= start {
			continue
		}
		first, start, before, after = q, len(m.Before()), m.Before()+m.Text(), m.After()
	}
	return first, before, after, nil
}

// reply writes an answer, a moment after the question, since programs switch the
// echo off and drop what was typed before.
func (d *dialogue) reply(text string) error {
	const moment = 50 * time.Millisecond
	select {
	case <-time.After(moment):
	case <-d.Done():
		return nil
	}
	_ = d.terminal.SetDeadline(time.Now().Add(d.timeout))
	_, _ = d.terminal.WriteString(text) // a command that is gone is seen by reading
	return nil
}
