//go:build !plain

package modules

import (
	"errors"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// commandValue is what to run: a line is cut as a shell does it.
func (m *containerRun) commandValue() (any, error) {
	var words *value.List
	switch v := m.args.Command.(type) {
	case nil:
		return nil, nil
	case *value.List:
		words = value.NewList()
		for _, item := range v.Items {
			words.Append(value.Str(item))
		}
	default:
		cut, err := shellquote.Split(value.Str(v))
		if err != nil {
			return nil, err
		}
		words = stringList(cut)
	}
	return m.handled(words)
}

func (m *containerRun) entrypointValue() (any, error) {
	if m.args.Entrypoint == nil {
		return nil, nil
	}
	return m.handled(stringList(m.args.Entrypoint))
}

// handled takes words apart once more where command_handling asks for the ways
// of old.
func (m *containerRun) handled(words *value.List) (any, error) {
	if m.args.CommandHandling == "correct" {
		return words, nil
	}
	if words.Len() == 0 {
		return nil, nil
	}
	if _, line := m.args.Command.(string); line {
		return words, nil
	}
	var texts []string
	for _, item := range words.Items {
		texts = append(texts, item.(string))
	}
	cut, err := shellquote.Split(strings.Join(texts, " "))
	return stringList(cut), err
}

func nanoCPUs(a *containerArgs) any {
	if a.CPUs == nil {
		return nil
	}
	return int(math.RoundToEven(*a.CPUs * 1e9))
}

// streamGroup is detach and interactive.
func streamGroup() containerGroup {
	return containerGroup{
		options: []containerOption{option("detach", "value"), option("interactive", "value")},
		want: func(m *containerRun) (*value.Dict, error) {
			return withoutNil(value.DictOf("detach", given(m.args.Detach), "interactive", given(m.args.Interactive))), nil
		},
		have: func(box *value.Dict) *value.Dict {
			c := dictIn(box, "Config")
			return value.DictOf("interactive", dictTrue(c, "OpenStdin"), "detach", !dictTrue(c, "AttachStderr") || !dictTrue(c, "AttachStdout"))
		},
		set: func(body, want *value.Dict) {
			interactive, _ := want.Get("interactive")
			attached := !dictTrue(want, "detach")
			body.Set("AttachStdout", attached)
			body.Set("AttachStderr", attached)
			body.Set("AttachStdin", attached && interactive == true)
			body.Set("StdinOnce", attached && interactive == true)
			body.Set("OpenStdin", interactive)
		},
	}
}

// withoutNil is a dict without the entries that are nil.
func withoutNil(d *value.Dict) *value.Dict {
	out := value.NewDict()
	for k, v := range d.All() {
		if v != nil {
			out.Set(value.Str(k), v)
		}
	}
	return out
}

func deviceValues(a *containerArgs) any {
	if a.Devices == nil {
		return nil
	}
	out := value.NewList()
	for _, text := range a.Devices {
		parts := strings.Split(text, ":")
		inside, rights := parts[0], "rwm"
		if len(parts) > 1 {
			inside = parts[1]
		}
		if len(parts) > 2 {
			rights = parts[2]
		}
		out.Append(value.DictOf("CgroupPermissions", rights, "PathInContainer", inside, "PathOnHost", parts[0]))
	}
	return out
}

func rateValues(rates []deviceRate) (any, error) {
	if rates == nil {
		return nil, nil
	}
	out := value.NewList()
	for _, r := range rates {
		n, err := humanBytes(r.Rate)
		if err != nil {
			return nil, err
		}
		out.Append(value.DictOf("Path", r.Path, "Rate", n))
	}
	return out, nil
}

func countValues(rates []deviceCount) any {
	if rates == nil {
		return nil
	}
	out := value.NewList()
	for _, r := range rates {
		out.Append(value.DictOf("Path", r.Path, "Rate", r.Rate))
	}
	return out
}

func requestValues(a *containerArgs) any {
	if a.DeviceRequests == nil {
		return nil
	}
	out := value.NewList()
	for _, r := range a.DeviceRequests {
		var capabilities any
		if r.Capabilities != nil {
			l := value.NewList()
			for _, c := range r.Capabilities {
				l.Append(c)
			}
			capabilities = l
		}
		out.Append(value.DictOf("Driver", given(r.Driver), "Count", given(r.Count), "DeviceIDs", givenTexts(r.DeviceIDs),
			"Capabilities", capabilities, "Options", dictOrNil(r.Options)))
	}
	return out
}

// envValue merges env_file and env.
func (m *containerRun) envValue() (any, error) {
	if m.args.Env == nil && m.args.EnvFile == nil {
		return nil, nil
	}
	all := value.NewDict()
	if m.args.EnvFile != nil {
		if err := m.readEnvFile(*m.args.EnvFile, all); err != nil {
			return nil, err
		}
	}
	for k, v := range m.args.Env.All() {
		text, ok := v.(string)
		if !ok {
			return nil, m.fail("Non-string value found for env option. Ambiguous env options must be wrapped in quotes to avoid them being interpreted. Key: %s", value.Str(k))
		}
		all.Set(value.Str(k), text)
	}
	return assignments(all), nil
}

// assignments lists a dict as NAME=TEXT.
func assignments(d *value.Dict) *value.List {
	out := value.NewList()
	for k, v := range d.All() {
		out.Append(value.Str(k) + "=" + value.Str(v))
	}
	return out
}

func (m *containerRun) readEnvFile(path string, into *value.Dict) error {
	data, err := os.ReadFile(m.abs(path))
	if err != nil {
		return m.fail("%s", osTextString(err, path))
	}
	for _, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(line, "\r")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		line = strings.TrimSpace(line)
		name, text, ok := strings.Cut(line, "=")
		if !ok {
			return m.fail("An unexpected Docker error occurred: Invalid line in environment file %s:\n%s", path, line)
		}
		into.Set(name, text)
	}
	return nil
}

