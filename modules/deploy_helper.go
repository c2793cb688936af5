package modules

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"play/modules/argspec"
	"play/modules/value"
)

// deployHelperArgs are the arguments of deploy_helper.
type deployHelperArgs struct {
	Path       string `arg:"path,required,type=path,aliases=dest" doc:"folder of the project"`
	Release    string `arg:"release" doc:"name of the release; the time unless given"`
	Releases   string `arg:"releases_path,default=releases" doc:"folder of the releases, in path"`
	Shared     string `arg:"shared_path,type=path,default=shared" doc:"folder that releases share, in path; empty: none"`
	Current    string `arg:"current_path,type=path,default=current" doc:"link to the release in use, in path"`
	Keep       int    `arg:"keep_releases,default=5" doc:"how many old releases stay when cleaning"`
	Clean      bool   `arg:"clean,default=yes" doc:"clean old releases when finalizing"`
	Unfinished string `arg:"unfinished_filename,default=DEPLOY_UNFINISHED" doc:"file that marks an unfinished release"`
	State      string `arg:"state,default=present,choices=present|absent|clean|finalize|query" doc:"present makes the folders, finalize switches to the release"`
	fileArgs
}

// Rules relates the arguments.
func (deployHelperArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredIf: []argspec.RequiredIf{{Name: "state", Value: "finalize", Needs: []string{"release"}}}}
}

func deployHelper() Module {
	return Define("deploy_helper", "Manage the folders of a project's releases", runDeployHelper).In("community.general", "community.general.web_infrastructure")
}

// deployment is one run of deploy_helper, with its paths.
type deployment struct {
	*Call
	*deployHelperArgs
	project, releases, shared, current, fresh string
	changed                                   bool
}

func runDeployHelper(c *Call, args *deployHelperArgs) (*Result, error) {
	d := &deployment{Call: c, deployHelperArgs: args, project: c.abs(args.Path)}
	d.releases, d.current = d.in(args.Releases), d.in(args.Current)
	if args.Shared != "" {
		d.shared = d.in(args.Shared)
	}
	if args.Release == "" && (args.State == "query" || args.State == "present") {
		args.Release = time.Now().Format("20060102150405")
	}
	if args.Release != "" {
		d.fresh = filepath.Join(d.releases, args.Release)
	}
	var facts any = d.facts()
	if err := d.act(); err != nil {
		return nil, err
	}
	out := NewResult(d.changed).With("state", args.State)
	switch args.State {
	case "absent":
		facts = value.NewList()
		fallthrough
	case "query", "present":
		out.Set("ansible_facts", value.DictOf("deploy_helper", facts))
	}
	return out, nil
}

func (d *deployment) in(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.project, path)
}

// facts are the paths; what there is none of is null.
func (d *deployment) facts() *value.Dict {
	orNull := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	previous := ""
	if lexists(d.current) {
		previous = realPath(d.current)
	}
	name := ""
	if previous != "" {
		name = filepath.Base(previous)
	}
	return value.DictOf("project_path", d.project, "current_path", d.current, "releases_path", d.releases, "shared_path", orNull(d.shared),
		"previous_release", orNull(name), "previous_release_path", orNull(previous),
		"new_release", orNull(d.Release), "new_release_path", orNull(d.fresh), "unfinished_filename", d.Unfinished)
}

func (d *deployment) act() error {
	switch d.State {
	case "present":
		return d.make()
	case "absent":
		return d.remove(d.project)
	case "finalize":
		return d.finalize()
	case "clean":
		return d.clean()
	}
	return nil
}

// make makes the folders.
func (d *deployment) make() error {
	if lexists(d.current) && !isLink(d.current) {
		return Failf("%s exists but is not a symbolic link", d.current)
	}
	for _, path := range []string{d.project, d.releases, d.shared} {
		if path == "" {
			continue
		}
		if err := d.folder(path); err != nil {
			return err
		}
	}
	return nil
}

