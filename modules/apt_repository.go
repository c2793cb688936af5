package modules

import (
	"os"
	"path/filepath"
	"strings"

	"play/modules/atomicfile"
	"play/modules/perm"
	"play/modules/value"
)

// aptRepositoryArgs are the arguments of apt_repository.
type aptRepositoryArgs struct {
	Repo          string `arg:"repo,required" doc:"a source as in sources.list, or ppa:user/name on Ubuntu"`
	State         string `arg:"state,default=present,choices=absent|present" doc:"whether it shall be there"`
	Mode          any    `arg:"mode" doc:"permissions of the file of a new source"`
	UpdateCache   bool   `arg:"update_cache,default=yes,aliases=update-cache" doc:"run apt-get update after a change"`
	Retries       int    `arg:"update_cache_retries,default=5" doc:"how often the update is tried"`
	RetryMaxDelay int    `arg:"update_cache_retry_max_delay,default=12" doc:"longest pause between tries, in seconds"`
	Filename      string `arg:"filename" doc:"name of the file in sources.list.d, without .list"`
	Codename      string `arg:"codename" doc:"release name to use for a PPA"`
	InstallApt    bool   `arg:"install_python_apt,default=yes" doc:"accepted and without effect"`
	ValidateCerts bool   `arg:"validate_certs,default=yes" doc:"check the certificate of Launchpad"`
}

func aptRepository() Module {
	return Define("apt_repository", "Add or remove APT repositories", runAptRepository).Downloads("repo")
}

func runAptRepository(c *Call, args *aptRepositoryArgs) (*Result, error) {
	want := parseSource(args.Repo)
	path := args.Filename
	if ppa, ok := strings.CutPrefix(args.Repo, "ppa:"); ok {
		var err error
		if want, path, err = ppaSource(c, args, ppa); err != nil {
			return nil, err
		}
	}
	if !want.valid || !want.enabled {
		return nil, Failf("Invalid repository string: %s", args.Repo)
	}
	folders := readAptFolders(c)
	lists, err := readSourceLists(folders)
	if err != nil {
		return nil, err
	}
	if path == "" {
		path = strings.TrimSuffix(sourceName(want.source), ".list")
	}
	if !strings.Contains(path, "/") {
		path = filepath.Join(folders.parts, path)
	}
	if args.State == "present" {
		lists.add(want, path+".list")
	} else {
		lists.remove(want)
	}
	changed := lists.changed()
	if len(changed) > 0 && !c.Check {
		if err := writeSources(c, args, changed); err != nil {
			return nil, err
		}
	}
	out := NewResult(len(changed) > 0).With("repo", args.Repo).With("state", args.State)
	return out.With("diff", sourcesDiff(c, changed)), nil
}

// writeSources writes what changed, updates the lists of packages, and puts the
// old files back when that fails.
func writeSources(c *Call, args *aptRepositoryArgs, changed []*sourceFile) error {
	err := saveSources(c, args.Mode, changed)
	if err == nil && args.UpdateCache {
		var get *pkgTool
		if get, err = pkgProgram(c, "apt-get"); err == nil {
			err = get.aptUpdate(args.Retries, args.RetryMaxDelay, 60)
		}
	}
	if err == nil {
		return nil
	}
	for _, f := range changed {
		f.restore(c)
	}
	return err
}

func saveSources(c *Call, mode any, changed []*sourceFile) error {
	for _, f := range changed {
		text := f.render()
		if text == "" {
			if err := os.Remove(f.path); err != nil {
				return Failf("%s", osTextString(err, f.path))
			}
			continue
		}
		limit := uint32(0o644)
		if err := atomicfile.Write(realPath(f.path), strings.NewReader(text), atomicfile.Options{Scratch: c.TmpDir, Mode: &limit}); err != nil {
			return Failf("%v", err)
		}
		shared := fileArgs{Mode: mode}
		if mode == nil && f.old == "" {
			shared.Mode = "0644"
		}
		if shared.Mode != nil && f.old == "" {
			if _, err := shared.setAttributes(c, f.path, perm.NewDiff()); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore brings the old content back as well as it can: the failure before it
// is what is reported.
func (f *sourceFile) restore(c *Call) {
	if f.old == "" {
		_ = os.Remove(f.path)
		return
	}
	_ = atomicfile.Write(realPath(f.path), strings.NewReader(f.old), atomicfile.Options{Scratch: c.TmpDir})
}

// sourcesDiff has the content of each changed file.
func sourcesDiff(c *Call, changed []*sourceFile) any {
	if !c.Diff {
		return value.NewDict()
	}
	list := value.NewList()
	for _, f := range changed {
		before, after := f.path, f.path
		text := f.render()
		if f.old == "" {
			before = "/dev/null"
		}
		if text == "" {
			after = "/dev/null"
		}
		list.Append(value.DictOf("before", f.old, "after", text, "before_header", before, "after_header", after))
	}
	if len(list.Items) == 0 {
		return value.NewDict()
	}
	return list
}

// ppaSource is the source of a Launchpad archive, whose key is fetched too.
func ppaSource(c *Call, args *aptRepositoryArgs, ppa string) (*sourceLine, string, error) {
	codename := args.Codename
	if codename == "" {
		codename = oneFact(c, "distribution", "distribution_release")
	}
	owner, name, _ := strings.Cut(ppa, "/")
	if name == "" {
		name = "ppa"
	}
	path := args.Filename
	if path == "" {
		path = strings.ReplaceAll("ppa_"+owner+"_"+name+"_"+codename, "-", "_")
	}
	line := parseSource("deb http://ppa.launchpad.net/" + owner + "/" + name + "/ubuntu " + codename + " main")
	if args.State == "absent" || c.Check {
		return line, path, nil
	}
	return line, path, ppaKey(c, args, owner, name)
}
