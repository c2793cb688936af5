//go:build !plain

package modules

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"play/modules/value"
)

// create makes the container and returns it; in check mode, old.
func (m *containerRun) create(image string, old *value.Dict) (*value.Dict, error) {
	body := value.NewDict()
	for i, g := range m.groups {
		if g.since == "" || !versionBefore(m.version, g.since) {
			g.set(body, m.wanted[i])
		}
	}
	body.Set("Image", image)
	m.did("created", "Created container", "create_parameters", body)
	if m.Check {
		return old, nil
	}
	params := []string{"name", m.args.Name}
	if platform, ok := body.Get("platform"); ok {
		params = append(params, "platform", value.Str(platform))
		body.Delete("platform")
	}
	answer, err := m.post("/containers/create", body, params...)
	if err != nil {
		return nil, m.fail("Error creating container: %v", err)
	}
	m.warned(answer, "Warnings")
	return m.container(dictText(answer, "Id"))
}

func (m *containerRun) start(box *value.Dict) (*value.Dict, error) {
	id := dictText(box, "Id")
	m.did("started", id)
	if m.Check {
		return m.container(id)
	}
	if _, err := m.post(dockerPath("/containers/{0}/start", id), nil); err != nil {
		return nil, m.fail("Error starting container %s: %v", id, err)
	}
	if m.args.Detach != nil && !*m.args.Detach {
		return m.attend(id)
	}
	return m.container(id)
}

// attend waits for a container that is not detached and collects its output.
func (m *containerRun) attend(id string) (*value.Dict, error) {
	v, err := m.do(&dockerRequest{method: "POST", path: dockerPath("/containers/{0}/wait", id), json: true, patience: -1})
	if err != nil {
		return nil, err
	}
	answer, _ := v.(*value.Dict)
	status, _ := answer.Get("StatusCode")
	m.with.Set("status", status)
	m.out.Set("status", status)
	output := "Cannot retrieve result as auto_remove is enabled"
	if m.args.AutoRemove == nil || !*m.args.AutoRemove {
		if output, err = m.output(id); err != nil {
			return nil, err
		}
	} else if m.args.OutputLogs {
		m.warnings = append(m.warnings, "Cannot output_logs if auto_remove is enabled!")
	}
	if m.args.Cleanup {
		if err := m.removeContainer(value.DictOf("Id", id), true); err != nil {
			return nil, err
		}
	}
	box, err := m.container(id)
	if err != nil {
		return nil, err
	}
	if box == nil {
		box = value.NewDict()
	}
	box.Set("Output", output)
	if !value.Equal(status, 0) {
		m.out.Set("msg", output)
	}
	return box, nil
}

// output is what a container wrote.
func (m *containerRun) output(id string) (string, error) {
	box, err := m.getDict(dockerPath("/containers/{0}/json", id))
	if err != nil {
		return "", err
	}
	driver := dictText(dictIn(dictIn(box, "HostConfig"), "LogConfig"), "Type")
	if !slices.Contains([]string{"json-file", "journald", "local"}, driver) {
		return "Result logged using `" + driver + "` driver", nil
	}
	answer, err := m.open(&dockerRequest{method: "GET", path: dockerPath("/containers/{0}/logs", id),
		params: []string{"stderr", "1", "stdout", "1", "timestamps", "0", "follow", "0", "tail", "all"}})
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if dictTrue(dictIn(box, "Config"), "Tty") {
		data, err := io.ReadAll(answer.Body)
		return string(data), err
	}
	var both strings.Builder
	err = readFrames(answer.Body, &both, &both)
	return both.String(), err
}

// readFrames takes a stream of frames apart: a stream's number, the length of
// what follows, and that.
func readFrames(in io.Reader, stdout, stderr io.Writer) error {
	head := make([]byte, 8)
	for {
		if _, err := io.ReadFull(in, head); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		into := stdout
		if head[0] == 2 {
			into = stderr
		}
		if _, err := io.CopyN(into, in, int64(binary.BigEndian.Uint32(head[4:]))); err != nil {
			return err
		}
	}
}

func (m *containerRun) restart(box *value.Dict) (*value.Dict, error) {
	id := dictText(box, "Id")
	m.did("restarted", id, "timeout", given(m.args.StopTimeout))
	if !m.Check {
		seconds := 10
		if t := m.args.StopTimeout; t != nil && *t != 0 {
			seconds = *t
		}
		r := &dockerRequest{method: "POST", path: dockerPath("/containers/{0}/restart", id), params: []string{"t", strconv.Itoa(seconds)}, patience: m.patience(seconds)}
		if _, err := m.do(r); err != nil {
			return nil, m.fail("Error restarting container %s: %v", id, err)
		}
	}
	return m.container(id)
}

// patience is the timeout for something that may itself take some seconds.
func (m *containerRun) patience(seconds int) time.Duration {
	return time.Duration(m.args.Timeout+seconds) * time.Second
}

