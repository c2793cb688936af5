package main

import (
	"embed"
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
// ones, or itself.
func agentBinaries() (start.Agents, error) {
	files, err := fs.Sub(embedded, "agents")
	if err != nil {
		return nil, err
	}
	set, err := agents.NewEmbedded(files)
	if err != nil || set != nil {
		return set, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return agents.NewSelf(self, agentCommand, "serve"), nil
}
