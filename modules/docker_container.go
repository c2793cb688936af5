//go:build !plain

package modules

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// containerArgs are the arguments of docker_container.
type containerArgs struct {
	Name            string      `arg:"name,required" doc:"the container's name"`
	State           string      `arg:"state,default=started,choices=absent|present|started|stopped" doc:"what shall be: gone, there, running or not running"`
	Image           string      `arg:"image" doc:"the image, by name or ID"`
	Pull            bool        `arg:"pull,default=no" doc:"pull the image even if it is there"`
	Recreate        bool        `arg:"recreate,default=no" doc:"make the container anew"`
	Restart         bool        `arg:"restart,default=no" doc:"restart a running container"`
	Paused          *bool       `arg:"paused" doc:"whether the processes shall be frozen"`
	Cleanup         bool        `arg:"cleanup,default=no" doc:"remove the container after a run with detach=false"`
	Comparisons     *value.Dict `arg:"comparisons" doc:"how options are compared: strict, ignore or allow_more_present by option; '*' stands for all"`
	DefaultBehavior string      `arg:"container_default_behavior,default=no_defaults,choices=compatibility|no_defaults" doc:"whether options have the defaults of old"`
	CommandHandling string      `arg:"command_handling,default=correct,choices=compatibility|correct" doc:"how command and entrypoint are read"`
	DefaultHostIP   *string     `arg:"default_host_ip" doc:"where ports are published that name no address"`
	ForceKill       bool        `arg:"force_kill,default=no,aliases=forcekill" doc:"kill instead of stopping"`
	KillSignal      *string     `arg:"kill_signal" doc:"the signal that kills"`
	IgnoreImage     bool        `arg:"ignore_image,default=no" doc:"as comparisons: {image: ignore}"`
	ImageComparison string      `arg:"image_comparison,default=desired-image,choices=current-image|desired-image" doc:"which image's settings count as not asked for"`
	LabelMismatch   string      `arg:"image_label_mismatch,default=ignore,choices=fail|ignore" doc:"what to do about labels of the image"`
	NameMismatch    string      `arg:"image_name_mismatch,default=ignore,choices=ignore|recreate" doc:"what to do when only the image's name differs"`
	KeepVolumes     bool        `arg:"keep_volumes,default=yes" doc:"keep anonymous volumes of a container that is removed"`
	CLICompatible   bool        `arg:"networks_cli_compatible,default=yes" doc:"put a new container into the first network only, as docker does"`
	OutputLogs      bool        `arg:"output_logs,default=no" doc:"accepted; nothing is written to the system's log"`
	PurgeNetworks   bool        `arg:"purge_networks,default=no" doc:"leave networks that are not listed"`
	RemovalTimeout  *float64    `arg:"removal_wait_timeout" doc:"seconds to wait until a container is gone"`
	containerOptions
	dockerArgs
}

// Rules relates the arguments.
func (containerArgs) Rules() argspec.Rules {
	r := dockerRules()
	r.RequiredIf = []argspec.RequiredIf{{Name: "state", Value: "present", Needs: []string{"image"}}}
	r.RequiredBy = []argspec.RequiredBy{
		{Name: "log_options", Needs: []string{"log_driver"}},
		{Name: "restart_retries", Needs: []string{"restart_policy"}},
	}
	return r
}

func dockerContainer() Module {
	return Define("docker_container", "Make, start, stop and remove Docker containers", runDockerContainer).In("community.docker", "community.general")
}

// containerRun is one run of docker_container.
type containerRun struct {
	*docker
	args     *containerArgs
	groups   []containerGroup
	compared map[string]string // how each option is compared
	networks []*value.Dict     // the networks asked for, with their IDs
	wanted   []*value.Dict     // by group: the values asked for, by option
	out      *Result
	actions  *value.List
	tracked  differences
	diff     *value.Dict
}

func runDockerContainer(c *Call, args *containerArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	m := &containerRun{
		docker: d, args: args, groups: containerGroups(), compared: map[string]string{}, out: NewResult(false),
		actions: value.NewList(), diff: value.NewDict(),
	}
	return d.finish(m.run())
}

