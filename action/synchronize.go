package action

import (
	"context"
	"slices"
	"sort"
	"strings"

	"play/connection"
	"play/engine/task"
	"play/modules/shellquote"
	"play/modules/value"
)

// synchronize runs rsync: on the control machine, which reaches the host with
// ssh as the play does, or on the host that the task is delegated to.
func (d *Deps) synchronize(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	host, on, err := d.syncSides(a)
	if err != nil {
		return nil, err
	}
	args := value.NewDict()
	for k, v := range a.Args.All() {
		args.Set(value.Str(k), v)
	}
	args.Delete("use_ssh_args") // the host's options are always used
	s := &syncRun{Deps: d, a: a, args: args, host: host}
	for _, name := range []string{"src", "dest"} {
		if v, ok := args.Get(name); !ok || v == nil {
			return nil, task.Failf("synchronize requires both src and dest parameters are set")
		}
	}
	if on.Transport == host.Transport && on.HostKey() == host.HostKey() {
		s.relative("src")
		s.relative("dest")
	} else if err := s.reach(); err != nil {
		return nil, err
	} else if err := s.guard(); err != nil {
		return nil, err
	} else {
		plain := *on
		plain.Become = nil // rsync's other half becomes the user
		on = &plain
	}
	c, err := d.request(a, "synchronize", args)
	if err != nil {
		return nil, err
	}
	return d.sendTo(ctx, on, c, nil, nil)
}

// syncSides are the host that gets or gives files, and where rsync is started.
func (d *Deps) syncSides(a *task.Attempt) (host, on *connection.Target, err error) {
	if host, err = d.target(a); err != nil {
		return nil, nil, err
	}
	if a.Target != a.Host { // rsync runs where the task is delegated to
		on = host
		own := *a
		own.Target, own.On = a.Host, a.Scope
		host, err = d.target(&own)
		return host, on, err
	}
	switch host.Transport {
	case "local":
		return host, host, nil
	case "ssh":
		return host, &connection.Target{Name: "localhost", Transport: "local"}, nil
	}
	return nil, nil, task.Failf("synchronize uses rsync to function. rsync needs to connect to the remote host via ssh, docker client or a "+
		"direct filesystem copy. This remote host is being accessed via %s instead so it cannot work.", host.Transport)
}

// syncRun is one call on its way.
type syncRun struct {
	*Deps
	a    *task.Attempt
	args *value.Dict
	host *connection.Target
}

// reach writes the arguments that let rsync reach the host.
func (s *syncRun) reach() error {
	h := s.host
	if h.Transport != "ssh" {
		return task.Failf("cannot synchronize with %q: it is reached by %s, not by ssh", h.Name, h.Transport)
	}
	if h.Password != "" {
		return task.Failf("cannot synchronize with %q by password: rsync's ssh would ask for it; give it a key", h.Name)
	}
	near, far := "src", "dest"
	if argString(s.a, "mode") == "pull" {
		near, far = far, near
	}
	s.relative(near)
	path := argString(s.a, far)
	if !strings.HasPrefix(path, "rsync://") {
		s.args.Set(far, s.remote(path))
	}
	s.unlessGiven("dest_port", h.Port, h.Port != 0)
	if len(h.KeyFiles) > 0 {
		s.unlessGiven("private_key", h.KeyFiles[0], true)
	}
	s.unlessGiven("verify_host", true, h.HostKeyChecking)
	s.unlessGiven("_local_rsync_path", s.variable("ansible_rsync_path", "rsync"), true)
	if b := h.Become; b != nil && (b.Method == "" || b.Method == "sudo") {
		line := "sudo rsync"
		if b.User != "" {
			line = "sudo -u " + b.User + " rsync"
		}
		s.unlessGiven("rsync_path", line, true)
	}
	words := append(strings.Fields(argString(s.a, "ssh_args")), sshWords(h.Options)...)
	if len(words) > 0 {
		s.args.Set("ssh_args", strings.Join(words, " "))
	}
	return nil
}

// sshWords writes options for the command line of ssh, sorted.
func sshWords(options map[string]string) []string {
	var words []string
	for name, v := range options {
		words = append(words, shellquote.Quote("-o"+name+"="+v))
	}
	sort.Strings(words)
	return words
}

// remote is a path of the host as rsync takes it.
func (s *syncRun) remote(path string) string {
	host, user := s.host.Host(), ""
	if set, err := argBool(s.a, "set_remote_user", true); err == nil && set && s.host.User != "" {
		user = s.host.User + "@"
	}
	if strings.Contains(host, ":") {
		return "[" + user + host + "]:" + path
	}
	return user + host + ":" + path
}

// guard judges the file of the control machine that is sent.
func (s *syncRun) guard() error {
	if push := argString(s.a, "mode"); push == "pull" {
		return nil
	}
	path := argString(s.a, "src")
	return s.a.MayRead(path, path, "src")
}

// relative looks for a path of the control machine as copy does.
func (s *syncRun) relative(name string) {
	path := argString(s.a, name)
	if strings.HasPrefix(path, "/") || strings.Contains(path, ":") || strings.HasPrefix(path, "~") {
		return
	}
	found, ok := s.a.Files.Find("files", path)
	if !ok {
		found = slices.Concat(s.a.Files.Paths("files", path), []string{path})[0]
	}
	if strings.HasSuffix(path, "/") && !strings.HasSuffix(found, "/") {
		found += "/"
	}
	s.args.Set(name, found)
}

func (s *syncRun) unlessGiven(name string, v any, known bool) {
	if old, ok := s.args.Get(name); known && (!ok || old == nil) {
		s.args.Set(name, v)
	}
}

// variable is a variable of the host.
func (s *syncRun) variable(name, def string) string {
	r := &reach{a: s.a, on: s.a.Scope}
	return r.str(def, name)
}
