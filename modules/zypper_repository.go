package modules

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
	"play/modules/xmltree"
)

// zypperRepositoryArgs are the arguments of zypper_repository.
type zypperRepositoryArgs struct {
	Name        *string `arg:"name" doc:"the repository's alias"`
	Repo        *string `arg:"repo" doc:"its URL, or * for all when they are refreshed"`
	State       string  `arg:"state,default=present,choices=present|absent" doc:"whether it shall be there"`
	Refresh     bool    `arg:"runrefresh,default=no" doc:"refresh it"`
	Description *string `arg:"description" doc:"its name"`
	NoGPG       bool    `arg:"disable_gpg_check,default=no" doc:"do not check signatures"`
	AutoRefresh bool    `arg:"autorefresh,default=yes,aliases=refresh" doc:"refresh it before use"`
	Priority    *int    `arg:"priority" doc:"its priority; a low one goes first"`
	Enabled     bool    `arg:"enabled,default=yes" doc:"whether it is used"`
	Overwrite   bool    `arg:"overwrite_multiple,default=no" doc:"replace all that have the same alias or URL"`
	ImportKeys  bool    `arg:"auto_import_keys,default=no" doc:"trust the repository's key"`
}

// Rules relates the arguments.
func (zypperRepositoryArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredOneOf: [][]string{{"state", "runrefresh"}}}
}

func zypperRepository() Module {
	return Define("zypper_repository", "Manage repositories of SUSE systems", runZypperRepository).NoCheck().Downloads("repo").In("community.general", "community.general.packaging.os")
}

// zypperRepo is one repository on its way to the wanted state.
type zypperRepo struct {
	*Call
	*zypperRepositoryArgs
	data  *value.Dict // what is wanted, in the words of zypper repos
	alias string
	url   string
}

func runZypperRepository(c *Call, args *zypperRepositoryArgs) (*Result, error) {
	r := &zypperRepo{Call: c, zypperRepositoryArgs: args, alias: textOr(args.Name), url: textOr(args.Repo)}
	if r.url == "*" || r.alias == "*" {
		if !args.Refresh {
			return nil, Failf("repo=* can only be used with the runrefresh option.")
		}
		return NewResult(false).With("runrefresh", true), r.refresh("")
	}
	if msg := r.wrong(); msg != "" {
		return nil, Failf("%s", msg)
	}
	r.data = value.DictOf("url", orNil(args.Repo), "alias", orNil(args.Name), "name", orNil(args.Description), "priority", intOrNil(args.Priority),
		"enabled", digit(args.Enabled), "gpgcheck", digit(!args.NoGPG), "autorefresh", digit(args.AutoRefresh))
	if strings.HasSuffix(r.url, ".repo") {
		if err := r.readRepoFile(); err != nil {
			return nil, err
		}
	}
	return r.settle()
}

