// Command play runs playbooks. It reads the command line, puts the engine, the
// strategy, the actions and the connections together, and maps how a run ended
// to an exit code.
package main

import (
	"os"

	"play/modules"
	"play/modules/agent"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == agentCommand {
		os.Exit(agent.Main(os.Args[2:], modules.All(), modules.HTTP))
	}
	os.Exit(run(newHost(), os.Args))
}
