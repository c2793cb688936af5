package modules

func shell() Module {
	return Define("shell", "Run a command line by a shell", runShell)
}

func runShell(c *Call, args *commandArgs) (*Result, error) {
	args.UsesShell = true
	return runCommand(c, args)
}
