package dockertest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

func (e *Engine) container(name string) object {
	for _, c := range e.State.Containers {
		if text(c, "Name") == "/"+strings.TrimPrefix(name, "/") || strings.HasPrefix(text(c, "Id"), name) {
			return c
		}
	}
	return nil
}

func (c *call) containers(method string, parts []string) *fault {
	switch {
	case parts[0] == "json":
		return c.listContainers()
	case parts[0] == "create":
		return c.createContainer()
	case parts[0] == "prune":
		return c.pruneContainers()
	}
	box := c.container(parts[0])
	if box == nil {
		return &fault{http.StatusNotFound, "No such container: " + parts[0]}
	}
	if method == http.MethodDelete {
		return c.removeContainer(box)
	}
	switch parts[1] {
	case "json":
		c.json(http.StatusOK, box)
		return nil
	case "logs":
		return c.logs(box)
	case "exec":
		return c.createExec(box)
	case "update":
		return c.updateContainer(box)
	case "wait":
		c.json(http.StatusOK, object{"StatusCode": sub(box, "State")["ExitCode"]})
		return nil
	}
	return c.turn(box, parts[1])
}

func (c *call) listContainers() *fault {
	list := []object{}
	for _, box := range c.State.Containers {
		state := sub(box, "State")
		if c.query.Get("all") != "1" && state["Running"] != true {
			continue
		}
		list = append(list, object{
			"Id": box["Id"], "Names": []any{box["Name"]}, "Image": sub(box, "Config")["Image"], "ImageID": box["Image"],
			"Command": "cmd", "Created": 1704067200, "State": state["Status"], "Status": "Up 1 second", "Ports": []any{},
			"Labels": sub(box, "Config")["Labels"],
		})
	}
	c.json(http.StatusOK, list)
	return nil
}

func (c *call) createContainer() *fault {
	config, f := c.decode()
	if f != nil {
		return f
	}
	name := c.query.Get("name")
	if old := c.container("/" + name); old != nil {
		return &fault{http.StatusConflict, fmt.Sprintf("Conflict. The container name \"/%s\" is already in use by container \"%s\". You have to remove (or rename) that container to be able to reuse that name.", name, text(old, "Id"))}
	}
	image := c.image(text(config, "Image"))
	if image == nil {
		return &fault{http.StatusNotFound, "No such image: " + text(config, "Image")}
	}
	host, _ := config["HostConfig"].(object)
	delete(config, "HostConfig")
	id := c.nextID("container", name)
	box := object{
		"Id": id, "Created": created, "Path": "cmd", "Args": []any{}, "Name": "/" + name, "RestartCount": 0, "Driver": "overlay2",
		"Platform": "linux", "Image": image["Id"], "MountLabel": "", "ProcessLabel": "", "AppArmorProfile": "", "ExecIDs": nil,
		"State": object{"Status": "created", "Running": false, "Paused": false, "Restarting": false, "OOMKilled": false, "Dead": false,
			"Pid": 0, "ExitCode": 0, "Error": "", "StartedAt": "0001-01-01T00:00:00Z", "FinishedAt": "0001-01-01T00:00:00Z"},
		"Config": containerConfig(config, sub(image, "Config"), id), "HostConfig": hostConfig(host),
	}
	if f := c.attachFirst(box); f != nil {
		return f
	}
	c.State.Containers = append(c.State.Containers, box)
	c.json(http.StatusCreated, object{"Id": id, "Warnings": []any{}})
	return nil
}

// attachFirst gives a new container the network of its mode.
func (c *call) attachFirst(box object) *fault {
	mode := text(sub(box, "HostConfig"), "NetworkMode")
	if mode == "default" {
		mode = "bridge"
	}
	networks := object{}
	box["NetworkSettings"] = object{"Bridge": "", "Ports": object{}, "IPAddress": "", "Networks": networks}
	if strings.HasPrefix(mode, "container:") {
		return nil
	}
	network := c.network(mode)
	if network == nil {
		return &fault{http.StatusNotFound, "network " + mode + " not found"}
	}
	networks[text(network, "Name")] = endpoint(network, nil)
	return nil
}

// containerConfig is a request's Config after the image's has been merged in.
func containerConfig(given, image object, id string) object {
	out := object{
		"Hostname": id[:12], "Domainname": "", "User": text(image, "User"), "AttachStdin": false, "AttachStdout": true, "AttachStderr": true,
		"Tty": false, "OpenStdin": false, "StdinOnce": false, "Env": []any{}, "Cmd": nil, "Volumes": nil,
		"WorkingDir": text(image, "WorkingDir"), "Entrypoint": nil, "OnBuild": nil, "Labels": object{},
	}
	for key, v := range given {
		if v != nil {
			out[key] = v
		}
	}
	if !filled(given["Entrypoint"]) {
		out["Entrypoint"] = image["Entrypoint"]
		if !filled(given["Cmd"]) {
			out["Cmd"] = image["Cmd"]
		}
	}
	out["Env"] = mergedEnv(out["Env"], image["Env"])
	for _, key := range []string{"Labels", "ExposedPorts", "Volumes"} {
		if merged := mergedObjects(image[key], out[key]); len(merged) > 0 || key == "Labels" {
			out[key] = merged
		}
	}
	if out["Healthcheck"] == nil && image["Healthcheck"] != nil {
		out["Healthcheck"] = image["Healthcheck"]
	}
	return out
}

