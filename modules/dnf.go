package modules

import (
	"slices"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// dnfArgs are the arguments of dnf, most of which yum shares.
type dnfArgs struct {
	Name            []string `arg:"name,aliases=pkg" doc:"packages, with versions, globs, groups (@name), files or URLs"`
	State           *string  `arg:"state,choices=absent|present|installed|removed|latest" doc:"the state they shall have"`
	AllowDowngrade  bool     `arg:"allow_downgrade,default=no" doc:"allow an older version"`
	Autoremove      bool     `arg:"autoremove,default=no" doc:"remove dependencies that nothing needs any more"`
	Bugfix          bool     `arg:"bugfix,default=no" doc:"with latest: only updates that fix defects"`
	Cacheonly       bool     `arg:"cacheonly,default=no" doc:"use what was fetched before only"`
	ConfFile        string   `arg:"conf_file" doc:"the configuration file"`
	DisableExcludes string   `arg:"disable_excludes" doc:"lift exclusions: all, main or a repository"`
	DisableGPG      bool     `arg:"disable_gpg_check,default=no" doc:"do not check signatures"`
	DisablePlugin   []string `arg:"disable_plugin,default=" doc:"plugins to leave out"`
	Disablerepo     []string `arg:"disablerepo,default=" doc:"repositories to leave out"`
	DownloadOnly    bool     `arg:"download_only,default=no" doc:"fetch, do not install"`
	DownloadDir     string   `arg:"download_dir" doc:"where to fetch to"`
	EnablePlugin    []string `arg:"enable_plugin,default=" doc:"plugins to add"`
	Enablerepo      []string `arg:"enablerepo,default=" doc:"repositories to add"`
	Exclude         []string `arg:"exclude,default=" doc:"packages to leave out"`
	Installroot     string   `arg:"installroot,default=/" doc:"root folder of another system"`
	InstallQuery    bool     `arg:"install_repoquery,default=yes" doc:"accepted and without effect"`
	WeakDeps        bool     `arg:"install_weak_deps,default=yes" doc:"install weak dependencies"`
	List            *string  `arg:"list" doc:"list packages instead: installed, available, updates, or names"`
	LockTimeout     int      `arg:"lock_timeout,default=30" doc:"how long to wait for a lock, in seconds"`
	Releasever      string   `arg:"releasever" doc:"release to take packages of"`
	Security        bool     `arg:"security,default=no" doc:"with latest: only security updates"`
	SkipBroken      bool     `arg:"skip_broken,default=no" doc:"leave out what cannot be installed"`
	SSLVerify       bool     `arg:"sslverify,default=yes" doc:"check certificates of repositories"`
	UpdateCache     bool     `arg:"update_cache,default=no,aliases=expire-cache" doc:"fetch the metadata anew"`
	UpdateOnly      bool     `arg:"update_only,default=no" doc:"with latest: install nothing new"`
	ValidateCerts   bool     `arg:"validate_certs,default=yes" doc:"check certificates of URLs"`
	Nobest          bool     `arg:"nobest,default=no" doc:"accept other than the best candidates"`
	Allowerasing    bool     `arg:"allowerasing,default=no" doc:"let dependencies be replaced"`
	UseBackend      string   `arg:"use_backend,hidden,default=auto" doc:"the program: auto, yum, yum4, dnf, dnf4 or dnf5"`
}

// Rules relates the arguments.
func (dnfArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"name", "list"}}}
}

// dnf works through the programs dnf and rpm. It was tested with stand-ins for
// them only.
func dnf() Module {
	return Define("dnf", "Manage packages with dnf", runDnf)
}

// dnfRun is one run of dnf or yum.
type dnfRun struct {
	*dnfArgs
	dnf, rpm *pkgTool
	results  []string
	changed  bool
}

func runDnf(c *Call, args *dnfArgs) (*Result, error) {
	dnf, err := dnfProgram(c, args.UseBackend)
	if err != nil {
		return nil, err
	}
	rpm, err := pkgProgram(c, "rpm")
	if err != nil {
		return nil, err
	}
	d := &dnfRun{dnfArgs: args, dnf: dnf, rpm: rpm}
	if args.List != nil {
		return d.list(*args.List)
	}
	if args.UpdateCache {
		if err := d.makeCache(); err != nil {
			return nil, err
		}
		if len(args.Name) == 0 && !args.Autoremove {
			return d.result("Cache updated"), nil
		}
	}
	return d.act()
}

