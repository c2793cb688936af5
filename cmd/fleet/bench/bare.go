package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/crypto/ssh"

	"play/connection/link"
	"play/modules/wire"
)

// bare does the work of the playbook with nothing around it: one connection,
// one agent, one call after the other.
func bare(addr, user, keyFile, agent string) error {
	pem, err := os.ReadFile(keyFile)
	if err != nil {
		return err
	}
	key, err := ssh.ParsePrivateKey(pem)
	if err != nil {
		return err
	}
	client, err := ssh.Dial("tcp", addr, &ssh.ClientConfig{User: user, Auth: []ssh.AuthMethod{ssh.PublicKeys(key)},
		HostKeyCallback: ssh.InsecureIgnoreHostKey()}) // the server is this program's own
	if err != nil {
		return err
	}
	defer client.Close()
	stream, err := start(client, agent+" serve")
	if err != nil {
		return err
	}
	ctx := context.Background()
	l, err := link.Open(ctx, stream, "bare")
	if err != nil {
		return err
	}
	defer l.Close()
	for range commands {
		reply, err := l.Call(ctx, &wire.Call{Module: "command", Args: []byte(`{"_raw_params":"/bin/true"}`)}, nil, nil)
		if err != nil {
			return err
		}
		fmt.Printf("%s\n", reply.Result)
	}
	return nil
}

// session is a command's streams as a connection.Stream.
type session struct {
	io.WriteCloser
	io.Reader
	s *ssh.Session
}

func start(client *ssh.Client, command string) (*session, error) {
	s, err := client.NewSession()
	if err != nil {
		return nil, err
	}
	in, err := s.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &session{WriteCloser: in, Reader: out, s: s}, s.Start(command)
}

func (s *session) Stderr() string { return "" }

func (s *session) Wait() (int, error) { return 0, s.s.Wait() }