func filled(v any) bool {
	l, ok := v.([]any)
	return ok && len(l) > 0
}

func mergedEnv(given, image any) []any {
	out, _ := given.([]any)
	have := map[string]bool{}
	for _, item := range out {
		name, _, _ := strings.Cut(fmt.Sprint(item), "=")
		have[name] = true
	}
	more, _ := image.([]any)
	for _, item := range more {
		if name, _, _ := strings.Cut(fmt.Sprint(item), "="); !have[name] {
			out = append(out, item)
		}
	}
	return out
}

func mergedObjects(under, over any) object {
	out := object{}
	for _, v := range []any{under, over} {
		if o, ok := v.(object); ok {
			maps.Copy(out, o)
		}
	}
	return out
}

const hostDefaults = `{"Binds":null,"ContainerIDFile":"","LogConfig":{"Type":"json-file","Config":{}},"NetworkMode":"default","PortBindings":{},
"RestartPolicy":{"Name":"no","MaximumRetryCount":0},"AutoRemove":false,"VolumeDriver":"","VolumesFrom":null,"ConsoleSize":[0,0],
"CapAdd":null,"CapDrop":null,"CgroupnsMode":"private","Dns":[],"DnsOptions":[],"DnsSearch":[],"ExtraHosts":null,"GroupAdd":null,
"IpcMode":"private","Cgroup":"","Links":null,"OomScoreAdj":0,"PidMode":"","Privileged":false,"PublishAllPorts":false,
"ReadonlyRootfs":false,"SecurityOpt":null,"UTSMode":"","UsernsMode":"","ShmSize":67108864,"Runtime":"runc","Isolation":"","CpuShares":0,
"Memory":0,"NanoCpus":0,"CgroupParent":"","BlkioWeight":0,"BlkioWeightDevice":[],"BlkioDeviceReadBps":[],"BlkioDeviceWriteBps":[],
"BlkioDeviceReadIOps":[],"BlkioDeviceWriteIOps":[],"CpuPeriod":0,"CpuQuota":0,"CpuRealtimePeriod":0,"CpuRealtimeRuntime":0,
"CpusetCpus":"","CpusetMems":"","Devices":[],"DeviceCgroupRules":null,"DeviceRequests":null,"MemoryReservation":0,"MemorySwap":0,
"MemorySwappiness":null,"OomKillDisable":null,"PidsLimit":null,"Ulimits":null,"CpuCount":0,"CpuPercent":0,"IOMaximumIOps":0,
"IOMaximumBandwidth":0,"MaskedPaths":["/proc/asound"],"ReadonlyPaths":["/proc/bus"]}`

// hostConfig is a request's HostConfig with Docker's defaults.
func hostConfig(given object) object {
	out := object{}
	if err := json.Unmarshal([]byte(hostDefaults), &out); err != nil {
		panic("dockertest: " + err.Error())
	}
	for key, v := range given {
		if v != nil {
			out[key] = withoutNulls(v)
		}
	}
	policy := sub(out, "RestartPolicy")
	if policy["MaximumRetryCount"] == nil {
		policy["MaximumRetryCount"] = 0
	}
	if fmt.Sprint(out["Memory"]) != "0" && fmt.Sprint(out["MemorySwap"]) == "0" {
		n, _ := out["Memory"].(json.Number)
		bytes, _ := n.Int64()
		out["MemorySwap"] = 2 * bytes
	}
	delete(out, "KernelMemory") // later engines dropped it
	return out
}

// withoutNulls drops what Go's JSON decoder would leave zero and its encoder omits.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for key, item := range v {
			if item != nil && !(key == "ReadOnly" && item == false) {
				out[key] = withoutNulls(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = withoutNulls(item)
		}
		return out
	}
	return v
}

