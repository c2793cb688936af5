package facts

import (
	"context"
	"io"
	"net"
	"os"
	"regexp"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"play/modules/value"
)

// platform has the kernel's and the host's names.
func platform(ctx context.Context, h *Host) *value.Dict {
	system, node, release, version, machine := uname()
	fqdn := fullName(ctx, node)
	hostname, _, _ := strings.Cut(node, ".")
	_, domain, _ := strings.Cut(fqdn, ".")
	d := value.DictOf("system", system, "kernel", release, "kernel_version", version, "machine", machine)
	if py := findPython(h); py != nil {
		d.Set("python_version", py.version())
	}
	d.Set("fqdn", fqdn)
	d.Set("hostname", hostname)
	d.Set("nodename", node)
	d.Set("domain", domain)
	bits := userspaceBits(h)
	d.Set("userspace_bits", bits)
	switch {
	case machine == "x86_64" || machine == "amd64" && system != "FreeBSD":
		d.Set("architecture", machine)
		d.Set("userspace_architecture", map[string]string{"64": "x86_64", "32": "i386"}[bits])
	case regexp.MustCompile(`^i[3456]86$`).MatchString(machine):
		d.Set("architecture", "i386")
		d.Set("userspace_architecture", map[string]string{"64": "x86_64", "32": "i386"}[bits])
	default:
		d.Set("architecture", machine)
	}
	for _, file := range []string{"/var/lib/dbus/machine-id", "/etc/machine-id"} {
		if id := h.read(file); id != "" {
			d.Set("machine_id", strings.SplitN(id, "\n", 2)[0])
			break
		}
	}
	return d
}

func uname() (system, node, release, version, machine string) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		node, _ = os.Hostname()
		return runtime.GOOS, node, "", "", runtime.GOARCH
	}
	text := func(b []byte) string { return unix.ByteSliceToString(b) }
	return text(u.Sysname[:]), text(u.Nodename[:]), text(u.Release[:]), text(u.Version[:]), text(u.Machine[:])
}

// fullName asks the resolver for the host's name with its domain, as Python's
// getfqdn: the first name of its address that has a dot, else the first name.
func fullName(ctx context.Context, node string) string {
	addresses, err := net.DefaultResolver.LookupHost(ctx, node)
	if err != nil || len(addresses) == 0 {
		return node
	}
	names, err := net.DefaultResolver.LookupAddr(ctx, addresses[0])
	if err != nil || len(names) == 0 {
		return node
	}
	for i := range names {
		names[i] = strings.TrimSuffix(names[i], ".")
	}
	for _, n := range names {
		if strings.Contains(n, ".") {
			return n
		}
	}
	return names[0]
}

// userspaceBits looks at the shell, since the agent's own bits say nothing of
// the system's programs: the fifth byte of an ELF file is its class.
func userspaceBits(h *Host) string {
	const magic, class32 = "\x7fELF", 1
	var head [5]byte
	f, err := os.Open(h.path("/bin/sh"))
	if err == nil {
		_, err = io.ReadFull(f, head[:])
		f.Close()
	}
	switch {
	case err == nil && string(head[:4]) == magic && head[4] == class32:
		return "32"
	case err == nil && string(head[:4]) == magic, strings.HasSuffix(runtime.GOARCH, "64"):
		return "64"
	}
	return "32"
}