// expectedEnv is the image's environment under the one asked for.
func expectedEnv(_ *containerRun, image, want *value.Dict) *value.Dict {
	all := value.NewDict()
	under, _ := dictIn(image, "Config").Get("Env")
	over, _ := want.Get("env")
	for _, list := range []any{under, over} {
		for _, item := range itemsOf(list) {
			name, text, _ := strings.Cut(value.Str(item), "=")
			all.Set(name, text)
		}
	}
	return value.DictOf("env", assignments(all))
}

func hostsValue(a *containerArgs) any {
	if a.EtcHosts == nil {
		return nil
	}
	out := value.NewList()
	for k, v := range a.EtcHosts.All() {
		out.Append(value.Str(k) + ":" + value.Str(v))
	}
	return out
}

// healthcheckGroup is healthcheck; none at all counts as one that is switched off.
func healthcheckGroup() containerGroup {
	off := func() *value.Dict { return value.DictOf("Test", value.NewList("NONE")) }
	g := config("healthcheck", "dict", "Healthcheck", (*containerRun).healthValue)
	g.have = func(box *value.Dict) *value.Dict {
		have := dictIn(dictIn(box, "Config"), "Healthcheck")
		if have == nil || dockerMatch(value.NewList("NONE"), firstOf(have, "Test"), "strict", "list") {
			have = off()
		}
		return value.DictOf("healthcheck", have)
	}
	return g
}

func firstOf(d *value.Dict, key string) any { v, _ := d.Get(key); return v }

