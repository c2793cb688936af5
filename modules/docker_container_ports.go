//go:build !plain

package modules

import (
	"regexp"
	"strconv"
	"strings"

	"play/modules/value"
)

// portGroup is exposed_ports, publish_all_ports and published_ports.
func portGroup() containerGroup {
	exposed := option("exposed_ports", "set")
	exposed.aliases = []string{"exposed", "expose"}
	published := option("published_ports", "dict")
	published.aliases = []string{"ports"}
	return containerGroup{
		options: []containerOption{exposed, option("publish_all_ports", "value"), published},
		want:    (*containerRun).portValues,
		have:    havePorts,
		expect:  expectedPorts,
		set:     setPorts,
	}
}

// portValues gives published_ports as the engine's bindings by port and
// protocol, and exposed_ports with all that are published.
func (m *containerRun) portValues() (*value.Dict, error) {
	out := withoutNil(value.DictOf("publish_all_ports", given(m.args.PublishAllPorts)))
	exposed := value.NewList()
	for _, text := range m.args.ExposedPorts {
		port, protocol, ok := strings.Cut(strings.TrimSpace(text), "/")
		if !ok {
			protocol = "tcp"
		}
		exposed.Append(port + "/" + strings.ReplaceAll(protocol, "/", ""))
	}
	if m.args.PublishedPorts != nil {
		bindings, err := m.bindings()
		if err != nil {
			return nil, err
		}
		out.Set("published_ports", bindings)
		for k := range bindings.All() {
			if !isExposed(exposed, value.Str(k)) {
				exposed.Append(k)
			}
		}
	}
	out.Set("exposed_ports", exposed)
	return out, nil
}

