//go:build !plain

package modules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// composeArgs are the arguments of docker_compose_v2.
type composeArgs struct {
	ProjectSrc    string      `arg:"project_src,type=path,required" doc:"the project's folder"`
	ProjectName   *string     `arg:"project_name" doc:"the project's name"`
	Files         []string    `arg:"files" doc:"Compose files in it"`
	EnvFiles      []string    `arg:"env_files" doc:"files of variables"`
	Profiles      []string    `arg:"profiles" doc:"profiles to enable"`
	CheckFiles    bool        `arg:"check_files_existing,default=yes" doc:"fail when there is no Compose file"`
	State         string      `arg:"state,default=present,choices=absent|present|stopped|restarted" doc:"what shall be"`
	Pull          string      `arg:"pull,default=policy,choices=always|missing|never|policy" doc:"when images are pulled"`
	Build         string      `arg:"build,default=policy,choices=always|never|policy" doc:"when images are built"`
	Dependencies  bool        `arg:"dependencies,default=yes" doc:"also start what services depend on"`
	IgnoreBuild   bool        `arg:"ignore_build_events,default=yes" doc:"a build alone is no change"`
	Recreate      string      `arg:"recreate,default=auto,choices=always|never|auto" doc:"when containers are made anew"`
	RenewAnon     bool        `arg:"renew_anon_volumes,default=no" doc:"with new anonymous volumes"`
	RemoveImages  *string     `arg:"remove_images,choices=all|local" doc:"with absent: also these images"`
	RemoveVolumes bool        `arg:"remove_volumes,default=no" doc:"with absent: also volumes"`
	RemoveOrphans bool        `arg:"remove_orphans,default=no" doc:"also containers of services that are gone"`
	Timeout       *int        `arg:"timeout" doc:"seconds before a container is killed"`
	Services      []string    `arg:"services" doc:"only these services"`
	Scale         *value.Dict `arg:"scale" doc:"numbers of containers by service"`
	Wait          bool        `arg:"wait,default=no" doc:"wait until services are healthy"`
	WaitTimeout   *int        `arg:"wait_timeout" doc:"seconds to wait"`
	dockerCLIArgs
}

// Rules relates the arguments.
func (composeArgs) Rules() argspec.Rules { return dockerCLIRules() }

// dockerComposeV2 is tested against its documentation only: the collection of
// the recorded cases does not have it yet.
func dockerComposeV2() Module {
	return Define("docker_compose_v2", "Manage Docker Compose projects", runCompose).In("community.docker")
}

// composeRun is one run of docker_compose_v2.
type composeRun struct {
	*Call
	args           *composeArgs
	dir            string
	stdout, stderr strings.Builder
	actions        *value.List
	changed        bool
}

func runCompose(c *Call, args *composeArgs) (*Result, error) {
	r := &composeRun{Call: c, args: args, dir: c.abs(args.ProjectSrc), actions: value.NewList()}
	if !isDir(r.dir) {
		return nil, Failf("\"%s\" is not a directory", args.ProjectSrc)
	}
	if err := r.checkFiles(); err != nil {
		return nil, err
	}
	var err error
	switch args.State {
	case "present":
		err = r.do(r.up(false))
	case "absent":
		err = r.do(r.down())
	case "restarted":
		err = r.do(r.services(r.timed([]string{"restart"})))
	case "stopped":
		err = r.stop()
	}
	if err != nil {
		return nil, err
	}
	return r.result()
}

func (r *composeRun) checkFiles() error {
	if !r.args.CheckFiles {
		return nil
	}
	names := r.args.Files
	all := len(names) > 0
	if !all {
		names = []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"}
	}
	for _, name := range names {
		there := exists(joinUnder(r.dir, name))
		if all && !there {
			return Failf("Cannot find Compose file \"%s\" relative to project directory \"%s\"", name, r.args.ProjectSrc)
		}
		if !all && there {
			return nil
		}
	}
	if all {
		return nil
	}
	return Failf("\"%s\" does not contain compose.yaml, compose.yml, docker-compose.yaml, or docker-compose.yml", r.args.ProjectSrc)
}

func joinUnder(dir, name string) string {
	if strings.HasPrefix(name, "/") {
		return name
	}
	return dir + "/" + name
}

// base is the program with the options that name the project.
func (r *composeRun) base() []string {
	argv := append(r.args.argv(), "compose", "--ansi", "never", "--progress", "plain", "--project-directory", r.dir)
	if r.args.ProjectName != nil {
		argv = append(argv, "--project-name", *r.args.ProjectName)
	}
	for _, file := range r.args.Files {
		argv = append(argv, "--file", joinUnder(r.dir, file))
	}
	for _, file := range r.args.EnvFiles {
		argv = append(argv, "--env-file", file)
	}
	for _, profile := range r.args.Profiles {
		argv = append(argv, "--profile", profile)
	}
	return argv
}

func (r *composeRun) timed(argv []string) []string {
	if r.args.Timeout != nil {
		argv = append(argv, "--timeout", strconv.Itoa(*r.args.Timeout))
	}
	if r.Check {
		argv = append(argv, "--dry-run")
	}
	return argv
}

