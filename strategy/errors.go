package strategy

import (
	"fmt"

	"play/engine/source"
)

// MissingHandlerError says that a task notified a handler that no play, role or
// include has brought.
type MissingHandlerError struct {
	Name string
	Pos  source.Pos // of the task
}

// Error names the handler, as ansible-core words it.
func (e *MissingHandlerError) Error() string {
	return fmt.Sprintf("The requested handler '%s' was not found in either the main handlers list nor in the listening handlers list", e.Name)
}
