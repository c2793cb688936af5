package jinja

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"strings"

	"play/modules/value"
)

// ipFilters are ansible.utils' filters that test and take apart addresses.
func ipFilters() []Builtin {
	const params = "query='', version=False, alias='ipaddr'"
	family := func(name string, version int) func(*Call) (any, error) {
		return func(c *Call) (any, error) { return ipFilter(c.Value, c.Args[0], name, version) }
	}
	return []Builtin{
		{Name: "ipaddr", Params: params, Doc: "the address or network, or what a query asks of it", Fn: func(c *Call) (any, error) {
			version, _ := value.AsInt(c.Args[1])
			return ipFilter(c.Value, c.Args[0], "ipaddr", version)
		}},
		{Name: "ipv4", Params: "query=''", Doc: "as ipaddr, for IPv4 only", Fn: family("ipv4", 4)},
		{Name: "ipv6", Params: "query=''", Doc: "as ipaddr, for IPv6 only", Fn: family("ipv6", 6)},
		{Name: "ipwrap", Params: "query=''", Doc: "an IPv6 address in brackets, anything else as it is", Fn: filterIPWrap},
	}
}

// ipFilter answers a query for one value, or for every address of a list.
func ipFilter(v, query any, name string, version int) (any, error) {
	switch v := v.(type) {
	case *value.List, value.Tuple:
		return ipList(v, query, name, version)
	case string, int, *big.Int:
		return ipQuery(v, value.Str(query), name, version)
	case bool:
		return false, nil
	}
	return nil, fmt.Errorf("Unrecognized type <<class '%s'>> for %s filter <value>", value.TypeName(v), name)
}

func ipList(v, query any, name string, version int) (any, error) {
	items, _ := value.Items(v)
	out := value.NewList()
	for _, item := range items {
		switch item.(type) {
		case string, int, *big.Int, *value.List:
		default:
			continue
		}
		found, err := ipFilter(item, query, name, version)
		if err != nil {
			return nil, err
		}
		if value.Truth(found) {
			out.Append(found)
		}
	}
	return out, nil
}

func ipQuery(v any, query, name string, version int) (any, error) {
	n, ok := parseIP(v, version)
	if !ok {
		return false, nil
	}
	if answer, ok := networkQuery(n, query); ok {
		return answer, nil
	}
	if answer, ok := addressQuery(n, query); ok {
		return answer, nil
	}
	if answer, ok := rangeQuery(n, query); ok {
		return answer, nil
	}
	if answer, ok, err := usableQuery(n, query); ok || err != nil {
		return answer, err
	}
	if index, ok := value.ParseInt(query, 10); ok {
		return nthAddress(n, index), nil
	}
	if outer, ok := parseIPText(query, 0); ok {
		if !outer.contains(n) {
			return nil, nil
		}
		if s, ok := v.(string); ok && spanLen(s, isDigit) != len(s) {
			return s, nil
		}
		return n.withBits(n.ip), nil
	}
	return nil, fmt.Errorf("%s: unknown filter type: %s", name, query)
}

// networkQuery answers what concerns the network.
func networkQuery(n ipNet, query string) (any, bool) {
	switch query {
	case "broadcast":
		if n.atMost(2) {
			return nil, true
		}
		return n.last().String(), true
	case "hostmask", "wildcard":
		return n.hostmask().String(), true
	case "netmask":
		return n.netmask().String(), true
	case "network", "network_id":
		return n.network().String(), true
	case "network/prefix", "subnet":
		return n.subnet(), true
	case "network_netmask":
		return n.network().String() + " " + n.netmask().String(), true
	case "network_wildcard":
		return n.network().String() + " " + n.hostmask().String(), true
	case "net":
		return when(n.isNetwork(), n.subnet()), true
	case "prefix":
		return n.bits, true
	case "size":
		return value.Int(n.size()), true
	case "size_usable":
		switch {
		case n.atMost(1):
			return 0, true
		case n.atMost(2):
			return 2, true
		}
		return value.Int(new(big.Int).Sub(n.size(), big.NewInt(2))), true
	case "type":
		if n.isNetwork() {
			return "network", true
		}
		return "address", true
	}
	return nil, false
}

// when returns v, or None if the condition fails.
func when(condition bool, v any) any {
	if condition {
		return v
	}
	return nil
}

// addressQuery answers what concerns the address itself.
func addressQuery(n ipNet, query string) (any, bool) {
	single := n.bits == n.ip.BitLen()
	inner := n.ip != n.network()
	switch query {
	case "", "value":
		return n.String(), true
	case "bool":
		return true, true
	case "address", "ip":
		return when(single || inner || n.ip.Is6() || n.atMost(2), n.ip.String()), true
	case "address/prefix", "host/prefix", "gateway", "gw", "router", "hostnet":
		if !n.atMost(2) && (!inner || n.ip == n.last()) {
			return false, true
		}
		return n.withBits(n.ip), true
	case "host":
		return when(inner || n.atMost(2), n.withBits(n.ip)), true
	case "ip/prefix":
		return when(!single && (inner || n.atMost(2)), n.withBits(n.ip)), true
	case "ip_netmask":
		return when(!single && (inner || n.atMost(2)), n.ip.String()+" "+n.netmask().String()), true
	case "int":
		if n.prefix {
			return fmt.Sprintf("%s/%d", ipNumber(n.ip), n.bits), true
		}
		return value.Int(ipNumber(n.ip)), true
	case "revdns":
		return reverse(n.ip), true
	case "version":
		return ipVersion(n.ip), true
	case "wrap":
		return wrapIP(n), true
	}
	return convertQuery(n, query)
}

