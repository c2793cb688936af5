package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"play/action"
	"play/engine/event"
	"play/engine/extravars"
	"play/engine/inventory"
	"play/engine/jinja"
	"play/engine/modulefind"
	"play/engine/playbook"
	"play/engine/pyhost"
	"play/engine/source"
	"play/engine/task"
	"play/engine/vars"
	"play/engine/vault"
	"play/engine/yamlload"
	"play/modules"
	"play/modules/value"
	"play/strategy"
)

// session is everything one invocation works with, put together once.
type session struct {
	host    *host
	opts    *options
	ctx     context.Context
	sink    event.Sink
	env     *jinja.Env
	yaml    *yamlload.Loader
	loader  *playbook.Loader
	extra   *value.Dict
	inv     *hosts
	store   *vars.Store
	builder *vars.Builder
	pool    *connections
	files   *task.Files
	facts   *factCache // nil until the first playbook runs
	finder  *modulefind.Finder
	plugins *pyhost.Host
	secrets *vault.Noted // what must not be kept
	// showUses gives events the variables that tasks set and read.
	showUses bool
	known    *known // what callbacks in Python ask; nil: there are none
	// live asks hosts for the last lines of running commands.
	live bool
	ids  strategy.IDs
	sums *strategy.Sums
}

// newSession reads configuration, inventory and extra variables. It contacts
// no host.
func newSession(ctx context.Context, h *host, o *options, sink event.Sink) (*session, error) {
	s := &session{host: h, opts: o, ctx: ctx, sink: sink, store: vars.NewStore(), sums: strategy.NewSums()}
	s.store.Merge, s.store.Apart = o.Settings.HashMerge, !o.Settings.InjectFacts
	secrets, err := vaultSecrets(ctx, h, o)
	if err != nil {
		return nil, err
	}
	own := secrets
	s.secrets = vault.Note(secrets)
	s.secrets.Add(o.Connection.Password, o.Connection.BecomePassword)
	secrets = s.secrets.Decrypter()
	s.finder = newFinder(h, o)
	s.plugins = newPlugins(ctx, h, o, s.finder, h.Environ, sink)
	s.unlock(own)
	s.env = newEnv(o.Compat, secrets, s.plugins.Plugin)
	s.yaml = &yamlload.Loader{Env: s.env, Vault: secrets, Warn: func(msg string, pos source.Pos) { sink.Warning(msg, pos) }, Repeated: o.Settings.DuplicateKeys}
	if s.extra, err = extravars.Parse(o.ExtraVars, s.yaml, o.Settings.HashMerge); err != nil {
		return nil, err
	}
	if err := s.loadInventory(); err != nil {
		return nil, err
	}
	s.loader = &playbook.Loader{YAML: s.yaml, Modules: knownModules(s.finder), RolesPath: o.RolesPath, CollectionsPath: o.CollectionsPath, CollectionRoot: s.finder.Root,
		ExtraVars: s.extra, HashMerge: o.Settings.HashMerge, IgnoreInvalid: o.Settings.OddAttributes, Warn: func(msg string, pos source.Pos) { sink.Warning(msg, pos) }}
	s.builder = &vars.Builder{SearchPath: func(t *playbook.Task) []string { return task.SearchPath(t, s.inv.dir) },
		Inventory: s.inv, Store: s.store, Extra: s.extra, Merge: o.Settings.HashMerge, PrivateRoles: o.Settings.PrivateRoles, Run: s.runVars(), VarsFile: s.loader.VarsFile,
		HostChose: s.hostChose, Connection: connectionVars(&o.Connection),
		Context: func(sc *vars.Scope) *jinja.Context { return s.context(sc, nil) }}
	return s, nil
}

// connectionVars are the variables by which tasks see the connection settings of
// the command line and the configuration.
func connectionVars(d *action.Defaults) *value.Dict {
	v := value.DictOf("ansible_connection", d.Connection, "ansible_shell_executable", first(d.Executable, "/bin/sh"))
	set := func(val any, is bool, names ...string) {
		for _, name := range names {
			if is {
				v.Set(name, val)
			}
		}
	}
	set(d.User, d.User != "", "ansible_user", "ansible_ssh_user")
	set(d.Port, d.Port != 0, "ansible_port", "ansible_ssh_port")
	set(int(d.Timeout/time.Second), true, "ansible_timeout", "ansible_ssh_timeout")
	set(d.KeyFile, d.KeyFile != "", "ansible_private_key_file", "ansible_ssh_private_key_file")
	return v
}

// hostChose judges a vars_files entry that a host's data had a part in.
func (s *session) hostChose(p *playbook.Play, name string) error {
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Dir, name)
	}
	return task.HostChose(task.PlaybookFiles(p.Dir), path, s.opts.Strict, func(msg string) { s.sink.Warning(msg, p.Pos) })
}

