package modules

import (
	"fmt"
	"os"
)

// policyRCD is asked by maintainer scripts before they start services.
const policyRCD = "/usr/sbin/policy-rc.d"

// setPolicyRCD puts a policy-rc.d in place that exits with a code; nil: none.
// The returned function brings the old one back.
func setPolicyRCD(code *int) (restore func() error, err error) {
	if code == nil {
		return func() error { return nil }, nil
	}
	kept := ""
	if lexists(policyRCD) {
		kept = policyRCD + ".play-kept"
		if err := os.Rename(policyRCD, kept); err != nil {
			return nil, Failf("Fail to move %s to %s: %v", policyRCD, kept, err)
		}
	}
	restore = func() error {
		if kept != "" {
			return os.Rename(kept, policyRCD)
		}
		return os.Remove(policyRCD)
	}
	if err := os.WriteFile(policyRCD, fmt.Appendf(nil, "#!/bin/sh\nexit %d\n", *code), 0o755); err != nil {
		_ = restore() // the failure to write is what matters
		return nil, Failf("Failed to create %s: %v", policyRCD, err)
	}
	return restore, nil
}
