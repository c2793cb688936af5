package modules

import (
	"testing"

	"play/modules/argspec"
)

// TestSpecs: the tags of every module's arguments are well formed.
func TestSpecs(t *testing.T) {
	t.Parallel()
	for _, m := range All() {
		if spec := argspec.Of(m.Args); spec == nil {
			t.Errorf("%s has no options", m.Name)
		}
	}
}