// newEnv makes the template environment of a run; secrets may be nil.
func newEnv(compat string, secrets yamlload.Decrypter, plugin jinja.PluginFunc) *jinja.Env {
	data := &yamlload.Loader{}
	return jinja.NewEnv(jinja.Options{Compat: compat, Vaults: vault.ForTemplates(secrets), Plugin: plugin,
		ReadYAML: func(text []byte) ([]any, error) { return data.DataAll("text", text) }})
}

// close ends the connections and the plugins' process.
func (s *session) close() {
	s.plugins.Close()
	if s.pool != nil {
		s.pool.Close()
	}
}

func (s *session) loadInventory() error {
	s.inventoryPlugins()
	set := s.opts.Settings
	load := func() (*inventory.Inventory, error) {
		return inventory.Load(s.opts.Inventory, inventory.Options{Env: s.env, InvalidGroupChars: set.InvalidGroups, HashMerge: set.HashMerge, Vault: s.yaml.Vault, Context: s.ctx,
			VarsFiles: s.varsFiles(), Facts: s.keptFacts(), Extra: s.extra, UseExtra: set.UseExtraVars,
			Unparsed:        inventory.Unparsed{AllFail: set.UnparsedFail, AnyFail: set.AnyUnparsedFail, Quiet: set.UnparsedQuiet},
			PatternMismatch: set.PatternMismatch, IgnoreSuffixes: set.IgnoreSuffixes, IgnorePatterns: set.IgnorePatterns,
			Environ: s.host.Environ, Plugin: s.plugins.Inventory, VarsPlugins: s.varsPlugins(), Warn: func(msg string) { s.sink.Warning(msg, source.Pos{}) }})
	}
	inv, err := load()
	if err != nil {
		return err
	}
	s.inv = &hosts{limit: s.opts.Limit, load: load}
	s.inv.inv.Store(inv)
	return nil
}

// inventoryPlugins warns of plugins that the configuration enables and that there
// are not; which one reads a source is seen from the source.
func (s *session) inventoryPlugins() {
	known := []string{"host_list", "script", "auto", "yaml", "ini", "toml", "constructed", "generator", "advanced_host_list"}
	enabled, _ := s.opts.Config.Lookup("INVENTORY_ENABLED")
	more, _ := s.opts.Config.Lookup("DEFAULT_INVENTORY_PLUGIN_PATH")
	beside, roles := pluginPlaces(s.host, s.opts)
	known = append(known, pluginNames(append(foldersOfPlugins("inventory_plugins", beside, roles), pathsOf(more)...))...)
	for _, name := range pathsOf(enabled) {
		short := strings.TrimPrefix(strings.TrimPrefix(name, "ansible.builtin."), "ansible.legacy.")
		if !slices.Contains(known, short) && !strings.Contains(short, ".") {
			s.sink.Warning(fmt.Sprintf("Failed to load inventory plugin, skipping %s (%s)", name, s.opts.Config.SetBy("INVENTORY_ENABLED")), source.Pos{})
		}
	}
}

// varsFiles reads how group_vars and host_vars count.
func (s *session) varsFiles() inventory.VarsFiles {
	set := s.opts.Settings
	v := inventory.VarsFiles{Off: true, Stage: set.HostVarsStage, Own: set.HostVarsStage != "", Precedence: set.VarsPrecedence}
	for _, name := range set.VarsEnabled {
		name = strings.TrimPrefix(strings.TrimPrefix(name, "ansible.builtin."), "ansible.legacy.")
		v.Off = v.Off && name != "host_group_vars"
	}
	if !v.Own && set.VarsStage == "start" {
		v.Stage = "inventory"
	}
	for _, name := range v.Unknown() {
		s.sink.Warning("Ignoring unknown variable precedence entry: "+name, source.Pos{})
	}
	return v
}

// context makes the evaluation context over a scope.
func (s *session) context(scope *vars.Scope, files *task.Files) *jinja.Context {
	if files == nil {
		files = s.files
	}
	c := &jinja.Context{Go: s.ctx, Vars: scope, Now: time.Now,
		Hosts:  func(pattern string) ([]string, error) { return s.inv.matchAll(pattern) },
		Config: s.opts.Config.Lookup,
		Warn:   func(msg string) { s.sink.Warning(msg, source.Pos{}) }}
	if files != nil {
		c.Files = files
	}
	managed := action.Deps{Managed: s.opts.Managed, Now: time.Now}
	c.Describe = func(c *jinja.Context, path, name string) (*value.Dict, error) {
		return managed.Describe(s.env, c, path, name)
	}
	return c
}

// runVars are the magic variables that stay the same for the whole run.
func (s *session) runVars() *value.Dict {
	o := s.opts
	d := value.DictOf(
		"ansible_check_mode", o.Check, "ansible_diff_mode", o.Diff, "ansible_forks", o.Forks,
		"ansible_verbosity", o.Verbosity, "ansible_inventory_sources", texts(s.inv.inv.Load().Sources()),
		"ansible_run_tags", texts(orAll(o.Tags)), "ansible_skip_tags", texts(o.SkipTags),
		"ansible_version", value.DictOf("full", ansibleVersion, "major", 2, "minor", 14, "revision", 18, "string", ansibleVersion),
		"inventory_dir", s.inv.inv.Load().Dir(), "ansible_playbook_python", "/usr/bin/python3", "ansible_config_file", o.ConfigFile)
	if o.Limit != "" {
		d.Set("ansible_limit", o.Limit)
	}
	return d
}

