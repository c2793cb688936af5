package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"play/connection"
	"play/connection/pool"
	"play/engine/task"
	"play/modules/value"
)

// rebootKind is what rebooting needs to know of a system.
type rebootKind struct {
	command, args string // args may hold {sec}, {min} and {msg}
	bootTime      string // prints something that is new after every boot
	test          string // succeeds once the system is up
}

// rebootKinds are those that differ from Linux, by distribution or family in
// lower case.
func rebootKinds() map[string]rebootKind {
	return map[string]rebootKind{
		"alpine":   {command: "reboot", args: ""},
		"void":     {args: `-r +{min} "{msg}"`},
		"freebsd":  {args: `-r +{sec}s "{msg}"`, bootTime: "/sbin/sysctl kern.boottime"},
		"openbsd":  {args: `-r +{min} "{msg}"`, bootTime: "/sbin/sysctl kern.boottime"},
		"macosx":   {args: `-r +{min} "{msg}"`, bootTime: "who -b"},
		"solaris":  {args: `-y -g {sec} -i 6 "{msg}"`, bootTime: "who -b", test: "who"},
		"sunos":    {args: `-y -g {sec} -i 6 "{msg}"`, bootTime: "who -b"},
		"vmkernel": {command: "reboot", args: "-d {sec}", bootTime: "grep booted /var/log/vmksummary.log | tail -n 1", test: "who"},
		"aix":      {args: "-Fr", bootTime: "who -b"},
	}
}

// rebootKindOf picks by distribution, then by family.
func rebootKindOf(distribution, family string) rebootKind {
	kinds := rebootKinds()
	k, ok := kinds[distribution]
	if !ok {
		k, ok = kinds[family]
	}
	if !ok {
		k.args = `-r {min} "{msg}"`
	}
	k.command = or(k.command, "shutdown")
	k.bootTime = or(k.bootTime, "cat /proc/sys/kernel/random/boot_id")
	k.test = or(k.test, "whoami")
	return k
}

// rebooting is one reboot on its way.
type rebooting struct {
	*Deps
	a       *task.Attempt
	target  *connection.Target
	kind    rebootKind
	timeout time.Duration
	pre     int // seconds
	post    time.Duration
	start   time.Time
}

// reboot restarts the host and waits until it is back.
func (d *Deps) reboot(ctx context.Context, a *task.Attempt) (*value.Dict, error) {
	known := []string{"boot_time_command", "connect_timeout", "connect_timeout_sec", "msg", "post_reboot_delay", "post_reboot_delay_sec",
		"pre_reboot_delay", "pre_reboot_delay_sec", "reboot_command", "reboot_timeout", "reboot_timeout_sec", "search_paths", "test_command"}
	if err := onlyArgs(a, known...); err != nil {
		return nil, err
	}
	t, err := d.target(a)
	if err != nil {
		return nil, err
	}
	if t.Transport == "local" {
		return nil, &task.Fail{Result: value.DictOf("changed", false, "elapsed", 0, "rebooted", false, "failed", true,
			"msg", "Running "+a.Task.Written+" with local connection would reboot the control node.")}
	}
	if a.Check {
		return value.DictOf("changed", true, "elapsed", 0, "rebooted", true), nil
	}
	r := &rebooting{Deps: d, a: a, target: t, start: d.Now()}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r.run(ctx)
}

// read reads the delays and limits.
func (r *rebooting) read() error {
	var post, limit, connect int
	for _, o := range []struct {
		into *int
		name string
		def  int
	}{{&r.pre, "pre_reboot_delay", 0}, {&post, "post_reboot_delay", 0}, {&limit, "reboot_timeout", 600}, {&connect, "connect_timeout", 0}} {
		n, err := argInt(r.a, o.def, o.name, o.name+"_sec")
		if err != nil {
			return err
		}
		*o.into = max(n, 0)
	}
	r.post, r.timeout = time.Duration(post)*time.Second, time.Duration(limit)*time.Second
	if connect > 0 {
		shorter := *r.target
		shorter.Timeout = time.Duration(connect) * time.Second
		r.target = &shorter
	}
	return nil
}

func (r *rebooting) run(ctx context.Context) (*value.Dict, error) {
	if err := r.inspect(ctx); err != nil {
		return nil, err
	}
	before, err := r.bootTime(ctx)
	if err != nil {
		return nil, &task.Fail{Result: value.DictOf("changed", false, "failed", true, "reboot", false, "msg", err.Error())}
	}
	command, err := r.command(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.exec(ctx, command)
	r.start = r.Now()
	if err != nil && !isUnreachable(err) {
		return nil, err
	}
	if err == nil && out.Status != 0 {
		return nil, r.failed(false, fmt.Sprintf("Reboot command failed. Error was: '%s, %s'", strings.TrimSpace(string(out.Stdout)), strings.TrimSpace(out.Stderr)))
	}
	if err := sleep(ctx, r.post); err != nil {
		return nil, err
	}
	return r.await(ctx, before)
}

// await waits for another boot time, then for the test command.
func (r *rebooting) await(ctx context.Context, before string) (*value.Dict, error) {
	isNew := func(ctx context.Context) error {
		now, err := r.bootTime(ctx)
		if err == nil && (now == "" || now == before) {
			err = errors.New("boot time has not changed")
		}
		return err
	}
	for _, step := range []struct {
		what string
		try  func(context.Context) error
	}{{"last boot time check", isNew}, {"post-reboot test command", r.test}} {
		err := r.until(ctx, r.target, r.timeout, backoff, step.try)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, r.failed(true, fmt.Sprintf("Timed out waiting for %s (timeout=%d)", step.what, int(r.timeout/time.Second)))
		}
	}
	r.Links.Reset(r.target) // what was connected with another time limit, or before the reboot, is of no use
	return value.DictOf("changed", true, "rebooted", true, "elapsed", r.elapsed()), nil
}

