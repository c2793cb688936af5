//go:build !linux

package agent

import "errors"

// terminal is not offered here: each of these systems makes pseudo-terminals in
// a way of its own.
func terminal([]string) error { return errors.New("this system offers no terminal to the agent") }
