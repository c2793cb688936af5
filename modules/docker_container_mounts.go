//go:build !plain

package modules

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"play/modules/value"
)

// mountGroup is mounts and volumes; volume_binds are those of volumes that have
// a source.
func mountGroup() containerGroup {
	binds := option("volume_binds", "set")
	binds.hidden = true
	return containerGroup{
		options: []containerOption{option("mounts", "set(dict)"), option("volumes", "set"), binds},
		want:    (*containerRun).mountValues,
		have:    haveMounts,
		expect:  expectedMounts,
		set:     setMounts,
	}
}

// mountPoints notices a path that is mounted twice.
type mountPoints map[string]string

func (p mountPoints) take(m *containerRun, path, option string) error {
	other, twice := p[path]
	switch {
	case twice && other == option:
		return m.fail("The mount point \"%s\" appears twice in the %s option", path, option)
	case twice:
		return m.fail("The mount point \"%s\" appears both in the %s and %s option", path, option, other)
	}
	p[path] = option
	return nil
}

func (m *containerRun) mountValues() (*value.Dict, error) {
	out, points := value.NewDict(), mountPoints{}
	if m.args.Mounts != nil {
		list := value.NewList()
		for i := range m.args.Mounts {
			mount, err := m.mountValue(i, points)
			if err != nil {
				return nil, err
			}
			list.Append(mount)
		}
		out.Set("mounts", list)
	}
	if m.args.Volumes == nil {
		return out, nil
	}
	volumes, binds := value.NewList(), value.NewList()
	for _, text := range m.args.Volumes {
		volume, err := m.volumeValue(text, points)
		if err != nil {
			return nil, err
		}
		volumes.Append(volume)
		if bind := bindOf(volume); bind != "" {
			binds.Append(bind)
		}
	}
	out.Set("volumes", volumes)
	out.Set("volume_binds", binds)
	return out, nil
}

// mountValue checks one of mounts and gives it as a dict of what was given.
func (m *containerRun) mountValue(i int, points mountPoints) (*value.Dict, error) {
	a := &m.args.Mounts[i]
	if err := points.take(m, a.Target, "mounts"); err != nil {
		return nil, err
	}
	if a.Source == nil && a.Type != "tmpfs" && a.Type != "volume" {
		return nil, m.fail("source must be specified for mount \"%s\" of type \"%s\"", a.Target, a.Type)
	}
	for _, o := range []struct {
		name, kind string
		given      bool
	}{
		{"volume_driver", "volume", a.VolumeDriver != nil}, {"volume_options", "volume", a.VolumeOptions != nil}, {"propagation", "bind", a.Propagation != nil},
		{"no_copy", "volume", a.NoCopy != nil}, {"labels", "volume", a.Labels != nil}, {"tmpfs_size", "tmpfs", a.TmpfsSize != nil}, {"tmpfs_mode", "tmpfs", a.TmpfsMode != nil},
	} {
		if o.given && o.kind != a.Type {
			return nil, m.fail("%s cannot be specified for mount \"%s\" of type \"%s\" (needs type \"%s\")", o.name, a.Target, a.Type, o.kind)
		}
	}
	out := value.DictOf("target", a.Target, "source", given(a.Source), "type", a.Type, "read_only", given(a.ReadOnly),
		"consistency", given(a.Consistency), "propagation", given(a.Propagation), "no_copy", given(a.NoCopy), "volume_driver", given(a.VolumeDriver))
	if a.Labels != nil {
		out.Set("labels", dockerTexts(a.Labels))
	}
	if a.VolumeDriver != nil && *a.VolumeDriver != "" && a.VolumeOptions.Len() > 0 {
		out.Set("volume_options", dockerTexts(a.VolumeOptions))
	}
	if a.TmpfsSize != nil {
		n, err := humanBytes(*a.TmpfsSize)
		if err != nil {
			return nil, m.fail("Failed to convert tmpfs_size of mount \"%s\" to bytes: %v", a.Target, err)
		}
		out.Set("tmpfs_size", n)
	}
	if a.TmpfsMode != nil {
		n, err := strconv.ParseInt(strings.TrimPrefix(*a.TmpfsMode, "0o"), 8, 32)
		if err != nil {
			return nil, m.fail("tmp_fs mode of mount \"%s\" is not an octal string!", a.Target)
		}
		out.Set("tmpfs_mode", int(n))
	}
	return withoutNil(out), nil
}

// volumeMode tells whether a text is the mode of a volume.
func volumeMode(text string) bool {
	known := []string{"rw", "ro", "z", "Z", "consistent", "delegated", "cached", "rprivate", "private", "rshared", "shared", "rslave", "slave", "nocopy"}
	for _, part := range strings.Split(text, ",") {
		if !slices.Contains(known, part) {
			return false
		}
	}
	return true
}

var relativeSource = regexp.MustCompile(`^[.~]`)

// volumeValue checks one of volumes and completes its source.
func (m *containerRun) volumeValue(text string, points mountPoints) (string, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 3 {
		if !volumeMode(parts[2]) {
			return "", m.fail("Found invalid volumes mode: %s", parts[2])
		}
		parts[0] = m.completeSource(parts[0])
		return strings.Join(parts, ":"), points.take(m, parts[1], "volumes")
	}
	if len(parts) == 2 && !volumeMode(parts[1]) && relativeSource.MatchString(parts[0]) {
		return m.completeSource(parts[0]) + ":" + parts[1] + ":rw", points.take(m, parts[1], "volumes")
	}
	return text, points.take(m, parts[min(1, len(parts)-1)], "volumes")
}

