package modules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/modules/atomicfile"
)

// checkOut switches the checkout to the version.
func (g *checkout) checkOut() error {
	branch := g.Version
	if g.Version == "HEAD" {
		var err error
		if branch, err = g.defaultBranch(); err != nil {
			return err
		}
	}
	tracked := "refs/remotes/" + g.Remote + "/" + branch
	switch {
	case g.revision(tracked) == nil:
		return g.force(branch, "checkout", "--force", branch)
	case g.revision("refs/heads/"+branch) == nil:
		return g.force("branch "+branch, "checkout", "--track", "-b", branch, g.Remote+"/"+branch)
	}
	if err := g.force("branch "+branch, "checkout", "--force", branch, "--"); err != nil {
		return err
	}
	out, err := g.run("reset", "--hard", g.Remote+"/"+branch, "--")
	if err == nil && out.RC != 0 {
		err = g.failed("Failed to reset branch "+branch, out, []string{"reset", "--hard", g.Remote + "/" + branch, "--"})
	}
	return err
}

func (g *checkout) force(what string, args ...string) error {
	out, err := g.run(args...)
	if err == nil && out.RC != 0 {
		err = g.failed("Failed to checkout "+what, out, args)
	}
	return err
}

// defaultBranch is the branch that the remote's HEAD names.
func (g *checkout) defaultBranch() (string, error) {
	ref := "refs/remotes/" + g.Remote + "/HEAD"
	out, err := g.run("symbolic-ref", "-q", ref)
	if err != nil {
		return "", err
	}
	if name := strings.TrimPrefix(strings.TrimSpace(string(out.Stdout)), "refs/remotes/"+g.Remote+"/"); out.RC == 0 && name != "" {
		return name, nil
	}
	text, err := g.must("ls-remote", "--symref", g.repo, "HEAD")
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(text, "\n") {
		if words := strings.Fields(line); len(words) == 3 && words[0] == "ref:" {
			return strings.TrimPrefix(words[1], "refs/heads/"), nil
		}
	}
	return "", Failf("cannot tell the default branch of %q", g.repo)
}

// submodules checks them out, and tells whether one has moved.
func (g *checkout) submodules() (bool, error) {
	if !g.Recursive || !exists(filepath.Join(g.dest, ".gitmodules")) {
		return false, nil
	}
	if _, err := g.must("submodule", "sync"); err != nil {
		return false, err
	}
	before, err := g.must("submodule", "status", "--recursive")
	if err != nil {
		return false, err
	}
	args := []string{"submodule", "update", "--init", "--recursive"}
	if g.TrackSubmodules {
		args = append(args, "--remote")
	}
	if g.Force {
		args = append(args, "--force")
	}
	out, err := g.run(args...)
	if err != nil {
		return false, err
	}
	if out.RC != 0 {
		return false, g.failed("Failed to init/update submodules: "+string(out.Stdout)+string(out.Stderr), out, args)
	}
	after, err := g.must("submodule", "status", "--recursive")
	return before != after, err
}

// verify checks the signature of the version: of the tag where it is one.
func (g *checkout) verify() error {
	args := []string{"verify-commit", "--raw", g.Version}
	if kind, err := g.run("cat-file", "-t", "refs/tags/"+g.Version); err == nil && strings.TrimSpace(string(kind.Stdout)) == "tag" {
		args[0] = "verify-tag"
	}
	out, err := g.run(args...)
	if err != nil {
		return err
	}
	if out.RC != 0 {
		return g.failed("Failed to verify GPG signature of commit/tag \""+g.Version+"\"", out, args)
	}
	if len(g.Whitelist) == 0 {
		return nil
	}
	for _, line := range strings.Split(string(out.Stderr), "\n") {
		words := strings.Fields(line)
		if len(words) > 2 && words[1] == "VALIDSIG" && (slices.Contains(g.Whitelist, words[2]) || slices.Contains(g.Whitelist, words[len(words)-1])) {
			return nil
		}
	}
	return g.failed("The gpg_whitelist does not include the public key of the signature of \""+g.Version+"\"", out, args)
}

// archived writes the archive that is asked for, and returns out.
func (g *checkout) archived(out *Result) (*Result, error) {
	if g.Archive == "" || g.Check {
		return out, nil
	}
	dest := g.abs(g.Archive)
	format := ""
	for _, ext := range []string{"tar", "tar.gz", "zip", "tgz"} {
		if strings.HasSuffix(dest, "."+ext) {
			format = ext
		}
	}
	if format == "" {
		f := Failf("Unable to get file extension from archive file name : %s", g.Archive)
		f.With = NewResult(false).With("details", "Please specify archive as filename with extension. "+
			"File extension can be one of ['tar', 'tar.gz', 'zip', 'tgz']").Dict
		f.With.Delete("changed")
		return nil, f
	}
	made, err := os.CreateTemp(g.TmpDir, "archive")
	if err != nil {
		return nil, Failf("cannot make the archive: %v", err)
	}
	defer os.Remove(made.Name())
	defer made.Close()
	args := []string{"archive", "--format=" + format}
	if g.ArchivePrefix != "" {
		args = append(args, "--prefix="+g.ArchivePrefix)
	}
	if _, err := g.must(append(args, "--output="+made.Name(), g.Version)...); err != nil {
		return nil, err
	}
	now, err := checksum(made.Name(), "sha1")
	if err != nil {
		return nil, Failf("cannot read the archive: %v", err)
	}
	if old, err := checksum(dest, "sha1"); err == nil && old == now {
		return out, nil
	}
	if err := atomicfile.Write(dest, made, atomicfile.Options{Scratch: g.TmpDir}); err != nil {
		return nil, Failf("%v", err)
	}
	return out.Changed(true), nil
}
