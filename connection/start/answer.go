package start

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"play/connection"
)

// answer is what a start script said.
type answer struct {
	kind    byte // 'S', 'N', 'X', or 'R' alone: refused
	rest    string
	reasons []string
	stream  connection.Stream // for 'S': at the agent's first byte
}

// maxReasons bounds what a host can make us remember.
const maxReasons = 20

// awaitAnswer reads the script's answer. When ctx ends it returns at once; the
// reader ends with the stream, which the caller closes.
func awaitAnswer(ctx context.Context, s connection.Stream, marker string) (*answer, error) {
	type outcome struct {
		a   *answer
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		a, err := readAnswer(s, marker)
		done <- outcome{a, err}
	}()
	select {
	case o := <-done:
		return o.a, o.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readAnswer skips a login shell's noise and reads the marked lines up to the
// deciding one. The bytes after it stay in the answer's stream.
func readAnswer(s connection.Stream, marker string) (*answer, error) {
	r := bufio.NewReaderSize(s, 4096)
	a := &answer{kind: 'R'}
	noise := ""
	for seen := 0; ; {
		line, err := readLine(r, &seen)
		if strings.TrimSpace(line) != "" {
			noise = line
		}
		if _, marked, ok := strings.Cut(line, marker+" "); ok && marked != "" {
			kind, rest := marked[0], strings.TrimSpace(marked[1:])
			if kind != 'R' {
				a.kind, a.rest = kind, rest
				a.stream = &resumed{Stream: s, r: r}
				return a, nil
			}
			if len(a.reasons) < maxReasons {
				a.reasons = append(a.reasons, connection.Printable(rest))
			}
		}
		if err == io.EOF && len(a.reasons) > 0 {
			return a, nil
		}
		if err == io.EOF {
			return nil, endedError(s, noise)
		}
		if err != nil {
			return nil, err
		}
	}
}

// readLine reads one line; seen counts all bytes against the bound.
func readLine(r *bufio.Reader, seen *int) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		*seen += len(part)
		if *seen > maxNoise {
			return "", fmt.Errorf("the host printed more than %d bytes before its answer", maxNoise)
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return strings.TrimRight(string(line), "\r\n"), err
		}
	}
}

// endedError tells of a script that ended without an answer, with the last line
// that the host printed instead.
func endedError(s connection.Stream, noise string) error {
	status, err := s.Wait()
	if err != nil {
		return fmt.Errorf("it ended without an answer: %w", err)
	}
	if noise != "" {
		noise = "; the host said: " + noise
	}
	return fmt.Errorf("it ended with status %d and without an answer%s", status, noise)
}

// resumed is a stream whose first bytes were read ahead.
type resumed struct {
	connection.Stream
	r *bufio.Reader
}

// Read gives the bytes that were read ahead, then the stream's own.
func (s *resumed) Read(p []byte) (int, error) {
	if s.r != nil && s.r.Buffered() > 0 {
		return s.r.Read(p)
	}
	s.r = nil // nothing is left in it; further reads need no copy
	return s.Stream.Read(p)
}

// CloseWrite ends the process's input.
func (s *resumed) CloseWrite() error {
	if half, ok := s.Stream.(connection.HalfCloser); ok {
		return half.CloseWrite()
	}
	return errors.New("cannot end the input of a process over this connection")
}
