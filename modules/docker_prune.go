//go:build !plain

package modules

import "play/modules/value"

// dockerPruneArgs are the arguments of docker_prune.
type dockerPruneArgs struct {
	Containers        bool        `arg:"containers,default=no" doc:"remove containers that do not run"`
	ContainersFilters *value.Dict `arg:"containers_filters" doc:"which containers"`
	Images            bool        `arg:"images,default=no" doc:"remove images that are not used"`
	ImagesFilters     *value.Dict `arg:"images_filters" doc:"which images; dangling: no for those with a name too"`
	Networks          bool        `arg:"networks,default=no" doc:"remove networks that are not used"`
	NetworksFilters   *value.Dict `arg:"networks_filters" doc:"which networks"`
	Volumes           bool        `arg:"volumes,default=no" doc:"remove volumes that are not used"`
	VolumesFilters    *value.Dict `arg:"volumes_filters" doc:"which volumes"`
	BuilderCache      bool        `arg:"builder_cache,default=no" doc:"empty the cache of builds"`
	dockerArgs
}

func dockerPrune() Module {
	return Define("docker_prune", "Remove Docker objects that are not used", runDockerPrune).NoCheck().
		In("community.docker", "community.general")
}

func runDockerPrune(c *Call, args *dockerPruneArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	out := NewResult(false)
	for _, p := range []struct {
		name    string
		wanted  bool
		filters *value.Dict
		key     string
		space   bool
	}{
		{"containers", args.Containers, args.ContainersFilters, "ContainersDeleted", true},
		{"images", args.Images, args.ImagesFilters, "ImagesDeleted", true},
		{"networks", args.Networks, args.NetworksFilters, "NetworksDeleted", false},
		{"volumes", args.Volumes, args.VolumesFilters, "VolumesDeleted", true},
	} {
		if !p.wanted {
			continue
		}
		answer, err := d.order("POST", "/"+p.name+"/prune", "filters", dockerFilters(p.filters))
		if err != nil {
			return nil, d.unexpected(err)
		}
		gone := firstOf(answer, p.key)
		if gone == nil {
			gone = value.NewList()
		}
		out.Set(p.name, gone)
		space := firstOf(answer, "SpaceReclaimed")
		if p.space {
			out.Set(p.name+"_space_reclaimed", space)
		}
		if value.Truth(gone) || p.space && value.Truth(space) {
			out.Changed(true)
		}
	}
	if args.BuilderCache {
		answer, err := d.order("POST", "/build/prune")
		if err != nil {
			return nil, d.unexpected(err)
		}
		space := firstOf(answer, "SpaceReclaimed")
		out.Set("builder_cache_space_reclaimed", space)
		if value.Truth(space) {
			out.Changed(true)
		}
	}
	return d.finish(out, nil)
}
