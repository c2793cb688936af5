package facts

import (
	"context"
	"net/netip"
	"strconv"
	"strings"

	"play/modules/value"
)

// address is one address of an interface.
type address struct {
	iface, label string
	prefix       netip.Prefix
	broadcast    string
	scope        string // of IPv6: host, link, site or global
	secondary    bool
}

// route is how the host reaches the rest of the world.
type route struct {
	iface, source, gateway string
}

// network describes the interfaces and the default routes.
func network(ctx context.Context, h *Host) *value.Dict {
	addresses, _ := interfaceAddresses()
	v4, v6 := defaultRoutes()
	return h.network(ctx, addresses, v4, v6)
}

func (h *Host) network(ctx context.Context, addresses []address, v4, v6 *route) *value.Dict {
	d := value.DictOf("interfaces", value.NewList())
	names := h.list("/sys/class/net")
	interfaces := map[string]*value.Dict{}
	for _, name := range names {
		if h.isDir("/sys/class/net/" + name) {
			interfaces[name] = h.networkInterface(name)
			h.ethtool(ctx, name, interfaces[name])
		}
	}
	all4, all6 := value.NewList(), value.NewList()
	for _, a := range addresses {
		if i := interfaces[a.iface]; i != nil {
			a.addTo(i)
		}
		if text := a.prefix.Addr().String(); a.prefix.Addr().Is4() {
			if !strings.HasPrefix(text, "127.") {
				all4.Append(text)
			}
		} else if text != "::1" {
			all6.Append(text)
		}
	}
	var shown []string
	for _, name := range names {
		if i := interfaces[name]; i != nil {
			shown = append(shown, name)
			d.Set(strings.ReplaceAll(name, "-", "_"), i)
		}
	}
	d.Set("interfaces", listOf(shown))
	d.Set("default_ipv4", defaultIPv4(interfaces, addresses, v4))
	d.Set("default_ipv6", defaultIPv6(interfaces, addresses, v6))
	d.Set("all_ipv4_addresses", all4)
	d.Set("all_ipv6_addresses", all6)
	return d
}

// addTo puts an address into the facts of its interface; further IPv4 ones
// stand apart.
func (a *address) addTo(i *value.Dict) {
	if !a.prefix.Addr().Is4() {
		entry := value.DictOf("address", a.prefix.Addr().String(), "prefix", strconv.Itoa(a.prefix.Bits()), "scope", a.scope)
		appendTo(i, "ipv6", entry)
		return
	}
	if _, ok := i.Get("ipv4"); ok || a.secondary {
		appendTo(i, "ipv4_secondaries", a.ipv4())
		return
	}
	i.Set("ipv4", a.ipv4())
}

func appendTo(d *value.Dict, key string, item any) {
	l, ok := d.Get(key)
	if !ok {
		l = value.NewList()
		d.Set(key, l)
	}
	l.(*value.List).Append(item)
}

func (a *address) ipv4() *value.Dict {
	return value.DictOf("address", a.prefix.Addr().String(), "broadcast", a.broadcast, "netmask", netmask(a.prefix.Bits()),
		"network", a.prefix.Masked().Addr().String(), "prefix", strconv.Itoa(a.prefix.Bits()))
}

func netmask(bits int) string {
	m := ^uint32(0) << (32 - bits)
	if bits == 0 {
		m = 0
	}
	return netip.AddrFrom4([4]byte{byte(m >> 24), byte(m >> 16), byte(m >> 8), byte(m)}).String()
}

func defaultIPv4(interfaces map[string]*value.Dict, addresses []address, r *route) *value.Dict {
	d := value.NewDict()
	if r == nil {
		return d
	}
	if r.gateway != "" {
		d.Set("gateway", r.gateway)
	}
	d.Set("interface", r.iface)
	d.Set("address", r.source)
	for _, a := range addresses {
		if a.iface == r.iface && a.prefix.Addr().String() == r.source {
			d.Update(a.ipv4())
			d.Set("alias", a.label)
		}
	}
	return withLink(d, interfaces[r.iface])
}

func defaultIPv6(interfaces map[string]*value.Dict, addresses []address, r *route) *value.Dict {
	d := value.NewDict()
	if r == nil {
		return d
	}
	if r.gateway != "" {
		d.Set("gateway", r.gateway)
	}
	d.Set("interface", r.iface)
	d.Set("address", r.source)
	for _, a := range addresses {
		if a.iface == r.iface && a.prefix.Addr().String() == r.source {
			d.Set("prefix", strconv.Itoa(a.prefix.Bits()))
			d.Set("scope", a.scope)
		}
	}
	return withLink(d, interfaces[r.iface])
}

// withLink adds what the default route's facts say of its interface.
func withLink(d, i *value.Dict) *value.Dict {
	for _, key := range []string{"macaddress", "mtu", "type"} {
		if v, ok := i.Get(key); ok {
			d.Set(key, v)
		}
	}
	return d
}