func (r *rebooting) elapsed() int { return int(r.Now().Sub(r.start) / time.Second) }

func (r *rebooting) failed(rebooted bool, msg string) error {
	return &task.Fail{Result: value.DictOf("changed", false, "failed", true, "rebooted", rebooted, "msg", msg, "elapsed", r.elapsed())}
}

// inspect finds out which system it is.
func (r *rebooting) inspect(ctx context.Context) error {
	subset := value.NewList()
	subset.Append("min")
	result, err := r.call(ctx, r.a, "setup", value.DictOf("gather_subset", subset), nil)
	if err != nil {
		return err
	}
	facts, _ := result.Get("ansible_facts")
	found, _ := facts.(*value.Dict)
	var words []string
	for _, name := range []string{"distribution", "os_family"} {
		v, ok := found.Get("ansible_" + name)
		if !ok {
			return task.Failf("Failed to get distribution information. Missing \"ansible_%s\" in output.", name)
		}
		words = append(words, strings.ToLower(value.Str(v)))
	}
	r.kind = rebootKindOf(words[0], words[1])
	return nil
}

// exec gives the host's shell a line, without an agent.
func (r *rebooting) exec(ctx context.Context, line string) (*pool.Output, error) {
	return r.Links.Exec(ctx, r.target, withEnv(r.a.Env, line), nil)
}

func (r *rebooting) bootTime(ctx context.Context) (string, error) {
	out, err := r.exec(ctx, or(argString(r.a, "boot_time_command"), r.kind.bootTime))
	if err != nil {
		return "", err
	}
	if out.Status != 0 {
		return "", fmt.Errorf("%s: failed to get host boot time info, rc: %d, stdout: %s, stderr: %s", r.a.Task.Written, out.Status, out.Stdout, out.Stderr)
	}
	return strings.TrimSpace(string(out.Stdout)), nil
}

func (r *rebooting) test(ctx context.Context) error {
	out, err := r.exec(ctx, or(argString(r.a, "test_command"), r.kind.test))
	if err == nil && out.Status != 0 {
		err = fmt.Errorf("test command failed: %s %s", out.Stderr, out.Stdout)
	}
	return err
}

// command is the line that reboots.
func (r *rebooting) command(ctx context.Context) (string, error) {
	given := argString(r.a, "reboot_command")
	program, args, _ := strings.Cut(given, " ")
	if given == "" {
		program = r.kind.command
		msg := or(argString(r.a, "msg"), "Reboot initiated by Ansible")
		args = strings.NewReplacer("{sec}", fmt.Sprint(r.pre), "{min}", fmt.Sprint(r.pre/60), "{msg}", msg).Replace(r.kind.args)
	}
	if strings.HasPrefix(program, "/") {
		return program + " " + args, nil
	}
	path, err := r.find(ctx, program)
	return path + " " + args, err
}

// find looks for the program in search_paths on the host.
func (r *rebooting) find(ctx context.Context, program string) (string, error) {
	folders := []string{"/sbin", "/bin", "/usr/sbin", "/usr/bin", "/usr/local/sbin"}
	switch given, _ := r.a.Args.Get("search_paths"); v := given.(type) {
	case nil:
	case string:
		folders = strings.Split(v, ",")
	case *value.List:
		folders = nil
		for _, item := range v.Items {
			folders = append(folders, value.Str(item))
		}
	default:
		return "", task.Failf("'search_paths' must be a string or flat list of strings, got %s", value.Str(given))
	}
	paths, patterns := value.NewList(), value.NewList()
	for _, f := range folders {
		paths.Append(f)
	}
	patterns.Append(program)
	result, err := r.call(ctx, r.a, "find", value.DictOf("paths", paths, "patterns", patterns, "file_type", "any"), nil)
	if err != nil {
		return "", err
	}
	found, _ := result.Get("files")
	list, _ := found.(*value.List)
	if list == nil || list.Len() == 0 {
		return "", task.Failf("Unable to find command \"%s\" in search paths: %s", program, value.Str(paths))
	}
	first, _ := list.Items[0].(*value.Dict)
	path, _ := first.Get("path")
	return value.Str(path), nil
}

// isUnreachable tells that the host was lost.
func isUnreachable(err error) bool {
	var u *connection.UnreachableError
	return errors.As(err, &u)
}

// argInt reads a whole number under any of its names.
func argInt(a *task.Attempt, def int, names ...string) (int, error) {
	i := slices.IndexFunc(names, func(n string) bool { v, ok := a.Args.Get(n); return ok && v != nil })
	if i < 0 {
		return def, nil
	}
	v, _ := a.Args.Get(names[i])
	n, ok := number(v)
	if !ok {
		return 0, task.Failf("cannot use %q as %s: it must be a whole number", value.Str(v), names[i])
	}
	return int(n), nil
}
