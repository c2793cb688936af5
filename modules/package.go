package modules

import (
	"os"
	"reflect"
	"time"

	"play/modules/argspec"
	"play/modules/facts"
	"play/modules/value"
)

// packageArgs are the arguments of package; all but use go to the module of the
// system's package manager, which checks them.
type packageArgs struct {
	Name           any    `arg:"name,type=raw,aliases=pkg|package" doc:"packages"`
	State          any    `arg:"state,type=raw" doc:"present, absent, latest, or what the package manager's module knows"`
	Use            string `arg:"use,default=auto" doc:"the module to use; auto finds the system's package manager"`
	Downgrade      any    `arg:"allow_downgrade,type=raw" doc:"allow an older version"`
	Unauthed       any    `arg:"allow_unauthenticated,type=raw" doc:"accept packages without a known signature"`
	Erasing        any    `arg:"allowerasing,type=raw" doc:"let dependencies be replaced"`
	Autoremove     any    `arg:"autoremove,type=raw" doc:"remove dependencies that nothing needs any more"`
	CacheValid     any    `arg:"cache_valid_time,type=raw" doc:"update only when the lists are older, in seconds"`
	Deb            any    `arg:"deb,type=raw" doc:"a package file or its URL"`
	DefaultRelease any    `arg:"default_release,type=raw" doc:"release to prefer"`
	DisableGPG     any    `arg:"disable_gpg_check,type=raw" doc:"do not check signatures"`
	DisableRecs    any    `arg:"disable_recommends,type=raw" doc:"leave recommended packages out"`
	Disablerepo    any    `arg:"disablerepo,type=raw" doc:"repositories to leave out"`
	DpkgOptions    any    `arg:"dpkg_options,type=raw" doc:"options for dpkg"`
	Enablerepo     any    `arg:"enablerepo,type=raw" doc:"repositories to add"`
	Exclude        any    `arg:"exclude,type=raw" doc:"packages to leave out"`
	ExtraArgs      any    `arg:"extra_args,type=raw" doc:"further arguments"`
	Force          any    `arg:"force,type=raw" doc:"force"`
	ForceAptGet    any    `arg:"force_apt_get,type=raw" doc:"use apt-get, never aptitude"`
	Recommends     any    `arg:"install_recommends,type=raw" doc:"install recommended packages"`
	WeakDeps       any    `arg:"install_weak_deps,type=raw" doc:"install weak dependencies"`
	List           any    `arg:"list,type=raw" doc:"list packages instead"`
	LockTimeout    any    `arg:"lock_timeout,type=raw" doc:"how long to wait for a lock, in seconds"`
	Oldpackage     any    `arg:"oldpackage,type=raw" doc:"allow an older version"`
	OnlyUpgrade    any    `arg:"only_upgrade,type=raw" doc:"only upgrade what is installed"`
	Purge          any    `arg:"purge,type=raw" doc:"remove configuration files too"`
	SkipBroken     any    `arg:"skip_broken,type=raw" doc:"leave out what cannot be installed"`
	UpdateCache    any    `arg:"update_cache,type=raw" doc:"update the lists first"`
	Upgrade        any    `arg:"upgrade,type=raw" doc:"upgrade all packages"`
	ValidateCerts  any    `arg:"validate_certs,type=raw" doc:"check certificates"`
}

func packageModule() Module {
	return Define("package", "Manage packages with the system's package manager", runPackage).Downloads("deb")
}

func runPackage(c *Call, args *packageArgs) (*Result, error) {
	use := args.Use
	if use == "auto" || use == "" {
		use = oneFact(c, "pkg_mgr", "pkg_mgr")
	}
	if use == "" || use == "unknown" {
		return nil, Failf("Could not detect which package manager to use. Try gathering facts or setting the \"use\" option.")
	}
	if use == "dnf5" {
		use = "dnf"
	}
	m, ok := Table(Plain())[use]
	if !ok || use == "package" {
		return nil, Failf("Could not find a module for %s.", use)
	}
	into := m.New()
	env := argspec.Env{Home: c.Home, Getenv: c.Getenv}
	if _, err := argspec.Of(m.Args).Decode(use, args.passed(), env, into); err != nil {
		return nil, err
	}
	return m.Run(c, into)
}

// passed are the arguments that were given, but for use.
func (a *packageArgs) passed() *value.Dict {
	out := value.NewDict()
	fields := reflect.ValueOf(a).Elem()
	for i, o := range argspec.Of(packageArgs{}).Options {
		if v := fields.Field(i); o.Name != "use" && !v.IsNil() {
			out.Set(o.Name, v.Interface())
		}
	}
	return out
}

// oneFact finds one fact, by the name of its subset and its own; "" when it has
// none.
func oneFact(c *Call, subset, name string) string {
	h := &facts.Host{Env: c.Env, Now: time.Now, UID: os.Getuid(), GID: os.Getgid(), Run: c.factTool}
	found, err := facts.Gather(c, h, []string{"!all", "!min", subset}, 10*time.Second)
	if err != nil {
		return ""
	}
	v, _ := found.Facts.Get(name)
	text, _ := v.(string)
	return text
}
