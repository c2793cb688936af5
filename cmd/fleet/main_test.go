package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"testing"

	"play/connection/fleet"
)

// TestServe: the inventory is there while the fleet runs, and nothing after it.
func TestServe(t *testing.T) {
	t.Parallel()
	out, in := io.Pipe()
	stop := make(chan os.Signal)
	done := make(chan error, 1)
	go func() { done <- serve(fleet.Options{Hosts: 2}, in, stop) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimSpace(line)
	content, err := os.ReadFile(path)
	if err != nil || strings.Count(string(content), "\nweb") != 2 {
		t.Errorf("the inventory is %q, %v", content, err)
	}
	stop <- os.Interrupt
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("something is left: %v", err)
	}
}