func textOr(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func digit(on bool) string {
	if on {
		return "1"
	}
	return "0"
}

// wrong says what is wrong about the arguments together.
func (r *zypperRepo) wrong() string {
	file := strings.HasSuffix(r.url, ".repo")
	switch {
	case r.State == "present" && r.url == "":
		return "Module option state=present requires repo"
	case r.State == "absent" && r.url == "" && r.alias == "":
		return "Alias or repo parameter required when state=absent"
	case file && r.alias != "":
		return "Incompatible option: 'name'. Do not use name when adding .repo files"
	case !file && r.alias == "" && r.State == "present":
		return "Name required when adding non-repo files."
	}
	return ""
}

// settle compares and changes.
func (r *zypperRepo) settle() (*Result, error) {
	found, err := r.matching()
	if err != nil {
		return nil, err
	}
	short := r.alias
	if short == "" {
		short = r.url
	}
	result := NewResult(false).With("repodata", r.data).With("state", r.State)
	if r.State == "absent" {
		if len(found) == 0 {
			return result, nil
		}
		_, err := r.zypper(true, "removerepo", short)
		return result.Changed(true), err
	}
	if len(found) == 1 {
		differs, err := r.differs(found[0])
		if err != nil {
			return nil, err
		}
		if !differs {
			if r.Refresh {
				err = r.refresh(short)
			}
			return result, err
		}
	}
	if err := r.add(found, result); err != nil {
		return nil, err
	}
	if r.Refresh || r.ImportKeys {
		return result.Changed(true), r.refresh(short)
	}
	return result.Changed(true), nil
}

// zypper runs it; with must its failure is the task's.
func (r *zypperRepo) zypper(must bool, words ...string) (*toolOutcome, error) {
	argv := append([]string{"zypper", "--quiet", "--non-interactive"}, words...)
	if must {
		return r.mustTool(argv...)
	}
	return r.tool(argv...)
}

func (r *zypperRepo) refresh(short string) error {
	var words []string
	if r.ImportKeys {
		words = append(words, "--gpg-auto-import-keys")
	}
	words = append(words, "refresh", "--force")
	if short != "" {
		words = append(words, "-r", short)
	}
	_, err := r.zypper(true, words...)
	return err
}

// matching are the repositories that have the alias or the URL.
func (r *zypperRepo) matching() ([]map[string]string, error) {
	out, err := r.zypper(false, "--xmlout", "repos")
	if err != nil {
		return nil, err
	}
	const noRepos = 6
	if out.rc == noRepos {
		return nil, nil
	}
	if out.failed() {
		shown := []string{r.findTool("zypper"), "--quiet", "--non-interactive", "--xmlout", "repos"}
		return nil, &Failure{Msg: `Failed to execute "` + strings.Join(shown, " ") + `"`, With: value.DictOf("rc", out.rc, "stdout", out.out, "stderr", out.errOut)}
	}
	tree, err := xmltree.Parse(out.out)
	if err != nil {
		return nil, Failf("%v", err)
	}
	var found []map[string]string
	for _, node := range tree.All("repo-list", "repo") {
		repo := node.Attrs
		if urls := node.All("url"); len(urls) > 0 {
			repo["url"] = urls[0].Text
		}
		if repo["alias"] == r.wanted("alias") || repo["url"] == r.wanted("url") {
			found = append(found, repo)
		}
	}
	if len(found) > 1 && !r.Overwrite {
		return nil, Failf("More than one repo matched %q. Use overwrite_multiple to allow more than one repo to be overwritten", r.wanted("url"))
	}
	return found, nil
}

func (r *zypperRepo) wanted(key string) string {
	v, _ := r.data.Get(key)
	if v == nil {
		return ""
	}
	return value.Str(v)
}

// differs compares what is wanted with what is there.
func (r *zypperRepo) differs(have map[string]string) (bool, error) {
	for _, key := range []string{"alias", "name", "priority", "enabled", "autorefresh", "gpgcheck", "url"} {
		wanted, old := r.wanted(key), have[key]
		if wanted == "" {
			continue
		}
		if key == "url" {
			for name, field := range map[string]string{"$releasever": "%{version}", "$basearch": "%{arch}"} {
				if !strings.Contains(wanted+old, name) {
					continue
				}
				out, err := r.mustTool("rpm", "-q", "--qf", field, "-f", "/etc/os-release")
				if err != nil {
					return false, err
				}
				wanted, old = strings.ReplaceAll(wanted, name, out.out), strings.ReplaceAll(old, name, out.out)
			}
			wanted, old = strings.TrimRight(wanted, "/"), strings.TrimRight(old, "/")
		}
		if wanted != old {
			return true, nil
		}
	}
	return false, nil
}

// add adds the repository; those in its way go first.
func (r *zypperRepo) add(old []map[string]string, result *Result) error {
	words := []string{"addrepo", "--check"}
	if name := r.wanted("name"); name != "" {
		words = append(words, "--name", name)
	}
	if p := r.wanted("priority"); p != "" && p != "0" {
		words = append(words, "--priority", p)
	}
	if r.wanted("enabled") == "0" {
		words = append(words, "--disable")
	}
	gpg := "--no-gpgcheck"
	if r.wanted("gpgcheck") == "1" {
		gpg = "--gpgcheck"
	}
	words = append(words, gpg)
	if r.wanted("autorefresh") == "1" {
		words = append(words, "--refresh")
	}
	url := r.wanted("url")
	if words = append(words, url); !strings.HasSuffix(url, ".repo") {
		words = append(words, r.wanted("alias"))
	}
	for _, o := range old {
		if _, err := r.zypper(true, "removerepo", o["url"]); err != nil {
			return err
		}
	}
	out, err := r.zypper(false, words...)
	if err != nil || !out.failed() {
		return err
	}
	return &Failure{Msg: "Zypper failed with rc " + strconv.Itoa(out.rc), With: value.DictOf("rc", out.rc, "stdout", out.out, "stderr", out.errOut,
		"repodata", r.data, "state", r.State)}
}

// readRepoFile takes what a .repo file, here or behind a URL, says of its one
// repository.
func (r *zypperRepo) readRepoFile() error {
	text, err := r.repoFile()
	if err != nil {
		return err
	}
	section, entries := "", map[string]string{}
	sections := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			section = strings.Trim(line, "[]")
			sections++
			continue
		}
		if key, v, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, ";") {
			entries[strings.ToLower(strings.TrimSpace(key))] = strings.TrimSpace(v)
		}
	}
	if sections != 1 {
		return Failf("Invalid format, .repo file contains %d repositories, expected 1", sections)
	}
	if entries["baseurl"] == "" {
		return Failf("No baseurl found in .repo file")
	}
	r.alias = section
	r.data.Set("alias", section)
	r.data.Set("url", entries["baseurl"])
	r.ImportKeys = r.ImportKeys || entries["gpgkey"] != ""
	for _, key := range []string{"name", "enabled", "autorefresh", "gpgcheck"} {
		if v, ok := entries[key]; ok {
			r.data.Set(key, v)
		}
	}
	return nil
}

// repoFile reads or downloads the file.
func (r *zypperRepo) repoFile() (string, error) {
	path := r.abs(r.url)
	if strings.HasPrefix(r.url, "http://") || strings.HasPrefix(r.url, "https://") {
		path = filepath.Join(r.TmpDir, "zypper.repo")
		defer os.Remove(path)
		if fetchURL(r.Call, r.url, true, path) != nil {
			return "", Failf("Error downloading .repo file from provided URL")
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", Failf("Error opening .repo file from provided path")
	}
	return string(data), nil
}