func wrapIP(n ipNet) string {
	if n.ip.Is4() {
		return n.String()
	}
	return "[" + n.ip.String() + "]" + strings.TrimPrefix(n.String(), n.ip.String())
}

// convertQuery answers with the address of another family.
func convertQuery(n ipNet, query string) (any, bool) {
	switch query {
	case "ipv4", "v4":
		if n.ip.Is4() {
			return n.String(), true
		}
		if !n.within("::ffff:0:0/96") {
			return false, true
		}
		return fmt.Sprintf("%s/%d", n.ip.Unmap(), n.bits-96), true
	case "ipv6", "v6":
		if n.ip.Is6() {
			return n.String(), true
		}
		return fmt.Sprintf("::ffff:%s/%d", n.ip, n.bits+96), true
	case "6to4":
		switch {
		case n.within("2002::/16"):
			return n.String(), true
		case n.ip.Is6() || n.isNetwork() || n.isLoopback() || n.isMulticast():
			return false, true
		}
		b := n.ip.As4()
		return fmt.Sprintf("2002:%02x%02x:%02x%02x::1/48", b[0], b[1], b[2], b[3]), true
	}
	return nil, false
}

// rangeQuery returns the value if it lies in a range of some purpose.
func rangeQuery(n ipNet, query string) (any, bool) {
	switch query {
	case "link-local":
		return when(n.isLinkLocal(), n.String()), true
	case "lo", "loopback":
		return when(n.isLoopback(), n.String()), true
	case "multicast":
		return when(n.isMulticast(), n.String()), true
	case "private":
		return when(n.isPrivate(), n.String()), true
	case "public":
		return when(n.isPublic(), n.String()), true
	case "unicast":
		return when(!n.isMulticast(), n.String()), true
	}
	return nil, false
}

// usableQuery answers what makes sense for networks of several addresses only.
func usableQuery(n ipNet, query string) (any, bool, error) {
	switch query {
	case "first_usable", "last_usable", "next_usable", "previous_usable", "range_usable", "peer":
	default:
		return nil, false, nil
	}
	if n.atMost(1) && !n.prefix {
		return nil, true, errors.New("Not a network address")
	}
	if n.atMost(1) {
		return nil, true, nil
	}
	first, last := n.usable()
	switch query {
	case "first_usable":
		return first.String(), true, nil
	case "last_usable":
		return last.String(), true, nil
	case "range_usable":
		return first.String() + "-" + last.String(), true, nil
	case "next_usable":
		return nthUsable(n, 1), true, nil
	case "previous_usable":
		return nthUsable(n, -1), true, nil
	}
	peer, err := peerOf(n)
	return peer, true, err
}

// nthUsable returns the address so many steps away, if a host can have it.
func nthUsable(n ipNet, steps int) any {
	first, last := n.usable()
	ip, ok := addTo(n.ip, big.NewInt(int64(steps)))
	if !ok || ip.Compare(first) < 0 || ip.Compare(last) > 0 {
		return nil
	}
	return ip.String()
}

// peerOf is the other end of a point-to-point network.
func peerOf(n ipNet) (any, error) {
	switch {
	case n.atMost(2):
		if n.ip == n.network() {
			return n.last().String(), nil
		}
		return n.network().String(), nil
	case !n.atMost(4):
		return nil, errors.New("Not a point-to-point network")
	case n.ip == n.network():
		return nil, errors.New("Network address of /30 has no peer")
	case n.ip == n.last():
		return nil, errors.New("Broadcast address of /30 has no peer")
	}
	first, last := n.usable()
	if n.ip == first {
		return last.String(), nil
	}
	return first.String(), nil
}

// nthAddress returns an address of the network by its number, counted from the
// end if it is negative.
func nthAddress(n ipNet, index any) any {
	if n.atMost(1) {
		return n.String()
	}
	ip, ok := n.nth(value.BigInt(index))
	if !ok {
		return false
	}
	return n.withBits(ip)
}

func (n ipNet) nth(index *big.Int) (netip.Addr, bool) {
	at := new(big.Int).Set(index)
	if at.Sign() < 0 {
		at.Add(at, n.size())
	}
	if at.Sign() < 0 || at.Cmp(n.size()) >= 0 {
		return netip.Addr{}, false
	}
	return addTo(n.network(), at)
}

func filterIPWrap(c *Call) (any, error) {
	switch v := c.Value.(type) {
	case bool:
		return v, nil
	case string:
		return wrapText(v), nil
	case *value.List, value.Tuple:
		items, _ := value.Items(v)
		out := value.NewList()
		for _, item := range items {
			if s, ok := item.(string); ok {
				item = wrapText(s)
			}
			out.Append(item)
		}
		return out, nil
	}
	return nil, fmt.Errorf("Unrecognized type <<class '%s'>> for ipwrap filter <value>", value.TypeName(c.Value))
}

func wrapText(s string) string {
	if !strings.Contains(s, ":") {
		return s
	}
	if n, ok := parseIP(s, 6); ok {
		return wrapIP(n)
	}
	return s
}