func (c *call) removeContainer(box object) *fault {
	state := sub(box, "State")
	if state["Running"] == true && !truth(c.query.Get("force")) {
		return &fault{http.StatusConflict, "You cannot remove a running container " + text(box, "Id") + ". Stop the container before attempting removal or force remove"}
	}
	c.State.Containers = slices.DeleteFunc(c.State.Containers, func(o object) bool { return o["Id"] == box["Id"] })
	for _, network := range c.State.Networks {
		delete(sub(network, "Containers"), text(box, "Id"))
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

func truth(s string) bool { return s == "1" || strings.EqualFold(s, "true") }

// turn starts, stops, pauses… a container.
func (c *call) turn(box object, verb string) *fault {
	state := sub(box, "State")
	was := text(state, "Status")
	switch verb {
	case "start", "restart":
		c.run(box)
	case "stop", "kill":
		if state["Paused"] == true {
			return &fault{http.StatusInternalServerError, "Container " + text(box, "Id") + " is paused. Unpause the container before stopping or killing"}
		}
		if verb == "kill" && state["Running"] != true {
			return &fault{http.StatusConflict, "Cannot kill container: " + text(box, "Id") + ": Container " + text(box, "Id") + " is not running"}
		}
		c.halt(box, 137)
	case "pause":
		state["Status"], state["Paused"] = "paused", true
	case "unpause":
		state["Status"], state["Paused"] = "running", false
	default:
		return &fault{http.StatusNotFound, "page not found"}
	}
	if was == state["Status"] && verb != "restart" {
		c.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// run starts a container; one with an output has then ended already.
func (c *call) run(box object) {
	state := sub(box, "State")
	maps.Copy(state, object{"Status": "running", "Running": true, "Pid": 4242, "StartedAt": created})
	settings := sub(box, "NetworkSettings")
	settings["Ports"] = mergedObjects(nil, sub(box, "HostConfig")["PortBindings"])
	for name, point := range sub(settings, "Networks") {
		if network := c.network(name); network != nil {
			point.(object)["NetworkID"] = network["Id"]
			sub(network, "Containers")[text(box, "Id")] = object{"Name": strings.TrimPrefix(text(box, "Name"), "/"), "EndpointID": "", "IPv4Address": "", "IPv6Address": "", "MacAddress": ""}
		}
	}
	if out, ok := c.State.Outputs[strings.TrimPrefix(text(box, "Name"), "/")]; ok {
		c.halt(box, out.Code)
		if sub(box, "HostConfig")["AutoRemove"] == true {
			state["Status"] = "exited"
		}
	}
}

func (c *call) halt(box object, code int) {
	maps.Copy(sub(box, "State"), object{"Status": "exited", "Running": false, "Paused": false, "Pid": 0, "ExitCode": code, "FinishedAt": created})
	sub(box, "NetworkSettings")["Ports"] = object{}
	for _, network := range c.State.Networks {
		delete(sub(network, "Containers"), text(box, "Id"))
	}
}

func (c *call) updateContainer(box object) *fault {
	given, f := c.decode()
	if f != nil {
		return f
	}
	for key, v := range given {
		sub(box, "HostConfig")[key] = withoutNulls(v)
	}
	c.json(http.StatusOK, object{"Warnings": nil})
	return nil
}

func (c *call) pruneContainers() *fault {
	gone := []any{}
	c.State.Containers = slices.DeleteFunc(c.State.Containers, func(box object) bool {
		if sub(box, "State")["Running"] == true {
			return false
		}
		gone = append(gone, box["Id"])
		return true
	})
	c.json(http.StatusOK, object{"ContainersDeleted": gone, "SpaceReclaimed": 12 * len(gone)})
	return nil
}

// logs sends what the container printed, in frames unless it has a terminal.
func (c *call) logs(box object) *fault {
	out := c.State.Outputs[strings.TrimPrefix(text(box, "Name"), "/")]
	c.w.WriteHeader(http.StatusOK)
	c.frames(out, sub(box, "Config")["Tty"] == true)
	return nil
}

func (c *call) frames(out Output, tty bool) {
	for i, s := range []string{out.Stdout, out.Stderr} {
		if s == "" {
			continue
		}
		if !tty {
			head := make([]byte, 8)
			head[0] = byte(i + 1)
			binary.BigEndian.PutUint32(head[4:], uint32(len(s)))
			c.w.Write(head)
		}
		c.w.Write([]byte(s))
	}
}

func (c *call) createExec(box object) *fault {
	given, f := c.decode()
	if f != nil {
		return f
	}
	if sub(box, "State")["Paused"] == true {
		return &fault{http.StatusConflict, "Container " + text(box, "Id") + " is paused, unpause the container before exec"}
	}
	id := c.nextID("exec", "")
	c.execs[id] = given
	c.json(http.StatusCreated, object{"Id": id})
	return nil
}

func (c *call) exec(parts []string) *fault {
	given := c.execs[parts[0]]
	if given == nil {
		return &fault{http.StatusNotFound, "No such exec instance: " + parts[0]}
	}
	argv, _ := given["Cmd"].([]any)
	out := c.State.Execs[fmt.Sprint(argv[0])]
	if parts[1] == "json" {
		c.json(http.StatusOK, object{"ID": parts[0], "Running": false, "ExitCode": out.Code})
		return nil
	}
	start, f := c.decode()
	if f != nil {
		return f
	}
	if start["Detach"] == true {
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	return c.hijack(given, out, start["Tty"] == true)
}
