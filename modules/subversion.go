package modules

import (
	"strconv"
	"strings"

	"play/modules/pyre"
	"play/modules/value"
)

// subversionArgs are the arguments of subversion.
type subversionArgs struct {
	Dest       string `arg:"dest,type=path" doc:"folder of the working copy"`
	Repo       string `arg:"repo,required,aliases=name|repository" doc:"URL of the repository"`
	Revision   string `arg:"revision,default=HEAD,aliases=rev|version" doc:"revision to check out"`
	Force      bool   `arg:"force,default=no" doc:"drop local changes; overwrite when exporting"`
	Username   string `arg:"username" doc:"user to log in as"`
	Password   string `arg:"password,nolog" doc:"password of the user"`
	Executable string `arg:"executable,type=path" doc:"path of svn"`
	Export     bool   `arg:"export,default=no" doc:"export instead of checking out"`
	Checkout   bool   `arg:"checkout,default=yes" doc:"check out what is not there"`
	Update     bool   `arg:"update,default=yes" doc:"update what is there"`
	Switch     bool   `arg:"switch,default=yes" doc:"switch what is there to repo"`
	InPlace    bool   `arg:"in_place,default=no" doc:"check out into a folder that is there"`
	Validate   bool   `arg:"validate_certs,default=no" doc:"check the server's certificate"`
}

func subversion() Module {
	return Define("subversion", "Check out a subversion repository", runSubversion)
}

// svnCopy is one run of subversion.
type svnCopy struct {
	*Call
	*subversionArgs
	svn  string
	dest string
}

func runSubversion(c *Call, args *subversionArgs) (*Result, error) {
	s := &svnCopy{Call: c, subversionArgs: args, svn: args.Executable, dest: c.abs(args.Dest)}
	var err error
	if s.svn == "" {
		if s.svn, err = c.needTool("svn"); err != nil {
			return nil, err
		}
	}
	if args.Dest == "" && (args.Checkout || args.Update || args.Export) {
		return nil, Failf("the destination directory must be specified unless checkout=no, update=no, and export=no")
	}
	switch {
	case !args.Export && !args.Update && !args.Checkout:
		out, err := s.must("info", args.Repo)
		if err != nil {
			return nil, err
		}
		return NewResult(false).With("after", svnLine(out, svnRevision, "Unable to get remote revision")), nil
	case args.Export || !exists(s.dest):
		return s.fetch()
	}
	out, err := s.exec("info", s.dest)
	switch {
	case err != nil:
		return nil, err
	case out.rc == 0:
		return s.refresh()
	case args.InPlace:
		return s.overlay()
	}
	return nil, Failf("ERROR: %s folder already exists, but its not a subversion repository.", s.dest)
}

// exec runs svn; a password travels through its standard input.
func (s *svnCopy) exec(args ...string) (*toolOutcome, error) {
	argv := []string{s.svn, "--non-interactive", "--no-auth-cache"}
	if !s.Validate {
		argv = append(argv, "--trust-server-cert")
	}
	if s.Username != "" {
		argv = append(argv, "--username", s.Username)
	}
	if s.Password != "" {
		argv = append(argv, "--password-from-stdin")
	}
	return s.toolStdin(s.Password, append(argv, args...)...)
}

// must is exec for a command whose failure is the task's.
func (s *svnCopy) must(args ...string) (string, error) {
	out, err := s.exec(args...)
	if err != nil || !out.failed() {
		if err != nil {
			return "", err
		}
		return out.out, nil
	}
	shown := append([]string{s.svn, "--non-interactive", "--no-auth-cache"}, args...)
	if !s.Validate {
		shown = append(append(shown[:3:3], "--trust-server-cert"), args...)
	}
	return "", &Failure{Msg: strings.TrimRight(out.errOut, " \n"), With: value.DictOf(
		"cmd", strings.Join(shown, " "), "rc", out.rc, "stdout", out.out, "stderr", out.errOut)}
}

const (
	svnRevision = `^\w+\s?:\s+\d+$`
	svnURL      = `^URL\s?:.*$`
)

// svnLine is the first line of a form, or fallback.
func svnLine(text, pattern, fallback string) string {
	re, err := pyre.Compile(pattern, pyre.Multiline)
	if err != nil {
		return fallback
	}
	if m, err := re.Search(text); err == nil && m != nil {
		return m.Text()
	}
	return fallback
}

