package jinja

import (
	"fmt"
	"math/big"
	"net/netip"
	"strconv"
	"strings"

	"play/modules/value"
)

// ipNet is an address with its network, as the ipaddr filters see one: an
// address without a prefix is its own network of one address.
type ipNet struct {
	ip     netip.Addr
	bits   int
	prefix bool // the prefix was given
}

// parseIP reads an address or a network: a text, or a number. Version 0 lets
// numbers be IPv4 where they fit.
func parseIP(v any, version int) (ipNet, bool) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return ipNet{}, false
		}
		return parseIPText(strings.TrimSpace(v), version)
	case int, *big.Int:
		return ipOfNumber(value.BigInt(v), version)
	}
	return ipNet{}, false
}

func parseIPText(s string, version int) (ipNet, bool) {
	if spanLen(s, isDigit) == len(s) && s != "" {
		n, ok := new(big.Int).SetString(s, 10)
		if !ok {
			return ipNet{}, false
		}
		return ipOfNumber(n, version)
	}
	host, mask, given := strings.Cut(s, "/")
	ip, ok := parseAddr(host)
	if !ok || version != 0 && version != ipVersion(ip) {
		return ipNet{}, false
	}
	if !given {
		return ipNet{ip: ip, bits: ip.BitLen()}, true
	}
	bits, ok := parseMask(mask, ip)
	return ipNet{ip: ip, bits: bits, prefix: true}, ok
}

// parseAddr reads an address; an IPv4 one may lack its last parts.
func parseAddr(s string) (netip.Addr, bool) {
	if strings.Contains(s, ":") {
		ip, err := netip.ParseAddr(s)
		return ip, err == nil && ip.Zone() == ""
	}
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var b [4]byte
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 8)
		if err != nil {
			return netip.Addr{}, false
		}
		b[i] = byte(n)
	}
	return netip.AddrFrom4(b), true
}

// parseMask reads "24", a netmask or a hostmask.
func parseMask(s string, ip netip.Addr) (int, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return n, n >= 0 && n <= ip.BitLen()
	}
	mask, err := netip.ParseAddr(s)
	if err != nil || mask.BitLen() != ip.BitLen() {
		return 0, false
	}
	if bits, ok := maskBits(mask, false); ok {
		return bits, true
	}
	return maskBits(mask, true)
}

// maskBits counts the leading ones of a netmask, or the leading zeros of a
// hostmask.
func maskBits(mask netip.Addr, host bool) (int, bool) {
	bits := 0
	for bits < mask.BitLen() && bitSet(mask, bits) != host {
		bits++
	}
	for i := bits; i < mask.BitLen(); i++ {
		if bitSet(mask, i) != host {
			return 0, false
		}
	}
	return bits, true
}

func bitSet(ip netip.Addr, i int) bool {
	return ip.AsSlice()[i/8]&(0x80>>(i%8)) != 0
}

func ipOfNumber(n *big.Int, version int) (ipNet, bool) {
	switch {
	case n.Sign() < 0 || n.BitLen() > 128 || version == 4 && n.BitLen() > 32:
		return ipNet{}, false
	case version != 6 && n.BitLen() <= 32:
		ip := addrOf(n, 32)
		return ipNet{ip: ip, bits: 32}, true
	}
	return ipNet{ip: addrOf(n, 128), bits: 128}, true
}

// addrOf makes an address of so many bits from a number.
func addrOf(n *big.Int, bits int) netip.Addr {
	b := make([]byte, bits/8)
	n.FillBytes(b)
	ip, _ := netip.AddrFromSlice(b)
	return ip
}

func ipNumber(ip netip.Addr) *big.Int { return new(big.Int).SetBytes(ip.AsSlice()) }

func ipVersion(ip netip.Addr) int {
	if ip.Is4() {
		return 4
	}
	return 6
}

