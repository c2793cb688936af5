package jinja

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"slices"

	"play/modules/value"
)

// maxRangeIPs is how many addresses usable_range lists at most.
const maxRangeIPs = 1 << 20

// ipMathFilters are ansible.utils' filters that count with addresses.
func ipMathFilters() []Builtin {
	return []Builtin{
		{Name: "cidr_merge", Params: "action='merge'", Doc: "the smallest list of networks that covers these", Fn: filterCidrMerge},
		{Name: "ip4_hex", Params: "delimiter=''", Doc: "an IPv4 address in hexadecimal", Fn: filterIP4Hex},
		{Name: "ipmath", Params: "amount", Doc: "the address so much further on", Fn: filterIPMath},
		{Name: "ipsubnet", Params: "query='', index=None", Doc: "the subnets of a network, or where a network lies in another", Fn: filterIPSubnet},
		{Name: "network_in_network", Params: "test", Doc: "whether a network contains another", Fn: filterInNetwork},
		{Name: "network_in_usable", Params: "test", Doc: "whether a network's usable addresses contain another network", Fn: filterInUsable},
		{Name: "next_nth_usable", Params: "offset", Doc: "the usable address so many places further on", Fn: func(c *Call) (any, error) { return usableStep(c, 1) }},
		{Name: "nthhost", Params: "query=''", Doc: "an address of a network by its number", Fn: filterNthhost},
		{Name: "previous_nth_usable", Params: "offset", Doc: "the usable address so many places back", Fn: func(c *Call) (any, error) { return usableStep(c, -1) }},
		{Name: "reduce_on_network", Params: "network", Doc: "the addresses that lie in a network", Fn: filterReduceOnNetwork},
		{Name: "usable_range", Doc: "the addresses of a network and their number", Fn: filterUsableRange},
	}
}

func filterIPSubnet(c *Call) (any, error) {
	n, ok := parseIP(c.Value, 0)
	if !ok {
		return false, nil
	}
	query := value.Str(c.Args[0])
	if query == "" {
		return n.subnet(), nil
	}
	if spanLen(query, isDigit) != len(query) {
		return subnetRank(n, query)
	}
	size, err := wantIntText(query)
	if err != nil {
		return nil, err
	}
	var index *big.Int
	if c.Args[1] != nil {
		number, ok := value.ParseInt(value.Str(c.Args[1]), 10)
		if !ok {
			return false, nil
		}
		index = value.BigInt(number)
	}
	if n.bits == n.ip.BitLen() {
		return superNet(n, size, index), nil
	}
	return subNet(n, size, index)
}

func wantIntText(s string) (int, error) {
	v, ok := value.ParseInt(s, 10)
	n, small := v.(int)
	if !ok || !small {
		return 0, fmt.Errorf("invalid literal for int() with base 10: %s", value.Repr(s))
	}
	return n, nil
}

// superNet lists the networks around an address, from a size on, and picks one.
func superNet(n ipNet, size int, index *big.Int) any {
	count := n.ip.BitLen() - size
	if size < 0 || count < 1 {
		return false
	}
	at := 0
	if index != nil {
		at = int(index.Int64())
	}
	if at < 0 {
		at += count
	}
	if at < 0 || at >= count {
		return false
	}
	return ipNet{ip: n.ip, bits: size + at}.subnet()
}

// subNet counts a network's subnets of a size, or picks one.
func subNet(n ipNet, size int, index *big.Int) (any, error) {
	switch {
	case size < n.bits:
		return nil, fmt.Errorf("Requested subnet size of %d is invalid", size)
	case size > n.ip.BitLen():
		return false, nil
	}
	count := new(big.Int).Lsh(big.NewInt(1), uint(size-n.bits))
	if index == nil {
		return count.String(), nil
	}
	if index.Sign() < 0 {
		index = new(big.Int).Add(index, count)
	}
	if index.Sign() < 0 || index.Cmp(count) >= 0 {
		return false, nil
	}
	ip, _ := addTo(n.network(), new(big.Int).Lsh(index, uint(n.ip.BitLen()-size))) // within n
	return ipNet{ip: ip, bits: size}.subnet(), nil
}

// subnetRank tells the how manieth subnet of its size n is.
func subnetRank(n ipNet, query string) (any, error) {
	outer, ok := parseIP(query, 0)
	if !ok {
		return nil, fmt.Errorf("You must pass a valid subnet or IP address; %s is invalid", query)
	}
	if !outer.contains(n) {
		return nil, fmt.Errorf("%s is not in the subnet %s", n.subnet(), outer.subnet())
	}
	offset := new(big.Int).Sub(ipNumber(n.network()), ipNumber(outer.network()))
	offset.Rsh(offset, uint(n.ip.BitLen()-n.bits))
	return offset.Add(offset, big.NewInt(1)).String(), nil
}

func filterIPMath(c *Call) (any, error) {
	n, ok := parseIP(c.Value, 0)
	if !ok {
		return nil, fmt.Errorf("You must pass a valid IP address; %s is invalid", value.Str(c.Value))
	}
	amount, err := amountArg("amount", c.Args[0])
	if err != nil {
		return nil, err
	}
	ip, ok := addTo(n.ip, amount)
	if !ok {
		return nil, errors.New("result outside valid IP address boundary!")
	}
	return ip.String(), nil
}

func amountArg(name string, v any) (*big.Int, error) {
	n, ok := value.ParseInt(value.Str(v), 10)
	if !ok {
		return nil, fmt.Errorf("argument '%s' is of type <class '%s'> and we were unable to convert to int", name, value.TypeName(v))
	}
	return value.BigInt(n), nil
}

