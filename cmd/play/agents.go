package main

import (
	"embed"
	"errors"
	"io/fs"
	"os"

	"play/connection/agents"
	"play/connection/start"
)

// agentCommand is the hidden first argument with which play serves as the
// agent for hosts of its own platform.
const agentCommand = "play-agent"

// embedded holds what "make agents" built, or only a README.
//
//go:embed agents
var embedded embed.FS

// agentBinaries are the agents that this build can send to hosts: the embedded
// ones, plain and full, or itself, which is both (full is nil then).
func agentBinaries() (plain, full start.Agents, err error) {
	files, err := fs.Sub(embedded, "agents")
	if err != nil {
		return nil, nil, err
	}
	small, err := agents.NewEmbedded(files, agents.PlainIndex)
	if err != nil {
		return nil, nil, err
	}
	if small == nil {
		self, err := os.Executable()
		return agents.NewSelf(self, agentCommand, "serve"), nil, err
	}
	large, err := agents.NewEmbedded(files, agents.FullIndex)
	if err == nil && large == nil {
		err = errors.New("cannot find the full agents in this build: run make agents again")
	}
	return small, large, err
}
