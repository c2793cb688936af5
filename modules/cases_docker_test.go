package modules

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"play/modules/dockertest"
)

// docker starts the engine of a case, as testdata/dockerserver.py does.
func (c *recordedCase) docker(t *testing.T, root string) {
	t.Helper()
	if c.EngineBefore == "" {
		return
	}
	var state dockertest.State
	must(t, json.Unmarshal([]byte(c.EngineBefore), &state))
	c.Env = maps.Clone(c.Env)
	if c.Env == nil {
		c.Env = map[string]string{}
	}
	c.Env["DOCKER_HOST"] = "unix://" + startDocker(t, state, filepath.Join(root, "requests"))
}

// startDocker serves an engine on a Unix socket, whose path is returned, and
// notes the requests in a file.
func startDocker(t *testing.T, state dockertest.State, notes string) string {
	t.Helper()
	short, err := os.MkdirTemp("", "docker") // a socket's name has a small limit
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(short) })
	engine := dockertest.New(state, func(line string) {
		f, err := os.OpenFile(notes, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return // the missing line fails the case
		}
		defer f.Close()
		io.WriteString(f, line+"\n")
	})
	socket := filepath.Join(short, "s")
	listener, err := net.Listen("unix", socket)
	must(t, err)
	server := &http.Server{Handler: engine}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return socket
}
