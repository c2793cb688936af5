package agent

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"play/modules/job"
	"play/modules/value"
	"play/modules/wire"
)

// wrapperReady is what the wrapper says once the job's status file is there.
const wrapperReady = "ready"

// detach starts a wrapper for an asynchronous call and returns the answer, which
// says that the job has started.
func (s *session) detach(request *wire.Call, c *call) *value.Dict {
	a := request.Async
	a.Dir = jobDir(a.Dir, s.home)
	file, err := job.At(a.Dir, a.JID)
	if err == nil {
		err = s.startWrapper(request, c)
	}
	if err != nil {
		return failed(value.DictOf("msg", "cannot start the async job: "+err.Error()))
	}
	return value.DictOf("changed", true, "started", 1, "finished", 0, "ansible_job_id", a.JID, "results_file", file.Path())
}

// jobDir is the folder of status files: the usual one, or the operator's, which
// may begin with the home folder and counts from there.
func jobDir(dir, home string) string {
	if dir == "" {
		return job.Dir(home)
	}
	for _, prefix := range []string{"~/", "$HOME/"} {
		dir = strings.TrimPrefix(dir, prefix)
	}
	if filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(home, dir)
}

// startWrapper runs the agent anew in a session of its own, hands it the call
// through a pipe, and waits until it says that it stands on its own feet.
func (s *session) startWrapper(request *wire.Call, c *call) error {
	cmd := exec.Command(s.config.Self[0], append(s.config.Self[1:], "async")...)
	cmd.Env = s.env // the task's own variables are for the module alone
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var body io.Reader = strings.NewReader("")
	if c.inbox != nil {
		body = c.inbox
	}
	if err = sendJob(stdin, request, body); err != nil {
		_ = cmd.Process.Kill() // it must not take half of the content for the whole
	}
	stdin.Close()
	answer, readErr := bufio.NewReader(stdout).ReadString('\n')
	stdout.Close()
	go func() { _ = cmd.Wait() }() // how it ends is in the status file
	switch answer = strings.TrimSpace(answer); {
	case answer == wrapperReady:
		return nil
	case answer != "":
		return errors.New(answer)
	case err != nil:
		return err
	case errors.Is(readErr, io.EOF):
		return errors.New("its process ended at once")
	}
	return readErr
}

// sendJob writes a call as a length and CBOR, and then its content.
func sendJob(w io.Writer, request *wire.Call, body io.Reader) error {
	data, err := wire.EncodeCall(request)
	if err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint64(nil, uint64(len(data)))
	if _, err := w.Write(append(head, data...)); err != nil {
		return err
	}
	_, err = io.Copy(w, body)
	return err
}

// receiveJob reads what sendJob wrote; the content goes to a file in dir.
func receiveJob(r io.Reader, dir string) (*wire.Call, *os.File, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(binary.BigEndian.Uint64(head[:]))))
	if err != nil {
		return nil, nil, err
	}
	request, err := wire.DecodeCall(data)
	if err != nil {
		return nil, nil, err
	}
	if request.Async == nil {
		return nil, nil, errors.New("the call is not asynchronous")
	}
	if !request.Body {
		return request, nil, nil
	}
	body, err := os.CreateTemp(dir, "body-")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot keep the content: %w", err)
	}
	if _, err := io.Copy(body, r); err != nil {
		return nil, nil, fmt.Errorf("cannot keep the content: %w", err)
	}
	_, err = body.Seek(0, io.SeekStart)
	return request, body, err
}
