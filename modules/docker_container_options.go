//go:build !plain

package modules

import (
	"reflect"
	"strings"

	"play/modules/value"
)

// deviceRate is a limit of a device in bytes a second.
type deviceRate struct {
	Path string `arg:"path,required" doc:"the device"`
	Rate string `arg:"rate,required" doc:"bytes a second, with a unit"`
}

// deviceCount is a limit of a device in operations a second.
type deviceCount struct {
	Path string `arg:"path,required" doc:"the device"`
	Rate int    `arg:"rate,required" doc:"operations a second"`
}

// deviceRequest asks for devices such as GPUs.
type deviceRequest struct {
	Capabilities []*value.List `arg:"capabilities" doc:"lists of capabilities, one of which must be met"`
	Count        *int          `arg:"count" doc:"how many; -1: all"`
	DeviceIDs    []string      `arg:"device_ids" doc:"which devices"`
	Driver       *string       `arg:"driver" doc:"the driver"`
	Options      *value.Dict   `arg:"options" doc:"the driver's options"`
}

// healthcheck is how to see that a container works.
type healthcheck struct {
	Test        any     `arg:"test" doc:"the command: a list, or a line for a shell"`
	Interval    *string `arg:"interval" doc:"time between checks, as 1m30s"`
	Timeout     *string `arg:"timeout" doc:"time that a check may take"`
	StartPeriod *string `arg:"start_period" doc:"time in which failures do not count"`
	Retries     *int    `arg:"retries" doc:"failures in a row that count"`
}

// containerNetwork is a network that a container is connected to.
type containerNetwork struct {
	Name    string   `arg:"name,required" doc:"the network"`
	IPv4    *string  `arg:"ipv4_address" doc:"its address there"`
	IPv6    *string  `arg:"ipv6_address" doc:"its address there"`
	Aliases []string `arg:"aliases" doc:"further names there"`
	Links   []string `arg:"links" doc:"containers to link to there"`
}

// containerMount is something mounted in a container.
type containerMount struct {
	Target        string      `arg:"target,required" doc:"the path inside"`
	Source        *string     `arg:"source" doc:"a path or a volume"`
	Type          string      `arg:"type,default=volume,choices=bind|npipe|tmpfs|volume" doc:"what it is"`
	ReadOnly      *bool       `arg:"read_only" doc:"cannot be written"`
	Consistency   *string     `arg:"consistency,choices=default|consistent|cached|delegated" doc:"for Docker Desktop"`
	Propagation   *string     `arg:"propagation,choices=private|rprivate|shared|rshared|slave|rslave" doc:"of a bind"`
	NoCopy        *bool       `arg:"no_copy" doc:"do not copy what is at target into a volume"`
	Labels        *value.Dict `arg:"labels" doc:"labels of the volume"`
	VolumeDriver  *string     `arg:"volume_driver" doc:"driver of the volume"`
	VolumeOptions *value.Dict `arg:"volume_options" doc:"options of volume_driver"`
	TmpfsSize     *string     `arg:"tmpfs_size" doc:"size, with a unit"`
	TmpfsMode     *string     `arg:"tmpfs_mode" doc:"octal permissions"`
}

