package jinja

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"

	"play/modules/value"
)

// hwaddrFilters test and write the addresses of network cards.
func hwaddrFilters() []Builtin {
	return []Builtin{
		{Name: "hwaddr", Params: "query='', alias='hwaddr'", Doc: "a hardware address in some form", Fn: func(c *Call) (any, error) { return filterHwaddr(c, "hwaddr") }},
		{Name: "macaddr", Params: "query=''", Doc: "a hardware address in some form", Fn: func(c *Call) (any, error) { return filterHwaddr(c, "macaddr") }},
		{Name: "random_mac", Params: "seed=None", Doc: "a random hardware address that begins with this prefix", Fn: filterRandomMac},
		{Name: "slaac", Params: "query=''", Doc: "the address that a card makes of a network", Fn: filterSlaac},
	}
}

// parseMac reads the six bytes of a hardware address in any usual form.
func parseMac(s string) ([]byte, bool) {
	groups := strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == '-' || r == '.' })
	width := map[int]int{6: 2, 3: 4, 2: 6, 1: 12}[len(groups)]
	digits := ""
	for _, g := range groups {
		if len(g) > width || g == "" {
			return nil, false
		}
		digits += strings.Repeat("0", width-len(g)) + g
	}
	b, err := hex.DecodeString(digits)
	return b, err == nil && len(b) == 6
}

func filterHwaddr(c *Call, name string) (any, error) {
	query := value.Str(c.Args[0])
	s := value.Str(c.Value)
	mac, ok := parseMac(s)
	switch {
	case query == "" && ok:
		return c.Value, nil
	case query == "bool" && ok:
		return true, nil
	case query == "" || query == "bool":
		return nil, nil
	case !ok:
		return nil, fmt.Errorf("%s: not a hardware address: %s", name, s)
	}
	if out, ok := formatMac(mac, query); ok {
		return out, nil
	}
	return nil, fmt.Errorf("%s: unknown filter type: %s", name, query)
}

func formatMac(mac []byte, form string) (any, bool) {
	digits := hex.EncodeToString(mac)
	switch form {
	case "bare":
		return strings.ToUpper(digits), true
	case "cisco":
		return macGroups(digits, 4, "."), true
	case "eui48", "win":
		return strings.ToUpper(macGroups(digits, 2, "-")), true
	case "linux":
		return macGroups(digits, 2, ":"), true
	case "pgsql", "postgresql", "psql":
		return macGroups(digits, 6, ":"), true
	case "unix":
		parts := strings.Split(macGroups(digits, 2, ":"), ":")
		for i, p := range parts {
			if p[0] == '0' {
				parts[i] = p[1:]
			}
		}
		return strings.Join(parts, ":"), true
	case "int":
		n, _ := value.ParseInt(digits, 16)
		return n, true
	}
	return nil, false
}

// macGroups puts a separator after every n characters.
func macGroups(s string, n int, separator string) string {
	var parts []string
	for ; len(s) > n; s = s[n:] {
		parts = append(parts, s[:n])
	}
	return strings.Join(append(parts, s), separator)
}

func filterSlaac(c *Call) (any, error) {
	n, ok := parseIP(c.Value, 6)
	mac, mok := parseMac(value.Str(c.Args[0]))
	if !ok || !mok {
		return false, nil
	}
	b := n.network().As16()
	if n.bits == 128 {
		b = n.ip.As16()
	}
	copy(b[8:], []byte{mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]})
	return netip.AddrFrom16(b).String(), nil
}

func filterRandomMac(c *Call) (any, error) {
	prefix, ok := c.Value.(string)
	if !ok {
		return nil, fmt.Errorf("Invalid value type (<class '%s'>) for random_mac (%s)", value.TypeName(c.Value), value.Str(c.Value))
	}
	prefix = strings.ToLower(prefix)
	parts := strings.Split(prefix, ":")
	if len(parts) > 5 {
		return nil, fmt.Errorf("Invalid value (%s) for random_mac: 5 colon(:) separated items max", prefix)
	}
	for _, p := range parts {
		if len(p) != 2 || strings.Trim(p, "0123456789abcdef") != "" {
			return nil, fmt.Errorf("Invalid value (%s) for random_mac: %s not hexa byte", prefix, p)
		}
	}
	r := newRandom(c.Args[0])
	digits := fmt.Sprintf("%x", 0x1000000000+r.below(0xf000000000))
	return prefix + ":" + macGroups(digits[:2*(6-len(parts))], 2, ":"), nil
}

