package inventory

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// scriptReader reads what an inventory program prints. The program is the
// operator's own, so its strings may be templates.
type scriptReader struct {
	inv     *Inventory
	path    string
	pos     source.Pos
	compile compiler
	hosts   []*Host // that this program named
	seen    map[*Host]bool
}

// loadScript runs a program with --list; for hosts that its _meta.hostvars
// leaves out, when there is no _meta, it is asked with --host.
func (inv *Inventory) loadScript(path string) error {
	r := &scriptReader{inv: inv, path: absolute(path), pos: source.Pos{File: path}, compile: inv.compiler(), seen: map[*Host]bool{}}
	out, err := r.run("--list")
	if err != nil {
		return err
	}
	all, err := r.decode(out, "--list")
	if err != nil {
		return err
	}
	meta, hasMeta := all.Get("_meta")
	for k, data := range all.All() {
		if name, ok := k.(string); ok && name != "_meta" {
			if err := r.group(name, data); err != nil {
				return err
			}
		}
	}
	if hasMeta {
		return r.meta(meta)
	}
	return r.askHosts()
}

// run starts the program; what it prints to standard error is part of the
// error when it fails.
func (r *scriptReader) run(args ...string) ([]byte, error) {
	ctx := r.inv.opts.Context
	if ctx == nil {
		ctx = context.Background()
	}
	cmd := exec.CommandContext(ctx, r.path, args...)
	cmd.Env = r.inv.opts.Environ
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		msg := strings.TrimSpace(stderr.String())
		var exit *exec.ExitError
		if !errors.As(err, &exit) || msg == "" {
			msg = err.Error()
		}
		return nil, source.Errorf(r.pos, "cannot run inventory script %q with %s: %s", r.path, strings.Join(args, " "), msg)
	}
	return stdout.Bytes(), nil
}

func (r *scriptReader) decode(out []byte, what string) (*value.Dict, error) {
	v, err := value.DecodeJSON(out)
	if err != nil {
		return nil, source.Errorf(r.pos, "cannot read the output of inventory script %q %s: %s", r.path, what, err).
			WithHint("it must print one JSON object")
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, source.Errorf(r.pos, "cannot read the output of inventory script %q %s: it must be a JSON object", r.path, what)
	}
	return d, nil
}

// group reads one group: a dict with hosts, vars and children, or a bare list
// of hosts.
func (r *scriptReader) group(name string, data any) error {
	g := r.inv.groupCalled(name)
	d, ok := data.(*value.Dict)
	switch l, isList := data.(*value.List); {
	case isList:
		d = value.DictOf("hosts", l)
	case !ok:
		return r.fail("group %q must be a dictionary or a list of hosts", name)
	case !hasAny(d, "hosts", "vars", "children"):
		d = value.DictOf("hosts", value.NewList(name), "vars", d)
	}
	hosts, err := r.names(d, name, "hosts")
	if err != nil {
		return err
	}
	for _, name := range hosts {
		h := r.inv.host(name, 0)
		g.addHost(h)
		if !r.seen[h] {
			r.seen[h] = true
			r.hosts = append(r.hosts, h)
		}
	}
	if err := r.vars(g, d); err != nil {
		return err
	}
	children, err := r.names(d, name, "children")
	if err != nil {
		return err
	}
	for _, c := range children {
		if err := g.addChild(r.inv.groupCalled(c)); err != nil {
			return r.fail("%s", err)
		}
	}
	return nil
}

func hasAny(d *value.Dict, names ...string) bool {
	for _, n := range names {
		if _, ok := d.Get(n); ok {
			return true
		}
	}
	return false
}

func (r *scriptReader) fail(format string, args ...any) error {
	return source.Errorf(r.pos, "cannot use the output of inventory script %q: %s", r.path, fmt.Sprintf(format, args...))
}

// names reads a list of host or group names.
func (r *scriptReader) names(d *value.Dict, group, section string) ([]string, error) {
	v, ok := d.Get(section)
	if !ok || v == nil {
		return nil, nil
	}
	l, ok := v.(*value.List)
	if !ok {
		return nil, r.fail("%q of group %q must be a list", section, group)
	}
	names := make([]string, 0, l.Len())
	for _, item := range l.Items {
		s, ok := item.(string)
		if !ok {
			return nil, r.fail("%q of group %q must hold names only", section, group)
		}
		names = append(names, s)
	}
	return names, nil
}

func (r *scriptReader) vars(g *Group, d *value.Dict) error {
	v, ok := d.Get("vars")
	if !ok || v == nil {
		return nil
	}
	vars, ok := v.(*value.Dict)
	if !ok {
		return r.fail(`"vars" of group %q must be a dictionary`, g.Name)
	}
	r.compile.value(vars, r.pos)
	if err := g.setVars(vars, r.pos, nil); err != nil {
		return r.fail("%s", err)
	}
	return nil
}

// meta reads _meta.hostvars.
func (r *scriptReader) meta(meta any) error {
	d, ok := meta.(*value.Dict)
	if !ok {
		return r.fail(`"_meta" must be a dictionary`)
	}
	v, _ := d.Get("hostvars")
	hostvars, ok := v.(*value.Dict)
	if !ok && v != nil {
		return r.fail(`"hostvars" of "_meta" must be a dictionary`)
	}
	for _, h := range r.hosts {
		v, ok := hostvars.Get(h.Name)
		if !ok || v == nil {
			continue
		}
		if err := r.hostVars(h, v); err != nil {
			return err
		}
	}
	return nil
}

func (r *scriptReader) hostVars(h *Host, v any) error {
	vars, ok := v.(*value.Dict)
	if !ok {
		return r.fail("the variables of host %q must be a dictionary", h.Name)
	}
	r.compile.value(vars, r.pos)
	h.setVars(vars, r.pos)
	return nil
}

// askHosts runs the program once for each host.
func (r *scriptReader) askHosts() error {
	for _, h := range r.hosts {
		out, err := r.run("--host", h.Name)
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(out)) == 0 {
			continue
		}
		vars, err := r.decode(out, "--host "+h.Name)
		if err != nil {
			return err
		}
		if err := r.hostVars(h, vars); err != nil {
			return err
		}
	}
	return nil
}
