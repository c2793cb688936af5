package config

import (
	"cmp"
	"fmt"
	"strings"

	"play/modules/value"
)

// Settings are the options that mean something to play, typed. Paths are
// absolute; times are in seconds.
type Settings struct {
	// Running.
	Forks          int
	Gathering      string // implicit, explicit or smart
	GatherSubset   []string
	GatherTimeout  int // 0: the module's own
	AnyErrorsFatal bool
	ForceHandlers  bool
	TaskTimeout    int // 0: none
	Strategy       string
	PollInterval   int
	HashMerge      bool // hash_behaviour=merge
	ErrorOnMissing bool // error_on_missing_handler
	Compat         string
	NoHistory      bool
	LintSkip       []string // rules of play lint that are off
	HistoryDays    int      // 0: without limit
	HistoryRuns    int      // 0: without limit
	JinjaNative    bool
	JinjaExts      string
	DuplicateKeys  string // duplicate_dict_key: error, warn or ignore
	InjectFacts    bool   // inject_facts_as_vars
	NoLog          bool
	NoTargetSyslog bool
	RunTags        []string
	SkipTags       []string
	Debugger       bool // enable_task_debugger
	PrivateRoles   bool // private_role_vars
	OddAttributes  bool // invalid_task_attribute_failed = no: what is no keyword of a task is warned of

	// Vars folders.
	VarsEnabled    []string // vars_plugins_enabled
	VarsStage      string   // run_vars_plugins: demand or start
	HostVarsStage  string   // stage of host_group_vars: "", all, task or inventory
	VarsPrecedence []string // precedence
	UseExtraVars   bool     // use_extra_vars of inventory plugins

	// Files.
	Inventory       []string
	InvalidGroups   string   // force_valid_group_names
	UnparsedFail    bool     // unparsed_is_failed: an error when no source can be read
	AnyUnparsedFail bool     // any_unparsed_is_failed: an error when one cannot be read
	UnparsedQuiet   bool     // inventory_unparsed_warning = no
	PatternMismatch string   // host_pattern_mismatch: warning, error or ignore
	IgnoreSuffixes  []string // inventory_ignore_extensions
	IgnorePatterns  []string // inventory_ignore_patterns
	RolesPath       []string
	CollectionsPath []string
	Library         []string
	ModuleUtils     []string
	FilterPlugins   []string
	AnsibleManaged  string
	LocalTmp        string
	LogPath         string
	RetryFiles      bool
	RetryPath       string

	// Facts.
	FactCache        string // memory, jsonfile…
	FactCachePath    string
	FactCachePrefix  string
	FactCacheTimeout int

	// Connections.
	Transport       string
	RemoteUser      string
	RemotePort      int // 0: not set
	PrivateKeyFile  string
	Timeout         int
	HostKeyChecking bool
	SSHArgs         string
	SSHCommonArgs   string
	SSHExtraArgs    string
	SSHRetries      int
	RemoteTmp       string
	AsyncDir        string // "": the usual one
	Interpreter     string // interpreter_python
	Executable      string
	PasswordFile    string // connection_password_file

	// Becoming another user.
	Become             bool
	BecomeMethod       string
	BecomeUser         string
	BecomeFlags        string
	BecomeExe          string
	BecomePasswordFile string

	// Vault.
	VaultPasswordFile    string
	VaultIdentity        string
	VaultIdentities      []string
	VaultIDMatch         bool
	VaultEncryptIdentity string

	// Output.
	StdoutCallback      string
	Callbacks           []string // callbacks_enabled
	ResultFormat        string   // json or yaml
	DiffAlways          bool
	DiffContext         int
	DisplaySkipped      bool
	DisplayOK           bool
	DisplayFailedStderr bool
	DisplayArgs         bool
	CheckModeMarkers    bool
	NoColor             bool
	ForceColor          bool
	Verbosity           int
	Deprecations        bool
	SystemWarnings      bool
	ActionWarnings      bool
	LocalhostWarning    bool
	VerboseToErr        bool // verbose_to_stderr
}

// newSettings picks the values of known options out of c. An option that is
// missing from the table is a defect and panics.
func newSettings(c *Config) *Settings {
	s := &Settings{}
	c.running(s)
	c.filesAndFacts(s)
	c.connections(s)
	c.display(s)
	return s
}

