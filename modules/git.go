package modules

import (
	"os"
	"path/filepath"
	"strings"

	"play/modules/argspec"
	"play/modules/process"
	"play/modules/value"
)

// gitArgs are the arguments of git.
type gitArgs struct {
	Repo            string   `arg:"repo,required,aliases=name" doc:"URL or path of the repository"`
	Dest            string   `arg:"dest,required,type=path" doc:"folder of the checkout"`
	Version         string   `arg:"version,default=HEAD" doc:"branch, tag or commit to check out"`
	Remote          string   `arg:"remote,default=origin" doc:"name of the remote"`
	Refspec         string   `arg:"refspec" doc:"further refspec to fetch"`
	Reference       string   `arg:"reference" doc:"repository to borrow objects from"`
	Force           bool     `arg:"force,default=no" doc:"throw away local modifications"`
	Depth           *int     `arg:"depth" doc:"number of commits of history"`
	Clone           bool     `arg:"clone,default=yes" doc:"clone when the checkout does not exist"`
	Update          bool     `arg:"update,default=yes" doc:"fetch new commits"`
	VerifyCommit    bool     `arg:"verify_commit,default=no" doc:"check the signature of the commit or tag"`
	Whitelist       []string `arg:"gpg_whitelist,default=" doc:"fingerprints of keys that may have signed"`
	AcceptHostkey   bool     `arg:"accept_hostkey,default=no" doc:"take any host key of the SSH server"`
	AcceptNew       bool     `arg:"accept_newhostkey,default=no" doc:"take the host key of an unknown SSH server"`
	KeyFile         string   `arg:"key_file,type=path" doc:"SSH key to use"`
	SSHOpts         string   `arg:"ssh_opts" doc:"further options of ssh"`
	Executable      string   `arg:"executable,type=path" doc:"the git program"`
	Bare            bool     `arg:"bare,default=no" doc:"make a bare repository"`
	Recursive       bool     `arg:"recursive,default=yes" doc:"check out submodules too"`
	SingleBranch    bool     `arg:"single_branch,default=no" doc:"clone only the branch of version"`
	TrackSubmodules bool     `arg:"track_submodules,default=no" doc:"update submodules to their branch's newest commit"`
	Umask           any      `arg:"umask" doc:"umask of the checkout, in octal"`
	Archive         string   `arg:"archive,type=path" doc:"archive of the version to write"`
	ArchivePrefix   string   `arg:"archive_prefix" doc:"folder of the files in the archive"`
	SeparateDir     string   `arg:"separate_git_dir,type=path" doc:"where the repository itself is kept"`
}

// Rules relates the arguments.
func (gitArgs) Rules() argspec.Rules {
	return argspec.Rules{
		MutuallyExclusive: [][]string{{"separate_git_dir", "bare"}, {"accept_hostkey", "accept_newhostkey"}},
		RequiredBy:        []argspec.RequiredBy{{Name: "archive_prefix", Needs: []string{"archive"}}},
	}
}

func git() Module {
	return Define("git", "Check out a git repository", runGit)
}

// checkout is one run of git.
type checkout struct {
	*Call
	*gitArgs
	program, repo, dest string
	env                 []string
	umask               string
	before              any // commit, nil for none
	out                 *Result
	warnings            *value.List
	forced              bool // local modifications were thrown away
	newURL              bool
}

func runGit(c *Call, args *gitArgs) (*Result, error) {
	g := &checkout{Call: c, gitArgs: args, repo: args.Repo, dest: c.abs(args.Dest), warnings: value.NewList()}
	g.out = NewResult(false).With("warnings", g.warnings)
	if strings.HasPrefix(g.repo, "/") {
		g.repo = "file://" + g.repo
	}
	if err := g.prepare(); err != nil {
		return nil, err
	}
	if !g.there() {
		return g.fresh()
	}
	if err := g.separate(); err != nil {
		return nil, err
	}
	g.before = g.revision("HEAD")
	g.out.Set("before", g.before)
	if !g.Update {
		return g.archived(g.out.With("after", g.before))
	}
	return g.updated()
}

