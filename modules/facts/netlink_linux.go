package facts

import (
	"encoding/binary"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// interfaceAddresses asks the kernel for all addresses, in its order.
func interfaceAddresses() ([]address, error) {
	rib, err := syscall.NetlinkRIB(unix.RTM_GETADDR, unix.AF_UNSPEC)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseNetlinkMessage(rib)
	if err != nil {
		return nil, err
	}
	names := interfaceNames()
	var v4, v6 []address
	for _, m := range messages {
		if m.Header.Type != unix.RTM_NEWADDR || len(m.Data) < unix.SizeofIfAddrmsg {
			continue
		}
		a, ok := parseAddress(&m, names)
		switch {
		case ok && a.prefix.Addr().Is4():
			v4 = append(v4, a)
		case ok:
			v6 = append(v6, a)
		}
	}
	return append(v4, v6...), nil
}

func interfaceNames() map[int]string {
	names := map[int]string{}
	all, _ := net.Interfaces()
	for _, i := range all {
		names[i.Index] = i.Name
	}
	return names
}

// parseAddress reads an ifaddrmsg: family, prefix length, flags, scope, index.
func parseAddress(m *syscall.NetlinkMessage, names map[int]string) (address, bool) {
	attrs, err := syscall.ParseNetlinkRouteAttr(m)
	if err != nil {
		return address{}, false
	}
	bits, flags, scope := int(m.Data[1]), m.Data[2], m.Data[3]
	a := address{iface: names[int(binary.NativeEndian.Uint32(m.Data[4:]))], secondary: flags&unix.IFA_F_SECONDARY != 0 && m.Data[0] == unix.AF_INET}
	a.label = a.iface
	a.scope = map[byte]string{unix.RT_SCOPE_UNIVERSE: "global", unix.RT_SCOPE_SITE: "site", unix.RT_SCOPE_LINK: "link", unix.RT_SCOPE_HOST: "host"}[scope]
	var local, other netip.Addr
	for _, attr := range attrs {
		switch attr.Attr.Type {
		case unix.IFA_LOCAL:
			local, _ = netip.AddrFromSlice(attr.Value)
		case unix.IFA_ADDRESS:
			other, _ = netip.AddrFromSlice(attr.Value)
		case unix.IFA_BROADCAST:
			if b, ok := netip.AddrFromSlice(attr.Value); ok {
				a.broadcast = b.String()
			}
		case unix.IFA_LABEL:
			a.label = unix.ByteSliceToString(attr.Value)
		}
	}
	if !local.IsValid() {
		local = other
	}
	a.prefix = netip.PrefixFrom(local, bits)
	return a, local.IsValid()
}

// defaultRoutes asks how two well-known public addresses would be reached;
// nothing is sent to them.
func defaultRoutes() (v4, v6 *route) {
	return routeTo(netip.MustParseAddr("8.8.8.8")), routeTo(netip.MustParseAddr("2404:6800:400a:800::1012"))
}

func routeTo(to netip.Addr) *route {
	reply, err := askRoute(to)
	if err != nil {
		return nil
	}
	messages, err := syscall.ParseNetlinkMessage(reply)
	if err != nil || len(messages) == 0 || messages[0].Header.Type != unix.RTM_NEWROUTE {
		return nil
	}
	if kind := messages[0].Data[7]; kind != unix.RTN_UNICAST {
		return nil
	}
	attrs, err := syscall.ParseNetlinkRouteAttr(&messages[0])
	if err != nil {
		return nil
	}
	r := &route{}
	for _, attr := range attrs {
		switch attr.Attr.Type {
		case unix.RTA_OIF:
			r.iface = interfaceNames()[int(binary.NativeEndian.Uint32(attr.Value))]
		case unix.RTA_PREFSRC:
			r.source = addressText(attr.Value)
		case unix.RTA_GATEWAY:
			r.gateway = addressText(attr.Value)
		}
	}
	return r
}

func addressText(b []byte) string {
	a, ok := netip.AddrFromSlice(b)
	if !ok {
		return ""
	}
	return a.String()
}

// askRoute sends one RTM_GETROUTE request: header, rtmsg, destination.
func askRoute(to netip.Addr) ([]byte, error) {
	s, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	defer unix.Close(s)
	if err := unix.SetsockoptTimeval(s, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 2}); err != nil {
		return nil, err
	}
	dst := to.AsSlice()
	size := unix.SizeofNlMsghdr + unix.SizeofRtMsg + unix.SizeofRtAttr + len(dst)
	msg := make([]byte, size)
	binary.NativeEndian.PutUint32(msg[0:], uint32(size))
	binary.NativeEndian.PutUint16(msg[4:], unix.RTM_GETROUTE)
	binary.NativeEndian.PutUint16(msg[6:], unix.NLM_F_REQUEST)
	rt := msg[unix.SizeofNlMsghdr:]
	rt[0] = unix.AF_INET
	if to.Is6() {
		rt[0] = unix.AF_INET6
	}
	rt[1] = byte(len(dst) * 8)
	attr := rt[unix.SizeofRtMsg:]
	binary.NativeEndian.PutUint16(attr[0:], uint16(unix.SizeofRtAttr+len(dst)))
	binary.NativeEndian.PutUint16(attr[2:], unix.RTA_DST)
	copy(attr[unix.SizeofRtAttr:], dst)
	if err := unix.Sendto(s, msg, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return nil, err
	}
	buf := make([]byte, 8192)
	n, _, err := unix.Recvfrom(s, buf, 0)
	if err != nil {
		return nil, err
	}
	return buf[:n], nil
}