// isExposed tells whether a port is in a list of ports and ranges of them.
func isExposed(exposed *value.List, port string) bool {
	number, protocol, _ := strings.Cut(port, "/")
	n, err := strconv.Atoi(number)
	if err != nil {
		return false
	}
	for _, item := range exposed.Items {
		span, p, _ := strings.Cut(item.(string), "/")
		low, high, isRange := strings.Cut(span, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if p == protocol && err1 == nil && err2 == nil && from <= n && n <= to {
			return true
		}
	}
	return false
}

func (m *containerRun) bindings() (*value.Dict, error) {
	out := value.NewDict()
	for _, text := range m.args.PublishedPorts {
		if text == "all" {
			return nil, m.fail("Specifying \"all\" in published_ports is no longer allowed. Set publish_all_ports to \"true\" instead " +
				"to randomly assign port mappings for those not specified by published_ports.")
		}
		if err := m.bind(out, text); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var (
	bindAddress = regexp.MustCompile(`^([0-9]+\.[0-9]+\.[0-9]+\.[0-9]+|\[[0-9a-fA-F:]+(?:|%[^\]/]+)\])$`)
	plainIPv6   = regexp.MustCompile(`^\[[0-9a-fA-F:]+\]$`)
)

// bind reads one of published_ports.
func (m *containerRun) bind(into *value.Dict, text string) error {
	parts, err := m.cutPorts(text)
	if err != nil {
		return err
	}
	inside, protocol, _ := strings.Cut(parts[len(parts)-1], "/")
	ports, err := m.portRange(inside)
	if err != nil {
		return err
	}
	address, outside := "", ""
	switch len(parts) {
	case 1:
	case 2:
		outside = parts[0]
	case 3:
		address, outside = parts[0], parts[1]
		if !bindAddress.MatchString(address) {
			return m.fail("Bind addresses for published ports must be IPv4 or IPv6 addresses, not hostnames. Use the dig lookup to resolve hostnames. (Found hostname: %s)", address)
		}
		if plainIPv6.MatchString(address) {
			address = address[1 : len(address)-1]
		}
	default:
		return m.fail("Invalid port description \"%s\" - expected 1 to 3 colon-separated parts, but got %d. Maybe you forgot to use square brackets ([...]) around an IPv6 address?", text, len(parts))
	}
	if address == "" {
		if address, err = m.defaultIP(); err != nil {
			return err
		}
	}
	hosts, err := m.hostPorts(outside, len(ports))
	if err != nil {
		return err
	}
	if protocol == "" {
		protocol = "tcp"
	}
	for i := range min(len(hosts), len(ports)) {
		key := ports[i] + "/" + protocol
		list, _ := into.Get(key)
		l, ok := list.(*value.List)
		if !ok {
			l = value.NewList()
			into.Set(key, l)
		}
		l.Append(value.DictOf("HostIp", address, "HostPort", hosts[i]))
	}
	return nil
}

// hostPorts are the ports outside for n ports inside.
func (m *containerRun) hostPorts(text string, n int) ([]string, error) {
	switch {
	case text == "":
		return make([]string, n), nil
	case n == 1:
		return []string{text}, nil
	}
	return m.portRange(text)
}

// portRange reads a port or a range of them.
func (m *containerRun) portRange(text string) ([]string, error) {
	low, high, isRange := strings.Cut(text, "-")
	if !isRange {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return nil, m.fail("Invalid port: \"%s\"", text)
		}
		return []string{strconv.Itoa(n)}, nil
	}
	from, err1 := strconv.Atoi(strings.TrimSpace(low))
	to, err2 := strconv.Atoi(strings.TrimSpace(high))
	if err1 != nil || err2 != nil || to < from || to > 1<<16 {
		return nil, m.fail("Invalid port range: \"%s\"", text)
	}
	var out []string
	for n := from; n <= to; n++ {
		out = append(out, strconv.Itoa(n))
	}
	return out, nil
}

// cutPorts cuts at the colons outside of brackets.
func (m *containerRun) cutPorts(text string) ([]string, error) {
	var parts []string
	start, open := 0, -1
	for i, c := range text {
		switch {
		case c == '[' && open < 0:
			open = i
		case c == ']':
			open = -1
		case c == ':' && open < 0:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	if open >= 0 {
		return nil, m.fail("Cannot find closing \"]\" in input \"%s\" for opening \"[\" at index %d!", text, open+1)
	}
	return append(parts, text[start:]), nil
}

// defaultIP is where ports are published that name no address.
func (m *containerRun) defaultIP() (string, error) {
	if m.args.DefaultHostIP != nil {
		return *m.args.DefaultHostIP, nil
	}
	for _, n := range m.args.Networks {
		network, err := m.network(n.Name)
		if err != nil {
			return "", err
		}
		if network == nil {
			return "", m.fail("Cannot inspect the network '%s' to determine the default IP", n.Name)
		}
		if ip := dictText(dictIn(network, "Options"), "com.docker.network.bridge.host_binding_ipv4"); ip != "" && dictText(network, "Driver") == "bridge" {
			return ip, nil
		}
	}
	return "0.0.0.0", nil
}

func havePorts(box *value.Dict) *value.Dict {
	hostConfig := dictIn(box, "HostConfig")
	return value.DictOf("published_ports", firstOf(hostConfig, "PortBindings"), "publish_all_ports", firstOf(hostConfig, "PublishAllPorts"),
		"exposed_ports", exposedPorts(box))
}

// exposedPorts lists the ports in the Config of a container or an image.
func exposedPorts(of *value.Dict) *value.List {
	out := value.NewList()
	for k := range dictIn(dictIn(of, "Config"), "ExposedPorts").All() {
		port := value.Str(k)
		if !strings.Contains(port, "/") {
			port += "/tcp"
		}
		out.Append(port)
	}
	return out
}

// expectedPorts adds the ports that the image exposes.
func expectedPorts(_ *containerRun, image, want *value.Dict) *value.Dict {
	out := want.Clone()
	all := exposedPorts(image)
	mine, _ := want.Get("exposed_ports")
	for _, port := range itemsOf(mine) {
		if has, _ := value.Contains(all, port); !has {
			all.Append(port)
		}
	}
	out.Set("exposed_ports", all)
	return out
}

func setPorts(body, want *value.Dict) {
	exposed := value.NewDict()
	mine, _ := want.Get("exposed_ports")
	for _, port := range itemsOf(mine) {
		exposed.Set(value.Str(port), value.NewDict())
	}
	body.Set("ExposedPorts", exposed)
	if v, ok := want.Get("published_ports"); ok {
		hostConfig(body).Set("PortBindings", v)
	}
	if dictTrue(want, "publish_all_ports") {
		hostConfig(body).Set("PublishAllPorts", true)
	}
}