func (r *composeRun) services(argv []string) []string {
	return append(append(argv, "--"), r.args.Services...)
}

// up is the command that makes and starts containers.
func (r *composeRun) up(noStart bool) []string {
	a := r.args
	argv := []string{"up", "--detach", "--no-color", "--quiet-pull"}
	when := func(is bool, words ...string) {
		if is {
			argv = append(argv, words...)
		}
	}
	when(a.Pull != "policy", "--pull", a.Pull)
	when(a.RemoveOrphans, "--remove-orphans")
	when(a.Recreate == "always", "--force-recreate")
	when(a.Recreate == "never", "--no-recreate")
	when(a.RenewAnon, "--renew-anon-volumes")
	when(!a.Dependencies, "--no-deps")
	when(a.Timeout != nil, "--timeout", value.Str(given(a.Timeout)))
	when(a.Build == "always", "--build")
	when(a.Build == "never", "--no-build")
	for k, v := range a.Scale.All() {
		argv = append(argv, "--scale", value.Str(k)+"="+value.Str(v))
	}
	when(a.Wait && !noStart, "--wait")
	when(a.Wait && !noStart && a.WaitTimeout != nil, "--wait-timeout", value.Str(given(a.WaitTimeout)))
	when(noStart, "--no-start")
	when(r.Check, "--dry-run")
	return r.services(argv)
}

func (r *composeRun) down() []string {
	argv := []string{"down"}
	if r.args.RemoveOrphans {
		argv = append(argv, "--remove-orphans")
	}
	if r.args.RemoveImages != nil {
		argv = append(argv, "--rmi", *r.args.RemoveImages)
	}
	if r.args.RemoveVolumes {
		argv = append(argv, "--volumes")
	}
	return r.services(r.timed(argv))
}

// stop makes containers that are missing, and stops those that run: compose
// itself claims to stop those that do not, too.
func (r *composeRun) stop() error {
	if err := r.do(r.up(true)); err != nil {
		return err
	}
	boxes, err := r.list("ps", "--format", "json", "--all", "--no-trunc")
	if err != nil {
		return err
	}
	for _, box := range dictItems(boxes) {
		if !slices.Contains([]string{"created", "exited", "stopped", "killed"}, dictText(box, "State")) {
			return r.do(r.services(r.timed([]string{"stop"})))
		}
	}
	return nil
}

// do runs a command of compose and reads what it did from its progress.
func (r *composeRun) do(argv []string) error {
	argv = append(r.base(), argv...)
	out, err := r.tool(argv...)
	if err != nil {
		return err
	}
	r.stdout.WriteString(out.out)
	r.stderr.WriteString(out.errOut)
	r.read(out.errOut)
	if !out.failed() {
		return nil
	}
	msg := "Error when processing project"
	if lines := strings.Split(strings.TrimSpace(out.errOut), "\n"); lines[len(lines)-1] != "" {
		msg = "General error: " + strings.TrimSpace(lines[len(lines)-1])
	}
	return &Failure{Msg: msg, With: value.DictOf("rc", out.rc, "stdout", out.out, "stderr", out.errOut, "cmd", strings.Join(argv, " "), "actions", r.actions)}
}

var composeEvent = regexp.MustCompile(`^\s*(?:DRY-RUN MODE -\s+)?(Network|Image|Volume|Container|Service)\s+(\S+)\s+(\S.*?)\s*$|^\s*(?:DRY-RUN MODE -\s+)?(\S+)\s+(Pulling|Pulled|Building|Built)\s*$`)

// read collects the events in compose's progress. What is begun is an action;
// what is merely found running is none.
func (r *composeRun) read(progress string) {
	working := []string{"Creating", "Starting", "Restarting", "Stopping", "Killing", "Removing", "Recreate", "Recreating", "Pulling", "Building"}
	for _, line := range strings.Split(progress, "\n") {
		m := composeEvent.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		what, id, status := strings.ToLower(m[1]), m[2], m[3]
		if m[4] != "" {
			what, id, status = "service", m[4], m[5]
		}
		if !slices.Contains(working, status) {
			continue
		}
		r.actions.Append(value.DictOf("what", what, "id", id, "status", status))
		if status != "Building" || !r.args.IgnoreBuild {
			r.changed = true
		}
	}
}

func (r *composeRun) list(argv ...string) (*value.List, error) {
	out, err := r.tool(append(r.base(), argv...)...)
	if err != nil {
		return nil, err
	}
	return jsonDicts(out.out), nil
}

func (r *composeRun) result() (*Result, error) {
	boxes, err := r.list("ps", "--format", "json", "--all", "--no-trunc")
	if err != nil {
		return nil, err
	}
	images, err := r.list("images", "--format", "json")
	if err != nil {
		return nil, err
	}
	return NewResult(r.changed).With("actions", r.actions).With("containers", boxes).With("images", images).
		With("stdout", r.stdout.String()).With("stderr", r.stderr.String()), nil
}