// ansibleVersion is the version whose language play speaks; playbooks test it.
const ansibleVersion = "2.14.18"

func orAll(tags []string) []string {
	if len(tags) == 0 {
		return []string{"all"}
	}
	return tags
}

func texts(items []string) *value.List {
	l := &value.List{Items: make([]any, len(items))}
	for i, s := range items {
		l.Items[i] = s
	}
	return l
}

// connect makes the pool, which serves all playbooks of the command line; hosts
// are contacted only when a task needs them.
func (s *session) connect() error {
	if s.pool != nil {
		return nil
	}
	p, err := newPool(s.ctx, s.host, s.sink, s.opts.Verbosity)
	s.pool = p
	return err
}

// run executes a loaded playbook.
func (s *session) run(pb *playbook.Playbook) (*strategy.Report, error) {
	s.setPlaybook(pb)
	if s.facts == nil {
		s.facts = s.factCache()
		s.facts.load()
	}
	defer s.facts.save()
	if err := s.connect(); err != nil {
		return nil, err
	}
	deps := s.deps()
	named, module := action.All(deps)
	x := &task.Executor{Jinja: s.env, Actions: named, Module: module, Sink: s.sink, Context: s.context,
		Options:  task.Options{Check: s.opts.Check, Diff: s.opts.Diff, Verbosity: s.opts.Verbosity, Strict: s.opts.Strict},
		Playbook: s.inv.dir, Now: time.Now, InGroup: s.loader.InGroup,
		HostNamed: func(name string) string { return name }}
	r := &strategy.Run{Executor: x, Builder: s.builder, Inventory: s.inv, Loader: s.loader, Sink: s.sink,
		Forks: s.opts.Forks, OnlyTags: s.opts.Tags, SkipTags: s.opts.SkipTags, Gather: s.opts.Gathering != "explicit",
		GatherSmart: s.opts.Gathering == "smart", AnyErrorsFatal: s.opts.AnyErrorsFatal, ForceHandlers: s.opts.ForceHandlers,
		Strategy: s.opts.Settings.Strategy, ShowArgs: s.opts.Settings.DisplayArgs, ShowUses: s.showUses,
		IDs: &s.ids, Sums: s.sums, StartAt: s.opts.StartAt, Prompts: s.prompts, ResetConnection: s.reset(deps, x)}
	if s.known != nil {
		s.known.x, r.ShowWritten = x, true
	}
	r.MissingHandlerWarns = !s.setting("ERROR_ON_MISSING_HANDLER")
	talk := &console{s: s}
	r.Debugger, r.EnableDebugger, r.DebugIgnored = talk, s.setting("ENABLE_TASK_DEBUGGER"), !s.setting("TASK_DEBUGGER_IGNORE_ERRORS")
	if s.opts.Step {
		r.Step = talk.step
	}
	r.Ended = func(rep *strategy.Report) { s.keepRetry(pb.Path, retried(rep)) }
	return r.Playbook(s.ctx, pb)
}

// setPlaybook tells where the playbook's own files are.
func (s *session) setPlaybook(pb *playbook.Playbook) {
	dir := filepath.Dir(pb.Path)
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	s.inv.dir = dir
	s.files = task.PlaybookFiles(dir)
	s.builder.Run.Set("playbook_dir", dir)
}

func (s *session) deps() *action.Deps {
	o := s.opts
	return &action.Deps{Links: s.pool, Needs: modules.Needs(), Loader: s.loader, Vaulted: s.vaulted, Terminal: s.host, Now: time.Now, Managed: o.Managed,
		SSHOptions: sshOptions, JobID: newJobID, Live: s.live, Foreign: newForeign(s.host, o, s.finder), Defaults: o.Connection, HashMerge: o.Settings.HashMerge}
}

// vaulted reads a local file that is encrypted, for copy and template.
func (s *session) vaulted(path string) (text []byte, vaulted bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	head := make([]byte, len(vaultHeader))
	if _, err := io.ReadFull(f, head); err != nil || !bytes.Equal(head, []byte(vaultHeader)) {
		return nil, false, nil // too short for a vault, or another text
	}
	text, err = s.yaml.ReadBytes(path)
	return text, true, err
}

// vaultHeader starts every encrypted file.
const vaultHeader = "$ANSIBLE_VAULT;"

// reset drops a host's connection for meta: reset_connection.
func (s *session) reset(deps *action.Deps, x *task.Executor) func(context.Context, string, *playbook.Task) error {
	return func(ctx context.Context, host string, t *playbook.Task) error {
		target, err := deps.TargetOf(x, host, t)
		if err == nil {
			s.pool.Reset(target)
		}
		return err
	}
}
