package fleet

import (
	"io"
	"syscall"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"
)

// sftp serves the subsystem until the client ends it.
func (s *sessions) sftp(channel ssh.Channel) {
	if s.faults.DiskFull {
		handlers := sftp.InMemHandler()
		handlers.FilePut = fullDisk{}
		server := sftp.NewRequestServer(channel, handlers)
		_ = server.Serve() // ends with the client
		server.Close()
		return
	}
	server, err := sftp.NewServer(channel, sftp.WithServerWorkingDirectory(s.host.Home))
	if err != nil {
		return
	}
	_ = server.Serve() // ends with the client
	server.Close()
}

// fullDisk takes no content.
type fullDisk struct{}

// Filewrite opens a file that takes nothing.
func (fullDisk) Filewrite(*sftp.Request) (io.WriterAt, error) { return fullDisk{}, nil }

// WriteAt fails as a full disk does.
func (fullDisk) WriteAt([]byte, int64) (int, error) { return 0, syscall.ENOSPC }