func (c *Config) running(s *Settings) {
	s.Forks = c.int("DEFAULT_FORKS")
	s.Gathering = c.text("DEFAULT_GATHERING")
	s.GatherSubset = c.list("DEFAULT_GATHER_SUBSET")
	s.GatherTimeout = c.int("DEFAULT_GATHER_TIMEOUT")
	s.AnyErrorsFatal = c.bool("ANY_ERRORS_FATAL")
	s.ForceHandlers = c.bool("DEFAULT_FORCE_HANDLERS")
	s.TaskTimeout = c.int("TASK_TIMEOUT")
	s.Strategy = c.text("DEFAULT_STRATEGY")
	s.PollInterval = c.int("DEFAULT_POLL_INTERVAL")
	s.HashMerge = c.text("DEFAULT_HASH_BEHAVIOUR") == "merge"
	s.VarsEnabled = c.list("VARIABLE_PLUGINS_ENABLED")
	s.VarsStage = c.text("RUN_VARS_PLUGINS")
	s.HostVarsStage = c.text("vars.host_group_vars.stage")
	s.VarsPrecedence = c.list("VARIABLE_PRECEDENCE")
	s.UseExtraVars = c.bool("inventory.constructed.use_extra_vars")
	s.ErrorOnMissing = c.bool("ERROR_ON_MISSING_HANDLER")
	s.Compat = c.text("PLAY_COMPAT")
	s.NoHistory = c.bool("PLAY_NO_HISTORY")
	s.LintSkip = c.list("PLAY_LINT_SKIP")
	s.HistoryDays = c.int("PLAY_HISTORY_DAYS")
	s.HistoryRuns = c.int("PLAY_HISTORY_RUNS")
	s.JinjaNative = c.bool("DEFAULT_JINJA2_NATIVE")
	s.JinjaExts = c.text("DEFAULT_JINJA2_EXTENSIONS")
	s.DuplicateKeys = c.text("DUPLICATE_YAML_DICT_KEY")
	s.InjectFacts = c.bool("INJECT_FACTS_AS_VARS")
	s.NoLog = c.bool("DEFAULT_NO_LOG")
	s.NoTargetSyslog = c.bool("DEFAULT_NO_TARGET_SYSLOG")
	s.RunTags = c.list("TAGS_RUN")
	s.SkipTags = c.list("TAGS_SKIP")
	s.Debugger = c.bool("ENABLE_TASK_DEBUGGER")
	s.PrivateRoles = c.bool("DEFAULT_PRIVATE_ROLE_VARS")
	s.OddAttributes = !c.bool("INVALID_TASK_ATTRIBUTE_FAILED")
}

func (c *Config) filesAndFacts(s *Settings) {
	s.Inventory = c.list("DEFAULT_HOST_LIST")
	s.InvalidGroups = c.text("TRANSFORM_INVALID_GROUP_CHARS")
	s.UnparsedFail = c.bool("INVENTORY_UNPARSED_IS_FAILED")
	s.AnyUnparsedFail = c.bool("INVENTORY_ANY_UNPARSED_IS_FAILED")
	s.UnparsedQuiet = !c.bool("INVENTORY_UNPARSED_WARNING")
	s.PatternMismatch = c.text("HOST_PATTERN_MISMATCH")
	s.IgnoreSuffixes = c.list("INVENTORY_IGNORE_EXTS")
	s.IgnorePatterns = c.list("INVENTORY_IGNORE_PATTERNS")
	s.RolesPath = c.list("DEFAULT_ROLES_PATH")
	s.CollectionsPath = c.list("COLLECTIONS_PATHS")
	s.Library = c.list("DEFAULT_MODULE_PATH")
	s.ModuleUtils = c.list("DEFAULT_MODULE_UTILS_PATH")
	s.FilterPlugins = c.list("DEFAULT_FILTER_PLUGIN_PATH")
	s.AnsibleManaged = c.text("DEFAULT_MANAGED_STR")
	s.LocalTmp = c.text("DEFAULT_LOCAL_TMP")
	s.LogPath = c.text("DEFAULT_LOG_PATH")
	s.RetryFiles = c.bool("RETRY_FILES_ENABLED")
	s.RetryPath = c.text("RETRY_FILES_SAVE_PATH")
	s.FactCache = c.text("CACHE_PLUGIN")
	s.FactCachePath = c.text("CACHE_PLUGIN_CONNECTION")
	s.FactCachePrefix = c.text("CACHE_PLUGIN_PREFIX")
	s.FactCacheTimeout = c.int("CACHE_PLUGIN_TIMEOUT")
	s.VaultPasswordFile = c.text("DEFAULT_VAULT_PASSWORD_FILE")
	s.VaultIdentity = c.text("DEFAULT_VAULT_IDENTITY")
	s.VaultIdentities = c.list("DEFAULT_VAULT_IDENTITY_LIST")
	s.VaultIDMatch = isTrue(c.text("DEFAULT_VAULT_ID_MATCH"))
	s.VaultEncryptIdentity = c.text("DEFAULT_VAULT_ENCRYPT_IDENTITY")
}

