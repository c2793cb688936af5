package modules

import (
	"strings"
	"testing"

	"play/modules/argspec"
)

// TestT9SignaturesAreChecked: no module leaves signatures or certificates
// unchecked unless it is told to, but where Ansible's documented default is no:
// in the modules for Docker, which speak to a local socket, and in subversion.
func TestT9SignaturesAreChecked(t *testing.T) {
	t.Parallel()
	checks := 0
	for _, m := range All() {
		for _, o := range argspec.Of(m.Args).Options {
			off := strings.Contains(o.Name, "unauthenticated") || strings.HasPrefix(o.Name, "disable_gpg")
			on := strings.HasPrefix(o.Name, "validate_certs") || o.Name == "sslverify"
			if !off && !on || strings.HasPrefix(m.Name, "docker_") || m.Name == "subversion" {
				continue
			}
			checks++
			if given := o.Default != nil && o.Default != false; off && given || on && o.Default == false {
				t.Errorf("%s: %s is %v by default", m.Name, o.Name, o.Default)
			}
		}
	}
	if checks < 10 {
		t.Errorf("only %d options about checks were found", checks)
	}
}
