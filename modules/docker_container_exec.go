//go:build !plain

package modules

import (
	"errors"
	"io"
	"strings"

	"play/modules/argspec"
	"play/modules/shellquote"
	"play/modules/value"
)

// dockerExecArgs are the arguments of docker_container_exec.
type dockerExecArgs struct {
	Container string      `arg:"container,required" doc:"the container"`
	Argv      []string    `arg:"argv" doc:"the command as a list"`
	Command   *string     `arg:"command" doc:"the command as a line"`
	Chdir     *string     `arg:"chdir" doc:"the folder to run it in"`
	Detach    bool        `arg:"detach,default=no" doc:"do not wait for its end"`
	User      string      `arg:"user" doc:"the user to run it as"`
	Stdin     *string     `arg:"stdin" doc:"its input"`
	Newline   bool        `arg:"stdin_add_newline,default=yes" doc:"end the input with a line break"`
	Strip     bool        `arg:"strip_empty_ends,default=yes" doc:"drop line breaks at the end of its output"`
	TTY       bool        `arg:"tty,default=no" doc:"give it a terminal"`
	Env       *value.Dict `arg:"env" doc:"environment variables; their values must be texts"`
	dockerArgs
}

// Rules relates the arguments.
func (dockerExecArgs) Rules() argspec.Rules {
	r := dockerRules()
	r.MutuallyExclusive = [][]string{{"argv", "command"}}
	r.RequiredOneOf = [][]string{{"argv", "command"}}
	return r
}

func dockerContainerExec() Module {
	return Define("docker_container_exec", "Run a command in a Docker container", runDockerExec).NoCheck().In("community.docker")
}

func runDockerExec(c *Call, args *dockerExecArgs) (*Result, error) {
	d, err := c.dockerConnect(&args.dockerArgs)
	if err != nil {
		return nil, err
	}
	out, err := d.execute(args)
	var e *dockerError
	switch {
	case notFound(err):
		return nil, d.fail("Could not find container \"%s\"", args.Container)
	case errors.As(err, &e) && e.status == 409:
		return nil, d.fail("The container \"%s\" has been paused (%v)", args.Container, err)
	}
	return d.finish(out, err)
}

func (d *docker) execute(args *dockerExecArgs) (*Result, error) {
	body, err := d.execBody(args)
	if err != nil {
		return nil, err
	}
	made, err := d.post(dockerPath("/containers/{0}/exec", args.Container), body)
	if err != nil {
		return nil, err
	}
	id := dictText(made, "Id")
	r := &dockerRequest{method: "POST", path: dockerPath("/exec/{0}/start", id), json: true, patience: -1,
		body: value.DictOf("Tty", args.TTY, "Detach", args.Detach)}
	if args.Detach {
		_, err := d.do(r)
		return NewResult(true).With("exec_id", id), err
	}
	var stdout, stderr strings.Builder
	if err := d.execStreams(args, r, &stdout, &stderr); err != nil {
		return nil, err
	}
	ended, err := d.getDict(dockerPath("/exec/{0}/json", id))
	if err != nil {
		return nil, err
	}
	code, _ := value.AsInt(firstOf(ended, "ExitCode"))
	return NewResult(true).With("stdout", args.shown(stdout.String())).With("stderr", args.shown(stderr.String())).With("rc", code), nil
}

func (a *dockerExecArgs) shown(text string) string {
	if a.Strip {
		return strings.TrimRight(text, "\r\n")
	}
	return text
}

// execBody is the request that prepares the command.
func (d *docker) execBody(args *dockerExecArgs) (*value.Dict, error) {
	argv := args.Argv
	if args.Command != nil {
		var err error
		if argv, err = shellquote.Split(*args.Command); err != nil {
			return nil, err
		}
	}
	var env any
	if args.Env != nil {
		list := value.NewList()
		for k, v := range args.Env.All() {
			text, ok := v.(string)
			if !ok {
				return nil, d.fail("Non-string value found for env option. Ambiguous env options must be wrapped in quotes to avoid them being interpreted. Key: %s", value.Str(k))
			}
			list.Append(value.Str(k) + "=" + text)
		}
		env = list
	}
	if args.Detach && args.Stdin != nil {
		return nil, d.fail("If detach=true, stdin cannot be provided.")
	}
	input := args.Stdin != nil && (*args.Stdin != "" || args.Newline)
	return value.DictOf("Container", args.Container, "User", args.User, "Privileged", false, "Tty", false, "AttachStdin", input,
		"AttachStdout", true, "AttachStderr", true, "Cmd", stringList(argv), "Env", env, "WorkingDir", given(args.Chdir)), nil
}

// execStreams starts the command, writes its input and reads its output.
func (d *docker) execStreams(args *dockerExecArgs, r *dockerRequest, stdout, stderr io.Writer) error {
	answer, err := d.open(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if args.Stdin != nil {
		text := *args.Stdin
		if args.Newline {
			text += "\n"
		}
		if err := answer.speak(text); err != nil {
			return err
		}
	}
	if args.TTY {
		_, err := io.Copy(stdout, answer.Body)
		return err
	}
	return readFrames(answer.Body, stdout, stderr)
}