// stop stops the container, or kills it.
func (m *containerRun) stop(box *value.Dict) error {
	id := dictText(box, "Id")
	if m.args.ForceKill {
		return m.kill(id)
	}
	m.did("stopped", id, "timeout", given(m.args.StopTimeout))
	if m.Check {
		return nil
	}
	r := &dockerRequest{method: "POST", path: dockerPath("/containers/{0}/stop", id), patience: m.patience(10)}
	if t := m.args.StopTimeout; t != nil && *t != 0 {
		r.params, r.patience = []string{"t", strconv.Itoa(*t)}, m.patience(*t)
	}
	if err := m.unpausing(id, r); err != nil {
		return m.fail("Error stopping container %s: %v", id, err)
	}
	return nil
}

// unpausing sends a request that a paused container refuses.
func (m *containerRun) unpausing(id string, r *dockerRequest) error {
	for tries := 0; ; tries++ {
		_, err := m.do(r)
		var e *dockerError
		if !errors.As(err, &e) || !strings.Contains(e.detail, "Unpause the container before stopping or killing") || tries == 3 {
			return err
		}
		if _, err := m.order("POST", dockerPath("/containers/{0}/unpause", id)); err != nil {
			return err
		}
	}
}

func (m *containerRun) kill(id string) error {
	m.did("killed", id, "signal", given(m.args.KillSignal))
	if m.Check {
		return nil
	}
	var params []string
	if m.args.KillSignal != nil {
		params = []string{"signal", *m.args.KillSignal}
	}
	if _, err := m.order("POST", dockerPath("/containers/{0}/kill", id), params...); err != nil {
		return m.fail("Error killing container %s: %v", id, err)
	}
	return nil
}

func (m *containerRun) removeContainer(box *value.Dict, force bool) error {
	id, volumes := dictText(box, "Id"), !m.args.KeepVolumes
	m.did("removed", id, "volume_state", volumes, "link", false, "force", force)
	if m.Check {
		return nil
	}
	r := &dockerRequest{method: "DELETE", path: dockerPath("/containers/{0}", id),
		params: []string{"v", dockerBool(volumes), "link", "False", "force", dockerBool(force)}}
	err := m.unpausing(id, r)
	var e *dockerError
	if notFound(err) || errors.As(err, &e) && strings.Contains(e.detail, "is already in progress") {
		return nil
	}
	if err != nil {
		return m.fail("Error removing container %s: %v", id, err)
	}
	return nil
}

// updateLimits changes what can be changed on a container that exists. As with
// Ansible's module, check mode does not report it.
func (m *containerRun) updateLimits(box, image *value.Dict) (*value.Dict, error) {
	differ := &differences{}
	body := value.NewDict()
	for i, g := range m.groups {
		if g.update == nil {
			continue
		}
		if err := m.compareGroup(differ, i, box, image); err != nil {
			return nil, err
		}
		g.update(body, m.wanted[i])
	}
	if differ.empty() {
		return box, nil
	}
	m.tracked.merge(differ)
	if m.Check {
		return box, nil
	}
	id := dictText(box, "Id")
	if body.Len() > 0 {
		m.did("updated", id, "update_parameters", body)
		answer, err := m.post(dockerPath("/containers/{0}/update", id), body)
		if err != nil {
			return nil, m.fail("Error updating container %s: %v", id, err)
		}
		m.warned(answer, "Warnings")
	}
	return m.container(id)
}

// updateNetworks connects the container to its networks, and disconnects it from
// others if asked to.
func (m *containerRun) updateNetworks(box *value.Dict, made bool) (*value.Dict, error) {
	now := box
	var err error
	if m.compared["networks"] != "ignore" || made {
		if now, err = m.joinNetworks(box); err != nil {
			return nil, err
		}
	}
	if m.compared["networks"] == "strict" && m.args.Networks != nil || m.args.PurgeNetworks {
		return m.leaveNetworks(box, now)
	}
	return now, nil
}

// noteNetworks adds to the differences of the diff.
func (m *containerRun) noteNetworks(key string, list *value.List) {
	all, _ := m.diff.Get("differences")
	l, ok := all.(*value.List)
	if !ok {
		l = value.NewList()
		m.diff.Set("differences", l)
	}
	l.Append(value.DictOf(key, list))
}

func (m *containerRun) joinNetworks(box *value.Dict) (*value.Dict, error) {
	list := value.NewList()
	ends := dictIn(dictIn(box, "NetworkSettings"), "Networks")
	for _, want := range m.networks {
		end := dictIn(ends, dictText(want, "name"))
		if end == nil {
			list.Append(value.DictOf("parameter", want, "container", nil))
		} else if !networkMatches(want, end) {
			list.Append(value.DictOf("parameter", want, "container", shownEnd(want, end)))
		}
	}
	if list.Len() == 0 {
		return box, nil
	}
	m.noteNetworks("network_differences", list)
	for _, differ := range dictItems(list) {
		want := dictIn(differ, "parameter")
		have, _ := differ.Get("container")
		m.tracked.add("network."+dictText(want, "name"), want, have)
	}
	m.out.Changed(true)
	for _, differ := range dictItems(list) {
		if err := m.joinNetwork(box, differ); err != nil {
			return nil, err
		}
	}
	return m.container(dictText(box, "Id"))
}