// fetch checks out or exports into a new folder.
func (s *svnCopy) fetch() (*Result, error) {
	if s.Check {
		return NewResult(true), nil
	}
	if !s.Export && !s.Checkout {
		return NewResult(false), nil
	}
	argv := []string{"checkout"}
	if s.Export {
		argv = []string{"export"}
		if s.Force {
			argv = append(argv, "--force")
		}
	}
	if _, err := s.must(append(argv, "-r", s.Revision, s.Repo, s.dest)...); err != nil {
		return nil, err
	}
	if s.Export {
		return NewResult(true), nil
	}
	return s.report(true, nil)
}

func (s *svnCopy) report(changed bool, before any) (*Result, error) {
	after, err := s.revision()
	return NewResult(changed).With("before", before).With("after", after), err
}

// revision is the working copy's revision and URL, as svn words them.
func (s *svnCopy) revision() (*value.List, error) {
	out, err := s.must("info", s.dest)
	if err != nil {
		return nil, err
	}
	return value.NewList(svnLine(out, svnRevision, "Unable to get revision"), svnLine(out, svnURL, "Unable to get URL")), nil
}

// modified tells whether files under version control were changed.
func (s *svnCopy) modified() (bool, error) {
	out, err := s.must("status", "--quiet", "--ignore-externals", s.dest)
	for line := range strings.Lines(out) {
		if line != "\n" && !strings.HasPrefix(line, "?") && !strings.HasPrefix(line, "X") {
			return true, err
		}
	}
	return false, err
}

// refresh brings a working copy to the revision.
func (s *svnCopy) refresh() (*Result, error) {
	if !s.Update {
		return NewResult(false), nil
	}
	local, err := s.modified()
	if err != nil {
		return nil, err
	}
	refused := Failf("ERROR: modified files exist in the repository.")
	if s.Check {
		if local && !s.Force {
			return nil, refused
		}
		return s.outlook()
	}
	before, err := s.revision()
	if err != nil {
		return nil, err
	}
	changed := local
	if s.Switch {
		out, err := s.must("switch", "--revision", s.Revision, s.Repo, s.dest)
		if err != nil {
			return nil, err
		}
		changed = changed || svnTouched(out)
	}
	if local {
		if !s.Force {
			return nil, refused
		}
		if _, err := s.must("revert", "-R", s.dest); err != nil {
			return nil, err
		}
	}
	out, err := s.must("update", "-r", s.Revision, s.dest)
	if err != nil {
		return nil, err
	}
	return s.report(changed || svnTouched(out), before)
}

// svnTouched tells whether svn lists a file that it has written or deleted.
func svnTouched(out string) bool {
	for line := range strings.Lines(out) {
		if len(line) > 1 && strings.ContainsRune("ABDUCGE", rune(line[0])) && (line[1] == ' ' || line[1] == '\t') {
			return true
		}
	}
	return false
}

// outlook tells whether the working copy is older than the revision.
func (s *svnCopy) outlook() (*Result, error) {
	now, err := s.must("info", s.dest)
	if err != nil {
		return nil, err
	}
	wanted, err := s.must("info", "-r", s.Revision, s.dest)
	if err != nil {
		return nil, err
	}
	before, after := svnLine(now, svnRevision, "Unable to get revision"), svnLine(wanted, svnRevision, "Unable to get revision")
	return NewResult(svnNumber(before) < svnNumber(after)).With("before", before).With("after", after), nil
}

func svnNumber(line string) int {
	_, digits, _ := strings.Cut(line, ":")
	n, _ := strconv.Atoi(strings.TrimSpace(digits)) // a line of svnRevision has one
	return n
}

// overlay checks out into a folder that holds other files.
func (s *svnCopy) overlay() (*Result, error) {
	if _, err := s.must("checkout", "--force", "-r", s.Revision, s.Repo, s.dest); err != nil {
		return nil, err
	}
	local, err := s.modified()
	if err != nil {
		return nil, err
	}
	if local && s.Force {
		if _, err := s.must("revert", "-R", s.dest); err != nil {
			return nil, err
		}
	}
	return s.report(true, nil)
}
