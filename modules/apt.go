package modules

import (
	"strings"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// aptArgs are the arguments of apt.
type aptArgs struct {
	Name             []string `arg:"package,aliases=name|pkg" doc:"packages: name, name=version, name>=version; * ? [] match many"`
	State            string   `arg:"state,default=present,choices=absent|build-dep|fixed|latest|present" doc:"the state they shall have"`
	UpdateCache      *bool    `arg:"update_cache,aliases=update-cache" doc:"run apt-get update first"`
	Retries          int      `arg:"update_cache_retries,default=5" doc:"how often an update is tried"`
	RetryMaxDelay    int      `arg:"update_cache_retry_max_delay,default=12" doc:"longest pause between tries, in seconds"`
	CacheValidTime   int      `arg:"cache_valid_time,default=0" doc:"update only when the lists are older, in seconds"`
	Purge            bool     `arg:"purge,default=no" doc:"remove configuration files too"`
	DefaultRelease   string   `arg:"default_release,aliases=default-release" doc:"release to prefer"`
	Recommends       *bool    `arg:"install_recommends,aliases=install-recommends" doc:"install recommended packages"`
	Force            bool     `arg:"force,default=no" doc:"pass --force-yes"`
	Unauthenticated  bool     `arg:"allow_unauthenticated,default=no,aliases=allow-unauthenticated" doc:"accept packages without a known signature"`
	Downgrade        bool     `arg:"allow_downgrade,default=no,aliases=allow-downgrade|allow_downgrades|allow-downgrades" doc:"allow an older version"`
	ChangeHeld       bool     `arg:"allow_change_held_packages,default=no" doc:"change packages on hold"`
	Upgrade          string   `arg:"upgrade,default=no,choices=dist|full|no|safe|yes" doc:"upgrade all packages"`
	DpkgOptions      string   `arg:"dpkg_options,default='force-confdef,force-confold'" doc:"options for dpkg, with commas between"`
	Deb              string   `arg:"deb,type=path" doc:"a package file or its URL"`
	Autoremove       bool     `arg:"autoremove,default=no" doc:"remove dependencies that nothing needs any more"`
	Autoclean        bool     `arg:"autoclean,default=no" doc:"drop outdated files from the cache"`
	FailOnAutoremove bool     `arg:"fail_on_autoremove,default=no" doc:"fail rather than remove packages"`
	PolicyRCD        *int     `arg:"policy_rc_d" doc:"exit code of policy-rc.d meanwhile (101: start no service)"`
	OnlyUpgrade      bool     `arg:"only_upgrade,default=no" doc:"only upgrade what is installed"`
	ForceAptGet      bool     `arg:"force_apt_get,default=no" doc:"use apt-get, never aptitude"`
	Clean            bool     `arg:"clean,default=no" doc:"empty the cache of package files"`
	LockTimeout      int      `arg:"lock_timeout,default=60" doc:"how long to wait for another process's lock, in seconds"`
}

// Rules relates the arguments.
func (aptArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"deb", "package", "upgrade"}}}
}

func apt() Module {
	return Define("apt", "Manage packages with apt", runApt).Downloads("deb")
}

// aptRun is one run of apt.
type aptRun struct {
	*aptArgs
	get     *pkgTool // apt-get
	updated bool
	stamp   time.Time // of the package lists
}

func runApt(c *Call, args *aptArgs) (*Result, error) {
	get, err := pkgProgram(c, "apt-get")
	if err != nil {
		return nil, err
	}
	get.Vars = []string{"DEBIAN_FRONTEND=noninteractive", "DEBIAN_PRIORITY=critical"}
	a := &aptRun{aptArgs: args, get: get, stamp: aptListsTime()}
	if args.Clean && !c.Check {
		out, err := get.run("clean")
		if err != nil {
			return nil, err
		}
		if out.RC != 0 {
			return nil, out.failf("apt-get clean failed: %s", out.Stderr)
		}
	}
	if args.UpdateCache != nil && *args.UpdateCache || args.CacheValidTime > 0 {
		if err := a.update(); err != nil {
			return nil, err
		}
		if len(args.Name) == 0 && args.Upgrade == "no" && args.Deb == "" {
			return a.withCache(NewResult(a.updated)), nil
		}
	}
	return a.act()
}

// act does what is asked for besides updating the lists.
func (a *aptRun) act() (*Result, error) {
	if a.Upgrade != "no" {
		return a.upgrade(a.Upgrade)
	}
	if a.Deb != "" {
		return a.installDeb()
	}
	names, all := a.names()
	if all && a.State == "latest" {
		if len(names) > 0 {
			return nil, Failf("unable to install additional packages when upgrading all installed packages")
		}
		return a.upgrade("yes")
	}
	for _, name := range names {
		if strings.Count(name, "=") > 1 {
			return nil, Failf("invalid package spec: %s", name)
		}
	}
	switch {
	case len(names) == 0 && a.Autoclean:
		return a.cleanup("autoclean", "Del ")
	case len(names) == 0 && a.Autoremove:
		return a.cleanup("autoremove", "The following packages will be REMOVED")
	case a.State == "absent":
		return a.remove(names)
	}
	return a.install(names)
}

// names are the asked packages; all tells whether "*" is among them.
func (a *aptRun) names() (names []string, all bool) {
	for _, name := range a.Name {
		if name == "*" {
			all = true
			continue
		}
		for part := range strings.SplitSeq(name, ",") {
			names = append(names, strings.TrimSpace(part))
		}
	}
	return names, all
}

func (a *aptRun) withCache(r *Result) *Result {
	return r.With("cache_updated", a.updated).With("cache_update_time", int(a.stamp.Unix()))
}

// aptDiff is what apt-get printed of its plan.
func aptDiff(c *Call, output string) *value.Dict {
	if !c.Diff {
		return value.NewDict()
	}
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	start, end := 0, len(lines)
	for i, line := range lines {
		if line == "Reading state information..." && start == 0 || line == "Resolving dependencies..." {
			start = i + 1
		}
		if end == len(lines) && aptSummary(line) {
			end = i + 1
		}
	}
	return value.DictOf("prepared", strings.Join(lines[min(start, end):end], "\n"))
}

// aptSummary knows the line "3 upgraded, 1 newly installed, …", and aptitude's.
func aptSummary(line string) bool {
	rest := strings.TrimLeft(line, "0123456789")
	return rest != line && (strings.HasPrefix(rest, " upgraded") || strings.HasPrefix(rest, " packages upgraded"))
}
