package main

import (
	"errors"
	"slices"

	"play/engine/source"
)

// anyHosts warns of an inventory without hosts, and refuses a pattern or limit
// that leaves none of those that there are.
func (s *session) anyHosts(pattern string) error {
	if len(s.inv.HostNames()) == 0 {
		if s.opts.Settings.LocalhostWarning && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, pattern) {
			s.sink.Warning("provided hosts list is empty, only localhost is available. "+
				"Note that the implicit localhost does not match 'all'", source.Pos{})
		}
		return nil
	}
	found, err := s.inv.Match(pattern)
	if err == nil && len(found) == 0 {
		err = &codeError{exitError, errors.New("Specified inventory, host pattern and/or --limit leaves us with no hosts to target.")}
	}
	return err
}