// addTo returns the address n further on; ok is false outside of all addresses.
func addTo(ip netip.Addr, n *big.Int) (netip.Addr, bool) {
	sum := new(big.Int).Add(ipNumber(ip), n)
	if sum.Sign() < 0 || sum.BitLen() > ip.BitLen() {
		return netip.Addr{}, false
	}
	return addrOf(sum, ip.BitLen()), true
}

func (n ipNet) size() *big.Int { return new(big.Int).Lsh(big.NewInt(1), uint(n.ip.BitLen()-n.bits)) }

// atMost reports whether the network has no more than so many addresses.
func (n ipNet) atMost(count int64) bool { return n.size().Cmp(big.NewInt(count)) <= 0 }

func (n ipNet) network() netip.Addr {
	p, _ := n.ip.Prefix(n.bits) // bits were checked
	return p.Addr()
}

func (n ipNet) last() netip.Addr {
	ip, _ := addTo(n.network(), new(big.Int).Sub(n.size(), big.NewInt(1))) // within the network
	return ip
}

func (n ipNet) netmask() netip.Addr {
	all := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(n.ip.BitLen())), big.NewInt(1))
	return addrOf(all.Xor(all, ipNumber(n.hostmask())), n.ip.BitLen())
}

func (n ipNet) hostmask() netip.Addr {
	return addrOf(new(big.Int).Sub(n.size(), big.NewInt(1)), n.ip.BitLen())
}

// usable returns the first and last address that a host can have.
func (n ipNet) usable() (first, last netip.Addr) {
	if n.atMost(2) {
		return n.network(), n.last()
	}
	return n.network().Next(), n.last().Prev()
}

// isNetwork reports whether this is the network, not one address in it.
func (n ipNet) isNetwork() bool { return n.bits < n.ip.BitLen() && n.ip == n.network() }

func (n ipNet) contains(m ipNet) bool {
	return n.ip.BitLen() == m.ip.BitLen() && m.bits >= n.bits && m.network().Compare(n.network()) >= 0 && m.last().Compare(n.last()) <= 0
}

// within reports whether the network lies in one of the given ones.
func (n ipNet) within(networks ...string) bool {
	for _, s := range networks {
		if outer, ok := parseIPText(s, 0); ok && outer.contains(n) {
			return true
		}
	}
	return false
}

// withBits prints an address with this network's prefix length.
func (n ipNet) withBits(ip netip.Addr) string { return fmt.Sprintf("%s/%d", ip, n.bits) }

// String prints the address, with the prefix if it was given.
func (n ipNet) String() string {
	if n.prefix {
		return n.withBits(n.ip)
	}
	return n.ip.String()
}

func (n ipNet) subnet() string { return n.withBits(n.network()) }

func (n ipNet) isLinkLocal() bool { return n.within("169.254.0.0/16", "fe80::/10") }
func (n ipNet) isLoopback() bool  { return n.within("127.0.0.0/8", "::1/128") }
func (n ipNet) isMulticast() bool { return n.within("224.0.0.0/4", "ff00::/8") }

func (n ipNet) isPrivate() bool {
	return n.isLinkLocal() || n.within("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "192.0.0.0/24",
		"198.18.0.0/15", "239.192.0.0/14", "fc00::/7", "fec0::/10")
}

func (n ipNet) isPublic() bool {
	_, netmask := maskBits(n.ip, false)
	_, hostmask := maskBits(n.ip, true)
	return !n.isMulticast() && !n.isPrivate() && !n.isLoopback() && !netmask && !hostmask
}

// reverse is the name of the address in the DNS.
func reverse(ip netip.Addr) string {
	const hex = "0123456789abcdef"
	var parts []string
	bytes := ip.AsSlice()
	for i := len(bytes) - 1; i >= 0; i-- {
		if ip.Is4() {
			parts = append(parts, strconv.Itoa(int(bytes[i])))
			continue
		}
		parts = append(parts, string(hex[bytes[i]&15]), string(hex[bytes[i]>>4]))
	}
	if ip.Is4() {
		return strings.Join(parts, ".") + ".in-addr.arpa."
	}
	return strings.Join(parts, ".") + ".ip6.arpa."
}