func (d *deployment) folder(path string) error {
	switch {
	case !lexists(path):
		d.changed = true
		if d.Check {
			return nil
		}
		if err := os.MkdirAll(path, 0o777); err != nil {
			return Failf("cannot create %q: %s", path, osText(err, path))
		}
	case !isDir(path):
		return Failf("%s exists but is not a directory", path)
	}
	changed, err := d.setAttributes(d.Call, path, nil)
	d.changed = d.changed || changed
	return err
}

// remove removes a folder with all that is in it.
func (d *deployment) remove(path string) error {
	if !lexists(path) {
		return nil
	}
	if !isDir(path) {
		return Failf("%s exists but is not a directory", path)
	}
	d.changed = true
	if d.Check {
		return nil
	}
	if isLink(path) {
		return Failf("rmtree failed: Cannot call rmtree on a symbolic link")
	}
	if err := os.RemoveAll(path); err != nil {
		return Failf("rmtree failed: %s", osTextString(err, path))
	}
	return nil
}

func (d *deployment) finalize() error {
	if d.Keep <= 0 {
		return Failf("'keep_releases' should be at least 1")
	}
	if err := d.unlink(filepath.Join(d.fresh, d.Unfinished)); err != nil {
		return err
	}
	if err := d.link(); err != nil || !d.Clean {
		return err
	}
	return d.clean()
}

func (d *deployment) unlink(path string) error {
	if !lexists(path) {
		return nil
	}
	d.changed = true
	if d.Check {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return Failf("cannot remove %q: %s", path, osText(err, path))
	}
	return nil
}

// link points the current release at the new one, at once.
func (d *deployment) link() error {
	was := isLink(d.current)
	if was && realPath(d.current) == realPath(d.fresh) {
		return nil
	}
	d.changed = true
	if d.Check {
		return nil
	}
	if was && !lexists(d.fresh) {
		return Failf("the symlink target %s doesn't exists", d.fresh)
	}
	if !was {
		return d.symlink(d.current)
	}
	passing := d.current + "." + d.Unfinished
	if isLink(passing) {
		if err := os.Remove(passing); err != nil {
			return Failf("cannot remove %q: %s", passing, osText(err, passing))
		}
	}
	if err := d.symlink(passing); err != nil {
		return err
	}
	if err := os.Rename(passing, d.current); err != nil {
		return Failf("cannot rename %q: %s", passing, osText(err, passing))
	}
	return nil
}

func (d *deployment) symlink(path string) error {
	if err := os.Symlink(d.fresh, path); err != nil {
		return Failf("cannot link %q: %s", path, osText(err, path))
	}
	return nil
}

// clean removes unfinished releases, and old ones beyond those that are kept.
func (d *deployment) clean() error {
	if passing := filepath.Join(d.project, d.Release+"."+d.Unfinished); d.Release != "" && !d.Check && exists(passing) {
		if err := d.unlink(passing); err != nil {
			return err
		}
	}
	names, err := os.ReadDir(d.releases)
	if err != nil {
		return Failf("cannot read %q: %s", d.releases, osText(err, d.releases))
	}
	var old []string
	for _, e := range names {
		path := filepath.Join(d.releases, e.Name())
		unfinished := exists(filepath.Join(path, d.Unfinished)) && !isDir(filepath.Join(path, d.Unfinished))
		if unfinished {
			if err := d.remove(path); err != nil {
				return err
			}
		}
		if e.Name() != d.Release && isDir(path) {
			old = append(old, path)
		}
	}
	slices.SortStableFunc(old, func(a, b string) int { return madeAt(b).Compare(madeAt(a)) })
	for _, path := range old[min(d.Keep, len(old)):] {
		if err := d.remove(path); err != nil {
			return err
		}
	}
	return nil
}

// madeAt is when a path's metadata changed last.
func madeAt(path string) time.Time {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return time.Time{}
	}
	return time.Unix(st.Ctim.Unix())
}