// dnfProgram chooses among the programs there are.
func dnfProgram(c *Call, backend string) (*pkgTool, error) {
	names := []string{"dnf", "dnf5", "yum"}
	switch backend {
	case "yum", "dnf5":
		names = []string{backend}
	case "dnf", "dnf4", "yum4":
		names = []string{"dnf"}
	}
	for _, name := range names {
		if path := c.findTool(name); path != "" {
			return &pkgTool{Call: c, Path: path}, nil
		}
	}
	return pkgProgram(c, names[0])
}

// act brings the packages to their state.
func (d *dnfRun) act() (*Result, error) {
	names := d.names()
	state := "present"
	if d.State != nil {
		state = map[string]string{"installed": "present", "removed": "absent"}[*d.State]
		if state == "" {
			state = *d.State
		}
	} else if d.Autoremove {
		state = "absent"
	}
	if d.Autoremove && state != "absent" {
		return nil, &Failure{Msg: "Autoremove should be used alone or with state=absent", With: value.DictOf("results", value.NewList())}
	}
	var err error
	switch {
	case len(names) == 0 && d.Autoremove:
		err = d.transaction("autoremove", nil)
	case state == "absent":
		err = d.remove(names)
	case state == "latest":
		err = d.latest(names)
	default:
		err = d.present(names)
	}
	if err != nil {
		return nil, err
	}
	switch {
	case !d.changed:
		return d.result("Nothing to do"), nil
	case d.dnf.Check:
		return d.result("Check mode: No changes made, but would have if not in check mode"), nil
	}
	return d.result(""), nil
}

// names are the asked packages; commas separate them too.
func (d *dnfRun) names() []string {
	var names []string
	for _, name := range d.Name {
		for part := range strings.SplitSeq(name, ",") {
			if part = strings.TrimSpace(part); part != "" && !slices.Contains(names, part) {
				names = append(names, part)
			}
		}
	}
	return names
}

func (d *dnfRun) result(msg string) *Result {
	return NewResult(d.changed).With("msg", msg).With("results", stringList(d.results)).With("rc", 0)
}

func (d *dnfRun) present(names []string) error {
	missing, _, err := d.split(names)
	if err != nil || len(missing) == 0 {
		return err
	}
	if !d.AllowDowngrade {
		return d.transaction("install", missing)
	}
	return d.transaction("install", missing, "--allow-downgrade")
}

func (d *dnfRun) latest(names []string) error {
	if slices.Contains(names, "*") {
		return d.transaction("upgrade", nil)
	}
	missing, there, err := d.split(names)
	if err != nil {
		return err
	}
	if len(missing) > 0 && !d.UpdateOnly {
		if err := d.transaction("install", missing); err != nil {
			return err
		}
	}
	if len(there) == 0 {
		return nil
	}
	return d.transaction("upgrade", there)
}

func (d *dnfRun) remove(names []string) error {
	_, there, err := d.split(names)
	if err != nil || len(there) == 0 {
		return err
	}
	return d.transaction("remove", there)
}

// split asks rpm which packages are there. Of groups, files and addresses rpm
// knows nothing: they count as both missing and there, and dnf decides.
func (d *dnfRun) split(names []string) (missing, there []string, err error) {
	for _, name := range names {
		if strings.HasPrefix(name, "@") {
			missing, there = append(missing, name), append(there, name)
			continue
		}
		if strings.Contains(name, "://") || strings.HasSuffix(name, ".rpm") {
			missing = append(missing, name)
			continue
		}
		has, err := d.installed(name)
		if err != nil {
			return nil, nil, err
		}
		if has {
			there = append(there, name)
		} else {
			missing = append(missing, name)
		}
	}
	return missing, there, nil
}

// installed asks rpm for a name, name-version, glob, capability or file.
func (d *dnfRun) installed(name string) (bool, error) {
	ask := []string{"-q", "--whatprovides", name}
	if strings.ContainsAny(name, "*?[") {
		ask = []string{"-qa", name}
	}
	out, err := d.runRPM(ask...)
	if err != nil {
		return false, err
	}
	if out.RC == 0 && strings.TrimSpace(out.Stdout) != "" {
		return true, nil
	}
	if ask[0] == "-qa" {
		return false, nil
	}
	out, err = d.runRPM("-q", name)
	return err == nil && out.RC == 0, err
}

func (d *dnfRun) runRPM(args ...string) (*pkgOutcome, error) {
	if d.Installroot != "/" {
		args = append([]string{"--root", d.Installroot}, args...)
	}
	return d.rpm.run(args...)
}