// containerOptions are the arguments that describe the container itself.
type containerOptions struct {
	AutoRemove        *bool              `arg:"auto_remove" doc:"remove the container when it ends"`
	BlkioWeight       *int               `arg:"blkio_weight" doc:"share of disk operations, 10 to 1000"`
	Capabilities      []string           `arg:"capabilities" doc:"capabilities to add"`
	CapDrop           []string           `arg:"cap_drop" doc:"capabilities to drop"`
	CgroupNSMode      *string            `arg:"cgroupns_mode,choices=private|host" doc:"whose control groups it sees"`
	CgroupParent      *string            `arg:"cgroup_parent" doc:"the control group it is put under"`
	Command           any                `arg:"command" doc:"what to run: a list, or a line"`
	CPUPeriod         *int               `arg:"cpu_period" doc:"CPU period in microseconds"`
	CPUQuota          *int               `arg:"cpu_quota" doc:"CPU time of a period in microseconds"`
	CpusetCPUs        *string            `arg:"cpuset_cpus" doc:"the CPUs it may use"`
	CpusetMems        *string            `arg:"cpuset_mems" doc:"the memory nodes it may use"`
	CPUShares         *int               `arg:"cpu_shares" doc:"share of CPU time"`
	Entrypoint        []string           `arg:"entrypoint" doc:"instead of the image's entrypoint"`
	CPUs              *float64           `arg:"cpus" doc:"how many CPUs it may use"`
	Detach            *bool              `arg:"detach" doc:"no: wait for its end, and return its output"`
	Interactive       *bool              `arg:"interactive" doc:"keep its input open"`
	Devices           []string           `arg:"devices" doc:"devices as HOST[:CONTAINER[:PERMISSIONS]]"`
	DeviceReadBps     []deviceRate       `arg:"device_read_bps" doc:"limits of reading from devices"`
	DeviceWriteBps    []deviceRate       `arg:"device_write_bps" doc:"limits of writing to devices"`
	DeviceReadIOps    []deviceCount      `arg:"device_read_iops" doc:"limits of reading from devices"`
	DeviceWriteIOps   []deviceCount      `arg:"device_write_iops" doc:"limits of writing to devices"`
	DeviceRequests    []deviceRequest    `arg:"device_requests" doc:"devices such as GPUs"`
	DNSServers        []string           `arg:"dns_servers" doc:"DNS servers"`
	DNSOpts           []string           `arg:"dns_opts" doc:"options of the resolver"`
	DNSSearch         []string           `arg:"dns_search_domains" doc:"search domains"`
	DomainName        *string            `arg:"domainname" doc:"the domain of its host name"`
	Env               *value.Dict        `arg:"env" doc:"environment variables; their values must be texts"`
	EnvFile           *string            `arg:"env_file,type=path" doc:"file of environment variables on the host"`
	EtcHosts          *value.Dict        `arg:"etc_hosts" doc:"addresses by name, for its /etc/hosts"`
	Groups            []string           `arg:"groups" doc:"further groups of its user"`
	Healthcheck       *healthcheck       `arg:"healthcheck" doc:"how to see that it works; test: [NONE] for not at all"`
	Hostname          *string            `arg:"hostname" doc:"its host name"`
	Init              *bool              `arg:"init" doc:"run an init inside"`
	IPCMode           *string            `arg:"ipc_mode" doc:"the IPC namespace: private, host, container:NAME…"`
	KernelMemory      *string            `arg:"kernel_memory" doc:"limit of kernel memory, with a unit"`
	Labels            *value.Dict        `arg:"labels" doc:"labels of the container"`
	Links             []string           `arg:"links" doc:"containers to link to, as NAME:ALIAS"`
	LogDriver         *string            `arg:"log_driver" doc:"where its output goes"`
	LogOptions        *value.Dict        `arg:"log_options,aliases=log_opt" doc:"options of log_driver"`
	MacAddress        *string            `arg:"mac_address" doc:"its MAC address"`
	Memory            *string            `arg:"memory" doc:"limit of memory, with a unit"`
	MemoryReservation *string            `arg:"memory_reservation" doc:"soft limit of memory, with a unit"`
	MemorySwap        *string            `arg:"memory_swap" doc:"limit of memory and swap, with a unit; unlimited"`
	MemorySwappiness  *int               `arg:"memory_swappiness" doc:"0 to 100"`
	StopTimeout       *int               `arg:"stop_timeout" doc:"seconds before it is killed"`
	NetworkMode       *string            `arg:"network_mode" doc:"bridge, host, none, container:NAME, or a network"`
	Networks          []containerNetwork `arg:"networks" doc:"networks that it is connected to"`
	OOMKiller         *bool              `arg:"oom_killer" doc:"yes: do not kill it when memory runs out"`
	OOMScoreAdj       *int               `arg:"oom_score_adj" doc:"how readily it is killed then"`
	PIDMode           *string            `arg:"pid_mode" doc:"the PID namespace: host or container:NAME"`
	PidsLimit         *int               `arg:"pids_limit" doc:"limit of processes; -1: none"`
	Platform          *string            `arg:"platform" doc:"platform of the image, as linux/amd64"`
	Privileged        *bool              `arg:"privileged" doc:"give it all rights"`
	ReadOnly          *bool              `arg:"read_only" doc:"its root file system cannot be written"`
	RestartPolicy     *string            `arg:"restart_policy,choices=no|on-failure|always|unless-stopped" doc:"when it is started again"`
	RestartRetries    *int               `arg:"restart_retries" doc:"how often, with on-failure"`
	Runtime           *string            `arg:"runtime" doc:"what runs it"`
	SecurityOpts      []string           `arg:"security_opts" doc:"security options"`
	ShmSize           *string            `arg:"shm_size" doc:"size of /dev/shm, with a unit"`
	StopSignal        *string            `arg:"stop_signal" doc:"the signal that ends it"`
	StorageOpts       *value.Dict        `arg:"storage_opts" doc:"options of its storage"`
	Sysctls           *value.Dict        `arg:"sysctls" doc:"kernel parameters"`
	Tmpfs             []string           `arg:"tmpfs" doc:"file systems in memory, as PATH[:OPTIONS]"`
	TTY               *bool              `arg:"tty" doc:"give it a terminal"`
	Ulimits           []string           `arg:"ulimits" doc:"limits as NAME:SOFT[:HARD]"`
	User              *string            `arg:"user" doc:"user and group inside"`
	UsernsMode        *string            `arg:"userns_mode" doc:"user namespace: host"`
	UTS               *string            `arg:"uts" doc:"UTS namespace: host"`
	VolumeDriver      *string            `arg:"volume_driver" doc:"driver of its volumes"`
	VolumesFrom       []string           `arg:"volumes_from" doc:"containers whose volumes it gets"`
	WorkingDir        *string            `arg:"working_dir" doc:"the working folder inside"`
	Mounts            []containerMount   `arg:"mounts" doc:"what is mounted inside"`
	Volumes           []string           `arg:"volumes" doc:"what is mounted inside, as SOURCE:PATH[:MODE] or PATH"`
	ExposedPorts      []string           `arg:"exposed_ports,aliases=exposed|expose" doc:"ports that other containers see"`
	PublishAllPorts   *bool              `arg:"publish_all_ports" doc:"publish all exposed ports"`
	PublishedPorts    []string           `arg:"published_ports,aliases=ports" doc:"ports as [[ADDRESS:]PORT:]PORT[/PROTOCOL]"`
}