// prepare finds the program and its environment.
func (g *checkout) prepare() error {
	g.program = g.Executable
	if g.program == "" {
		g.program = "git"
	}
	path, err := process.Look(g.program, g.Dir, g.Call.Env)
	if err != nil {
		return Failf("Failed to find required executable \"git\" in paths: %s", process.Getenv(g.Call.Env, "PATH", ""))
	}
	g.program = path
	if g.Umask != nil {
		g.umask = value.Str(g.Umask)
		if n, ok := g.Umask.(int); ok {
			v, _ := value.ParseInt(value.Str(n), 8)
			if v == nil {
				return Failf("umask must be an octal integer")
			}
		} else if _, ok := value.ParseInt(g.umask, 8); !ok {
			return Failf("umask must be an octal integer")
		}
	}
	g.env = append(append([]string{}, g.Call.Env...), "LANG=C", "LC_ALL=C", "LC_MESSAGES=C", "LC_CTYPE=C", "GIT_TERMINAL_PROMPT=0",
		"GIT_SSH_COMMAND="+g.sshCommand())
	return nil
}

// there tells whether the checkout exists.
func (g *checkout) there() bool {
	if g.Bare {
		return exists(filepath.Join(g.dest, "config"))
	}
	return exists(filepath.Join(g.dest, ".git"))
}

// fresh clones, or foretells it.
func (g *checkout) fresh() (*Result, error) {
	g.out.Set("before", nil)
	if g.Check || !g.Clone {
		head, err := g.remoteHead()
		if err != nil {
			return nil, err
		}
		g.out.Changed(true).Set("after", head)
		if g.Diff {
			g.out.Set("diff", value.DictOf("prepared", g.diff(head)))
		}
		return g.out, nil
	}
	if err := g.clone(); err != nil {
		return nil, err
	}
	return g.settle()
}

// updated brings an existing checkout up to date.
func (g *checkout) updated() (*Result, error) {
	if err := g.dropLocal(); err != nil {
		return nil, err
	}
	if err := g.remoteURL(); err != nil {
		return nil, err
	}
	if g.Check {
		return g.foretell()
	}
	if err := g.fetch(); err != nil {
		return nil, err
	}
	return g.settle()
}

// dropLocal resets local modifications when force allows it.
func (g *checkout) dropLocal() error {
	if g.Bare {
		return nil
	}
	status, err := g.must("status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return err
	}
	if strings.TrimSpace(status) == "" {
		return nil
	}
	if !g.Force {
		return &Failure{Msg: "Local modifications exist in the destination: " + g.dest + " (force=no).", With: g.out.Dict}
	}
	g.forced = true
	g.out.Set("msg", "Local modifications exist in the destination: "+g.dest)
	if g.Check {
		return nil
	}
	_, err = g.must("reset", "--hard", "HEAD")
	return err
}

// remoteURL points the remote to repo.
func (g *checkout) remoteURL() error {
	run, err := g.run("config", "--get", "remote."+g.Remote+".url")
	if err != nil {
		return err
	}
	have := strings.TrimSpace(string(run.Stdout))
	g.newURL = have != "" && have != g.repo
	g.out.Set("remote_url_changed", g.newURL)
	switch {
	case g.Check || have == g.repo || have == "" && g.Bare:
	case g.newURL:
		_, err = g.must("remote", "set-url", g.Remote, g.repo)
	default:
		_, err = g.must("remote", "add", g.Remote, g.repo)
	}
	return err
}

func (g *checkout) foretell() (*Result, error) {
	head, err := g.remoteHead()
	if err != nil {
		return nil, err
	}
	g.out.Changed(g.before != any(head) || g.newURL || g.forced).Set("after", head)
	if g.Diff {
		defer g.borrow()()
		g.out.Set("diff", value.DictOf("prepared", g.diff(head)))
	}
	return g.out, nil
}

