package facts

import (
	"strings"

	"play/modules/value"
)

// dns is the resolver's configuration.
func dns(h *Host) *value.Dict {
	d := value.NewDict()
	for _, line := range h.lines("/etc/resolv.conf") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		switch words[0] {
		case "nameserver":
			servers, ok := d.Get("nameservers")
			if !ok {
				servers = value.NewList()
				d.Set("nameservers", servers)
			}
			for _, w := range words[1:] {
				servers.(*value.List).Append(w)
			}
		case "domain":
			if len(words) > 1 {
				d.Set("domain", words[1])
			}
		case "search", "sortlist":
			d.Set(words[0], listOf(words[1:]))
		case "options":
			d.Set("options", dnsOptions(words[1:]))
		}
	}
	return value.DictOf("dns", d)
}

func dnsOptions(words []string) *value.Dict {
	options := value.NewDict()
	for _, w := range words {
		key, val, given := strings.Cut(w, ":")
		if given {
			options.Set(key, val)
		} else {
			options.Set(key, true)
		}
	}
	return options
}
