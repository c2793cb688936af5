//go:build !plain

package modules

import (
	"play/modules/argspec"
	"play/modules/value"
)

// dockerPullArgs are the arguments of docker_image_pull.
type dockerPullArgs struct {
	Name     string `arg:"name,required" doc:"the image, by name[:tag]"`
	Tag      string `arg:"tag,default=latest" doc:"the tag, where name has none"`
	Platform string `arg:"platform" doc:"as linux/amd64"`
	Pull     string `arg:"pull,default=always,choices=always|not_present" doc:"pull even if the image is there"`
	dockerArgs
}

// Rules relates the arguments.
func (dockerPullArgs) Rules() argspec.Rules { return dockerRules() }

// dockerImagePull is tested against its documentation only: the collection of
// the recorded cases does not have it yet.
func dockerImagePull() Module {
	return Define("docker_image_pull", "Pull a Docker image", runDockerPull).In("community.docker")
}

func runDockerPull(c *Call, args *dockerPullArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	return d.finish(d.pull(args))
}

func (d *docker) pull(args *dockerPullArgs) (*Result, error) {
	if imageID.MatchString(args.Name) {
		return nil, d.fail("Cannot pull an image by ID")
	}
	name, tag := cutTag(args.Name)
	if tag == "" {
		tag = args.Tag
		if !imageTag.MatchString(tag) {
			return nil, d.fail("\"%s\" is not a valid docker tag!", tag)
		}
	}
	have, err := d.image(name, tag)
	if err != nil {
		return nil, err
	}
	now, actions := have, value.NewList()
	out := NewResult(false).With("actions", actions)
	if have == nil || args.Pull == "always" {
		actions.Append("Pulled image " + name + ":" + tag)
		out.Changed(have == nil)
		if !d.Check {
			same := false
			if now, same, err = d.pullImage(name, tag, args.Platform); err != nil {
				return nil, err
			}
			out.Changed(!same)
		}
	}
	out.Set("image", orEmpty(now))
	if d.Diff {
		after := shownImage(now)
		if now == nil {
			after = value.DictOf("id", "unknown")
		}
		out.Set("diff", value.DictOf("before", shownImage(have), "after", after))
	}
	return out, nil
}

// shownImage is an image in a diff.
func shownImage(image *value.Dict) *value.Dict {
	if image == nil {
		return value.DictOf("exists", false)
	}
	return value.DictOf("id", dictText(image, "Id"))
}
