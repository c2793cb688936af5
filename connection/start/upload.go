package start

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"play/connection"
)

// upload writes the executable to path: directly where the transport can, else
// (and where that fails: SFTP may be off, or see another file system) through
// a shell's pipe. A *folderError means that the folder did not take it.
func (c *config) upload(ctx context.Context, tr connection.Transport, b Binary, path string) error {
	if putter, ok := tr.(connection.FilePutter); ok {
		err := c.put(ctx, putter, b, path)
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return c.pipe(ctx, tr, b, path)
}

func (c *config) put(ctx context.Context, putter connection.FilePutter, b Binary, path string) error {
	content, err := b.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	return putter.PutFile(ctx, path, 0o700, &reporting{content, c.progress})
}

// pipe sends the executable as the input of a script on the host.
func (c *config) pipe(ctx context.Context, tr connection.Transport, b Binary, path string) error {
	content, err := b.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	s, err := tr.Start(ctx, receiveScript(path))
	if err != nil {
		return err
	}
	defer s.Close()
	done := make(chan error, 1)
	go func() { done <- send(s, &reporting{content, c.progress}) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err == nil {
		return nil
	}
	var unreachable *connection.UnreachableError
	if errors.As(err, &unreachable) {
		return err
	}
	reason := strings.TrimSpace(s.Stderr())
	if reason == "" {
		reason = err.Error()
	}
	return &folderError{connection.Printable(reason)}
}

// send feeds a script and waits for its end. What the script says decides, not
// the write: a script that ended early makes the write fail too.
func send(s connection.Stream, content io.Reader) error {
	go io.Copy(io.Discard, s) // a profile's noise must not block the script
	_, copyErr := io.Copy(struct{ io.Writer }{s}, content)
	half, ok := s.(connection.HalfCloser)
	if !ok {
		return errors.New("cannot end the input of a process over this connection")
	}
	if err := half.CloseWrite(); err != nil && copyErr == nil {
		copyErr = err
	}
	status, err := s.Wait()
	switch {
	case err != nil:
		return err
	case status != 0:
		return fmt.Errorf("the upload ended with status %d", status)
	}
	return copyErr
}

// reporting tells of progress as content is taken.
type reporting struct {
	io.Reader
	progress func()
}

// Read reads on and puts the stall limit off.
func (r *reporting) Read(p []byte) (int, error) {
	r.progress()
	return r.Reader.Read(p)
}
