//go:build !plain

package modules

import (
	"fmt"
	"path/filepath"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// buildSecret is a secret that a build may see.
type buildSecret struct {
	ID    string  `arg:"id,required" doc:"its name in the Dockerfile"`
	Type  string  `arg:"type,required,choices=file|env|value" doc:"where it comes from"`
	Src   *string `arg:"src,type=path" doc:"the file"`
	Env   *string `arg:"env" doc:"the environment variable"`
	Value *string `arg:"value,nolog" doc:"the secret itself"`
}

// buildOutput is something that a build makes.
type buildOutput struct {
	Type    string   `arg:"type,required,choices=local|tar|oci|docker|image" doc:"what is made"`
	Dest    *string  `arg:"dest,type=path" doc:"where it goes"`
	Context *string  `arg:"context" doc:"the context that gets the image"`
	Name    []string `arg:"name" doc:"the image's names"`
	Push    bool     `arg:"push,default=no" doc:"push it"`
}

// dockerBuildArgs are the arguments of docker_image_build.
type dockerBuildArgs struct {
	Name       string        `arg:"name,required" doc:"the image, by name[:tag]"`
	Tag        string        `arg:"tag,default=latest" doc:"the tag, where name has none"`
	Path       string        `arg:"path,type=path,required" doc:"the folder with the Dockerfile"`
	Dockerfile *string       `arg:"dockerfile" doc:"the Dockerfile's path in it"`
	CacheFrom  []string      `arg:"cache_from" doc:"images whose layers are used"`
	Pull       bool          `arg:"pull,default=no" doc:"pull newer base images"`
	Network    *string       `arg:"network" doc:"the network of the build"`
	NoCache    bool          `arg:"nocache,default=no" doc:"use no layers of earlier builds"`
	EtcHosts   *value.Dict   `arg:"etc_hosts" doc:"addresses by name"`
	Args       *value.Dict   `arg:"args" doc:"build arguments; their values must be texts"`
	Target     *string       `arg:"target" doc:"the stage to build"`
	Platform   []string      `arg:"platform" doc:"platforms, as linux/amd64"`
	ShmSize    *string       `arg:"shm_size" doc:"size of /dev/shm, with a unit"`
	Labels     *value.Dict   `arg:"labels" doc:"labels of the image"`
	Rebuild    string        `arg:"rebuild,default=never,choices=never|always" doc:"build even if the image is there"`
	Secrets    []buildSecret `arg:"secrets" doc:"secrets that the build may see"`
	Outputs    []buildOutput `arg:"outputs" doc:"what the build makes"`
	dockerCLIArgs
}

// Rules relates the arguments.
func (dockerBuildArgs) Rules() argspec.Rules { return dockerCLIRules() }

// dockerImageBuild is tested against its documentation only: the collection of
// the recorded cases does not have it yet.
func dockerImageBuild() Module {
	return Define("docker_image_build", "Build a Docker image with buildx", runDockerBuild).In("community.docker")
}

func runDockerBuild(c *Call, args *dockerBuildArgs) (*Result, error) {
	if imageID.MatchString(args.Name) {
		return nil, Failf("Image name must not be a digest")
	}
	name, tag := cutTag(args.Name)
	if tag == "" {
		tag = args.Tag
	}
	if !imageTag.MatchString(tag) {
		return nil, Failf("\"%s\" is not a valid docker tag!", tag)
	}
	if !isDir(c.abs(args.Path)) {
		return nil, Failf("\"%s\" is not an existing directory", args.Path)
	}
	full := name + ":" + tag
	have, err := c.cliImage(&args.dockerCLIArgs, full)
	if err != nil {
		return nil, err
	}
	out := NewResult(false).With("actions", value.NewList()).With("image", orEmpty(have))
	if have != nil && args.Rebuild == "never" {
		return out, nil
	}
	out.Changed(true).Set("actions", value.NewList("Built image "+full+" from "+args.Path))
	if c.Check {
		return out, nil
	}
	return out, c.cliBuild(args, full, out)
}

// cliBuild runs the build and puts what came of it into out.
func (c *Call) cliBuild(args *dockerBuildArgs, full string, out *Result) error {
	options, env, err := args.options(full)
	if err != nil {
		return err
	}
	argv := append(append(args.argv(), "buildx", "build", "--progress", "plain"), options...)
	argv = append(argv, "--", args.Path)
	call := *c
	call.Env = append(append([]string{}, c.Env...), env...)
	done, err := call.tool(argv...)
	if err != nil {
		return err
	}
	if done.failed() {
		return &Failure{Msg: "Building " + full + " failed", With: value.DictOf("stdout", done.out, "stderr", done.errOut, "command", stringList(argv), "rc", done.rc)}
	}
	out.Set("stdout", done.out)
	out.Set("stderr", done.errOut)
	out.Set("command", stringList(argv))
	now, err := c.cliImage(&args.dockerCLIArgs, full)
	out.Set("image", orEmpty(now))
	return err
}

// options are those of buildx, and the variables that secrets travel in.
func (a *dockerBuildArgs) options(full string) (argv, env []string, err error) {
	add := func(option string, texts ...string) {
		for _, text := range texts {
			argv = append(argv, option, text)
		}
	}
	optional := func(option string, text *string) {
		if text != nil && *text != "" {
			add(option, *text)
		}
	}
	if len(a.Outputs) == 0 || a.namesImage() {
		add("--tag", full)
	}
	if a.Dockerfile != nil && *a.Dockerfile != "" {
		add("--file", filepath.Join(a.Path, *a.Dockerfile))
	}
	add("--cache-from", a.CacheFrom...)
	if a.Pull {
		argv = append(argv, "--pull")
	}
	optional("--network", a.Network)
	if a.NoCache {
		argv = append(argv, "--no-cache")
	}
	add("--add-host", pairTexts(a.EtcHosts, ":")...)
	add("--build-arg", pairTexts(a.Args, "=")...)
	optional("--target", a.Target)
	add("--platform", a.Platform...)
	if a.ShmSize != nil {
		n, err := humanBytes(*a.ShmSize)
		if err != nil {
			return nil, nil, Failf("Failed to convert shm_size to bytes: %v", err)
		}
		add("--shm-size", fmt.Sprint(n))
	}
	add("--label", pairTexts(a.Labels, "=")...)
	secrets, env := a.secretTexts()
	add("--secret", secrets...)
	add("--output", a.outputTexts()...)
	return argv, env, nil
}

// namesImage tells whether an output is an image without a name of its own.
func (a *dockerBuildArgs) namesImage() bool {
	for _, o := range a.Outputs {
		if o.Type == "image" && len(o.Name) == 0 || o.Type == "docker" {
			return true
		}
	}
	return false
}

func pairTexts(d *value.Dict, between string) []string {
	var out []string
	for k, v := range d.All() {
		out = append(out, value.Str(k)+between+dockerText(v))
	}
	return out
}

// secretTexts are the --secret options; values go through the environment, where
// no list of processes shows them.
func (a *dockerBuildArgs) secretTexts() (texts, env []string) {
	for i, s := range a.Secrets {
		text := "id=" + s.ID
		switch {
		case s.Type == "file" && s.Src != nil:
			text += ",type=file,src=" + *s.Src
		case s.Type == "env" && s.Env != nil:
			text += ",type=env,env=" + *s.Env
		case s.Type == "value" && s.Value != nil:
			name := fmt.Sprintf("PLAY_BUILD_SECRET_%d", i)
			text += ",type=env,env=" + name
			env = append(env, name+"="+*s.Value)
		}
		texts = append(texts, text)
	}
	return texts, env
}

func (a *dockerBuildArgs) outputTexts() []string {
	var texts []string
	for _, o := range a.Outputs {
		text := "type=" + o.Type
		if o.Dest != nil {
			text += ",dest=" + *o.Dest
		}
		if o.Context != nil {
			text += ",context=" + *o.Context
		}
		if len(o.Name) > 0 {
			text += ",\"name=" + strings.Join(o.Name, ",") + "\""
		}
		if o.Push {
			text += ",push=true"
		}
		texts = append(texts, text)
	}
	return texts
}
