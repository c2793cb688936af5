package action

import (
	"context"
	"strings"

	"play/engine/task"
	"play/modules/value"
)

// addHost describes a host that the strategy adds to the inventory.
func addHost(_ context.Context, a *task.Attempt) (*value.Dict, error) {
	name := ""
	for _, alias := range []string{"name", "hostname", "host"} {
		if v, ok := a.Args.Get(alias); ok && name == "" {
			name = value.Str(v)
		}
	}
	if name == "" {
		return nil, task.Failf("name, host or hostname needs to be provided")
	}
	hostVars := value.NewDict()
	name, port := splitPort(name)
	if port != "" {
		hostVars.Set("ansible_ssh_port", port)
	}
	groups := value.NewList()
	for k, v := range a.Args.All() {
		switch key := value.Str(k); key {
		case "name", "hostname", "host":
		case "groups", "groupname", "group":
			for _, g := range names(v) {
				groups.Append(g)
			}
		default:
			hostVars.Set(key, v)
		}
	}
	return value.DictOf("changed", true, "add_host", value.DictOf(
		"host_name", name, "groups", groups, "host_vars", hostVars)), nil
}

// splitPort cuts a ":22" off a host name that is no bare IPv6 address.
func splitPort(name string) (host, port string) {
	if strings.Count(name, ":") != 1 {
		return name, ""
	}
	host, port, _ = strings.Cut(name, ":")
	return host, port
}

// names reads a list or a comma-separated text of names.
func names(v any) []string {
	var out []string
	switch v := v.(type) {
	case *value.List:
		for _, item := range v.Items {
			out = append(out, value.Str(item))
		}
	case nil:
	default:
		for _, part := range strings.Split(value.Str(v), ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}
