package main

import (
	"fmt"
	"io"
	"os"
	"os/user"
	"regexp"
	"strings"
	"time"
)

// logFile writes down what a run shows (log_path), a record for each thing that
// is shown, in ansible's form: time, process, user, text without colours. The
// file is opened for every record, so that it can be rotated, and is the
// operator's alone when it is made here.
type logFile struct {
	path string
	user string
	now  func() time.Time
}

// newLogFile returns nil where no log is asked for. The error says why a log
// cannot be written.
func newLogFile(path string) (*logFile, error) {
	if path == "" {
		return nil, nil
	}
	l := &logFile{path: path, user: "unknown", now: time.Now}
	if u, err := user.Current(); err == nil {
		l.user = u.Username
	}
	return l, l.append("")
}

// writer passes on what is written to it, and keeps it.
func (l *logFile) writer(to io.Writer) io.Writer {
	if l == nil {
		return to
	}
	return &logged{l, to}
}

type logged struct {
	log *logFile
	to  io.Writer
}

// Write keeps a record. A log that cannot be written any more holds up no run.
func (w *logged) Write(p []byte) (int, error) {
	_ = w.log.record(string(p))
	return w.to.Write(p)
}

var colourCodes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func (l *logFile) record(text string) error {
	text = strings.Trim(colourCodes.ReplaceAllString(text, ""), "\n")
	if text == "" {
		return nil
	}
	stamp := strings.Replace(l.now().Format("2006-01-02 15:04:05.000"), ".", ",", 1)
	return l.append(fmt.Sprintf("%s p=%d u=%s n=ansible | %s\n", stamp, os.Getpid(), l.user, text))
}

func (l *logFile) append(text string) error {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = io.WriteString(f, text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
