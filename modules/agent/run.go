package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/user"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"play/modules"
	"play/modules/argspec"
	"play/modules/foreign"
	"play/modules/value"
	"play/modules/wire"
)

// abandon is how long a module may go on after its context has ended before its
// call is answered without it.
const abandon = 5 * time.Second

var (
	errCancelled = errors.New("the task was cancelled")
	errGone      = errors.New("the controller is gone")
)

// runner runs modules; the connected agent and the detached wrapper share it.
type runner struct {
	table  map[string]modules.Module
	specs  map[string]*argspec.Spec
	env    []string
	home   string
	tmpDir string
	web    modules.Web
	warm   *foreign.Warm // nil in the process of a job, which runs one module
}

func newRunner(c *Config, tmpDir string) *runner {
	r := &runner{table: modules.Table(c.Modules), specs: map[string]*argspec.Spec{}, env: c.Env, home: c.Home, tmpDir: tmpDir, web: c.Web}
	for name, m := range r.table {
		r.specs[name] = argspec.Of(m.Args)
	}
	return r
}

// streams are what a call exchanges besides arguments and result.
type streams struct {
	body    io.Reader // nil: none
	content io.Writer
	output  io.Writer
}

// result runs a call and returns its result as Ansible's modules print it. It
// never fails: what goes wrong is in the result.
func (r *runner) result(ctx context.Context, call *wire.Call, s streams) *value.Dict {
	if call.Timeout > 0 {
		limit := time.Duration(call.Timeout * float64(time.Second))
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf(
			"The %s action failed to execute in the expected time frame (%v) and was terminated", shortName(call.Module), call.Timeout))
		defer cancel()
	}
	name := shortName(call.Module)
	m, ok := r.table[name]
	if !ok {
		return failed(value.DictOf("msg", fmt.Sprintf("the agent has no module %q; it has %s", name, r.names())))
	}
	args, extra, err := splitArgs(call)
	if err != nil {
		return failed(value.DictOf("msg", err.Error()))
	}
	if call.Check && !m.Check {
		return value.DictOf("changed", false, "skipped", true, "msg", fmt.Sprintf("remote module (%s) does not support check mode", name))
	}
	into, spec := m.New(), r.specs[name]
	checked, err := spec.Decode(name, args, r.argEnv(call), into)
	out := failure(err)
	if err == nil {
		out = r.guarded(r.call(ctx, call, s, extra, checked.Secrets), m, into)
	}
	out = hide(out, checked.Secrets)
	if _, own := out.Get("invocation"); !own && !m.Complete { // the result of a job has the job's own
		out.Set("invocation", value.DictOf("module_args", hide(spec.Invocation(checked.Params), checked.Secrets)))
	}
	warn(out, checked.Warnings)
	deprecate(out, checked.Deprecations)
	return out
}

// deprecate adds deprecations to a result's own.
func deprecate(out *value.Dict, found []argspec.Deprecation) {
	if len(found) == 0 {
		return
	}
	list := value.NewList()
	if v, ok := out.Get("deprecations"); ok {
		if own, ok := v.(*value.List); ok {
			list.Append(own.Items...)
		}
	}
	for _, d := range found {
		entry := value.DictOf("msg", d.Msg, "collection_name", unlessEmpty(d.Collection))
		if d.Date != "" {
			entry.Set("date", d.Date)
		} else {
			entry.Set("version", unlessEmpty(d.Version))
		}
		list.Append(entry)
	}
	out.Set("deprecations", list)
}

func unlessEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// names lists the modules there are, for a message.
func (r *runner) names() string {
	return strings.Join(slices.Sorted(maps.Keys(r.table)), ", ")
}

func shortName(name string) string {
	for _, collection := range []string{"ansible.builtin.", "ansible.legacy."} {
		name = strings.TrimPrefix(name, collection)
	}
	return name
}

// splitArgs decodes a call's arguments and takes the "_ansible_" ones out.
func splitArgs(call *wire.Call) (args, extra *value.Dict, err error) {
	extra, err = object(call.Extra, "hints")
	if err != nil {
		return nil, nil, err
	}
	all, err := object(call.Args, "arguments")
	if err != nil {
		return nil, nil, err
	}
	args = value.NewDict()
	for k, v := range all.All() {
		if name, _ := k.(string); strings.HasPrefix(name, "_ansible_") {
			extra.Set(name, v)
		} else {
			args.Set(name, v)
		}
	}
	return args, extra, nil
}