// givenOption tells whether an option of the container was given.
func (a *containerArgs) givenOption(name string) bool {
	v := reflect.ValueOf(&a.containerOptions).Elem()
	for i := range v.NumField() {
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("arg"), ",")
		if tag == name {
			return !v.Field(i).IsNil()
		}
	}
	return false
}

// given is the value of an argument, or nil.
func given[T any](p *T) any {
	if p == nil {
		return nil
	}
	return *p
}

// givenTexts is a list of texts as an argument gave it, or nil.
func givenTexts(texts []string) any {
	if texts == nil {
		return nil
	}
	return stringList(texts)
}

// containerOption is how an option is compared with the container.
type containerOption struct {
	name, kind, comparison string
	aliases                []string
	hidden                 bool // no argument
}

// containerGroup is one option, or a few that the engine keeps together.
type containerGroup struct {
	options []containerOption
	since   string // the API's version that has it; "": all
	// want gives the options' values in the engine's form; absent: not asked for.
	want func(m *containerRun) (*value.Dict, error)
	// have gives the container's values.
	have func(box *value.Dict) *value.Dict
	// expect adds what comes from the image; nil: nothing does.
	expect func(m *containerRun, image, want *value.Dict) *value.Dict
	// set puts the values into the request that makes a container.
	set func(body, want *value.Dict)
	// update puts them into the request that changes one; nil: that cannot be.
	update func(body, want *value.Dict)
}

func option(name, kind string) containerOption {
	comparison := "allow_more_present"
	if kind == "value" || kind == "list" {
		comparison = "strict"
	}
	return containerOption{name: name, kind: kind, comparison: comparison}
}

// optionValue computes an option's value; nil: not asked for.
type optionValue func(m *containerRun) (any, error)

// plain is an optionValue that needs nothing but the arguments.
func plain(get func(a *containerArgs) any) optionValue {
	return func(m *containerRun) (any, error) { return get(m.args), nil }
}

// member is a group of one option that is a member of the container's Config or
// HostConfig.
func member(section, key, name, kind string, get optionValue) containerGroup {
	put := func(into *value.Dict, want *value.Dict) {
		if v, ok := want.Get(name); ok {
			into.Set(key, v)
		}
	}
	return containerGroup{
		options: []containerOption{option(name, kind)},
		want: func(m *containerRun) (*value.Dict, error) {
			out := value.NewDict()
			v, err := get(m)
			if v != nil {
				out.Set(name, v)
			}
			return out, err
		},
		have: func(box *value.Dict) *value.Dict {
			out := value.NewDict()
			if v, ok := dictIn(box, section).Get(key); ok {
				out.Set(name, v)
			}
			return out
		},
		set: func(body, want *value.Dict) {
			if _, ok := want.Get(name); ok && section == "HostConfig" {
				body = hostConfig(body)
			}
			put(body, want)
		},
	}
}

