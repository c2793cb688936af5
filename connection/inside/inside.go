// Package inside reaches containers, pods, folders with a root file system of
// their own and other users by a program of the control machine (docker, podman,
// kubectl, chroot, systemd-nspawn, su). Flowing in: targets. Flowing out: Transports on which the
// agent starts as on any host. The program gets an argument vector, never a
// shell line, and no secret; it is looked up in PATH.
package inside

import (
	"context"
	"fmt"
	"strings"

	"play/connection"
	"play/connection/local"
	"play/modules/shellquote"
)

// Kind is one way to reach inside: what makes a command of a shell's script.
type Kind func(t *connection.Target) (command, error)

// command is the argument vector that runs a script inside.
type command func(script string) []string

// before is a command of some words, a shell, and the script.
func before(words []string) command {
	return func(script string) []string {
		return append(words[:len(words):len(words)], "/bin/sh", "-c", script)
	}
}

// Kinds are the ways by the names that ansible_connection gives them.
func Kinds() map[string]Kind {
	return map[string]Kind{
		"docker": engine("docker"), "community.docker.docker": engine("docker"),
		"podman": engine("podman"), "containers.podman.podman": engine("podman"),
		"kubectl": kubectl, "kubernetes.core.kubectl": kubectl,
		"chroot": chroot, "community.general.chroot": chroot,
		"nspawn": nspawn, "su": su,
	}
}

// Dial returns the transport of a target; the program runs at the first start
// only. near starts the processes. The error is an *UnreachableError.
func (k Kind) Dial(near *local.Transport, t *connection.Target) (connection.Transport, error) {
	command, err := k(t)
	if err != nil {
		return nil, connection.Unreachablef(t.Name, "cannot connect to %q: %w", t.Name, err)
	}
	return &transport{near: near.For(t), command: command}, nil
}

// transport starts processes by the command.
type transport struct {
	near    *local.Transport
	command command
}

var _ connection.Transport = (*transport)(nil)

// Start runs a script by the /bin/sh that is inside.
func (t *transport) Start(ctx context.Context, script string) (connection.Stream, error) {
	return t.near.StartArgv(ctx, t.command(script))
}

// Close does nothing: every process has a stream of its own.
func (t *transport) Close() error { return nil }

// engine is docker or podman, which take the same words.
func engine(program string) Kind {
	return func(t *connection.Target) (command, error) {
		name, err := named(t)
		if err != nil {
			return nil, err
		}
		words, err := with(program, t)
		words = append(words, "exec", "-i")
		if t.User != "" {
			words = append(words, "-u", t.User)
		}
		return before(append(words, name)), err
	}
}

func kubectl(t *connection.Target) (command, error) {
	pod, err := named(t)
	if err != nil {
		return nil, err
	}
	if given := t.Options["pod"]; given != "" {
		pod = given
	}
	words, err := with("kubectl", t)
	if namespace := t.Options["namespace"]; namespace != "" {
		words = append(words, "-n", namespace)
	}
	words = append(words, "exec", "-i", pod)
	if container := t.Options["container"]; container != "" {
		words = append(words, "-c", container)
	}
	return before(append(words, "--")), err
}

func chroot(t *connection.Target) (command, error) {
	dir := t.Host()
	if !strings.HasPrefix(dir, "/") {
		return nil, fmt.Errorf("a chroot is named by an absolute path, not by %q", dir)
	}
	words, err := with("chroot", t)
	return before(append(words, dir)), err
}

// nspawn takes a folder or the name of a machine's image.
func nspawn(t *connection.Target) (command, error) {
	name, err := named(t)
	if err != nil {
		return nil, err
	}
	words, err := with("systemd-nspawn", t)
	words = append(words, "--quiet", "--pipe")
	if t.User != "" {
		words = append(words, "--user="+t.User)
	}
	if strings.HasPrefix(name, "/") {
		return before(append(words, "--directory="+name, "--")), err
	}
	return before(append(words, "--machine="+name, "--")), err
}

// su reaches a user of the control machine by way of others: each one becomes the
// next one, without a password.
func su(t *connection.Target) (command, error) {
	users := append(strings.FieldsFunc(t.Options["via"], func(r rune) bool { return r == ',' || r == ' ' }), t.User)
	for _, user := range users {
		if user == "" || user[0] == '-' {
			return nil, fmt.Errorf("%q is no user (ansible_user names the one to reach)", user)
		}
	}
	words, err := with("su", t)
	return func(script string) []string {
		for i := len(users) - 1; i > 0; i-- {
			script = "exec " + shellquote.Join(words) + " " + connection.Quote(users[i]) + " -c " + connection.Quote(script)
		}
		return append(words[:len(words):len(words)], users[0], "-c", script)
	}, err
}

// named is the target's address, which must not be taken for an option.
func named(t *connection.Target) (string, error) {
	name := t.Host()
	if name == "" || name[0] == '-' {
		return "", fmt.Errorf("%q is no name", name)
	}
	return name, nil
}

// with is the program with the operator's further arguments.
func with(program string, t *connection.Target) ([]string, error) {
	if exe := t.Options["executable"]; exe != "" {
		program = exe
	}
	extra, err := shellquote.Split(t.Options["extra_args"])
	if err != nil {
		return nil, fmt.Errorf("cannot read the extra arguments %q: %w", t.Options["extra_args"], err)
	}
	return append([]string{program}, extra...), nil
}
