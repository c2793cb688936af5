//go:build !plain

package modules

import (
	"play/modules/value"
)

// dockerNamedArgs are the arguments of modules that inspect one thing.
type dockerNamedArgs struct {
	Name string `arg:"name,required" doc:"its name or ID"`
	dockerArgs
}

func dockerContainerInfo() Module {
	return Define("docker_container_info", "Inspect a Docker container", func(c *Call, args *dockerNamedArgs) (*Result, error) {
		return inspectDocker(c, args, "container", (*docker).container)
	}).In("community.docker", "community.general")
}

func dockerNetworkInfo() Module {
	return Define("docker_network_info", "Inspect a Docker network", func(c *Call, args *dockerNamedArgs) (*Result, error) {
		return inspectDocker(c, args, "network", (*docker).network)
	}).In("community.docker", "community.general")
}

// dockerVolumeInfoArgs are the arguments of docker_volume_info.
type dockerVolumeInfoArgs struct {
	Name string `arg:"name,required,aliases=volume_name" doc:"the volume's name"`
	dockerArgs
}

func dockerVolumeInfo() Module {
	return Define("docker_volume_info", "Inspect a Docker volume", func(c *Call, args *dockerVolumeInfoArgs) (*Result, error) {
		return inspectDocker(c, &dockerNamedArgs{args.Name, args.dockerArgs}, "volume", func(d *docker, name string) (*value.Dict, error) {
			found, err := d.getDict(dockerPath("/volumes/{0}", name))
			if err != nil {
				return nil, d.fail("Error inspecting volume: %v", err)
			}
			return found, nil
		})
	}).In("community.docker", "community.general")
}

// inspectDocker returns a thing under its kind, and whether it exists.
func inspectDocker(c *Call, args *dockerNamedArgs, kind string, find func(d *docker, name string) (*value.Dict, error)) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	found, err := find(d, args.Name)
	return d.finish(NewResult(false).With("exists", found != nil).With(kind, dictOrNil(found)), err)
}

// dockerImageInfoArgs are the arguments of docker_image_info.
type dockerImageInfoArgs struct {
	Name []string `arg:"name" doc:"the images, by name[:tag] or ID; none: all"`
	dockerArgs
}

func dockerImageInfo() Module {
	return Define("docker_image_info", "Inspect Docker images", runDockerImageInfo).
		In("community.docker", "community.general")
}

func runDockerImageInfo(c *Call, args *dockerImageInfoArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	images := value.NewList()
	names := args.Name
	if len(names) == 0 {
		list, err := d.getDicts("/images/json", "only_ids", "0", "all", "0")
		if err != nil {
			return nil, d.unexpected(err)
		}
		for _, item := range list {
			image, err := d.getDict(dockerPath("/images/{0}/json", dictText(item, "Id")))
			if err != nil {
				return nil, d.fail("Error inspecting image %s - %v", dictText(item, "Id"), err)
			}
			images.Append(dictOrNil(image))
		}
	}
	for _, name := range names {
		image, err := d.findImage(name)
		if err != nil {
			return nil, d.unexpected(err)
		}
		if image != nil {
			images.Append(image)
		}
	}
	return d.finish(NewResult(false).With("images", images), nil)
}

// dockerHostInfoArgs are the arguments of docker_host_info.
type dockerHostInfoArgs struct {
	Containers        bool        `arg:"containers,default=no" doc:"list containers"`
	ContainersAll     bool        `arg:"containers_all,default=no" doc:"also those that do not run"`
	ContainersFilters *value.Dict `arg:"containers_filters" doc:"which containers"`
	Images            bool        `arg:"images,default=no" doc:"list images"`
	ImagesFilters     *value.Dict `arg:"images_filters" doc:"which images"`
	Networks          bool        `arg:"networks,default=no" doc:"list networks"`
	NetworksFilters   *value.Dict `arg:"networks_filters" doc:"which networks"`
	Volumes           bool        `arg:"volumes,default=no" doc:"list volumes"`
	VolumesFilters    *value.Dict `arg:"volumes_filters" doc:"which volumes"`
	DiskUsage         bool        `arg:"disk_usage,default=no" doc:"return how much space is used"`
	Verbose           bool        `arg:"verbose_output,default=no" doc:"return all that is known of each"`
	dockerArgs
}

func dockerHostInfo() Module {
	return Define("docker_host_info", "Inspect a Docker engine", runDockerHostInfo).In("community.docker", "community.general")
}

func runDockerHostInfo(c *Call, args *dockerHostInfoArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if f, ok := err.(*Failure); ok {
		f.With = value.DictOf("can_talk_to_docker", false)
	}
	if err != nil {
		return nil, err
	}
	d.with.Set("can_talk_to_docker", true)
	out := NewResult(false)
	info, err := d.get("/info")
	if err != nil {
		return nil, d.fail("Error inspecting docker host: %v", err)
	}
	out.Set("host_info", info)
	if args.DiskUsage {
		usage, err := d.getDict("/system/df")
		if err != nil {
			return nil, d.fail("Error inspecting docker host: %v", err)
		}
		out.Set("disk_usage", dictOrNil(usage))
		if !args.Verbose {
			out.Set("disk_usage", value.DictOf("LayersSize", firstOf(usage, "LayersSize")))
		}
	}
	for _, l := range args.lists() {
		if !l.wanted {
			continue
		}
		items, err := d.listDocker(l, args.Verbose)
		if err != nil {
			return nil, d.fail("Error inspecting docker host for object '%s': %v", l.name, err)
		}
		out.Set(l.name, items)
	}
	return d.finish(out, nil)
}

// dockerList is one of the lists of docker_host_info.
type dockerList struct {
	name    string
	wanted  bool
	filters *value.Dict
	path    string
	params  []string
	keys    []string // what a short list has of each
}

func (a *dockerHostInfoArgs) lists() []dockerList {
	all := "0"
	if a.ContainersAll {
		all = "1"
	}
	return []dockerList{
		{"volumes", a.Volumes, a.VolumesFilters, "/volumes", nil, []string{"Driver", "Name"}},
		{"networks", a.Networks, a.NetworksFilters, "/networks", nil, []string{"Id", "Driver", "Name", "Scope"}},
		{"containers", a.Containers, a.ContainersFilters, "/containers/json", []string{"limit", "-1", "all", all, "size", "0", "trunc_cmd", "0"},
			[]string{"Id", "Image", "Command", "Created", "Status", "Ports", "Names"}},
		{"images", a.Images, a.ImagesFilters, "/images/json", []string{"only_ids", "0", "all", "0"}, []string{"Id", "RepoTags", "Created", "Size"}},
	}
}

func (d *docker) listDocker(l dockerList, verbose bool) (any, error) {
	params := l.params
	if l.filters.Len() > 0 {
		params = append(params, "filters", dockerFilters(l.filters))
	}
	v, err := d.get(l.path, params...)
	if err != nil {
		return nil, err
	}
	if all, ok := v.(*value.Dict); ok {
		v, _ = all.Get("Volumes")
	}
	if verbose {
		return v, nil
	}
	out := value.NewList()
	for _, item := range dictItems(v) {
		short := value.NewDict()
		for _, key := range l.keys {
			short.Set(key, firstOf(item, key))
		}
		out.Append(short)
	}
	return out, nil
}