func filterNthhost(c *Call) (any, error) {
	n, ok := parseIP(c.Value, 0)
	index, isNumber := value.ParseInt(value.Str(c.Args[0]), 10)
	if !ok || !isNumber {
		return false, nil
	}
	ip, ok := n.nth(value.BigInt(index))
	if !ok {
		return false, nil
	}
	return ip.String(), nil
}

func usableStep(c *Call, sign int) (any, error) {
	n, ok := parseIP(c.Value, 0)
	if !ok {
		return false, nil
	}
	offset, err := amountArg("offset", c.Args[0])
	if err != nil {
		return nil, err
	}
	if n.atMost(1) || !offset.IsInt64() {
		return nil, nil
	}
	return nthUsable(n, sign*int(offset.Int64())), nil
}

func filterInNetwork(c *Call) (any, error) {
	outer, ok := parseIP(c.Value, 0)
	inner, iok := parseIP(c.Args[0], 0)
	return ok && iok && outer.contains(inner), nil
}

func filterInUsable(c *Call) (any, error) {
	outer, ok := parseIP(c.Value, 0)
	inner, iok := parseIP(c.Args[0], 0)
	if !ok || !iok || !outer.contains(inner) {
		return false, nil
	}
	first, last := outer.usable()
	return inner.network().Compare(first) >= 0 && inner.last().Compare(last) <= 0, nil
}

func filterReduceOnNetwork(c *Call) (any, error) {
	items, err := iterate(c.Value)
	if err != nil {
		return nil, err
	}
	outer, ok := parseIP(c.Args[0], 0)
	out := value.NewList()
	for _, item := range items {
		if inner, iok := parseIP(item, 0); ok && iok && outer.contains(inner) {
			out.Append(item)
		}
	}
	return out, nil
}

func filterUsableRange(c *Call) (any, error) {
	n, ok := parseIP(c.Value, 0)
	if !ok || n.ip != n.network() {
		return nil, fmt.Errorf("Error while using plugin 'usable_range': %s does not appear to be an IPv4 or IPv6 network", value.Repr(c.Value))
	}
	if !n.atMost(maxRangeIPs) {
		return nil, fmt.Errorf("cannot list the addresses of %s: they are more than %d", n, maxRangeIPs)
	}
	list := value.NewList()
	for ip, i := n.network(), 0; i < int(n.size().Int64()); i++ {
		list.Append(ip.String())
		ip = ip.Next()
	}
	return value.DictOf("usable_ips", list, "number_of_ips", list.Len()), nil
}

func filterCidrMerge(c *Call) (any, error) {
	items := []any{c.Value}
	if !isString(c.Value) {
		var err error
		if items, err = iterate(c.Value); err != nil {
			return nil, err
		}
	}
	var nets []ipNet
	for _, item := range items {
		n, ok := parseIP(item, 0)
		if !ok {
			return nil, fmt.Errorf("cidr_merge: error in netaddr:\ninvalid IPNetwork %s", value.Str(item))
		}
		n.ip = n.network()
		nets = append(nets, n)
	}
	switch action := value.Str(c.Args[0]); action {
	case "merge":
		out := value.NewList()
		for _, n := range mergeNets(nets) {
			out.Append(n.subnet())
		}
		return out, nil
	case "span":
		return spanNets(nets)
	default:
		return nil, fmt.Errorf("cidr_merge: invalid action '%s'", action)
	}
}

// mergeNets joins networks that lie in or beside each other.
func mergeNets(nets []ipNet) []ipNet {
	slices.SortFunc(nets, func(a, b ipNet) int {
		if n := a.ip.BitLen() - b.ip.BitLen(); n != 0 {
			return n
		}
		if n := a.ip.Compare(b.ip); n != 0 {
			return n
		}
		return a.bits - b.bits
	})
	var out []ipNet
	for _, n := range nets {
		if len(out) > 0 && out[len(out)-1].contains(n) {
			continue
		}
		out = append(out, n)
		for len(out) > 1 {
			wide, ok := joined(out[len(out)-2], out[len(out)-1])
			if !ok {
				break
			}
			out = append(out[:len(out)-2], wide)
		}
	}
	return out
}

// joined is the network of which a and b are the halves.
func joined(a, b ipNet) (ipNet, bool) {
	if a.bits != b.bits || a.bits == 0 || a.ip.BitLen() != b.ip.BitLen() {
		return ipNet{}, false
	}
	wide := ipNet{ip: a.ip, bits: a.bits - 1}
	return wide, wide.network() == a.ip && wide.contains(b)
}

// spanNets is the smallest network that holds all.
func spanNets(nets []ipNet) (any, error) {
	if len(nets) == 0 {
		return nil, errors.New("cidr_merge: error in netaddr:\nIP sequence must contain at least 2 elements!")
	}
	wide := nets[0]
	for _, n := range nets {
		for !wide.contains(n) {
			if wide.bits == 0 || wide.ip.BitLen() != n.ip.BitLen() {
				return nil, errors.New("cidr_merge: IP sequence cannot contain both IPv4 and IPv6!")
			}
			wide.bits--
		}
	}
	return wide.subnet(), nil
}

func filterIP4Hex(c *Call) (any, error) {
	ip, err := netip.ParseAddr(value.Str(c.Value))
	if err != nil || !ip.Is4() {
		return nil, fmt.Errorf("invalid literal for int() with base 10: %s", value.Repr(c.Value))
	}
	b, d := ip.As4(), value.Str(c.Args[0])
	return fmt.Sprintf("%02x%s%02x%s%02x%s%02x", b[0], d, b[1], d, b[2], d, b[3]), nil
}
