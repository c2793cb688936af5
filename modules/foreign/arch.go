package foreign

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
)

// machines are the e_machine numbers of ELF programs that run on an
// architecture, its own first.
var machines = map[string][]uint16{
	"amd64": {62, 3}, "386": {3}, "arm64": {183, 40}, "arm": {40}, "ppc64": {21}, "ppc64le": {21},
	"s390x": {22}, "riscv64": {243}, "loong64": {258}, "mips": {8}, "mipsle": {8}, "mips64": {8}, "mips64le": {8},
}

// checkArch refuses a program for another machine before it is started, since
// the system's own words for that help nobody.
func checkArch(program []byte) error {
	if !bytes.HasPrefix(program, []byte("\x7fELF")) || len(program) < 20 {
		if runtime.GOOS == "linux" {
			return fmt.Errorf("it is no ELF program, and this host runs %s/%s", runtime.GOOS, runtime.GOARCH)
		}
		return nil
	}
	var order binary.ByteOrder = binary.LittleEndian
	if program[5] == 2 {
		order = binary.BigEndian
	}
	machine := order.Uint16(program[18:])
	if fit := machines[runtime.GOARCH]; len(fit) > 0 && !slices.Contains(fit, machine) {
		return fmt.Errorf("it is a program for %s, and this host is %s/%s", machineName(machine), runtime.GOOS, runtime.GOARCH)
	}
	return nil
}

func machineName(machine uint16) string {
	for _, arch := range []string{"amd64", "386", "arm64", "arm", "ppc64le", "s390x", "riscv64", "loong64", "mips"} {
		if machines[arch][0] == machine {
			return arch
		}
	}
	return fmt.Sprintf("ELF machine %d", machine)
}
