package wire

import (
	"bufio"
	"bytes"
	"fmt"
)

// SkipNoise reads r up to and including Magic. It returns the noise before it,
// for messages, and an error when Magic did not come within MaxNoise bytes.
func SkipNoise(r *bufio.Reader) (noise []byte, err error) {
	for !bytes.HasSuffix(noise, []byte(Magic)) {
		if len(noise) >= MaxNoise+len(Magic) {
			return noise, fmt.Errorf("%w: no agent answered within %d bytes of output", ErrProtocol, MaxNoise)
		}
		c, err := r.ReadByte()
		if err != nil {
			return noise, err
		}
		noise = append(noise, c)
	}
	return noise[:len(noise)-len(Magic)], nil
}

// VersionMismatch words the refusal of a peer of another version, or returns "".
func VersionMismatch(agent, controller int) string {
	if agent == controller {
		return ""
	}
	return fmt.Sprintf("the agent speaks protocol version %d and play speaks version %d", agent, controller)
}
