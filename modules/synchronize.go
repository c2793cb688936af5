package modules

import (
	"path/filepath"
	"strconv"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// synchronizeArgs are the arguments of synchronize. Its action fills in how the
// host is reached.
type synchronizeArgs struct {
	Src          string   `arg:"src,required" doc:"what to copy; with a / at the end, its content"`
	Dest         string   `arg:"dest,required" doc:"where to copy it"`
	DestPort     *int     `arg:"dest_port" doc:"the SSH port; the host's own by default"`
	Delete       bool     `arg:"delete,default=no" doc:"delete what the source does not have"`
	PrivateKey   *string  `arg:"private_key,type=path" doc:"the SSH key; the host's own by default"`
	RsyncPath    *string  `arg:"rsync_path" doc:"the rsync command on the other side"`
	Local        string   `arg:"_local_rsync_path,type=path,default=rsync" doc:"the rsync program on this side"`
	Archive      bool     `arg:"archive,default=yes" doc:"copy recursively, with links, modes, times, owners and groups"`
	Checksum     bool     `arg:"checksum,default=no" doc:"compare contents, not only sizes and times"`
	Compress     bool     `arg:"compress,default=yes" doc:"compress on the way"`
	ExistingOnly bool     `arg:"existing_only,default=no" doc:"make no new files"`
	Dirs         bool     `arg:"dirs,default=no" doc:"copy folders without their content"`
	Recursive    *bool    `arg:"recursive" doc:"copy what is in folders; as archive says by default"`
	Links        *bool    `arg:"links" doc:"copy links as links; as archive says by default"`
	CopyLinks    bool     `arg:"copy_links,default=no" doc:"copy what links point to"`
	Perms        *bool    `arg:"perms" doc:"keep modes; as archive says by default"`
	Times        *bool    `arg:"times" doc:"keep times; as archive says by default"`
	Owner        *bool    `arg:"owner" doc:"keep owners; as archive says by default"`
	Group        *bool    `arg:"group" doc:"keep groups; as archive says by default"`
	SetUser      bool     `arg:"set_remote_user,default=yes" doc:"log in as the host's user"`
	Timeout      int      `arg:"rsync_timeout,default=0" doc:"seconds without data after which to give up; 0: never"`
	Opts         []string `arg:"rsync_opts,default=" doc:"further options of rsync"`
	SSHArgs      *string  `arg:"ssh_args" doc:"further options of ssh"`
	Multiplex    bool     `arg:"ssh_connection_multiplexing,default=no" doc:"let ssh share a connection"`
	Partial      bool     `arg:"partial,default=no" doc:"keep files that were cut off"`
	VerifyHost   bool     `arg:"verify_host,default=no" doc:"check the host's key"`
	Delay        bool     `arg:"delay_updates,default=yes" doc:"put files in place at the end"`
	Mode         string   `arg:"mode,default=push,choices=pull|push" doc:"whether the host gets or gives"`
	LinkDest     []string `arg:"link_dest" doc:"folders whose equal files are linked to"`
}

func synchronize() Module {
	return Define("synchronize", "Copy trees with rsync", runSynchronize).In("ansible.posix")
}

// syncMark stands in front of each line that tells of a change.
const syncMark = "<<CHANGED>>"

func runSynchronize(c *Call, args *synchronizeArgs) (*Result, error) {
	if strings.HasPrefix(args.Src, "rsync://") && strings.HasPrefix(args.Dest, "rsync://") {
		return nil, &Failure{Msg: "either src or dest must be a localhost", With: value.DictOf("rc", 1)}
	}
	line, err := args.commandLine(c)
	if err != nil {
		return nil, err
	}
	argv, err := shellquote.Split(line)
	if err != nil {
		return nil, Failf("cannot read the options of rsync: %v", err)
	}
	out, err := c.tool(argv...)
	if err != nil {
		return nil, err
	}
	if out.failed() {
		return nil, &Failure{Msg: out.errOut, With: value.DictOf("rc", out.rc, "cmd", line)}
	}
	changed := strings.Contains(out.out, syncMark)
	if len(args.LinkDest) > 0 {
		changed = !strings.Contains(out.out, syncMark+".")
	}
	text := strings.ReplaceAll(out.out, syncMark, "")
	result := NewResult(changed).With("msg", text).With("rc", out.rc).With("cmd", line).With("stdout_lines", stringList(outLines(text)))
	if c.Diff {
		result.Set("diff", value.DictOf("prepared", text))
	}
	return result, nil
}

// commandLine is the call of rsync as a shell would take it.
func (a *synchronizeArgs) commandLine(c *Call) (string, error) {
	program, err := c.needTool(a.Local)
	if err != nil {
		return "", err
	}
	words := append([]string{program}, a.flags(c.Check)...)
	remote := strings.Contains(a.Src+a.Dest, ":") && !strings.HasPrefix(a.Src, "rsync://") && !strings.HasPrefix(a.Dest, "rsync://")
	if remote && !strings.Contains(strings.Join(a.Opts, " "), "--rsh") {
		rsh, err := a.rsh(c)
		if err != nil {
			return "", err
		}
		words = append(words, "--rsh="+shellquote.Quote(rsh))
	}
	if a.RsyncPath != nil && *a.RsyncPath != "" {
		words = append(words, "--rsync-path="+shellquote.Quote(*a.RsyncPath))
	}
	words = append(words, a.Opts...)
	if a.Partial {
		words = append(words, "--partial")
	}
	if len(a.LinkDest) > 0 {
		words = append(words, "-H", "-vv")
	}
	for _, dir := range a.LinkDest {
		path, dest := c.abs(homed(c, dir)), filepath.Dir(c.abs(a.Dest))
		if strings.HasPrefix(dest, path) {
			return "", Failf("Hardlinking into a subdirectory of the source would cause recursion. %s and %s", dest, a.Dest)
		}
		words = append(words, "--link-dest="+path)
	}
	words = append(words, "--out-format="+shellquote.Quote(syncMark+"%i %n%L"))
	for _, path := range []string{a.Src, a.Dest} {
		if !strings.Contains(path, "@") {
			path = homed(c, path)
		}
		words = append(words, shellquote.Quote(path))
	}
	return strings.Join(words, " "), nil
}

// homed replaces ~ by the user's home.
func homed(c *Call, path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok || path == "~" {
		return filepath.Join(c.Home, rest) + strings.Repeat("/", boolInt(strings.HasSuffix(path, "/")))
	}
	return path
}

// flags are the options that are switched on or off.
func (a *synchronizeArgs) flags(check bool) []string {
	var words []string
	add := func(on bool, more ...string) {
		if on {
			words = append(words, more...)
		}
	}
	add(a.Delay, "--delay-updates", "-F")
	add(a.Compress, "--compress")
	add(a.Timeout != 0, "--timeout="+strconv.Itoa(a.Timeout))
	add(check, "--dry-run")
	add(a.Delete, "--delete-after")
	add(a.ExistingOnly, "--existing")
	add(a.Checksum, "--checksum")
	add(a.CopyLinks, "--copy-links")
	add(a.Archive, "--archive")
	for _, part := range []struct {
		name string
		on   *bool
	}{{"recursive", a.Recursive}, {"links", a.Links}, {"perms", a.Perms}, {"times", a.Times}, {"owner", a.Owner}, {"group", a.Group}} {
		add(a.Archive && part.on != nil && !*part.on, "--no-"+part.name)
		add(!a.Archive && part.on != nil && *part.on, "--"+part.name)
	}
	add(a.Dirs, "--dirs")
	return words
}

// rsh is the call of ssh.
func (a *synchronizeArgs) rsh(c *Call) (string, error) {
	program, err := c.needTool("ssh")
	if err != nil {
		return "", err
	}
	words := []string{program}
	if !a.Multiplex {
		words = append(words, "-S", "none")
	}
	if a.PrivateKey != nil {
		words = append(words, "-i", *a.PrivateKey)
	}
	if a.DestPort != nil {
		words = append(words, "-o", "Port="+strconv.Itoa(*a.DestPort))
	}
	if !a.VerifyHost {
		words = append(words, "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null")
	}
	line := shellquote.Join(words)
	if a.SSHArgs != nil && *a.SSHArgs != "" {
		line += " " + *a.SSHArgs
	}
	return line, nil
}
