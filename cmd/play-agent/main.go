// Command play-agent runs modules on a target for play, which uploads and
// starts it; see docs/protocol.md. This is the plain agent, to be built with the
// tag "plain"; cmd/play-agent/full has the modules that need TLS too. It is of no
// use on a terminal.
package main

import (
	"os"

	"play/modules"
	"play/modules/agent"
)

func main() {
	os.Exit(agent.Main(os.Args[1:], modules.Plain(), nil))
}
