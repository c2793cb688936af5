package dockertest

import (
	"net/http"
	"slices"
	"strings"
)

func (e *Engine) network(name string) object {
	for _, n := range e.State.Networks {
		if text(n, "Name") == name || strings.HasPrefix(text(n, "Id"), name) {
			return n
		}
	}
	return nil
}

// addNetwork completes a request to what an inspection shows.
func (e *Engine) addNetwork(given object) object {
	n := object{
		"Id": e.nextID("network", text(given, "Name")), "Created": created, "Scope": "local", "EnableIPv6": false,
		"Internal": false, "Attachable": false, "Ingress": false, "ConfigFrom": object{"Network": ""}, "ConfigOnly": false,
		"Containers": object{}, "Options": object{}, "Labels": object{}, "Driver": "bridge",
	}
	for key, v := range given {
		if v != nil && key != "IPAM" && key != "CheckDuplicate" {
			n[key] = v
		}
	}
	ipam := object{"Driver": "default", "Options": nil, "Config": []any{object{"Subnet": "172.18.0.0/16", "Gateway": "172.18.0.1"}}}
	if wanted, ok := given["IPAM"].(object); ok {
		for key, v := range wanted {
			if list, isList := v.([]any); v != nil && (!isList || len(list) > 0) {
				ipam[key] = withoutNulls(v)
			}
		}
	}
	n["IPAM"] = ipam
	e.State.Networks = append(e.State.Networks, n)
	return n
}

// endpoint is a container's end of a network.
func endpoint(network, given object) object {
	out := object{
		"IPAMConfig": nil, "Links": nil, "Aliases": nil, "NetworkID": network["Id"], "EndpointID": "", "Gateway": "", "IPAddress": "",
		"IPPrefixLen": 0, "IPv6Gateway": "", "GlobalIPv6Address": "", "GlobalIPv6PrefixLen": 0, "MacAddress": "", "DriverOpts": nil,
	}
	for key, v := range given {
		out[key] = v
	}
	return out
}

func (c *call) networks(method string, parts []string) *fault {
	if len(parts) == 0 {
		return c.listNetworks()
	}
	switch parts[0] {
	case "create":
		return c.createNetwork()
	case "prune":
		return c.pruneNetworks()
	}
	network := c.network(parts[0])
	if network == nil {
		return &fault{http.StatusNotFound, "network " + parts[0] + " not found"}
	}
	if method == http.MethodDelete {
		if len(sub(network, "Containers")) > 0 {
			return &fault{http.StatusForbidden, "error while removing network: network " + text(network, "Name") + " id " + text(network, "Id") + " has active endpoints"}
		}
		c.State.Networks = slices.DeleteFunc(c.State.Networks, func(o object) bool { return o["Id"] == network["Id"] })
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if len(parts) == 1 {
		c.json(http.StatusOK, network)
		return nil
	}
	return c.plug(network, parts[1])
}

func (c *call) listNetworks() *fault {
	wanted := c.filters()["name"]
	list := []object{}
	for _, n := range c.State.Networks {
		if len(wanted) == 0 || strings.Contains(text(n, "Name"), wanted[0]) {
			list = append(list, n)
		}
	}
	c.json(http.StatusOK, list)
	return nil
}

func (c *call) createNetwork() *fault {
	given, f := c.decode()
	if f != nil {
		return f
	}
	if c.network(text(given, "Name")) != nil {
		return &fault{http.StatusConflict, "network with name " + text(given, "Name") + " already exists"}
	}
	c.json(http.StatusCreated, object{"Id": c.addNetwork(given)["Id"], "Warning": ""})
	return nil
}

// plug connects a container to a network, or disconnects it.
func (c *call) plug(network object, verb string) *fault {
	given, f := c.decode()
	if f != nil {
		return f
	}
	box := c.container(text(given, "Container"))
	if box == nil {
		return &fault{http.StatusNotFound, "No such container: " + text(given, "Container")}
	}
	name, id := text(network, "Name"), text(box, "Id")
	ends := sub(sub(box, "NetworkSettings"), "Networks")
	if verb == "disconnect" {
		if ends[name] == nil {
			return &fault{http.StatusForbidden, "container " + id + " is not connected to network " + name}
		}
		delete(ends, name)
		delete(sub(network, "Containers"), id)
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	if ends[name] != nil {
		return &fault{http.StatusForbidden, "endpoint with name " + strings.TrimPrefix(text(box, "Name"), "/") + " already exists in network " + name}
	}
	config, _ := given["EndpointConfig"].(object)
	ends[name] = endpoint(network, config)
	if sub(box, "State")["Running"] == true {
		sub(network, "Containers")[id] = object{"Name": strings.TrimPrefix(text(box, "Name"), "/"), "EndpointID": "", "IPv4Address": "", "IPv6Address": "", "MacAddress": ""}
	}
	c.w.WriteHeader(http.StatusOK)
	return nil
}

func (c *call) pruneNetworks() *fault {
	gone := []any{}
	c.State.Networks = slices.DeleteFunc(c.State.Networks, func(n object) bool {
		if slices.Contains([]string{"bridge", "host", "none"}, text(n, "Name")) || len(sub(n, "Containers")) > 0 {
			return false
		}
		gone = append(gone, n["Name"])
		return true
	})
	c.json(http.StatusOK, object{"NetworksDeleted": gone})
	return nil
}

func (c *call) volume(name string) object {
	for _, v := range c.State.Volumes {
		if text(v, "Name") == name {
			return v
		}
	}
	return nil
}

func (c *call) volumes(method string, parts []string) *fault {
	if len(parts) == 0 {
		var list any
		if len(c.State.Volumes) > 0 {
			list = c.State.Volumes
		}
		c.json(http.StatusOK, object{"Volumes": list, "Warnings": nil})
		return nil
	}
	switch parts[0] {
	case "create":
		return c.createVolume()
	case "prune":
		c.json(http.StatusOK, object{"VolumesDeleted": []any{}, "SpaceReclaimed": 0})
		return nil
	}
	v := c.volume(parts[0])
	if v == nil {
		return &fault{http.StatusNotFound, "get " + parts[0] + ": no such volume"}
	}
	if method == http.MethodDelete {
		c.State.Volumes = slices.DeleteFunc(c.State.Volumes, func(o object) bool { return o["Name"] == parts[0] })
		c.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	c.json(http.StatusOK, v)
	return nil
}

func (c *call) createVolume() *fault {
	given, f := c.decode()
	if f != nil {
		return f
	}
	name := text(given, "Name")
	v := c.volume(name)
	if v == nil {
		v = object{
			"Name": name, "Driver": given["Driver"], "Mountpoint": "/var/lib/docker/volumes/" + name + "/_data", "CreatedAt": created,
			"Labels": given["Labels"], "Options": given["DriverOpts"], "Scope": "local",
		}
		c.State.Volumes = append(c.State.Volumes, v)
	}
	c.json(http.StatusCreated, v)
	return nil
}