// borrow fetches the version into a scratch folder, where a diff finds it until
// the returned function is called: check mode leaves the repository as it is.
func (g *checkout) borrow() (done func()) {
	dir, err := os.MkdirTemp(g.TmpDir, "objects")
	own, runErr := g.must("rev-parse", "--git-path", "objects")
	if err != nil || runErr != nil {
		return func() {} // the diff stays empty
	}
	objects := strings.TrimSpace(own)
	if !filepath.IsAbs(objects) {
		objects = filepath.Join(g.dest, objects)
	}
	env := g.env
	g.env = append(append([]string{}, env...), "GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+objects)
	_, _ = g.run("fetch", "--quiet", "--refmap=", "--no-tags", "--no-write-fetch-head", g.repo, g.Version) // without it there is no diff
	return func() {
		g.env = env
		os.RemoveAll(dir)
	}
}

// settle checks out the version and its submodules, and reports.
func (g *checkout) settle() (*Result, error) {
	submodules := false
	if !g.Bare {
		if err := g.checkOut(); err != nil {
			return nil, err
		}
	}
	if g.VerifyCommit {
		if err := g.verify(); err != nil {
			return nil, err
		}
	}
	if !g.Bare {
		var err error
		if submodules, err = g.submodules(); err != nil {
			return nil, err
		}
	}
	if submodules {
		g.out.Set("submodules_changed", true)
	}
	after := g.revision("HEAD")
	g.out.Set("after", after)
	g.out.Changed(g.before != after || g.forced || submodules || g.newURL)
	if g.Diff {
		if text, ok := after.(string); ok {
			g.out.Set("diff", value.DictOf("prepared", g.diff(text)))
		}
	}
	return g.archived(g.out)
}

// diff compares the old commit to a new one; it is empty where one is not here.
func (g *checkout) diff(after string) string {
	before, ok := g.before.(string)
	if !ok {
		return ">> Newly checked out " + after
	}
	if before == after {
		return ""
	}
	run, err := g.run("diff", before+".."+after)
	if err != nil || run.RC != 0 {
		return ""
	}
	return string(run.Stdout)
}

// revision is the commit of a name, nil for none.
func (g *checkout) revision(name string) any {
	run, err := g.run("rev-parse", "--verify", "-q", name)
	if err != nil || run.RC != 0 {
		return nil
	}
	return strings.TrimSpace(string(run.Stdout))
}

// run runs git in the checkout, or beside it while there is none.
func (g *checkout) run(args ...string) (*process.Outcome, error) {
	dir := g.dest
	if !isDir(dir) {
		dir = g.Dir
	}
	argv := append([]string{g.program}, args...)
	if g.umask != "" {
		argv = append([]string{"/bin/sh", "-c", `umask "$0" && exec "$@"`, g.umask}, argv...)
	}
	out, err := process.Run(g, process.Command{Argv: argv, Dir: dir, Env: g.env, Output: g.Output})
	if err != nil {
		return nil, Failf("cannot run %q: %v", g.program, err)
	}
	return out, nil
}

// must runs git and fails when it does.
func (g *checkout) must(args ...string) (string, error) {
	out, err := g.run(args...)
	if err != nil {
		return "", err
	}
	if out.RC != 0 {
		return "", g.failed(strings.TrimRight(string(out.Stderr), " \n"), out, args)
	}
	return string(out.Stdout), nil
}

func (g *checkout) failed(msg string, out *process.Outcome, args []string) error {
	return &Failure{Msg: msg, With: value.DictOf("cmd", g.program+" "+strings.Join(args, " "), "rc", out.RC,
		"stdout", string(out.Stdout), "stderr", string(out.Stderr))}
}

// separate moves the repository out of an existing checkout.
func (g *checkout) separate() error {
	if g.SeparateDir == "" || g.Check {
		return nil
	}
	info, err := os.Lstat(filepath.Join(g.dest, ".git"))
	if err != nil || !info.IsDir() {
		return nil
	}
	_, err = g.must("init", "--separate-git-dir="+g.abs(g.SeparateDir))
	return err
}
