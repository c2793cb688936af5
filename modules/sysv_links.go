package modules

import "path/filepath"

// sysvStartsAtBoot tells whether a script of /etc/init.d is linked to be
// started in a runlevel.
func sysvStartsAtBoot(name string) bool {
	found, err := filepath.Glob("/etc/rc?.d/S??" + name)
	return err == nil && len(found) > 0
}