func (c *Config) connections(s *Settings) {
	s.Transport = c.text("DEFAULT_TRANSPORT")
	if s.Transport == "smart" {
		s.Transport = "ssh"
	}
	s.RemoteUser = c.text("DEFAULT_REMOTE_USER")
	s.RemotePort = c.int("DEFAULT_REMOTE_PORT")
	s.PrivateKeyFile = c.text("DEFAULT_PRIVATE_KEY_FILE")
	s.Timeout = c.int("connection.ssh.timeout")
	s.HostKeyChecking = c.bool("connection.ssh.host_key_checking")
	s.SSHArgs = c.text("connection.ssh.ssh_args")
	s.SSHCommonArgs = c.text("connection.ssh.ssh_common_args")
	s.SSHExtraArgs = c.text("connection.ssh.ssh_extra_args")
	s.SSHRetries = c.int("connection.ssh.reconnection_retries")
	s.RemoteTmp = c.text("shell.sh.remote_tmp")
	if s.AsyncDir = c.text("shell.sh.async_dir"); s.AsyncDir == "~/.ansible_async" {
		s.AsyncDir = ""
	}
	s.Interpreter = c.text("INTERPRETER_PYTHON")
	s.Executable = c.text("DEFAULT_EXECUTABLE")
	s.PasswordFile = c.text("CONNECTION_PASSWORD_FILE")
	s.Become = c.bool("DEFAULT_BECOME")
	s.BecomeMethod = c.text("DEFAULT_BECOME_METHOD")
	s.BecomeUser = c.text("DEFAULT_BECOME_USER")
	s.BecomeFlags = c.text("DEFAULT_BECOME_FLAGS")
	s.BecomeExe = c.text("DEFAULT_BECOME_EXE")
	s.BecomePasswordFile = c.text("BECOME_PASSWORD_FILE")
}

func (c *Config) display(s *Settings) {
	s.StdoutCallback = c.text("DEFAULT_STDOUT_CALLBACK")
	s.Callbacks = c.list("CALLBACKS_ENABLED")
	s.ResultFormat = c.text("callback.default.result_format")
	s.DiffAlways = c.bool("DIFF_ALWAYS")
	s.DiffContext = c.int("DIFF_CONTEXT")
	s.DisplaySkipped = c.bool("callback.default.display_skipped_hosts")
	s.DisplayOK = c.bool("callback.default.display_ok_hosts")
	s.DisplayFailedStderr = c.bool("callback.default.display_failed_stderr")
	s.DisplayArgs = c.bool("DISPLAY_ARGS_TO_STDOUT")
	s.CheckModeMarkers = c.bool("callback.default.check_mode_markers")
	s.NoColor = c.bool("ANSIBLE_NOCOLOR")
	s.ForceColor = c.bool("ANSIBLE_FORCE_COLOR")
	s.Verbosity = c.int("DEFAULT_VERBOSITY")
	s.Deprecations = c.bool("DEPRECATION_WARNINGS")
	s.SystemWarnings = c.bool("SYSTEM_WARNINGS")
	s.ActionWarnings = c.bool("ACTION_WARNINGS")
	s.LocalhostWarning = c.bool("LOCALHOST_WARNING")
	s.VerboseToErr = c.bool("VERBOSE_TO_STDERR")
}

func (c *Config) must(name string) any {
	v, ok := c.values[name]
	if !ok {
		panic("config: no option " + name)
	}
	return v.Value
}

func (c *Config) bool(name string) bool {
	v := c.must(name)
	if s, ok := v.(string); ok {
		return isTrue(s)
	}
	b, _ := v.(bool)
	return b
}

func (c *Config) int(name string) int {
	n, _ := c.must(name).(int)
	return n
}

// text is an option's text; null is "".
func (c *Config) text(name string) string {
	v := c.must(name)
	if v == nil {
		return ""
	}
	return value.Str(v)
}

func (c *Config) list(name string) []string {
	switch v := c.must(name).(type) {
	case *value.List:
		out := make([]string, 0, v.Len())
		for _, item := range v.Items {
			out = append(out, fmt.Sprint(item))
		}
		return out
	case string:
		return split(v, ",")
	}
	return nil
}

// Dump lists the chosen options as "config dump" does: name(origin) = value.
// With changed only those that are not at their default.
func (c *Config) Dump(choice Choice, changed bool) string {
	var out strings.Builder
	for _, name := range c.names {
		if !choice.takes(c.values[name].Option) {
			continue
		}
		if name == fileOption {
			fmt.Fprintf(&out, "%s() = %s\n", name, cmp.Or(c.File, "None"))
			continue
		}
		v := c.values[name]
		if !changed || v.Origin() != "default" {
			fmt.Fprintf(&out, "%s(%s) = %s\n", name, v.Origin(), value.Str(v.Value))
		}
	}
	return out.String()
}

// fileOption is listed among the options and names the file itself.
const fileOption = "CONFIG_FILE"