// ipTests are ansible.utils' tests on addresses.
func ipTests() []Builtin {
	is := func(name, doc string, test func(ipNet) bool) Builtin {
		return Builtin{Name: name, Doc: doc, Fn: func(c *Call) (any, error) {
			n, ok := parseStrict(c.Value)
			return ok && test(n), nil
		}}
	}
	address := func(version int) func(ipNet) bool {
		return func(n ipNet) bool { return !n.prefix && (version == 0 || ipVersion(n.ip) == version) }
	}
	within := func(networks ...string) func(ipNet) bool {
		return func(n ipNet) bool { return !n.prefix && n.within(networks...) }
	}
	mask := func(host bool) func(ipNet) bool {
		return func(n ipNet) bool { _, ok := maskBits(n.ip, host); return ok && n.ip.Is4() && !n.prefix }
	}
	return []Builtin{
		{Name: "in_any_network", Params: "networks", Doc: "an address in one of some networks, or more", Fn: func(c *Call) (any, error) {
			n, err := countNetworks(c)
			return n > 0, err
		}},
		{Name: "in_network", Params: "network", Doc: "an address in a network", Fn: func(c *Call) (any, error) { return strictlyIn(c.Value, c.Args[0]), nil }},
		{Name: "in_one_network", Params: "networks", Doc: "an address in exactly one of some networks", Fn: func(c *Call) (any, error) {
			n, err := countNetworks(c)
			return n == 1, err
		}},
		is("ip", "an address or a network", func(ipNet) bool { return true }),
		is("ip_address", "an address", address(0)),
		is("ipv4", "an IPv4 address or network", func(n ipNet) bool { return n.ip.Is4() }),
		is("ipv4_address", "an IPv4 address", address(4)),
		is("ipv4_hostmask", "an IPv4 hostmask", mask(true)),
		is("ipv4_netmask", "an IPv4 netmask", mask(false)),
		is("ipv6", "an IPv6 address or network", func(n ipNet) bool { return n.ip.Is6() }),
		is("ipv6_address", "an IPv6 address", address(6)),
		is("ipv6_ipv4_mapped", "an IPv4 address written as IPv6", within("::ffff:0:0/96")),
		is("ipv6_sixtofour", "a 6to4 address", within("2002::/16")),
		is("ipv6_teredo", "a Teredo address", within("2001::/32")),
		is("loopback", "a loopback address", within("127.0.0.0/8", "::1/128")),
		{Name: "mac", Doc: "a hardware address", Fn: func(c *Call) (any, error) { _, ok := parseMac(value.Str(c.Value)); return ok, nil }},
		is("multicast", "a multicast address", within("224.0.0.0/4", "ff00::/8")),
		is("private", "an address of a private network", func(n ipNet) bool { return isReservedByIANA(n) }),
		is("public", "an address of the public network", func(n ipNet) bool { return !isReservedByIANA(n) && !n.within("100.64.0.0/10") }),
		is("reserved", "a reserved address", within("240.0.0.0/4", "::/8", "100::/8", "200::/7", "400::/6", "800::/5", "1000::/4", "4000::/3", "6000::/3", "8000::/3", "a000::/3", "c000::/3", "e000::/4", "f000::/5", "f800::/6", "fe00::/9")),
		{Name: "subnet_of", Params: "network", Doc: "a network within another", Fn: func(c *Call) (any, error) { return strictlyIn(c.Value, c.Args[0]), nil }},
		{Name: "supernet_of", Params: "network", Doc: "a network around another", Fn: func(c *Call) (any, error) { return strictlyIn(c.Args[0], c.Value), nil }},
		is("unspecified", "the address of zeros", within("0.0.0.0/32", "::/128")),
	}
}

// parseStrict reads complete addresses, and networks whose host bits are zero.
func parseStrict(v any) (ipNet, bool) {
	s, ok := v.(string)
	if !ok || !strings.ContainsAny(s, ".:") || !strings.Contains(s, ":") && strings.Count(s, ".") != 3 {
		return ipNet{}, false
	}
	n, ok := parseIPText(s, 0)
	return n, ok && (!n.prefix || n.ip == n.network())
}

func strictlyIn(inner, outer any) bool {
	a, aok := parseStrict(inner)
	b, bok := parseStrict(outer)
	return aok && bok && b.contains(a)
}

func countNetworks(c *Call) (int, error) {
	networks, err := iterate(c.Args[0])
	if err != nil {
		return 0, err
	}
	n := 0
	for _, network := range networks {
		if strictlyIn(c.Value, network) {
			n++
		}
	}
	return n, nil
}

// isReservedByIANA is Python's ipaddress notion of private: not for the public.
func isReservedByIANA(n ipNet) bool {
	return n.within("0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/29", "192.0.0.170/31",
		"192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32",
		"::1/128", "::/128", "::ffff:0:0/96", "100::/64", "2001::/23", "2001:2::/48", "2001:db8::/32", "2001:10::/28", "fc00::/7", "fe80::/10")
}
