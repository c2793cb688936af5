package main

// Exit codes; those of ansible-playbook.
const (
	exitOK          = 0
	exitError       = 1   // a file, an option's value or the engine itself is at fault
	exitFailed      = 2   // a host failed
	exitDrift       = 2   // play drift: something has moved away
	exitUsage       = 2   // an option that is not known, or its value
	exitUnreachable = 4   // a host could not be reached; also: a playbook that cannot be loaded
	exitOptions     = 5   // bad options
	exitInterrupted = 99  // Ctrl-C
	exitDefect      = 250 // a defect of play
)