func (m *containerRun) run() (*Result, error) {
	if err := m.prepare(); err != nil {
		return nil, err
	}
	var box *value.Dict
	var err error
	if m.args.State == "absent" {
		err = m.absent()
	} else {
		box, err = m.present()
	}
	if err != nil {
		return nil, err
	}
	if m.Check || m.args.Debug {
		m.out.Set("actions", m.actions)
	}
	if m.Diff || m.args.Debug {
		m.tracked.into(m.diff)
		m.out.Set("diff", m.diff)
	}
	if box.Len() > 0 {
		m.out.Set("container", box)
	}
	if msg, failed := m.out.Get("msg"); failed {
		m.out.Delete("msg")
		return nil, &Failure{Msg: value.Str(msg), With: m.out.Dict}
	}
	return m.out, nil
}

var (
	ipv4Text = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+$`)
	ipv6Text = regexp.MustCompile(`^(\[[0-9a-fA-F:]+\]|[0-9a-fA-F:]+)$`)
)

// prepare fills in defaults and reads the comparisons.
func (m *containerRun) prepare() error {
	a := m.args
	for _, g := range m.groups {
		for _, o := range g.options {
			if g.since != "" && a.givenOption(o.name) {
				if err := m.needVersion(o.name, g.since); err != nil {
					return err
				}
			}
		}
	}
	if err := m.readComparisons(); err != nil {
		return err
	}
	if a.CLICompatible && len(a.Networks) > 0 && a.NetworkMode == nil {
		a.NetworkMode = &a.Networks[0].Name
	}
	if a.DefaultBehavior == "compatibility" {
		a.oldDefaults()
	}
	if ip := a.DefaultHostIP; ip != nil && *ip != "" && !ipv4Text.MatchString(*ip) && !ipv6Text.MatchString(*ip) {
		return m.fail("The value of default_host_ip must be an empty string, an IPv4 address, or an IPv6 address. Got \"%s\" instead.", *ip)
	}
	m.deprecations()
	return nil
}

func (a *containerArgs) oldDefaults() {
	yes, no, none := true, false, "0"
	for _, p := range []**bool{&a.AutoRemove, &a.Init, &a.Interactive, &a.Paused, &a.Privileged, &a.ReadOnly, &a.TTY} {
		if *p == nil {
			*p = &no
		}
	}
	if a.Detach == nil {
		a.Detach = &yes
	}
	if a.Memory == nil {
		a.Memory = &none
	}
}

// deprecations reports options that are on their way out.
func (m *containerRun) deprecations() {
	list := value.NewList()
	for _, o := range []struct {
		name string
		used bool
	}{{"ignore_image", m.args.IgnoreImage}, {"purge_networks", m.args.PurgeNetworks}} {
		if o.used {
			list.Append(value.DictOf("msg", "Param '"+o.name+"' is deprecated. See the module docs for more information",
				"version", "4.0.0", "collection_name", "community.docker"))
		}
	}
	if list.Len() > 0 {
		m.out.Set("deprecations", list)
	}
}

// did notes an action that changes something.
func (m *containerRun) did(pairs ...any) {
	m.actions.Append(value.DictOf(pairs...))
	m.out.Changed(true)
}

func (m *containerRun) absent() error {
	box, err := m.container(m.args.Name)
	if err != nil || box == nil {
		return err
	}
	if running(box) {
		m.tracked.add("running", false, true)
		if err := m.stop(box); err != nil {
			return err
		}
	}
	m.tracked.add("exists", false, true)
	return m.removeContainer(box, false)
}

func running(box *value.Dict) bool {
	state := dictIn(box, "State")
	return dictTrue(state, "Running") && !dictTrue(state, "Ghost")
}

func removing(box *value.Dict) bool { return dictText(dictIn(box, "State"), "Status") == "removing" }

func paused(box *value.Dict) bool { return dictTrue(dictIn(box, "State"), "Paused") }

// present makes or adapts the container and returns it.
func (m *containerRun) present() (*value.Dict, error) {
	if err := m.collect(); err != nil {
		return nil, err
	}
	box, err := m.container(m.args.Name)
	if err != nil {
		return nil, err
	}
	before := box
	image, compared, err := m.images(box)
	if err != nil {
		return nil, err
	}
	made := box == nil || removing(box)
	if made {
		box, err = m.makeNew(box)
	} else {
		if box, made, err = m.remake(box, image, compared); made {
			compared = image
		}
	}
	if err != nil || box == nil {
		return box, err
	}
	if box, err = m.updateLimits(box, compared); err != nil {
		return nil, err
	}
	if box, err = m.updateNetworks(box, made); err != nil {
		return nil, err
	}
	if box, err = m.turn(box, before); err != nil {
		return nil, err
	}
	return m.pause(box, before)
}

// makeNew makes a container where there is none, or one that is just going.
func (m *containerRun) makeNew(box *value.Dict) (*value.Dict, error) {
	if m.args.Image == "" {
		return nil, m.fail("Cannot create container when image is not specified!")
	}
	m.tracked.add("exists", true, false)
	if box != nil && !m.Check {
		if err := m.waitGone(dictText(box, "Id")); err != nil {
			return nil, err
		}
	}
	return m.create(m.args.Image, box)
}

// remake replaces a container that differs; made tells whether it did.
func (m *containerRun) remake(box, image, compared *value.Dict) (now *value.Dict, made bool, err error) {
	differ, err := m.compare(box, compared)
	if err != nil {
		return nil, false, err
	}
	different := !differ.empty()
	otherImage := false
	if m.compared["image"] == "strict" {
		otherImage = m.otherImage(box, image)
		if name := dictText(dictIn(box, "Config"), "Image"); m.args.NameMismatch == "recreate" && m.args.Image != "" && m.args.Image != name {
			different = true
			m.tracked.add("image_name", m.args.Image, name)
		}
	}
	if !otherImage && !different && !m.args.Recreate {
		return box, false, nil
	}
	m.tracked.merge(differ)
	m.diff.Set("differences", differ.pairs())
	if otherImage {
		m.diff.Set("image_different", true)
	}
	use := m.args.Image
	if use == "" {
		use = dictText(box, "Image")
	}
	if use == "" {
		return nil, false, m.fail("Cannot recreate container when image is not specified or cannot be extracted from current container!")
	}
	if err := m.clear(box); err != nil {
		return nil, false, err
	}
	now, err = m.create(use, box)
	return now, true, err
}

// clear stops and removes a container that is to be replaced.
func (m *containerRun) clear(box *value.Dict) error {
	if running(box) {
		if err := m.stop(box); err != nil {
			return err
		}
	}
	if err := m.removeContainer(box, false); err != nil || m.Check {
		return err
	}
	return m.waitGone(dictText(box, "Id"))
}

func (m *containerRun) otherImage(box, image *value.Dict) bool {
	want, have := dictText(image, "Id"), dictText(box, "Image")
	if want == "" || have == "" || want == have {
		return false
	}
	m.tracked.add("image", want, have)
	return true
}

// images finds (and pulls) the image, and the one whose settings count as given.
func (m *containerRun) images(box *value.Dict) (image, compared *value.Dict, err error) {
	name := m.args.Image
	if name == "" {
		compared, err = m.currentImage(box, nil)
		return nil, compared, err
	}
	if image, err = m.wantedImage(name); err != nil {
		return nil, nil, err
	}
	if m.args.ImageComparison != "current-image" {
		return image, image, nil
	}
	compared, err = m.currentImage(box, image)
	return image, compared, err
}

func (m *containerRun) wantedImage(name string) (*value.Dict, error) {
	if imageID.MatchString(name) {
		image, err := m.imageByID(name)
		if err == nil && image == nil {
			err = m.fail("Error inspecting image ID %s - %v", name, &dockerError{status: 404, url: m.shown + (&dockerRequest{path: dockerPath("/images/{0}/json", name)}).uri(m.version), reason: "Not Found", detail: "No such image: " + name})
		}
		return image, err
	}
	repository, tag := cutTag(name)
	if tag == "" {
		tag = "latest"
	}
	image, err := m.image(repository, tag)
	if err != nil || image != nil && !m.args.Pull || m.Check && image != nil {
		return image, err
	}
	same := false
	if !m.Check {
		platform := ""
		if m.args.Platform != nil {
			platform = *m.args.Platform
		}
		if image, same, err = m.pullImage(repository, tag, platform); err != nil {
			return nil, err
		}
	}
	if !same {
		m.did("pulled_image", repository+":"+tag)
	}
	return image, nil
}

// currentImage is the image that a container was made from.
func (m *containerRun) currentImage(box, otherwise *value.Dict) (*value.Dict, error) {
	if box == nil || removing(box) {
		return otherwise, nil
	}
	image, err := m.findImage(dictText(box, "Image"))
	if image == nil {
		image = otherwise
	}
	return image, err
}

// turn starts, restarts or stops the container.
func (m *containerRun) turn(box, before *value.Dict) (*value.Dict, error) {
	switch {
	case m.args.State == "started" && !running(box):
		m.tracked.add("running", true, running(before))
		return m.start(box)
	case m.args.State == "started" && m.args.Restart:
		m.tracked.add("running", true, running(before))
		m.tracked.add("restarted", true, false)
		return m.restart(box)
	case m.args.State == "stopped" && running(box):
		m.tracked.add("running", false, running(before))
		if err := m.stop(box); err != nil {
			return nil, err
		}
		return m.container(dictText(box, "Id"))
	}
	return box, nil
}

func (m *containerRun) pause(box, before *value.Dict) (*value.Dict, error) {
	if m.args.State != "started" || m.args.Paused == nil || paused(box) == *m.args.Paused {
		return box, nil
	}
	want := *m.args.Paused
	m.tracked.add("paused", want, paused(before))
	if !m.Check {
		id := dictText(box, "Id")
		verb, doing := "unpause", "unpausing"
		if want {
			verb, doing = "pause", "pausing"
		}
		if _, err := m.order("POST", dockerPath("/containers/{0}/"+verb, id)); err != nil {
			return nil, m.fail("Error %s container %s: %v", doing, id, err)
		}
		var err error
		if box, err = m.container(id); err != nil {
			return nil, err
		}
	}
	m.did("set_paused", want)
	return box, nil
}

// waitGone waits until a container is removed.
func (m *containerRun) waitGone(id string) error {
	started := time.Now()
	for delay := time.Second; ; delay = min(delay*11/10, 10*time.Second) {
		box, err := m.containerByID(id)
		if err != nil || box == nil {
			return err
		}
		if !removing(box) {
			return m.fail("Encontered unexpected state \"%s\" while waiting for container \"%s\"", dictText(dictIn(box, "State"), "Status"), id)
		}
		if limit := m.args.RemovalTimeout; limit != nil && time.Since(started).Seconds() > *limit {
			return m.fail("Timeout of %s seconds exceeded while waiting for container \"%s\"", value.Str(*limit), id)
		}
		select {
		case <-m.Done():
			return m.Err()
		case <-time.After(delay):
		}
	}
}

// readComparisons says how each option is compared.
func (m *containerRun) readComparisons() error {
	options := map[string]containerOption{}
	for _, g := range m.groups {
		for _, o := range g.options {
			options[o.name], m.compared[o.name] = o, o.comparison
		}
	}
	if m.args.IgnoreImage {
		m.compared["image"] = "ignore"
	}
	if m.args.PurgeNetworks {
		m.compared["networks"] = "strict"
	}
	if err := m.compareAll(); err != nil {
		return err
	}
	used := map[string]string{}
	for k, v := range m.args.Comparisons.All() {
		if key := value.Str(k); key != "*" {
			if err := m.compareOne(options, used, key, v); err != nil {
				return err
			}
		}
	}
	m.compared["volume_binds"] = m.compared["volumes"]
	m.overridden()
	return nil
}

// compareAll applies the wildcard.
func (m *containerRun) compareAll() error {
	all, ok := m.args.Comparisons.Get("*")
	if !ok {
		return nil
	}
	if all != "strict" && all != "ignore" {
		return m.fail("The wildcard can only be used with comparison modes 'strict' and 'ignore'!")
	}
	for name := range m.compared {
		if name != "networks" || m.args.Networks != nil {
			m.compared[name] = all.(string)
		}
	}
	return nil
}

func (m *containerRun) compareOne(options map[string]containerOption, used map[string]string, key string, mode any) error {
	name := key
	for _, o := range options {
		if slices.Contains(o.aliases, key) {
			name = o.name
		}
	}
	o, ok := options[name]
	if !ok || o.hidden {
		return m.fail("Unknown module option '%s' in comparisons dict!", key)
	}
	if other, twice := used[name]; twice {
		return m.fail("Both '%s' and '%s' (aliases of %s) are specified in comparisons dict!", key, other, name)
	}
	used[name] = key
	switch {
	case mode == "allow_more_present" && o.kind == "value":
		return m.fail("Option '%s' is a value and not a set/list/dict, so its comparison cannot be %s", key, mode)
	case mode == "strict" || mode == "ignore" || mode == "allow_more_present":
		m.compared[name] = mode.(string)
		return nil
	}
	return m.fail("Unknown comparison mode '%s'!", value.Str(mode))
}

// overridden warns of old options that comparisons take over.
func (m *containerRun) overridden() {
	if m.args.IgnoreImage && m.compared["image"] != "ignore" {
		m.warnings = append(m.warnings, "The ignore_image option has been overridden by the comparisons option!")
	}
	if m.args.PurgeNetworks && m.compared["networks"] != "strict" {
		m.warnings = append(m.warnings, "The purge_networks option has been overridden by the comparisons option!")
	}
}

// compare lists what differs and cannot be updated; when there is something, also
// what could be.
func (m *containerRun) compare(box, image *value.Dict) (*differences, error) {
	fixed, loose := &differences{}, &differences{}
	for i, g := range m.groups {
		into := fixed
		if g.update != nil {
			into = loose
		}
		if err := m.compareGroup(into, i, box, image); err != nil {
			return nil, err
		}
	}
	if !fixed.empty() {
		fixed.merge(loose)
	}
	return fixed, nil
}

func (m *containerRun) compareGroup(into *differences, i int, box, image *value.Dict) error {
	g := m.groups[i]
	have, want := g.have(box), m.wanted[i]
	if g.expect != nil {
		want = g.expect(m, image, want)
	}
	for _, o := range g.options {
		w, ok := want.Get(o.name)
		h, _ := have.Get(o.name)
		if !ok || dockerMatch(w, h, m.compared[o.name], o.kind) {
			continue
		}
		switch o.name {
		case "image", "networks": // looked at elsewhere
			continue
		case "labels":
			if err := m.labelsOfImage(image); err != nil {
				return err
			}
		}
		into.add(o.name, shownSet(w, o.kind), shownSet(h, o.kind))
	}
	return nil
}

// labelsOfImage refuses to remove labels that come from the image, if asked to.
func (m *containerRun) labelsOfImage(image *value.Dict) error {
	if m.compared["labels"] != "strict" || m.args.LabelMismatch != "fail" {
		return nil
	}
	extra := ""
	for k := range dictIn(dictIn(image, "Config"), "Labels").All() {
		if _, ok := m.args.Labels.GetKey(k); !ok {
			if extra != "" {
				extra += ", "
			}
			extra += fmt.Sprintf("\"%v\"", k)
		}
	}
	if extra == "" {
		return nil
	}
	return m.fail("Some labels should be removed but are present in the base image. You can set image_label_mismatch to 'ignore' to ignore this error. Labels: %s", extra)
}

// shownSet sorts what has no order, for a diff.
func shownSet(v any, kind string) any {
	if v == nil || kind != "set" && kind != "set(dict)" {
		return v
	}
	items := slices.Clone(itemsOf(v))
	slices.SortStableFunc(items, func(a, b any) int {
		x, y := sortText(a), sortText(b)
		return slices.Compare([]byte(x), []byte(y))
	})
	return value.NewList(items...)
}

// sortText is what an item of a set is sorted by.
func sortText(v any) string {
	d, ok := v.(*value.Dict)
	if !ok {
		return value.Str(v)
	}
	var parts []string
	for k, item := range d.All() {
		parts = append(parts, value.Str(k)+"\x00"+value.Str(item))
	}
	slices.Sort(parts)
	return fmt.Sprint(parts)
}