// hostConfig is the HostConfig of a request, made if it is not there.
func hostConfig(body *value.Dict) *value.Dict {
	host := dictIn(body, "HostConfig")
	if host == nil {
		host = value.NewDict()
		body.Set("HostConfig", host)
	}
	return host
}

func config(name, kind, key string, get optionValue) containerGroup {
	return member("Config", key, name, kind, get)
}

func host(name, kind, key string, get optionValue) containerGroup {
	return member("HostConfig", key, name, kind, get)
}

// updatable is host for what can be changed on a container that exists.
func updatable(name, key string, get optionValue) containerGroup {
	g := host(name, "value", key, get)
	g.update = func(body, want *value.Dict) {
		if v, ok := want.Get(name); ok {
			body.Set(key, v)
		}
	}
	return g
}

func (g containerGroup) from(version string) containerGroup { g.since = version; return g }

func (g containerGroup) ignored() containerGroup { g.options[0].comparison = "ignore"; return g }

func (g containerGroup) expecting(f func(m *containerRun, image, want *value.Dict) *value.Dict) containerGroup {
	g.expect = f
	return g
}

// containerGroups lists all options in the order in which they are compared.
func containerGroups() []containerGroup {
	return append(resourceGroups(), append(settingGroups(), append(networkGroups(), processGroups()...)...)...)
}

func resourceGroups() []containerGroup {
	type a = *containerArgs
	return []containerGroup{
		host("auto_remove", "value", "AutoRemove", plain(func(a a) any { return given(a.AutoRemove) })),
		updatable("blkio_weight", "BlkioWeight", plain(func(a a) any { return given(a.BlkioWeight) })),
		host("capabilities", "set", "CapAdd", plain(func(a a) any { return givenTexts(a.Capabilities) })),
		host("cap_drop", "set", "CapDrop", plain(func(a a) any { return givenTexts(a.CapDrop) })),
		host("cgroupns_mode", "value", "CgroupnsMode", plain(func(a a) any { return given(a.CgroupNSMode) })).from("1.41"),
		host("cgroup_parent", "value", "CgroupParent", plain(func(a a) any { return given(a.CgroupParent) })),
		config("command", "list", "Cmd", (*containerRun).commandValue),
		updatable("cpu_period", "CpuPeriod", plain(func(a a) any { return given(a.CPUPeriod) })),
		updatable("cpu_quota", "CpuQuota", plain(func(a a) any { return given(a.CPUQuota) })),
		updatable("cpuset_cpus", "CpusetCpus", plain(func(a a) any { return given(a.CpusetCPUs) })),
		updatable("cpuset_mems", "CpusetMems", plain(func(a a) any { return given(a.CpusetMems) })),
		updatable("cpu_shares", "CpuShares", plain(func(a a) any { return given(a.CPUShares) })),
		config("entrypoint", "list", "Entrypoint", (*containerRun).entrypointValue),
		host("cpus", "value", "NanoCpus", plain(nanoCPUs)),
		streamGroup(),
		host("devices", "set(dict)", "Devices", plain(deviceValues)),
		host("device_read_bps", "set(dict)", "BlkioDeviceReadBps", func(m *containerRun) (any, error) { return rateValues(m.args.DeviceReadBps) }),
		host("device_write_bps", "set(dict)", "BlkioDeviceWriteBps", func(m *containerRun) (any, error) { return rateValues(m.args.DeviceWriteBps) }),
		host("device_read_iops", "set(dict)", "BlkioDeviceReadIOps", plain(func(a a) any { return countValues(a.DeviceReadIOps) })),
		host("device_write_iops", "set(dict)", "BlkioDeviceWriteIOps", plain(func(a a) any { return countValues(a.DeviceWriteIOps) })),
		host("device_requests", "set(dict)", "DeviceRequests", plain(requestValues)).from("1.40"),
	}
}

