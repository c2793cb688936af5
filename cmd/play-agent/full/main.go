// Command full is play-agent with every module. It goes to those hosts only
// where a task needs one that links TLS; see docs/protocol.md.
package main

import (
	"os"

	"play/modules"
	"play/modules/agent"
)

func main() {
	os.Exit(agent.Main(os.Args[1:], modules.All(), modules.HTTP))
}
