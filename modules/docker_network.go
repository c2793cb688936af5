//go:build !plain

package modules

import (
	"fmt"
	"regexp"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// networkPool is a range of addresses.
type networkPool struct {
	Subnet       *string     `arg:"subnet" doc:"the addresses, as 172.20.0.0/16"`
	IPRange      *string     `arg:"iprange" doc:"the part that is handed out"`
	Gateway      *string     `arg:"gateway" doc:"the gateway's address"`
	AuxAddresses *value.Dict `arg:"aux_addresses" doc:"addresses that are taken, by name"`
}

// dockerNetworkArgs are the arguments of docker_network.
type dockerNetworkArgs struct {
	Name          string        `arg:"name,required,aliases=network_name" doc:"the network's name"`
	Connected     []string      `arg:"connected,default=,aliases=containers" doc:"containers that shall be connected"`
	State         string        `arg:"state,default=present,choices=present|absent" doc:"whether the network shall exist"`
	Driver        string        `arg:"driver,default=bridge" doc:"what makes the network"`
	DriverOptions *value.Dict   `arg:"driver_options" doc:"the driver's options"`
	Force         bool          `arg:"force,default=no" doc:"make the network anew"`
	Appends       bool          `arg:"appends,default=no,aliases=incremental" doc:"leave further containers connected"`
	IPAMDriver    *string       `arg:"ipam_driver" doc:"what hands out addresses"`
	IPAMOptions   *value.Dict   `arg:"ipam_driver_options" doc:"options of ipam_driver"`
	IPAMConfig    []networkPool `arg:"ipam_config" doc:"the network's addresses"`
	EnableIPv6    *bool         `arg:"enable_ipv6" doc:"use IPv6"`
	Internal      *bool         `arg:"internal" doc:"no way out"`
	Labels        *value.Dict   `arg:"labels" doc:"labels of the network"`
	Scope         *string       `arg:"scope,choices=local|global|swarm" doc:"where the network reaches"`
	Attachable    *bool         `arg:"attachable" doc:"containers may join by hand"`
	dockerArgs
}

// Rules relates the arguments.
func (dockerNetworkArgs) Rules() argspec.Rules { return dockerRules() }

func dockerNetwork() Module {
	return Define("docker_network", "Make and remove Docker networks", runDockerNetwork).In("community.docker", "community.general")
}

// networkRun is one run of docker_network.
type networkRun struct {
	*docker
	args    *dockerNetworkArgs
	options *value.Dict // of the driver, as texts
	have    *value.Dict // nil: there is none
	actions *value.List
	tracked differences
	diff    *value.Dict
	out     *Result
}

func runDockerNetwork(c *Call, args *dockerNetworkArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	n := &networkRun{docker: d, args: args, actions: value.NewList(), diff: value.NewDict(), out: NewResult(false)}
	return d.finish(n.run())
}

func (n *networkRun) run() (*Result, error) {
	var err error
	if n.have, err = n.network(n.args.Name); err != nil {
		return nil, err
	}
	if len(n.args.Connected) == 0 {
		n.args.Connected = networkContainers(n.have)
	}
	for _, pool := range n.args.IPAMConfig {
		if pool.Subnet == nil {
			return nil, n.fail("expected string or bytes-like object")
		}
		if !cidr.MatchString(*pool.Subnet) {
			return nil, n.fail("\"%s\" is not a valid CIDR", *pool.Subnet)
		}
	}
	n.options = dockerTexts(n.args.DriverOptions)
	if n.args.State == "absent" {
		err = n.absent()
	} else {
		err = n.present()
	}
	if err != nil {
		return nil, err
	}
	if n.Diff || n.Check || n.args.Debug {
		if n.Diff {
			n.tracked.into(n.diff)
		}
		n.out.Set("diff", n.diff)
	}
	return n.out, nil
}

var cidr = regexp.MustCompile(`^(([0-9]{1,3}\.){3}[0-9]{1,3}/([0-9]|[1-2][0-9]|3[0-2])|[0-9a-fA-F:]+/([0-9]|[1-9][0-9]|1[0-2][0-9]))$`)

func networkContainers(network *value.Dict) []string {
	var names []string
	for _, v := range dictIn(network, "Containers").All() {
		if end, ok := v.(*value.Dict); ok {
			names = append(names, dictText(end, "Name"))
		}
	}
	return names
}

func (n *networkRun) absent() error {
	n.out.Set("actions", n.actions)
	n.tracked.add("exists", false, n.have != nil)
	return n.remove()
}

func (n *networkRun) present() error {
	differ := &differences{}
	if n.have != nil {
		differ = n.compare()
	}
	n.tracked.add("exists", true, n.have != nil)
	if n.args.Force || !differ.empty() {
		if err := n.remove(); err != nil {
			return err
		}
		n.have = nil
	}
	if err := n.create(); err != nil {
		return err
	}
	if err := n.connect(); err != nil {
		return err
	}
	if !n.args.Appends {
		if err := n.disconnectOthers(); err != nil {
			return err
		}
	}
	if n.Diff || n.Check || n.args.Debug {
		n.diff.Set("differences", stringList(differ.names))
		n.tracked.merge(differ)
	}
	if n.Check || n.args.Debug {
		n.out.Set("actions", n.actions)
	}
	now, err := n.network(n.args.Name)
	n.out.Set("network", dictOrNil(now))
	return err
}

// compare lists what differs between the arguments and the network.
func (n *networkRun) compare() *differences {
	d := &differences{}
	a := n.args
	if a.Driver != "" && a.Driver != dictText(n.have, "Driver") {
		d.add("driver", a.Driver, dictText(n.have, "Driver"))
	}
	n.compareTexts(d, "driver_options", n.options, "Options")
	n.compareIPAM(d)
	n.compareBool(d, "enable_ipv6", a.EnableIPv6, "EnableIPv6", false)
	n.compareBool(d, "internal", a.Internal, "Internal", nil)
	if a.Scope != nil && *a.Scope != dictText(n.have, "Scope") {
		d.add("scope", *a.Scope, dictText(n.have, "Scope"))
	}
	n.compareBool(d, "attachable", a.Attachable, "Attachable", nil)
	n.compareTexts(d, "labels", a.Labels, "Labels")
	return d
}

// compareBool compares a yes or no; shown stands for a member that is absent.
func (n *networkRun) compareBool(d *differences, name string, want *bool, key string, shown any) {
	if want == nil || *want == dictTrue(n.have, key) {
		return
	}
	if have, ok := n.have.Get(key); ok {
		shown = have
	}
	d.add(name, *want, shown)
}

// compareTexts compares the entries of a dict that are asked for.
func (n *networkRun) compareTexts(d *differences, name string, want *value.Dict, key string) {
	have := dictIn(n.have, key)
	if want.Len() == 0 {
		return
	}
	if have.Len() == 0 {
		there, _ := n.have.Get(key)
		d.add(name, want, there)
		return
	}
	for k, v := range want.All() {
		if there, ok := have.GetKey(k); !ok || !value.Equal(v, there) {
			d.add(name+"."+value.Str(k), v, there)
		}
	}
}

func (n *networkRun) compareIPAM(d *differences) {
	ipam := dictIn(n.have, "IPAM")
	if a := n.args.IPAMDriver; a != nil && *a != "" && dictText(ipam, "Driver") != *a {
		d.add("ipam_driver", *a, dictOrNil(ipam))
	}
	if a := n.args.IPAMOptions; a != nil {
		have := dictIn(ipam, "Options")
		if have == nil {
			have = value.NewDict()
		}
		if !value.Equal(have, a) {
			d.add("ipam_driver_options", a, have)
		}
	}
	if len(n.args.IPAMConfig) == 0 {
		return
	}
	there, _ := ipam.Get("Config")
	pools := dictItems(there)
	if len(pools) == 0 {
		d.add("ipam_config", n.pools(), there)
		return
	}
	for i, want := range dictItems(n.pools()) {
		n.comparePool(d, i, want, pools)
	}
}

// comparePool looks for a pool of addresses among those of the network.
func (n *networkRun) comparePool(d *differences, i int, want *value.Dict, pools []*value.Dict) {
	have := value.NewDict()
	for _, pool := range pools {
		named := value.NewDict()
		for k, v := range pool.All() {
			name := strings.ToLower(value.Str(k))
			if k == "AuxiliaryAddresses" {
				name = "aux_addresses"
			}
			named.Set(name, v)
		}
		if holdsGiven(want, named) {
			have = named
			break
		}
	}
	for k, v := range want.All() {
		there, _ := have.GetKey(k)
		if v != nil && !value.Equal(v, there) {
			d.add(fmt.Sprintf("ipam_config[%d].%s", i, k), v, there)
		}
	}
}

// holdsGiven is holdsAll without the entries that are nil.
func holdsGiven(want, have *value.Dict) bool {
	given := value.NewDict()
	for k, v := range want.All() {
		if v != nil {
			given.Set(value.Str(k), v)
		}
	}
	return holdsAll(given, have)
}

// pools is ipam_config as a list of dicts with all their keys.
func (n *networkRun) pools() *value.List {
	out := value.NewList()
	for _, p := range n.args.IPAMConfig {
		out.Append(value.DictOf("subnet", textOrNil(p.Subnet), "iprange", textOrNil(p.IPRange), "gateway", textOrNil(p.Gateway), "aux_addresses", dictOrNil(p.AuxAddresses)))
	}
	return out
}

func textOrNil(s *string) any {
	if s == nil {
		return nil
	}
	return *s
}

// body is the request that makes the network.
func (n *networkRun) body() *value.Dict {
	a := n.args
	data := value.DictOf("Name", a.Name, "Driver", a.Driver, "Options", n.options)
	if a.EnableIPv6 != nil && *a.EnableIPv6 {
		data.Set("EnableIPv6", true)
	}
	if a.Internal != nil && *a.Internal {
		data.Set("Internal", true)
	}
	if a.Scope != nil {
		data.Set("Scope", *a.Scope)
	}
	if a.Attachable != nil {
		data.Set("Attachable", *a.Attachable)
	}
	data.Set("Labels", value.NewDict())
	if a.Labels != nil {
		data.Set("Labels", a.Labels)
	}
	pools := value.NewList()
	for _, p := range a.IPAMConfig {
		pools.Append(value.DictOf("Subnet", textOrNil(p.Subnet), "IPRange", textOrNil(p.IPRange), "Gateway", textOrNil(p.Gateway), "AuxiliaryAddresses", dictOrNil(p.AuxAddresses)))
	}
	if a.IPAMDriver != nil && *a.IPAMDriver != "" || a.IPAMOptions.Len() > 0 || pools.Len() > 0 {
		data.Set("IPAM", value.DictOf("Driver", textOrNil(a.IPAMDriver), "Config", pools, "Options", dictOrNil(a.IPAMOptions)))
	}
	return data
}

func (n *networkRun) create() error {
	if n.have != nil {
		return nil
	}
	if !n.Check {
		answer, err := n.post("/networks/create", n.body())
		if err != nil {
			return err
		}
		n.warned(answer, "Warning")
		if n.have, err = n.getDict(dockerPath("/networks/{0}", dictText(answer, "Id"))); err != nil {
			return n.fail("Error inspecting network: %v", err)
		}
	}
	n.did("Created network %s with driver %s", n.args.Name, n.args.Driver)
	return nil
}

func (n *networkRun) did(format string, args ...any) {
	n.actions.Append(fmt.Sprintf(format, args...))
	n.out.Changed(true)
}

func (n *networkRun) connect() error {
	there := map[string]bool{}
	for _, name := range networkContainers(n.have) {
		there[name] = true
	}
	for _, name := range n.args.Connected {
		if there[name] {
			continue
		}
		if !n.Check {
			body := value.DictOf("Container", name)
			if _, err := n.post(dockerPath("/networks/{0}/connect", n.args.Name), body); err != nil {
				return err
			}
		}
		n.did("Connected container %s", name)
		n.tracked.add("connected."+name, true, false)
	}
	return nil
}

func (n *networkRun) disconnectOthers() error {
	wanted := map[string]bool{}
	for _, name := range n.args.Connected {
		wanted[name] = true
	}
	for _, name := range networkContainers(n.have) {
		if !wanted[name] {
			if err := n.disconnect(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *networkRun) disconnect(name string) error {
	if !n.Check {
		if _, err := n.post(dockerPath("/networks/{0}/disconnect", n.args.Name), value.DictOf("Container", name)); err != nil {
			return err
		}
	}
	n.did("Disconnected container %s", name)
	n.tracked.add("connected."+name, false, true)
	return nil
}

// remove disconnects all and removes the network.
func (n *networkRun) remove() error {
	if n.have == nil {
		return nil
	}
	for _, name := range networkContainers(n.have) {
		if err := n.disconnect(name); err != nil {
			return err
		}
	}
	if !n.Check {
		if _, err := n.order("DELETE", dockerPath("/networks/{0}", n.args.Name)); err != nil {
			return err
		}
	}
	n.did("Removed network %s", n.args.Name)
	return nil
}
