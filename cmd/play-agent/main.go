// Command play-agent runs modules on a target for play, which uploads and
// starts it; see docs/protocol.md. It is of no use on a terminal.
package main

import (
	"os"

	"play/modules/agent"
)

func main() {
	os.Exit(agent.Main(os.Args[1:]))
}