func (m *containerRun) completeSource(path string) string {
	if !relativeSource.MatchString(path) {
		return path
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Clean(m.Home + rest)
	}
	if full := m.abs(path); filepath.IsAbs(full) {
		return full
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return full
}

// bindOf is a volume with its source, path and mode; "" for one without a source.
func bindOf(volume string) string {
	parts := strings.Split(volume, ":")
	switch {
	case len(parts) == 3:
		return volume
	case len(parts) == 2 && !volumeMode(parts[1]):
		return volume + ":rw"
	}
	return ""
}

func haveMounts(box *value.Dict) *value.Dict {
	hostConfig := dictIn(box, "HostConfig")
	out := value.NewDict()
	if mounts, _ := hostConfig.Get("Mounts"); mounts != nil {
		list := value.NewList()
		for _, mount := range dictItems(mounts) {
			list.Append(haveMount(mount))
		}
		out.Set("mounts", list)
	}
	if v, _ := dictIn(box, "Config").Get("Volumes"); v != nil {
		out.Set("volumes", v)
	}
	if v, _ := hostConfig.Get("Binds"); v != nil {
		out.Set("volume_binds", v)
	}
	return out
}

// haveMount is one of the container's mounts in the words of the arguments.
func haveMount(mount *value.Dict) *value.Dict {
	volume, tmpfs := dictIn(mount, "VolumeOptions"), dictIn(mount, "TmpfsOptions")
	driver := dictIn(volume, "DriverConfig")
	return value.DictOf("type", firstOf(mount, "Type"), "source", firstOf(mount, "Source"), "target", firstOf(mount, "Target"),
		"read_only", dictTrue(mount, "ReadOnly"), "consistency", firstOf(mount, "Consistency"),
		"propagation", firstOf(dictIn(mount, "BindOptions"), "Propagation"), "no_copy", dictTrue(volume, "NoCopy"),
		"labels", orEmpty(dictIn(volume, "Labels")), "volume_driver", firstOf(driver, "Name"),
		"volume_options", orEmpty(dictIn(driver, "Options")), "tmpfs_size", firstOf(tmpfs, "SizeBytes"), "tmpfs_mode", firstOf(tmpfs, "Mode"))
}

// expectedMounts is what is asked for and the image's own volumes.
func expectedMounts(_ *containerRun, image, want *value.Dict) *value.Dict {
	out := value.NewDict()
	if mounts, ok := want.Get("mounts"); ok {
		out.Set("mounts", mounts)
	}
	anonymous := orEmpty(dictIn(dictIn(image, "Config"), "Volumes")).Clone()
	anonymous.Update(anonymousVolumes(want))
	if anonymous.Len() > 0 {
		out.Set("volumes", anonymous)
	}
	binds, ok := want.Get("volume_binds")
	if !ok {
		binds = value.NewList()
	}
	out.Set("volume_binds", binds)
	return out
}

// anonymousVolumes are those of volumes that have no source.
func anonymousVolumes(want *value.Dict) *value.Dict {
	out := value.NewDict()
	volumes, _ := want.Get("volumes")
	for _, item := range itemsOf(volumes) {
		if volume := value.Str(item); bindOf(volume) == "" {
			out.Set(volume, value.NewDict())
		}
	}
	return out
}

func setMounts(body, want *value.Dict) {
	if mounts, ok := want.Get("mounts"); ok {
		list := value.NewList()
		for _, mount := range dictItems(mounts) {
			list.Append(mountRequest(mount))
		}
		hostConfig(body).Set("Mounts", list)
	}
	if _, ok := want.Get("volumes"); ok {
		body.Set("Volumes", anonymousVolumes(want))
	}
	if binds, ok := want.Get("volume_binds"); ok {
		hostConfig(body).Set("Binds", binds)
	}
}

// mountRequest is a mount as the engine takes it.
func mountRequest(mount *value.Dict) *value.Dict {
	kind := dictText(mount, "type")
	out := value.DictOf("Target", firstOf(mount, "target"), "Source", firstOf(mount, "source"), "Type", kind, "ReadOnly", firstOf(mount, "read_only"))
	if v, ok := mount.Get("consistency"); ok {
		out.Set("Consistency", v)
	}
	more := value.NewDict()
	switch kind {
	case "bind":
		if v, ok := mount.Get("propagation"); ok {
			out.Set("BindOptions", value.DictOf("Propagation", v))
		}
	case "volume":
		setTrue(more, "NoCopy", firstOf(mount, "no_copy"))
		setTrue(more, "Labels", firstOf(mount, "labels"))
		if driver := dictText(mount, "volume_driver"); driver != "" {
			config := value.DictOf("Name", driver)
			setTrue(config, "Options", firstOf(mount, "volume_options"))
			more.Set("DriverConfig", config)
		}
		setTrue(out, "VolumeOptions", more)
	case "tmpfs":
		setTrue(more, "Mode", firstOf(mount, "tmpfs_mode"))
		setTrue(more, "SizeBytes", firstOf(mount, "tmpfs_size"))
		setTrue(out, "TmpfsOptions", more)
	}
	return out
}

// setTrue sets what is not empty or zero.
func setTrue(d *value.Dict, key string, v any) {
	if value.Truth(v) {
		d.Set(key, v)
	}
}
