package inventory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"play/engine/jinja"
	"play/engine/source"
	"play/engine/yamlload"
	"play/modules/value"
)

// pluginFile is a YAML file whose plugin key makes it the configuration of an
// inventory plugin. Its expressions are the operator's own.
type pluginFile struct {
	inv  *Inventory
	path string
	keys map[string]source.Pos
	conf *value.Dict // plain data; expressions are text
}

// loadPlugin runs the built-in plugin that a file names.
func (inv *Inventory) loadPlugin(f *yamlload.File, entries []yamlload.Entry) error {
	p := &pluginFile{inv: inv, path: f.Path, keys: map[string]source.Pos{}}
	for _, e := range entries {
		p.keys[e.Name] = f.Pos(e.KeyNode)
	}
	data, err := f.Data(f.Root)
	if err != nil {
		return err
	}
	p.conf = data.(*value.Dict) // a mapping, as it has entries
	name, _ := p.conf.Get("plugin")
	switch strings.TrimPrefix(strings.TrimPrefix(value.Str(name), "ansible.builtin."), "ansible.legacy.") {
	case "constructed":
		return p.constructed()
	case "generator":
		return p.generator()
	}
	if p.inv.opts.Plugin != nil {
		return p.loadForeign()
	}
	return p.fail("plugin", "cannot read inventory %q: inventory plugin %q is not supported", p.path, value.Str(name)).
		WithHint("write its result to a file: ansible-inventory -i %s --list --export --output hosts.json", p.path)
}

// fail makes an error at a key of the file.
func (p *pluginFile) fail(key, format string, args ...any) *source.Error {
	pos, ok := p.keys[key]
	if !ok {
		pos = source.Pos{File: p.path}
	}
	return source.Errorf(pos, format, args...)
}

// unknown refuses keys other than the known ones.
func (p *pluginFile) unknown(known ...string) error {
	for k := range p.conf.All() {
		if name := value.Str(k); !slices.Contains(known, name) && name != "plugin" {
			err := p.fail(name, "cannot read inventory %q: unknown option %q", p.path, name)
			if near := source.Nearest(name, known); near != "" {
				return err.WithHint("did you mean %q?", near)
			}
			return err
		}
	}
	return nil
}

// dict returns an option that must be a dictionary; absent it is empty.
func (p *pluginFile) dict(key string) (*value.Dict, error) {
	v, ok := p.conf.Get(key)
	if !ok || v == nil {
		return value.NewDict(), nil
	}
	d, ok := v.(*value.Dict)
	if !ok {
		return nil, p.fail(key, "cannot use %q of inventory %q: it must be a dictionary", key, p.path)
	}
	return d, nil
}

// env returns the template environment, which a plugin cannot do without.
func (p *pluginFile) env() *jinja.Env {
	if p.inv.opts.Env == nil {
		return jinja.NewEnv(jinja.Options{})
	}
	return p.inv.opts.Env
}

// evaluate works out a template over variables.
func (p *pluginFile) evaluate(env *jinja.Env, text, key string, vars *value.Dict) (any, error) {
	t, err := env.Template(text, p.keys[key])
	if err != nil {
		return nil, err
	}
	ctx := p.inv.opts.Context
	if ctx == nil {
		ctx = context.Background()
	}
	return t.Value(&jinja.Context{Go: ctx, Vars: jinja.Vars{Dict: vars}})
}

// layerPos is where the variables of a plugin come from.
func (p *pluginFile) layerPos() source.Pos { return source.Pos{File: p.path} }

// textOf is a template's result as the text of a name.
func (p *pluginFile) textOf(env *jinja.Env, text any, key string, vars *value.Dict) (string, error) {
	s, ok := text.(string)
	if !ok {
		return "", p.fail(key, "cannot use %q of inventory %q: a name must be a text", key, p.path)
	}
	v, err := p.evaluate(env, s, key, vars)
	if err != nil {
		return "", fmt.Errorf("cannot make a name from %q: %w", s, reason(err))
	}
	return value.Str(v), nil
}

// reason is an error without the place in front of it, for use within another
// that has one.
func reason(err error) error {
	var located *source.Error
	if errors.As(err, &located) {
		return errors.New(located.Msg)
	}
	return err
}