func (m *containerRun) healthValue() (any, error) {
	h := m.args.Healthcheck
	if h == nil {
		return nil, nil
	}
	out := value.NewDict()
	for _, t := range []struct {
		key  string
		text *string
	}{{"Interval", h.Interval}, {"Timeout", h.Timeout}, {"StartPeriod", h.StartPeriod}} {
		if t.text == nil {
			continue
		}
		n, err := nanoseconds(*t.text)
		if err != nil {
			return nil, err
		}
		if n != 0 {
			out.Set(t.key, n)
		}
	}
	if !value.Truth(h.Test) {
		return value.DictOf("Test", value.NewList("NONE")), nil
	}
	test := value.NewList("CMD-SHELL", value.Str(h.Test))
	if l, ok := h.Test.(*value.List); ok {
		test = value.NewList()
		for _, item := range l.Items {
			test.Append(value.Str(item))
		}
	}
	out.Set("Test", test)
	if h.Retries != nil && *h.Retries != 0 {
		out.Set("Retries", *h.Retries)
	}
	return out, nil
}

var durationText = regexp.MustCompile(`^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?(?:(\d+)us)?$`)

// nanoseconds reads a duration such as 1h30m5s.
func nanoseconds(text string) (int, error) {
	parts := durationText.FindStringSubmatch(text)
	if parts == nil {
		return 0, errors.New("Invalid time duration - " + text)
	}
	n := 0
	for i, unit := range []int{3600e9, 60e9, 1e9, 1e6, 1e3} {
		if parts[i+1] == "" {
			continue
		}
		count, err := strconv.Atoi(parts[i+1])
		if err != nil {
			return 0, errors.New("Invalid time duration - " + text)
		}
		n += count * unit
	}
	return n, nil
}

// containerMode replaces a container's name in container:NAME by its ID.
func (m *containerRun) containerMode(mode *string) (any, error) {
	if mode == nil {
		return nil, nil
	}
	name, ok := strings.CutPrefix(*mode, "container:")
	if !ok {
		return *mode, nil
	}
	box, err := m.container(name)
	if err != nil {
		return nil, err
	}
	if box == nil {
		m.warnings = append(m.warnings, "Cannot find a container with name or ID \""+name+"\"")
		return *mode, nil
	}
	return "container:" + dictText(box, "Id"), nil
}

// bytes reads an amount of memory.
func (m *containerRun) bytes(name string, text *string) (any, error) {
	if text == nil {
		return nil, nil
	}
	n, err := humanBytes(*text)
	if err != nil {
		return nil, m.fail("Failed to convert %s to bytes: %v", name, err)
	}
	return n, nil
}

func (m *containerRun) swapValue() (any, error) {
	if t := m.args.MemorySwap; t != nil && (*t == "unlimited" || *t == "-1") {
		return -1, nil
	}
	return m.bytes("memory_swap", m.args.MemorySwap)
}

var amountText = regexp.MustCompile(`^\s*(\d*\.?\d*)\s*([A-Za-z]+)?`)

// humanBytes reads a number of bytes with a unit, as Ansible does.
func humanBytes(text string) (int, error) {
	parts := amountText.FindStringSubmatch(text)
	n, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return 0, errors.New("human_to_bytes() can't interpret following number: " + parts[1] + " (original input string: " + text + ")")
	}
	unit := parts[2]
	if unit == "" {
		return int(math.RoundToEven(n)), nil
	}
	power := strings.IndexByte("BKMGTPEZY", unit[0]&^0x20)
	if power < 0 {
		return 0, errors.New("human_to_bytes() failed to convert " + text + " (unit = " + unit + "). The suffix must be one of Y, Z, E, P, T, G, M, K, B")
	}
	if len(unit) > 1 && !strings.Contains(strings.ToLower(unit), "byte") && unit[1] != 'B' {
		key := strings.ToUpper(unit[:1])
		expect := "expect " + key + "B or " + key
		if key == "B" {
			expect = "expect B or byte"
		}
		return 0, errors.New("human_to_bytes() failed to convert " + text + ". Value is not a valid string (" + expect + ")")
	}
	return int(math.RoundToEven(n * math.Pow(1024, float64(power)))), nil
}

