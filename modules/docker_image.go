//go:build !plain

package modules

import (
	"archive/tar"
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"
	"strings"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// dockerImageArgs are the arguments of docker_image.
type dockerImageArgs struct {
	Name        string         `arg:"name,required" doc:"the image, by name[:tag] or ID"`
	Tag         *string        `arg:"tag,default=latest" doc:"the tag, where name has none"`
	State       string         `arg:"state,default=present,choices=absent|present" doc:"whether the image shall be there"`
	Source      *string        `arg:"source,choices=build|load|pull|local" doc:"where it comes from"`
	Build       *imageBuild    `arg:"build" doc:"how it is built"`
	Pull        *imagePlatform `arg:"pull" doc:"how it is pulled"`
	ArchivePath string         `arg:"archive_path,type=path" doc:"save the image in this tar file"`
	LoadPath    string         `arg:"load_path,type=path" doc:"the tar file to load"`
	ForceSource bool           `arg:"force_source,default=no" doc:"build, load or pull even if it is there"`
	ForceAbsent bool           `arg:"force_absent,default=no" doc:"remove it with all its names"`
	ForceTag    bool           `arg:"force_tag,default=no" doc:"give the name even if another image has it"`
	Push        bool           `arg:"push,default=no" doc:"push it to its registry"`
	Repository  string         `arg:"repository" doc:"the name to give and push"`
	dockerArgs
}

type imagePlatform struct {
	Platform *string `arg:"platform" doc:"as linux/amd64"`
}

// buildLimits are the limits of a build.
type buildLimits struct {
	Memory     *int    `arg:"memory" doc:"bytes of memory"`
	Memswap    *int    `arg:"memswap" doc:"bytes of memory and swap"`
	CPUShares  *int    `arg:"cpushares" doc:"share of CPU time"`
	CPUSetCPUs *string `arg:"cpusetcpus" doc:"the CPUs"`
}

// imageBuild is how an image is built.
type imageBuild struct {
	Path            string       `arg:"path,type=path,required" doc:"the folder with the Dockerfile"`
	Dockerfile      *string      `arg:"dockerfile" doc:"the Dockerfile's path in it"`
	Args            *value.Dict  `arg:"args" doc:"build arguments"`
	CacheFrom       []string     `arg:"cache_from" doc:"images whose layers are used"`
	ContainerLimits *buildLimits `arg:"container_limits" doc:"limits of the build"`
	EtcHosts        *value.Dict  `arg:"etc_hosts" doc:"addresses by name"`
	HTTPTimeout     *int         `arg:"http_timeout" doc:"seconds to wait for output"`
	Network         *string      `arg:"network" doc:"the network of the build"`
	NoCache         bool         `arg:"nocache,default=no" doc:"use no layers of earlier builds"`
	Pull            bool         `arg:"pull,default=no" doc:"pull newer base images"`
	Rm              bool         `arg:"rm,default=yes" doc:"remove containers of the build"`
	Target          *string      `arg:"target" doc:"the stage to build"`
	Platform        *string      `arg:"platform" doc:"as linux/amd64"`
	UseConfigProxy  *bool        `arg:"use_config_proxy" doc:"pass the proxies of Docker's configuration on"`
}

// Rules relates the arguments.
func (dockerImageArgs) Rules() argspec.Rules {
	r := dockerRules()
	r.RequiredIf = []argspec.RequiredIf{
		{Name: "state", Value: "present", Needs: []string{"source"}},
		{Name: "source", Value: "build", Needs: []string{"build"}},
		{Name: "source", Value: "load", Needs: []string{"load_path"}},
	}
	return r
}

func dockerImage() Module {
	return Define("docker_image", "Build, load, pull, tag, push and remove Docker images", runDockerImage).In("community.docker", "community.general")
}

// imageRun is one run of docker_image.
type imageRun struct {
	*docker
	args      *dockerImageArgs
	name, tag string
	actions   *value.List
	out       *Result
	image     *value.Dict // the result's; nil: empty
}

func runDockerImage(c *Call, args *dockerImageArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	i := &imageRun{docker: d, args: args, name: args.Name, actions: value.NewList(), image: value.NewDict()}
	i.out = NewResult(false).With("actions", i.actions)
	return d.finish(i.run())
}

func (i *imageRun) run() (*Result, error) {
	if i.args.Tag != nil {
		i.tag = *i.args.Tag
	}
	if i.tag != "" && !imageTag.MatchString(i.tag) {
		return nil, i.fail("\"%s\" is not a valid docker tag!", i.tag)
	}
	byID := imageID.MatchString(i.name)
	if repository, tag := cutTag(i.name); !byID && tag != "" {
		i.name, i.tag = repository, tag
	}
	if imageID.MatchString(i.args.Repository) {
		return nil, i.fail("`repository` must not be an image ID; got: %s", i.args.Repository)
	}
	if i.args.Repository == "" && i.args.Push && byID {
		return nil, i.fail("Cannot push an image by ID; specify `repository` to tag and push the image with ID %s instead", i.name)
	}
	err := i.turn()
	i.out.Set("image", dictOrNil(i.image))
	return i.out, err
}

func (i *imageRun) turn() error {
	have, err := i.find()
	if err != nil {
		return err
	}
	if i.args.State == "absent" {
		return i.absent(have)
	}
	if have == nil || i.args.ForceSource {
		err = i.obtain(have)
	} else {
		i.image = have
	}
	if err == nil && i.args.ArchivePath != "" {
		err = i.archive()
	}
	switch {
	case err != nil:
		return err
	case i.args.Repository != "":
		return i.rename()
	case i.args.Push:
		return i.push(i.name, i.tag)
	}
	return nil
}

func (i *imageRun) find() (*value.Dict, error) {
	if imageID.MatchString(i.name) {
		return i.imageByID(i.name)
	}
	return i.docker.image(i.name, i.tag)
}

// full is the image's name with its tag.
func (i *imageRun) full() string {
	if i.tag == "" || imageID.MatchString(i.name) {
		return i.name
	}
	return i.name + ":" + i.tag
}

func (i *imageRun) did(format string, args ...any) {
	i.actions.Append(fmt.Sprintf(format, args...))
	i.out.Changed(true)
}

func (i *imageRun) absent(have *value.Dict) error {
	if have == nil {
		return nil
	}
	name := i.full()
	if !i.Check {
		_, err := i.order("DELETE", dockerPath("/images/{0}", name), "force", dockerBool(i.args.ForceAbsent))
		if err != nil && !notFound(err) {
			return i.fail("Error removing image %s - %v", name, err)
		}
	}
	i.did("Removed image %s", name)
	i.image.Set("state", "Deleted")
	return nil
}

// obtain builds, loads or pulls the image.
func (i *imageRun) obtain(have *value.Dict) error {
	var err error
	switch *i.args.Source {
	case "build":
		err = i.build()
	case "load":
		err = i.load()
	case "pull":
		err = i.pull()
	case "local":
		if have == nil {
			return i.fail("Cannot find the image %s locally.", i.full())
		}
		i.image = have
	}
	if err == nil && !i.Check && have != nil && dictText(have, "Id") == dictText(i.image, "Id") {
		i.out.Changed(false)
	}
	return err
}

func (i *imageRun) pull() error {
	if imageID.MatchString(i.name) {
		return i.fail("Image name must not be an image ID for source=pull; got: %s", i.name)
	}
	i.did("Pulled image %s:%s", i.name, i.tag)
	if i.Check {
		return nil
	}
	platform := ""
	if i.args.Pull != nil && i.args.Pull.Platform != nil {
		platform = *i.args.Pull.Platform
	}
	var err error
	i.image, _, err = i.pullImage(i.name, i.tag, platform)
	return err
}

// said collects the lines of text in a stream of progress.
func said(line *value.Dict, into *[]string) {
	text := dictText(line, "stream")
	if text == "" {
		text = dictText(line, "status")
	}
	if text != "" {
		*into = append(*into, strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")...)
	}
}

func (i *imageRun) load() error {
	path := i.abs(i.args.LoadPath)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return i.fail("Error loading image %s. Specified path %s does not exist.", i.name, i.args.LoadPath)
	}
	i.did("Loaded image %s from %s", i.full(), i.args.LoadPath)
	if i.Check {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return i.fail("Error loading image %s - %s", i.name, osTextString(err, i.args.LoadPath))
	}
	defer f.Close()
	var output []string
	err = i.lines(&dockerRequest{method: "POST", path: "/images/load", file: f}, func(line *value.Dict) error {
		said(line, &output)
		return nil
	})
	i.with.Set("stdout", strings.Join(output, "\n"))
	if err != nil {
		return i.fail("Error loading image %s - %v", i.name, err)
	}
	if err := i.loaded(output); err != nil {
		return err
	}
	i.image, err = i.find()
	return err
}

// loaded checks that the archive held the image.
func (i *imageRun) loaded(output []string) error {
	var names, ids []string
	for _, line := range output {
		if name, ok := strings.CutPrefix(line, "Loaded image:"); ok {
			names = append(names, strings.TrimSpace(name))
		}
		if id, ok := strings.CutPrefix(line, "Loaded image ID:"); ok {
			ids = append(ids, strings.ToLower(strings.TrimSpace(id)))
		}
	}
	if len(names)+len(ids) == 0 {
		return i.fail("Detected no loaded images. Archive potentially corrupt?")
	}
	want, in := i.name+":"+i.tag, names
	if imageID.MatchString(i.name) {
		want, in = strings.ToLower(i.name), ids
	}
	var others []string
	for _, name := range names {
		if name != want {
			others = append(others, "'"+name+"'")
		}
	}
	for _, id := range ids {
		if id != want {
			others = append(others, id)
		}
	}
	slices.Sort(others)
	if !slices.Contains(in, want) {
		return i.fail("The archive did not contain image '%s'. Instead, found %s.", want, strings.Join(others, ", "))
	}
	if len(others) > 0 {
		i.warnings = append(i.warnings, "The archive contained more images than specified: "+strings.Join(others, ", "))
	}
	return nil
}

// archive saves the image unless the file holds it already.
func (i *imageRun) archive() error {
	tag := i.tag
	if tag == "" {
		tag = "latest"
	}
	name, path := i.name+":"+tag, i.abs(i.args.ArchivePath)
	image, err := i.docker.image(i.name, tag)
	if imageID.MatchString(i.name) {
		name = i.name
		image, err = i.imageByID(i.name)
	}
	if err != nil || image == nil {
		return err
	}
	action := archiveAction(path, name, dictText(image, "Id"))
	i.out.Changed(action != "")
	if action != "" {
		i.actions.Append("Archived image " + name + " to " + i.args.ArchivePath + ", " + action)
		if !i.Check {
			if err := i.save(name, path); err != nil {
				return err
			}
		}
	}
	i.image = image
	return nil
}

// archiveAction tells why an archive must be written, "" when it need not.
func archiveAction(path, name, id string) string {
	archived, tags, err := archivedImage(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "since none present"
	case err != nil:
		return "overwriting an unreadable archive file"
	case "sha256:"+archived == id && len(tags) == 1 && tags[0] == name:
		return ""
	}
	return "overwriting archive with image " + archived + " named " + strings.Join(tags, ", ")
}

// archivedImage reads which image an archive holds.
func archivedImage(path string) (id string, tags []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	in := tar.NewReader(bufio.NewReader(f))
	for {
		head, err := in.Next()
		if err != nil {
			return "", nil, fmt.Errorf("no manifest: %v", err)
		}
		if head.Name != "manifest.json" {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(in, 1<<20))
		if err != nil {
			return "", nil, err
		}
		return manifestImage(data)
	}
}

// manifestImage reads the one image of an archive's manifest.
func manifestImage(data []byte) (id string, tags []string, err error) {
	v, err := value.DecodeJSON(data)
	if err != nil {
		return "", nil, err
	}
	list, ok := v.(*value.List)
	if !ok {
		return "", nil, fmt.Errorf("the manifest is no list")
	}
	if list.Len() != 1 {
		return "", nil, fmt.Errorf("the manifest has %d images", list.Len())
	}
	image, _ := list.Items[0].(*value.Dict)
	names, _ := image.Get("RepoTags")
	if l, ok := names.(*value.List); ok {
		for _, name := range l.Items {
			tags = append(tags, value.Str(name))
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(wordIn(image, "Config"), "blobs/sha256/"), ".json"), tags, nil
}

func (i *imageRun) save(name, path string) error {
	answer, err := i.open(&dockerRequest{method: "GET", path: dockerPath("/images/{0}/get", name), patience: -1})
	if err != nil {
		return i.fail("Error getting image %s - %v", name, err)
	}
	defer answer.Body.Close()
	f, err := os.Create(path)
	if err != nil {
		return i.fail("Error writing image archive %s - %s", i.args.ArchivePath, osTextString(err, i.args.ArchivePath))
	}
	_, err = io.Copy(f, answer.Body)
	if err = errors.Join(err, f.Close()); err != nil {
		return i.fail("Error writing image archive %s - %v", i.args.ArchivePath, err)
	}
	return nil
}

// push sends the image to the registry of its name.
func (i *imageRun) push(name, tag string) error {
	registry, rest := cutRegistry(name)
	i.did("Pushed image %s to %s/%s:%s", i.name, registry, rest, tag)
	if i.Check {
		return nil
	}
	status, changed := any(nil), false
	r := &dockerRequest{method: "POST", path: dockerPath("/images/{0}/push", name), params: []string{"tag", tag}, json: true, header: i.registryHeader(registry)}
	err := i.lines(r, func(line *value.Dict) error {
		if detail := dictIn(line, "errorDetail"); detail != nil {
			return errors.New(dictText(detail, "message"))
		}
		status, _ = line.Get("status")
		changed = changed || status == "Pushing"
		return nil
	})
	if err != nil {
		return i.pushFailed(err, registry, rest, tag, name)
	}
	i.out.Changed(changed)
	image, err := i.docker.image(name, tag)
	i.image = orEmpty(image)
	i.image.Set("push_status", status)
	return err
}

func (i *imageRun) pushFailed(err error, registry, rest, tag, name string) error {
	switch text := err.Error(); {
	case strings.Contains(text, "unauthorized") && strings.Contains(text, "authentication required"):
		return i.fail("Error pushing image %s/%s:%s - %s. Try logging into %s first.", registry, rest, tag, text, registry)
	case strings.Contains(text, "unauthorized"):
		return i.fail("Error pushing image %s/%s:%s - %s. Does the repository exist?", registry, rest, tag, text)
	}
	return i.fail("Error pushing image %s: %v", name, err)
}

// rename gives the image a further name, and pushes it by that.
func (i *imageRun) rename() error {
	repository, tag := cutTag(i.args.Repository)
	if tag == "" {
		tag = i.tag
	}
	if tag == "" {
		tag = "latest"
	}
	there, err := i.docker.image(repository, tag)
	if err != nil {
		return err
	}
	if there == nil || i.args.ForceTag {
		if err := i.giveName(there, repository, tag); err != nil {
			return err
		}
	}
	if i.args.Push {
		return i.push(repository, tag)
	}
	return nil
}

func (i *imageRun) giveName(there *value.Dict, repository, tag string) error {
	name := i.name
	if !imageID.MatchString(name) && i.tag != "" && !strings.HasSuffix(name, ":"+i.tag) {
		name += ":" + i.tag
	}
	i.did("Tagged image %s to %s:%s", name, repository, tag)
	if i.Check {
		return nil
	}
	if _, err := i.order("POST", dockerPath("/images/{0}/tag", name), "tag", tag, "repo", repository, "force", "True"); err != nil {
		return i.fail("Error: failed to tag image - %v", err)
	}
	var err error
	i.image, err = i.docker.image(repository, tag)
	if there != nil && dictText(there, "Id") == dictText(i.image, "Id") {
		i.out.Changed(false)
	}
	return err
}

// build sends the folder to the engine, which builds the image.
func (i *imageRun) build() error {
	b := i.args.Build
	if imageID.MatchString(i.name) {
		return i.fail("Image name must not be an image ID for source=build; got: %s", i.name)
	}
	path := i.abs(b.Path)
	if !isDir(path) {
		return i.fail("Requested build path %s could not be found or you do not have access.", b.Path)
	}
	i.did("Built image %s from %s", i.full(), b.Path)
	if i.Check {
		return nil
	}
	context, err := i.buildContext(path)
	if err != nil {
		return err
	}
	defer context.Close()
	r := &dockerRequest{method: "POST", path: "/build", params: i.buildParams(), file: context, header: i.buildHeader(), patience: -1}
	if b.HTTPTimeout != nil {
		r.patience = time.Duration(*b.HTTPTimeout) * time.Second
	}
	var output []string
	err = i.lines(r, func(line *value.Dict) error {
		said(line, &output)
		return i.buildError(line, output)
	})
	if err != nil {
		return err
	}
	i.out.Set("stdout", strings.Join(output, "\n"))
	i.image, err = i.docker.image(i.name, i.tag)
	return err
}

func (i *imageRun) buildError(line *value.Dict, output []string) error {
	text := dictText(line, "error")
	if text == "" {
		return nil
	}
	logs := value.Repr(stringList(output))
	if detail := dictIn(line, "errorDetail"); detail != nil {
		return i.fail("Error building %s - code: %s, message: %s, logs: %s", i.name, value.Str(firstOf(detail, "code")), value.Str(firstOf(detail, "message")), logs)
	}
	return i.fail("Error building %s - message: %s, logs: %s", i.name, text, logs)
}

func (i *imageRun) buildParams() []string {
	b := i.args.Build
	params := []string{"t", i.full(), "q", "False", "nocache", dockerBool(b.NoCache), "rm", dockerBool(b.Rm),
		"forcerm", dockerBool(b.Rm), "pull", dockerBool(b.Pull)}
	add := func(name string, v any) {
		if v != nil {
			params = append(params, name, value.Str(v))
		}
	}
	add("dockerfile", given(b.Dockerfile))
	if l := b.ContainerLimits; l != nil {
		add("memory", given(l.Memory))
		add("memswap", given(l.Memswap))
		add("cpushares", given(l.CPUShares))
		add("cpusetcpus", given(l.CPUSetCPUs))
	}
	if b.Args.Len() > 0 {
		texts := value.NewDict()
		for k, v := range b.Args.All() {
			texts.Set(value.Str(k), value.Str(v))
		}
		add("buildargs", jsonText(texts))
	}
	if len(b.CacheFrom) > 0 {
		add("cachefrom", jsonText(stringList(b.CacheFrom)))
	}
	add("target", given(b.Target))
	add("networkmode", given(b.Network))
	if b.EtcHosts.Len() > 0 {
		var hosts []string
		for k, v := range b.EtcHosts.All() {
			hosts = append(hosts, value.Str(k)+":"+dockerText(v))
		}
		sort.Strings(hosts)
		for _, host := range hosts {
			add("extrahosts", host)
		}
	}
	add("platform", given(b.Platform))
	return params
}

// jsonText is a value as Python's json prints it.
func jsonText(v any) string {
	text, err := value.EncodeJSON(v, value.JSONOptions{EnsureASCII: true})
	if err != nil {
		return "" // texts can always be encoded
	}
	return text
}
