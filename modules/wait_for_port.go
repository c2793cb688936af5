package modules

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxPortText bounds what is read from a port in search of a text, in bytes.
const maxPortText = 16 << 20

// dial makes one connection, within connect_timeout.
func (w *waiting) dial() (net.Conn, error) {
	d := net.Dialer{Timeout: max(time.Duration(w.args.ConnectTimeout)*time.Second, time.Millisecond)}
	return d.DialContext(w.c, "tcp", net.JoinHostPort(w.args.Host, strconv.Itoa(*w.args.Port)))
}

func (w *waiting) connects() bool {
	conn, err := w.dial()
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// portSends connects and reads until the text has come, the peer closes, or the
// time is over.
func (w *waiting) portSends() bool {
	conn, err := w.dial()
	if err != nil {
		return false
	}
	defer conn.Close()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-w.c.Done():
			conn.Close()
		case <-stop:
		}
	}()
	_ = conn.SetReadDeadline(w.ends) // an error shows in Read
	var text []byte
	buf := make([]byte, 4096)
	for len(text) < maxPortText {
		n, err := conn.Read(buf)
		text = append(text, buf[:n]...)
		if w.matches(string(text)) {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}

// newDrain returns a look that tells whether no active connection to the port
// is left.
func (w *waiting) newDrain() (look, error) {
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		return nil, errNoConnections
	}
	local, err := addresses(w.args.Host)
	if err != nil {
		return nil, err
	}
	var excluded []netip.Addr
	for _, host := range w.args.Exclude {
		found, err := addresses(host)
		if err != nil {
			return nil, err
		}
		excluded = append(excluded, found...)
	}
	return func() bool {
		for _, c := range append(connections("/proc/net/tcp"), connections("/proc/net/tcp6")...) {
			if w.active(c, local, excluded) {
				return false
			}
		}
		return true
	}, nil
}

func (w *waiting) active(c connection, local, excluded []netip.Addr) bool {
	here := slices.Contains(local, c.local.Addr()) || slices.ContainsFunc(local, netip.Addr.IsUnspecified)
	return here && int(c.local.Port()) == *w.args.Port &&
		slices.Contains(w.args.States, c.state) && !slices.Contains(excluded, c.remote.Addr())
}

// addresses resolves a host name.
func addresses(host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a.Unmap()}, nil
	}
	ips, err := net.LookupIP(host)
	if err != nil {
		return nil, fmt.Errorf("cannot resolve %q: %w", host, err)
	}
	var out []netip.Addr
	for _, ip := range ips {
		if a, ok := netip.AddrFromSlice(ip); ok {
			out = append(out, a.Unmap())
		}
	}
	return out, nil
}

// connection is one line of the kernel's table.
type connection struct {
	local, remote netip.AddrPort
	state         string
}

// connections reads one of the kernel's tables; lines it does not understand
// are left out.
func connections(table string) []connection {
	f, err := os.Open(table)
	if err != nil {
		return nil
	}
	defer f.Close()
	var out []connection
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 {
			continue
		}
		local, ok1 := kernelAddress(fields[1])
		remote, ok2 := kernelAddress(fields[2])
		n, err := strconv.ParseInt(fields[3], 16, 32)
		if states := tcpStates(); ok1 && ok2 && err == nil && n >= 1 && int(n) <= len(states) {
			out = append(out, connection{local, remote, states[n-1]})
		}
	}
	return out
}

// kernelAddress reads "0100007F:1F90": 32-bit words in the machine's own order
// (every supported machine is little-endian), and the port.
func kernelAddress(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	raw, err := hex.DecodeString(host)
	n, perr := strconv.ParseUint(port, 16, 16)
	if err != nil || perr != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(raw); i += 4 {
		slices.Reverse(raw[i : i+4])
	}
	a, ok := netip.AddrFromSlice(raw)
	return netip.AddrPortFrom(a.Unmap(), uint16(n)), ok
}