// expectedLabels is the image's labels under the ones asked for.
func expectedLabels(m *containerRun, image, want *value.Dict) *value.Dict {
	labels, ok := want.Get("labels")
	if !ok {
		return want
	}
	all := value.NewDict()
	if m.args.LabelMismatch == "ignore" {
		all.Update(orEmpty(dictIn(dictIn(image, "Config"), "Labels")))
	}
	all.Update(labels.(*value.Dict))
	return value.DictOf("labels", all)
}

func orEmpty(d *value.Dict) *value.Dict {
	if d == nil {
		return value.NewDict()
	}
	return d
}

func linkValues(a *containerArgs) any {
	if a.Links == nil {
		return nil
	}
	out := value.NewList()
	for _, text := range a.Links {
		name, alias, ok := strings.Cut(text, ":")
		if !ok {
			alias = name
		}
		out.Append("/" + name + ":/" + a.Name + "/" + alias)
	}
	return out
}

// logGroup is log_driver and log_options.
func logGroup() containerGroup {
	return containerGroup{
		options: []containerOption{option("log_driver", "value"), {name: "log_options", kind: "dict", comparison: "allow_more_present", aliases: []string{"log_opt"}}},
		want:    (*containerRun).logValues,
		have: func(box *value.Dict) *value.Dict {
			c := dictIn(dictIn(box, "HostConfig"), "LogConfig")
			return value.DictOf("log_driver", firstOf(c, "Type"), "log_options", firstOf(c, "Config"))
		},
		set: func(body, want *value.Dict) {
			driver, ok := want.Get("log_driver")
			if ok {
				hostConfig(body).Set("LogConfig", value.DictOf("Type", driver, "Config", orEmpty(dictIn(want, "log_options"))))
			}
		},
	}
}

func (m *containerRun) logValues() (*value.Dict, error) {
	out := value.NewDict()
	if m.args.LogDriver == nil {
		return out, nil
	}
	out.Set("log_driver", *m.args.LogDriver)
	if m.args.LogOptions == nil {
		return out, nil
	}
	options := value.NewDict()
	for k, v := range m.args.LogOptions.All() {
		name, text := value.Str(k), value.Str(v)
		if _, ok := v.(string); !ok {
			m.warnings = append(m.warnings, "Non-string value found for log_options option '"+name+"'. The value is automatically converted to '"+text+
				"'. If this is not correct, or you want to avoid such warnings, please quote the value.")
		}
		options.Set(name, text)
	}
	out.Set("log_options", options)
	return out, nil
}

func macValue(a *containerArgs) any {
	if a.MacAddress == nil {
		return nil
	}
	return strings.ReplaceAll(*a.MacAddress, "-", ":")
}

// networkGroup is network_mode and networks; the networks themselves are joined
// once the container is there.
func networkGroup() containerGroup {
	return containerGroup{
		options: []containerOption{option("network_mode", "value"), option("networks", "set(dict)")},
		want:    (*containerRun).networkValues,
		have: func(box *value.Dict) *value.Dict {
			out := value.NewDict()
			if v, ok := dictIn(box, "HostConfig").Get("NetworkMode"); ok {
				out.Set("network_mode", v)
			}
			return out
		},
		set: func(body, want *value.Dict) {
			if v, ok := want.Get("network_mode"); ok {
				hostConfig(body).Set("NetworkMode", v)
			}
		},
	}
}

func (m *containerRun) networkValues() (*value.Dict, error) {
	for _, n := range m.args.Networks {
		id, err := m.networkID(n.Name)
		if err != nil {
			return nil, err
		}
		if id == "" {
			return nil, m.fail("Parameter error: network named %s could not be found. Does it exist?", n.Name)
		}
		links := givenTexts(n.Links)
		if len(n.Links) > 0 {
			pairs := value.NewList()
			for _, text := range n.Links {
				name, alias, ok := strings.Cut(text, ":")
				if !ok {
					alias = name
				}
				pairs.Append(value.NewList(name, alias))
			}
			links = pairs
		}
		m.networks = append(m.networks, value.DictOf("name", n.Name, "ipv4_address", given(n.IPv4), "ipv6_address", given(n.IPv6),
			"aliases", givenTexts(n.Aliases), "links", links, "id", id))
	}
	mode, err := m.containerMode(m.args.NetworkMode)
	return withoutNil(value.DictOf("network_mode", mode)), err
}

