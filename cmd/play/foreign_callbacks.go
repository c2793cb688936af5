package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/engine/event"
	"play/engine/modulefind"
	"play/engine/output"
	"play/engine/pyhost"
	"play/engine/source"
	"play/engine/task"
	"play/modules/value"
)

// pythonCallbacks are the callback plugins in Python that may take part in a run.
type pythonCallbacks struct {
	ctx     context.Context
	finder  *modulefind.Finder
	folders []string // with plugins of the operator's
}

func newPythonCallbacks(ctx context.Context, h *host, o *options) *pythonCallbacks {
	beside, roles := pluginPlaces(h, o)
	place := pluginFolders["callback"]
	folders := foldersOfPlugins(place.folder, beside, roles)
	more, _ := o.Config.Lookup(place.setting)
	folders = slices.DeleteFunc(append(folders, pathsOf(more)...), func(dir string) bool { return len(pluginNames([]string{dir})) == 0 })
	return &pythonCallbacks{ctx: ctx, finder: newFinder(h, o), folders: folders}
}

// has tells whether there is a plugin of a name that is not built in: the
// operator's own, or a collection's.
func (p *pythonCallbacks) has(name string) bool {
	names := []string{name}
	if strings.Count(name, ".") < 2 {
		if slices.Contains(pluginNames(p.folders), name) {
			return true
		}
		names = []string{"community.general." + name, "ansible.posix." + name}
	}
	return slices.ContainsFunc(names, func(full string) bool {
		parts := strings.SplitN(full, ".", 3)
		root := p.finder.Root(parts[0] + "." + parts[1])
		_, err := os.Stat(filepath.Join(root, "plugins", "callback", parts[2]+".py"))
		return root != "" && err == nil
	})
}

// stdout is the stdout callback where it is one in Python that can run; "":
// one that is built in.
func (p *pythonCallbacks) stdout(o *options) string {
	name := o.Settings.StdoutCallback
	if _, native := output.New(name, output.Options{}); native || p.finder.Core == "" || !p.has(name) {
		return ""
	}
	return name
}

// output is the run's output; with a stdout callback in Python only warnings.
func (p *pythonCallbacks) output(h *host, o *options) event.Sink {
	if p.stdout(o) == "" {
		return newOutput(h, o)
	}
	quiet := *o
	settings := *o.Settings
	settings.StdoutCallback, quiet.Settings = "null", &settings
	return newOutput(h, &quiet)
}

// sink is told of the run for the plugins; nil: there are none. Warnings go to
// main, at once.
func (p *pythonCallbacks) sink(h *host, o *options, main event.Sink) *pyhost.Callbacks {
	enabled := slices.DeleteFunc(slices.Clone(o.Settings.Callbacks), func(name string) bool {
		_, native := output.Callback(name, output.Options{}, output.Callbacks{})
		return native || !p.has(name)
	})
	if len(p.folders)+len(enabled) == 0 && p.stdout(o) == "" {
		return nil
	}
	environ := append(slices.Clone(h.Environ), "ANSIBLE_NOCOLOR=1", "ANSIBLE_FORCE_COLOR=0")
	if o.color(h) {
		environ = append(slices.Clone(h.Environ), "ANSIBLE_NOCOLOR=0", "ANSIBLE_FORCE_COLOR=1")
	}
	plugins := newPlugins(p.ctx, h, o, p.finder, environ, main)
	return plugins.Callbacks(pyhost.CallbackOptions{Enabled: enabled, Stdout: p.stdout(o), More: true, Verbosity: o.Verbosity, Args: commandLine(o),
		Out: h.Out, Err: h.Err, Warn: func(msg string) { main.Warning(msg, source.Pos{}) }})
}

// commandLine are the options of the command line as ansible-core names them.
func commandLine(o *options) *value.Dict {
	return value.DictOf("args", texts(o.Playbooks), "inventory", texts(o.Inventory), "subset", unlessEmpty(o.Limit), "tags", texts(orAll(o.Tags)),
		"skip_tags", texts(o.SkipTags), "extra_vars", texts(o.ExtraVars), "check", o.Check, "diff", o.Diff, "forks", o.Forks, "verbosity", o.Verbosity,
		"syntax", false, "listhosts", false, "listtasks", false, "listtags", false, "step", o.Step, "start_at_task", unlessEmpty(o.StartAt))
}

func unlessEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// known is what callbacks in Python can ask of a run.
type known struct {
	s *session
	x *task.Executor // nil until the first playbook runs
}

// inform lets callbacks in Python ask, and has tasks described to them.
func (s *session) inform(sinks []event.Sink) {
	for _, sink := range sinks {
		if c, ok := sink.(*pyhost.Callbacks); ok {
			s.known = &known{s: s}
			c.Know(s.known)
		}
	}
}

func (k *known) Hosts() []string { return k.s.inv.HostNames() }

func (k *known) Extra() *value.Dict { return k.s.extra }

func (k *known) Groups(host string) []string {
	return append([]string{"all"}, k.s.inv.GroupNames(host)...)
}

func (k *known) Own(host string) *value.Dict { return k.s.inv.own(host) }

func (k *known) Variables(host string) (pyhost.Scope, error) {
	if k.x == nil || k.x.Play == nil {
		return nil, nil
	}
	return k.x.Play.Scope(host, nil)
}