func settingGroups() []containerGroup {
	type a = *containerArgs
	return []containerGroup{
		host("dns_servers", "list", "Dns", plain(func(a a) any { return givenTexts(a.DNSServers) })),
		host("dns_opts", "set", "DnsOptions", plain(func(a a) any { return givenTexts(a.DNSOpts) })),
		host("dns_search_domains", "list", "DnsSearch", plain(func(a a) any { return givenTexts(a.DNSSearch) })),
		config("domainname", "value", "Domainname", plain(func(a a) any { return given(a.DomainName) })),
		config("env", "set", "Env", (*containerRun).envValue).expecting(expectedEnv),
		host("etc_hosts", "set", "ExtraHosts", plain(hostsValue)),
		host("groups", "set", "GroupAdd", plain(func(a a) any { return givenTexts(a.Groups) })),
		healthcheckGroup(),
		config("hostname", "value", "Hostname", plain(func(a a) any { return given(a.Hostname) })),
		config("image", "value", "Image", plain(func(a a) any { return a.Image })),
		host("init", "value", "Init", plain(func(a a) any { return given(a.Init) })),
		host("ipc_mode", "value", "IpcMode", func(m *containerRun) (any, error) { return m.containerMode(m.args.IPCMode) }),
		updatable("kernel_memory", "KernelMemory", func(m *containerRun) (any, error) { return m.bytes("kernel_memory", m.args.KernelMemory) }),
		config("labels", "dict", "Labels", plain(func(a a) any { return dictOrNil(a.Labels) })).expecting(expectedLabels),
		host("links", "set", "Links", plain(linkValues)),
		logGroup(),
		config("mac_address", "value", "MacAddress", plain(macValue)),
		updatable("memory", "Memory", func(m *containerRun) (any, error) { return m.bytes("memory", m.args.Memory) }),
		updatable("memory_reservation", "MemoryReservation", func(m *containerRun) (any, error) { return m.bytes("memory_reservation", m.args.MemoryReservation) }),
		updatable("memory_swap", "MemorySwap", (*containerRun).swapValue),
		host("memory_swappiness", "value", "MemorySwappiness", plain(func(a a) any { return given(a.MemorySwappiness) })),
		config("stop_timeout", "value", "StopTimeout", plain(func(a a) any { return given(a.StopTimeout) })).ignored(),
	}
}

func networkGroups() []containerGroup {
	type a = *containerArgs
	return []containerGroup{
		networkGroup(),
		host("oom_killer", "value", "OomKillDisable", plain(func(a a) any { return given(a.OOMKiller) })),
		host("oom_score_adj", "value", "OomScoreAdj", plain(func(a a) any { return given(a.OOMScoreAdj) })),
		host("pid_mode", "value", "PidMode", func(m *containerRun) (any, error) { return m.containerMode(m.args.PIDMode) }),
		host("pids_limit", "value", "PidsLimit", plain(func(a a) any { return given(a.PidsLimit) })),
		platformGroup(),
		host("privileged", "value", "Privileged", plain(func(a a) any { return given(a.Privileged) })),
		host("read_only", "value", "ReadonlyRootfs", plain(func(a a) any { return given(a.ReadOnly) })),
		restartGroup(),
		host("runtime", "value", "Runtime", plain(func(a a) any { return given(a.Runtime) })),
		host("security_opts", "set", "SecurityOpt", plain(func(a a) any { return givenTexts(a.SecurityOpts) })),
		host("shm_size", "value", "ShmSize", func(m *containerRun) (any, error) { return m.bytes("shm_size", m.args.ShmSize) }),
	}
}

func processGroups() []containerGroup {
	type a = *containerArgs
	return []containerGroup{
		config("stop_signal", "value", "StopSignal", plain(func(a a) any { return given(a.StopSignal) })),
		host("storage_opts", "dict", "StorageOpt", plain(func(a a) any { return dictOrNil(a.StorageOpts) })),
		host("sysctls", "dict", "Sysctls", plain(sysctlValues)),
		host("tmpfs", "dict", "Tmpfs", plain(tmpfsValues)),
		config("tty", "value", "Tty", plain(func(a a) any { return given(a.TTY) })),
		host("ulimits", "set(dict)", "Ulimits", (*containerRun).ulimitValues),
		config("user", "value", "User", plain(func(a a) any { return given(a.User) })),
		host("userns_mode", "value", "UsernsMode", plain(func(a a) any { return given(a.UsernsMode) })),
		host("uts", "value", "UTSMode", plain(func(a a) any { return given(a.UTS) })),
		host("volume_driver", "value", "VolumeDriver", plain(func(a a) any { return given(a.VolumeDriver) })),
		host("volumes_from", "set", "VolumesFrom", plain(func(a a) any { return givenTexts(a.VolumesFrom) })),
		config("working_dir", "value", "WorkingDir", plain(func(a a) any { return given(a.WorkingDir) })),
		mountGroup(),
		portGroup(),
	}
}

// collect computes the values of all options.
func (m *containerRun) collect() error {
	for _, g := range m.groups {
		want, err := g.want(m)
		if err != nil {
			return err
		}
		m.wanted = append(m.wanted, want)
	}
	return nil
}