func (m *containerRun) networkID(name string) (string, error) {
	list, err := m.getDicts("/networks", "filters", dockerFilters(value.DictOf("name", name)))
	if err != nil {
		return "", m.fail("Error getting network id for %s - %v", name, err)
	}
	for _, item := range list {
		if dictText(item, "Name") == name {
			return dictText(item, "Id"), nil
		}
	}
	return "", nil
}

// platformGroup is platform, which the engine takes as a parameter.
func platformGroup() containerGroup {
	return containerGroup{
		options: []containerOption{option("platform", "value")}, since: "1.41",
		want: func(m *containerRun) (*value.Dict, error) {
			return withoutNil(value.DictOf("platform", given(m.args.Platform))), nil
		},
		have: func(box *value.Dict) *value.Dict { return value.DictOf("platform", firstOf(box, "Platform")) },
		set: func(body, want *value.Dict) {
			if v, ok := want.Get("platform"); ok {
				body.Set("platform", v)
			}
		},
	}
}

// restartGroup is restart_policy and restart_retries.
func restartGroup() containerGroup {
	put := func(into func() *value.Dict, want *value.Dict) {
		if name, ok := want.Get("restart_policy"); ok {
			into().Set("RestartPolicy", value.DictOf("Name", name, "MaximumRetryCount", firstOf(want, "restart_retries")))
		}
	}
	return containerGroup{
		options: []containerOption{option("restart_policy", "value"), option("restart_retries", "value")},
		want: func(m *containerRun) (*value.Dict, error) {
			return withoutNil(value.DictOf("restart_policy", given(m.args.RestartPolicy), "restart_retries", given(m.args.RestartRetries))), nil
		},
		have: func(box *value.Dict) *value.Dict {
			p := dictIn(dictIn(box, "HostConfig"), "RestartPolicy")
			return value.DictOf("restart_policy", firstOf(p, "Name"), "restart_retries", firstOf(p, "MaximumRetryCount"))
		},
		set:    func(body, want *value.Dict) { put(func() *value.Dict { return hostConfig(body) }, want) },
		update: func(body, want *value.Dict) { put(func() *value.Dict { return body }, want) },
	}
}

func sysctlValues(a *containerArgs) any {
	if a.Sysctls == nil {
		return nil
	}
	out := value.NewDict()
	for k, v := range a.Sysctls.All() {
		out.Set(value.Str(k), value.Str(v))
	}
	return out
}

func tmpfsValues(a *containerArgs) any {
	if a.Tmpfs == nil {
		return nil
	}
	out := value.NewDict()
	for _, text := range a.Tmpfs {
		path, options, _ := strings.Cut(text, ":")
		out.Set(path, options)
	}
	return out
}

func (m *containerRun) ulimitValues() (any, error) {
	if m.args.Ulimits == nil {
		return nil, nil
	}
	out := value.NewList()
	for _, text := range m.args.Ulimits {
		parts := strings.Split(text, ":")
		limit := value.NewDict()
		for i, key := range []string{"Name", "Soft", "Hard"} {
			if len(parts) < 2 {
				break
			}
			if i == 0 {
				limit.Set(key, parts[0])
				continue
			}
			part := parts[1]
			if i == 2 && len(parts) == 3 {
				part = parts[2]
			}
			n, err := strconv.Atoi(strings.TrimSpace(part))
			if err != nil {
				return nil, errors.New("invalid literal for int() with base 10: " + value.Repr(part))
			}
			limit.Set(key, n)
		}
		out.Append(limit)
	}
	return out, nil
}
