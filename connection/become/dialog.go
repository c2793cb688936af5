package become

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"play/connection"
)

const (
	// pollPrompt is how often stderr is looked at for a prompt.
	pollPrompt = 10 * time.Millisecond
	// maxNoise is how much may be printed on stdout before the script starts.
	maxNoise = 1 << 20
)

// dialog is what is said until the other user's script runs.
type dialog struct {
	host    string
	how     *connection.Become
	success string // the script's first line of output
	prompt  string // sudo's prompt; "": any text that ends in a colon
	sent    bool   // the password was given
	seen    int    // bytes of stderr that belong to an answered prompt
	marker  string // tells of a prompt on the command's terminal; "": it has none
}

// run answers at most one prompt and returns the stream at the script's own
// first byte. On an error the stream is closed.
func (d *dialog) run(ctx context.Context, s connection.Stream) (connection.Stream, error) {
	r := bufio.NewReaderSize(s, 4096)
	started := make(chan error, 1)
	go func() { started <- d.awaitSuccess(r) }()
	tick := time.NewTicker(pollPrompt)
	defer tick.Stop()
	for {
		select {
		case err := <-started:
			if err == nil {
				return &resumed{Stream: s, r: r, asked: d.seen}, nil
			}
			return nil, d.refused(s, err)
		case <-ctx.Done():
			s.Close()
			return nil, d.late(ctx)
		case <-tick.C:
			if err := d.answer(s); err != nil {
				s.Close()
				return nil, err
			}
		}
	}
}

// awaitSuccess reads up to the line with the success word.
func (d *dialog) awaitSuccess(r *bufio.Reader) error {
	for seen := 0; seen < maxNoise; {
		line, err := r.ReadSlice('\n')
		seen += len(line)
		if strings.HasSuffix(strings.TrimRight(string(line), "\r\n"), d.success) {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	return fmt.Errorf("it printed more than %d bytes before the script started", maxNoise)
}

// answer gives the password when the prompt is there, once: a second prompt
// means that it was wrong, and a third try could lock the account.
func (d *dialog) answer(s connection.Stream) error {
	said := s.Stderr()
	if !d.prompted(said[min(d.seen, len(said)):]) {
		return nil
	}
	switch {
	case d.how.Password == "":
		return &connection.BecomeError{Host: d.host, Msg: fmt.Sprintf("Missing %s password", d.how.Method)}
	case d.sent:
		return &connection.BecomeError{Host: d.host, Msg: fmt.Sprintf("Incorrect %s password", d.how.Method), Rejected: true}
	}
	d.sent, d.seen = true, len(said)
	_, err := io.WriteString(s, d.how.Password+"\n")
	if err != nil && !errors.Is(err, io.EOF) {
		return connection.Unreachablef(d.host, "cannot give the %s password: %w", d.how.Method, err)
	}
	return nil
}

func (d *dialog) prompted(said string) bool {
	if d.marker != "" && strings.Contains(said, d.marker) {
		return true
	}
	if d.prompt != "" {
		return strings.Contains(said, d.prompt)
	}
	if d.how.Method == "doas" {
		return false // it asks on a terminal; what stands here is half of a message: "doas: "
	}
	said = strings.TrimRight(said, " ")
	return strings.HasSuffix(said, ":") || strings.HasSuffix(said, "：")
}

// refused words the end of the command before the script started.
func (d *dialog) refused(s connection.Stream, err error) error {
	defer s.Close()
	var unreachable *connection.UnreachableError
	if errors.As(err, &unreachable) {
		return err
	}
	if err == io.EOF {
		if status, waitErr := s.Wait(); waitErr != nil {
			err = waitErr
		} else {
			err = fmt.Errorf("%s ended with status %d", d.how.Exe, status)
		}
	}
	said := s.Stderr()
	for _, word := range []string{d.prompt, d.marker} {
		if word != "" {
			said = strings.ReplaceAll(said, word, "")
		}
	}
	said = connection.Printable(said)
	if d.sent && (said == "" || d.prompt == "") {
		return &connection.BecomeError{Host: d.host, Msg: fmt.Sprintf("Incorrect %s password", d.how.Method), Rejected: true}
	}
	if said == "" {
		said = err.Error()
	}
	// After a password was given the refusal may be about it, in any language.
	return &connection.BecomeError{Host: d.host, Msg: fmt.Sprintf("cannot become %q on %q: %s", d.how.User, d.host, said),
		Rejected: d.sent, NoTerminal: !d.sent && wantsTerminal(said)}
}

// wantsTerminal tells whether a program complains that it has no terminal; the
// word is the same in most languages.
func wantsTerminal(said string) bool {
	said = strings.ToLower(said)
	return strings.Contains(said, "tty") || strings.Contains(said, "terminal")
}

func (d *dialog) late(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &connection.BecomeError{Host: d.host, Msg: fmt.Sprintf("cannot become %q on %q: %s gave no answer in time", d.how.User, d.host, d.how.Exe)}
	}
	return context.Cause(ctx)
}

// resumed is a stream whose first bytes were read ahead.
type resumed struct {
	connection.Stream
	r     *bufio.Reader
	asked int // bytes of stderr up to the prompt's end
}

// Stderr leaves out the prompt that was answered, and what came before it.
func (s *resumed) Stderr() string {
	said := s.Stream.Stderr()
	return said[min(s.asked, len(said)):]
}

// Read gives the bytes that were read ahead, then the stream's own.
func (s *resumed) Read(p []byte) (int, error) { return s.r.Read(p) }

// CloseWrite ends the process's input.
func (s *resumed) CloseWrite() error {
	if half, ok := s.Stream.(connection.HalfCloser); ok {
		return half.CloseWrite()
	}
	return errors.New("cannot end the input of a process over this connection")
}
