package agent

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// terminal runs a command on a pseudo-terminal of its own, for programs that ask
// for a password on a terminal or want to have one (doas, sudo with requiretty).
// The command's standard streams are this process's, so content passes as it is.
// args are a word and the command's words, NUL after each, in hexadecimal digits.
// When the terminal shows a prompt the word is written to standard error, and the
// next line of standard input goes to the terminal.
func terminal(args []string) error {
	if len(args) != 3 {
		return errUsage
	}
	text, err := hex.DecodeString(args[2])
	words := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	if err != nil {
		return errUsage
	}
	master, slave, err := openTerminal()
	if err != nil {
		return fmt.Errorf("cannot make a terminal: %w", err)
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{slave}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 3}
	if err := cmd.Start(); err != nil {
		return err
	}
	// The slave stays open here: doas closes what it was started with before it
	// opens the terminal by its name, which must be there still.
	go answerPrompts(master, args[1])
	go leaveAlone()
	_ = cmd.Wait() // the state says more
	// The end of this process takes the terminal away, which ends what still has it.
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		os.Exit(128 + int(ws.Signal()))
	}
	os.Exit(cmd.ProcessState.ExitCode())
	return nil
}

// leaveTime is how long a command may go on after nobody reads its output.
const leaveTime = 3 * time.Second

// leaveAlone ends this process, and with it the terminal, when nobody reads the
// output any more and the command does not notice: it may wait for a password.
func leaveAlone() {
	for {
		fds := []unix.PollFd{{Fd: 1}}
		n, err := unix.Poll(fds, -1)
		if err == unix.EINTR {
			continue
		}
		if n > 0 {
			time.Sleep(leaveTime)
			os.Exit(1)
		}
		return
	}
}

// openTerminal makes a pseudo-terminal.
func openTerminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
	}
	return master, slave, err
}

// answerPrompts gives the terminal a line for each prompt that it shows: text
// without a line's end, and with a colon at its own. What the terminal shows goes
// nowhere else, since it may hold what was typed.
func answerPrompts(master *os.File, word string) {
	var shown []byte
	buf := make([]byte, 1024)
	for {
		n, err := master.Read(buf)
		if err != nil {
			return
		}
		shown = append(shown, buf[:n]...)
		shown = shown[max(bytes.LastIndexByte(shown, '\n')+1, len(shown)-len(buf)):]
		ending := strings.TrimRight(string(shown), " ")
		if !strings.HasSuffix(ending, ":") && !strings.HasSuffix(ending, "：") {
			continue
		}
		shown = nil
		_, _ = os.Stderr.WriteString(word) // nobody may be there to read it
		line, err := readLine(os.Stdin)
		if err != nil {
			os.Exit(1) // nobody answers; the end of the terminal ends the command
		}
		_, _ = master.Write(line) // its end shows at the next read
	}
}

// readLine reads up to the end of a line and not a byte more: the rest of the
// input is for somebody else.
func readLine(r io.Reader) ([]byte, error) {
	var line []byte
	one := make([]byte, 1)
	for len(line) < 4096 {
		if _, err := io.ReadFull(r, one); err != nil {
			return nil, err
		}
		if line = append(line, one[0]); one[0] == '\n' {
			return line, nil
		}
	}
	return nil, fmt.Errorf("a line of more than %d bytes", len(line))
}
