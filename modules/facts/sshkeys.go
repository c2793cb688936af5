package facts

import (
	"strings"

	"play/modules/value"
)

// sshKeys are the public host keys of the SSH server.
func sshKeys(h *Host) *value.Dict {
	d := value.NewDict()
	for _, dir := range []string{"/etc/ssh", "/etc/openssh", "/etc"} {
		for _, algorithm := range []string{"dsa", "rsa", "ecdsa", "ed25519"} {
			words := strings.Fields(h.read(dir + "/ssh_host_" + algorithm + "_key.pub"))
			if len(words) < 2 {
				continue
			}
			d.Set("ssh_host_key_"+algorithm+"_public", words[1])
			d.Set("ssh_host_key_"+algorithm+"_public_keytype", words[0])
		}
		if d.Len() > 0 {
			break
		}
	}
	return d
}
