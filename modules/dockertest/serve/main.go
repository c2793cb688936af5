// Command serve runs a dockertest engine for testdata/record.py: the state comes
// as JSON on stdin, the arguments are a Unix socket and a file that each changing
// request is noted in. GET /_state on the socket gives the state; the program
// ends when stdin is closed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"play/modules/dockertest"
)

func main() {
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func serve(socket, notes string) error {
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var state dockertest.State
	if err := json.Unmarshal(line, &state); err != nil {
		return err
	}
	engine := dockertest.New(state, func(line string) { note(notes, line) })
	engine.Pause = time.Second // Ansible's modules lose what comes along with the head
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", engine)
	mux.HandleFunc("/_state", func(w http.ResponseWriter, _ *http.Request) {
		data, err := engine.Snapshot()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Write(data)
	})
	go http.Serve(listener, mux)
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, in)
	return err
}

func note(path, line string) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}
