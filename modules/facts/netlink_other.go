//go:build !linux

package facts

import (
	"net"
	"net/netip"
)

// interfaceAddresses has what the portable interface tells.
func interfaceAddresses() ([]address, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var out []address
	for _, i := range all {
		addrs, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				out = append(out, address{iface: i.Name, label: i.Name, prefix: p, scope: "global"})
			}
		}
	}
	return out, nil
}

// defaultRoutes are not known here.
func defaultRoutes() (v4, v6 *route) { return nil, nil }