// ipamKeys are the engine's names of a network's addresses.
func ipamKeys() map[string]string {
	return map[string]string{"ipv4_address": "IPv4Address", "ipv6_address": "IPv6Address"}
}

// networkMatches compares a network asked for with the container's end of it.
func networkMatches(want, end *value.Dict) bool {
	ipam := dictIn(end, "IPAMConfig")
	for name, key := range ipamKeys() {
		if w := dictText(want, name); w != "" && w != dictText(ipam, key) {
			return false
		}
	}
	aliases, _ := want.Get("aliases")
	have, _ := end.Get("Aliases")
	if n, _ := value.Len(aliases); n > 0 && !dockerMatch(aliases, have, "allow_more_present", "set") {
		return false
	}
	links := networkLinks(want)
	have, _ = end.Get("Links")
	return links.Len() == 0 || dockerMatch(links, have, "allow_more_present", "set")
}

// networkLinks are a network's links as the engine has them, in their order.
func networkLinks(want *value.Dict) *value.List {
	out := value.NewList()
	links, _ := want.Get("links")
	for _, pair := range itemsOf(links) {
		both := itemsOf(pair)
		out.Append(value.Str(both[0]) + ":" + value.Str(both[1]))
	}
	return out
}

func shownEnd(want, end *value.Dict) *value.Dict {
	ipam := dictIn(end, "IPAMConfig")
	out := value.DictOf("name", dictText(want, "name"))
	for _, m := range []struct {
		key  string
		from *value.Dict
		name string
	}{{"ipv4_address", ipam, "IPv4Address"}, {"ipv6_address", ipam, "IPv6Address"}, {"aliases", end, "Aliases"}, {"links", end, "Links"}} {
		v, _ := m.from.Get(m.name)
		out.Set(m.key, v)
	}
	return out
}

func (m *containerRun) joinNetwork(box, differ *value.Dict) error {
	want := dictIn(differ, "parameter")
	name, network, id := dictText(want, "name"), dictText(want, "id"), dictText(box, "Id")
	if have, _ := differ.Get("container"); have != nil {
		m.actions.Append(value.DictOf("removed_from_network", name))
		if !m.Check {
			if _, err := m.post(dockerPath("/networks/{0}/disconnect", network), value.DictOf("Container", id)); err != nil {
				return m.fail("Error disconnecting container from network %s - %v", name, err)
			}
		}
	}
	m.actions.Append(value.DictOf("added_to_network", name, "network_parameters", want))
	if m.Check {
		return nil
	}
	body := value.DictOf("Container", id, "EndpointConfig", endpointConfig(want))
	if _, err := m.post(dockerPath("/networks/{0}/connect", network), body); err != nil {
		return m.fail("Error connecting container to network %s - %v", name, err)
	}
	return nil
}

// endpointConfig is how a container joins a network.
func endpointConfig(want *value.Dict) *value.Dict {
	out, ipam := value.NewDict(), value.NewDict()
	for name, key := range ipamKeys() {
		if v := dictText(want, name); v != "" {
			ipam.Set(key, v)
		}
	}
	if links := networkLinks(want); links.Len() > 0 {
		slices.SortFunc(links.Items, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		out.Set("Links", links)
	}
	if aliases, _ := want.Get("aliases"); value.Truth(aliases) {
		out.Set("Aliases", aliases)
	}
	if ipam.Len() > 0 {
		out.Set("IPAMConfig", ipam)
	}
	return out
}

func (m *containerRun) leaveNetworks(box, now *value.Dict) (*value.Dict, error) {
	extra := value.NewList()
	for k, v := range dictIn(dictIn(box, "NetworkSettings"), "Networks").All() {
		name := value.Str(k)
		if slices.ContainsFunc(m.networks, func(want *value.Dict) bool { return dictText(want, "name") == name }) {
			continue
		}
		end, _ := v.(*value.Dict)
		extra.Append(value.DictOf("name", name, "id", dictText(end, "NetworkID")))
	}
	if extra.Len() == 0 {
		return now, nil
	}
	m.noteNetworks("purge_networks", extra)
	for _, network := range dictItems(extra) {
		m.tracked.add("network."+dictText(network, "name"), nil, network)
	}
	m.out.Changed(true)
	id := dictText(box, "Id")
	for _, network := range dictItems(extra) {
		name := dictText(network, "name")
		m.actions.Append(value.DictOf("removed_from_network", name))
		if m.Check {
			continue
		}
		if _, err := m.post(dockerPath("/networks/{0}/disconnect", name), value.DictOf("Container", id)); err != nil {
			return nil, m.fail("Error disconnecting container from network %s - %v", name, err)
		}
	}
	return m.container(id)
}