func object(data []byte, what string) (*value.Dict, error) {
	if len(data) == 0 {
		return value.NewDict(), nil
	}
	v, err := value.DecodeJSON(data)
	if err != nil {
		return nil, fmt.Errorf("cannot read the call's %s: %v", what, err)
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, fmt.Errorf("cannot read the call's %s: they are a %s", what, value.TypeName(v))
	}
	return d, nil
}

func (r *runner) argEnv(call *wire.Call) argspec.Env {
	c := modules.Call{Env: r.environ(call)}
	home, ok := c.Getenv("HOME")
	if !ok {
		home = r.home
	}
	return argspec.Env{Home: home, Getenv: c.Getenv, UserHome: homeOf}
}

func homeOf(name string) (string, bool) {
	u, err := user.Lookup(name)
	if err != nil {
		return "", false
	}
	return u.HomeDir, true
}

func (r *runner) environ(call *wire.Call) []string {
	if len(call.Env) == 0 {
		return r.env
	}
	env := slices.Clone(r.env)
	for _, entry := range call.Env {
		name, _, _ := strings.Cut(entry, "=")
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") })
		env = append(env, entry)
	}
	return env
}

func (r *runner) call(ctx context.Context, call *wire.Call, s streams, extra *value.Dict, secrets []string) *modules.Call {
	if s.output == nil || len(secrets) > 0 || call.NoLog {
		s.output = io.Discard // a secret could be cut in two by the pieces of output
	}
	if s.content == nil {
		s.content = io.Discard
	}
	return &modules.Call{
		Context: ctx, Check: call.Check, Diff: call.Diff, NoLog: call.NoLog, Verbosity: call.Verbosity,
		Env: r.environ(call), Dir: call.Dir, Home: r.home, TmpDir: r.tmpDir,
		Body: s.body, Content: s.content, Output: s.output, Extra: extra, Warm: r.warm, Web: r.web,
	}
}

// guarded runs the module so that neither its panic nor its deafness to the end
// of the context hurts other calls.
func (r *runner) guarded(c *modules.Call, m modules.Module, args any) *value.Dict {
	done := make(chan *value.Dict, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- failed(value.DictOf("msg", fmt.Sprintf("MODULE FAILURE: the module %s panicked: %v", m.Name, p), "exception", string(debug.Stack())))
			}
		}()
		out, err := m.Run(c, args)
		if err != nil {
			done <- failure(err)
			return
		}
		done <- out.Dict
	}()
	select {
	case out := <-done:
		return ended(c, out)
	case <-c.Done():
	}
	select {
	case out := <-done:
		return ended(c, out)
	case <-time.After(abandon):
		return failure(context.Cause(c))
	}
}

// ended replaces the failure of a module that was cut short by the reason.
func ended(c *modules.Call, out *value.Dict) *value.Dict {
	if msg, _ := out.Get("failed"); c.Err() != nil && msg == true {
		return failure(context.Cause(c))
	}
	return out
}

// failure is the result that an error gives; nil gives nil.
func failure(err error) *value.Dict {
	if err == nil {
		return nil
	}
	out := value.NewDict()
	var f *modules.Failure
	if errors.As(err, &f) && f.With != nil {
		out = f.With.Clone()
	}
	out.Set("msg", err.Error())
	return failed(out)
}

func failed(out *value.Dict) *value.Dict {
	if _, ok := out.Get("changed"); !ok {
		out.Set("changed", false)
	}
	out.Set("failed", true)
	return out
}

// hide replaces secrets in a result.
func hide(out *value.Dict, secrets []string) *value.Dict {
	return argspec.ScrubValue(out, secrets).(*value.Dict)
}

// warn adds warnings to those the module gave itself.
func warn(out *value.Dict, warnings []string) {
	if len(warnings) == 0 {
		return
	}
	list := value.NewList()
	if l, ok := out.Get("warnings"); ok {
		if own, ok := l.(*value.List); ok {
			list.Append(own.Items...)
		}
	}
	for _, w := range warnings {
		list.Append(w)
	}
	out.Set("warnings", list)
}

// encode prints a result; one that has no JSON form becomes a failure.
func encode(out *value.Dict) []byte {
	text, err := value.AppendJSON(nil, out, value.WireJSON())
	if err == nil && len(text) <= wire.MaxText {
		return text
	}
	msg := fmt.Sprintf("cannot send the module's result: it has %d bytes, and at most %d are allowed", len(text), wire.MaxText)
	if err != nil {
		msg = fmt.Sprintf("cannot send the module's result: %v", err)
	}
	text, _ = value.AppendJSON(nil, failed(value.DictOf("msg", msg)), value.WireJSON()) // plain text always has a form
	return text
}
