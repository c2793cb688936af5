package modules

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"play/modules/shellquote"
)

// sshCommand is the ssh that git is to use; git gives it to a shell.
func (g *checkout) sshCommand() string {
	command, ok := g.Getenv("GIT_SSH_COMMAND")
	if !ok || command == "" {
		command = "ssh -o BatchMode=yes"
		if own, ok := g.Getenv("GIT_SSH"); ok && own != "" {
			command = shellquote.Quote(own) + " -o BatchMode=yes"
		}
	}
	switch {
	case g.AcceptHostkey:
		command += " -o StrictHostKeyChecking=no"
	case g.AcceptNew:
		command += " -o StrictHostKeyChecking=accept-new"
	}
	if g.KeyFile != "" {
		command += " -o IdentitiesOnly=yes -i " + shellquote.Quote(g.KeyFile)
	}
	if g.SSHOpts != "" {
		command += " " + g.SSHOpts
	}
	return command
}

// listed asks the remote for a ref and returns its commit, "" for none.
func (g *checkout) listed(kind, ref string) (string, error) {
	args := []string{"ls-remote", g.repo}
	if kind != "" {
		args = append(args, kind)
	}
	text, err := g.must(append(args, ref)...)
	if err != nil {
		return "", err
	}
	commit := ""
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 2 && (words[1] == ref || words[1] == ref+"^{}") {
			commit = words[0] // the last line of an annotated tag names its commit
		}
	}
	return commit, nil
}

// remoteHead is the commit that version names at the remote.
func (g *checkout) remoteHead() (string, error) {
	if g.Version == "HEAD" {
		return g.found(g.listed("", "HEAD"))
	}
	commit, err := g.listed("-h", "refs/heads/"+g.Version)
	if err != nil || commit != "" {
		return commit, err
	}
	text, err := g.must("ls-remote", g.repo, "-t", "refs/tags/"+g.Version+"*")
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 2 && (words[1] == "refs/tags/"+g.Version || words[1] == "refs/tags/"+g.Version+"^{}") {
			commit = words[0]
		}
	}
	if commit == "" {
		commit = g.Version // a commit, which the remote does not list
	}
	return commit, nil
}

func (g *checkout) found(commit string, err error) (string, error) {
	if err == nil && commit == "" {
		err = Failf("Could not determine remote revision for %s", g.Version)
	}
	return commit, err
}

// named tells whether version is a branch or a tag of the remote.
func (g *checkout) named() (branch, tag bool, err error) {
	commit, err := g.listed("-h", "refs/heads/"+g.Version)
	if err != nil || commit != "" {
		return commit != "", false, err
	}
	commit, err = g.listed("-t", "refs/tags/"+g.Version)
	return false, commit != "", err
}

func (g *checkout) clone() error {
	if err := os.MkdirAll(filepath.Dir(g.dest), 0o777); err != nil {
		return Failf("cannot create %q: %s", filepath.Dir(g.dest), osText(err, filepath.Dir(g.dest)))
	}
	branch, tag, err := g.named()
	if err != nil {
		return err
	}
	args := []string{"clone"}
	if g.Bare {
		args = append(args, "--bare")
	} else {
		args = append(args, "--origin", g.Remote)
	}
	switch {
	case (g.Depth != nil || g.SingleBranch) && (branch || tag):
		args = append(args, "--branch", g.Version)
	case g.Depth != nil && g.Version != "HEAD" && g.Refspec == "":
		g.Depth = nil
		g.warnings.Append("Ignoring depth argument. Shallow clones are only available for HEAD, branches, tags or in combination with refspec.")
	}
	args = append(args, g.cloneOptions()...)
	if _, err := g.must(append(args, g.repo, g.dest)...); err != nil {
		return err
	}
	if g.Bare && g.Remote != "origin" {
		if _, err := g.must("remote", "add", g.Remote, g.repo); err != nil {
			return err
		}
	}
	if g.Refspec != "" {
		return g.fetch()
	}
	return nil
}

func (g *checkout) cloneOptions() []string {
	var args []string
	if g.Depth != nil {
		args = append(args, "--depth", strconv.Itoa(*g.Depth))
	}
	if g.Reference != "" {
		args = append(args, "--reference", g.Reference)
	}
	if g.SingleBranch {
		args = append(args, "--single-branch")
	}
	if g.SeparateDir != "" {
		args = append(args, "--separate-git-dir="+g.abs(g.SeparateDir))
	}
	return args
}

// fetch brings the commits and tags of the remote here.
func (g *checkout) fetch() error {
	args := []string{"fetch", "--tags"}
	if g.Force {
		args = append(args, "--force")
	}
	if g.Depth != nil {
		args = append(args, "--depth", strconv.Itoa(*g.Depth))
	}
	remote := g.Remote
	if g.Bare {
		remote = g.repo
	}
	specs, err := g.refspecs()
	if err != nil {
		return err
	}
	out, err := g.run(append(append(args, remote), specs...)...)
	if err != nil {
		return err
	}
	if out.RC != 0 {
		args = append(append(args, remote), specs...)
		return g.failed("Failed to download remote objects and refs: "+string(out.Stdout)+" "+string(out.Stderr), out, args)
	}
	return nil
}

// refspecs are what to fetch beyond what the remote's configuration says.
func (g *checkout) refspecs() ([]string, error) {
	var specs []string
	if g.Bare {
		specs = []string{"+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"}
	} else if g.Depth != nil && g.Version != "HEAD" {
		branch, tag, err := g.named()
		if err != nil {
			return nil, err
		}
		if branch {
			// A shallow clone has only one branch in its configuration.
			if _, err := g.must("remote", "set-branches", "--add", g.Remote, g.Version); err != nil {
				return nil, err
			}
			specs = append(specs, "+refs/heads/"+g.Version+":refs/remotes/"+g.Remote+"/"+g.Version)
		} else if tag {
			specs = append(specs, "+refs/tags/"+g.Version+":refs/tags/"+g.Version)
		}
	}
	if g.Refspec != "" {
		specs = append(specs, g.Refspec)
	}
	return specs, nil
}
