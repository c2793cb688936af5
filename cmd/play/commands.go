package main

import "github.com/urfave/cli/v2"

// commands are play's further commands; without one it runs playbooks.
func commands(h *host) []*cli.Command {
	return []*cli.Command{
		adhocCommand(h),
		completionCommand(h),
		configCommand(h),
		docCommand(h),
		driftCommand(h),
		inventoryCommand(h),
		jobsCommand(h),
		lintCommand(h),
		moduleCommand(h),
		reportCommand(h),
		runsCommand(h),
		schemaCommand(h),
		templateCommand(h),
		varsCommand(h),
		vaultCommand(h),
	}
}
