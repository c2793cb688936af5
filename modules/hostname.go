package modules

import (
	"os"
	"regexp"
	"strings"
	"time"

	"play/modules/facts"
	"play/modules/value"
)

// hostnameArgs are the arguments of hostname.
type hostnameArgs struct {
	Name string  `arg:"name,required" doc:"the name"`
	Use  *string `arg:"use,choices=alpine|debian|freebsd|generic|macos|macosx|darwin|openbsd|openrc|redhat|sles|solaris|systemd" doc:"how to set it; found out when absent"`
}

func hostname() Module {
	return Define("hostname", "Set the host name, now and for the next boots", runHostname)
}

// hostNaming reads and sets the two names of a machine: the one it has now and
// the one it boots with.
type hostNaming struct {
	*Call
	how string
}

func runHostname(c *Call, args *hostnameArgs) (*Result, error) {
	n := &hostNaming{Call: c, how: c.hostnameMeans()}
	if args.Use != nil {
		n.how = *args.Use
	}
	if args.Use != nil && *args.Use == "debian" { // asked for, it means what Debian starts with
		n.how = "systemd"
	}
	if n.how == "systemd" && len(args.Name) > 64 {
		return nil, Failf("Hostname cannot be longer than 64 characters on systemd servers, try a shorter name")
	}
	current, err := n.get("transient")
	if err != nil {
		return nil, err
	}
	permanent, err := n.get("static")
	if err != nil {
		return nil, err
	}
	changed := false
	for _, kind := range []string{"static", "transient"} {
		differs, err := n.bring(kind, args.Name)
		if err != nil {
			return nil, err
		}
		changed = changed || differs
	}
	out := NewResult(changed).With("name", args.Name).With("ansible_facts", c.hostnameFacts(args.Name))
	if changed {
		before := permanent
		if permanent == args.Name {
			before = current
		}
		out.Set("diff", value.DictOf("after", "hostname = "+args.Name+"\n", "before", "hostname = "+before+"\n"))
	}
	return out, nil
}

// hostnameMeans finds out how this system keeps its name.
func (c *Call) hostnameMeans() string {
	switch {
	case c.serviceManager() == "systemd" && c.findTool("hostnamectl") != "":
		return "systemd"
	case exists("/etc/alpine-release"):
		return "alpine"
	case exists("/sbin/openrc"):
		return "openrc"
	case exists("/etc/sysconfig/network"):
		return "redhat"
	case exists("/etc/HOSTNAME"):
		return "sles"
	}
	return "debian"
}

func (c *Call) hostnameFacts(name string) *value.Dict {
	short, _, _ := strings.Cut(name, ".")
	known := value.DictOf("ansible_hostname", short, "ansible_nodename", name)
	h := &facts.Host{Env: c.Env, Now: time.Now, UID: os.Getuid(), GID: os.Getgid(), Run: c.factTool}
	found, err := facts.Gather(c, h, []string{"!all", "!min", "platform"}, 10*time.Second)
	if err != nil {
		return known
	}
	for _, fact := range []string{"fqdn", "domain"} {
		if v, ok := found.Facts.Get(fact); ok {
			known.Set("ansible_"+fact, v)
		}
	}
	return known
}

func (n *hostNaming) bring(kind, name string) (differs bool, err error) {
	have, err := n.get(kind)
	if err != nil || have == name {
		return false, err
	}
	if n.Check {
		return true, nil
	}
	return true, n.set(kind, name)
}

func (n *hostNaming) run(argv ...string) (string, error) {
	out, err := n.tool(argv...)
	if err == nil && out.failed() {
		err = Failf("Command failed rc=%d, out=%s, err=%s", out.rc, out.out, out.errOut)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(out.out), nil
}

func (n *hostNaming) get(kind string) (string, error) {
	switch {
	case n.how == "systemd":
		return n.run("hostnamectl", "--"+kind, "status")
	case kind == "transient":
		return n.run("hostname")
	}
	path, pattern := n.file()
	if path == "" {
		return "", Failf("cannot keep a host name by '%s' on this system", n.how)
	}
	data, err := os.ReadFile(path)
	if m := pattern.FindStringSubmatch(string(data)); err == nil && m != nil {
		return strings.Trim(m[1], `"'`), nil
	}
	if n.how == "redhat" {
		return "", Failf("Unable to locate HOSTNAME entry in %s", path)
	}
	return "", nil // no name is kept yet
}

// file is where the name for the next boots stands, and the pattern of its line.
func (n *hostNaming) file() (path string, pattern *regexp.Regexp) {
	switch n.how {
	case "debian", "alpine", "generic":
		return "/etc/hostname", regexp.MustCompile(`(?m)^\s*([^#\s]\S*)\s*$`)
	case "redhat":
		return "/etc/sysconfig/network", regexp.MustCompile(`(?m)^HOSTNAME=(.*)$`)
	case "openrc":
		return "/etc/conf.d/hostname", regexp.MustCompile(`(?m)^hostname=(.*)$`)
	case "sles":
		return "/etc/HOSTNAME", regexp.MustCompile(`(?m)^\s*([^#\s]\S*)\s*$`)
	}
	return "", nil
}

func (n *hostNaming) set(kind, name string) error {
	var err error
	switch {
	case n.how == "systemd" && kind == "static":
		_, err = n.run("hostnamectl", "--pretty", "--static", "set-hostname", name)
	case n.how == "systemd":
		_, err = n.run("hostnamectl", "--transient", "set-hostname", name)
	case kind == "transient":
		_, err = n.run("hostname", name)
	default:
		err = n.setFile(name)
	}
	return err
}

func (n *hostNaming) setFile(name string) error {
	path, pattern := n.file()
	text := name + "\n"
	if line := map[string]string{"redhat": "HOSTNAME=" + name, "openrc": `hostname="` + name + `"`}[n.how]; line != "" {
		data, err := os.ReadFile(path)
		if err == nil && pattern.Match(data) {
			text = pattern.ReplaceAllLiteralString(string(data), line)
		} else {
			text = string(data) + line + "\n"
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return Failf("failed to update hostname: %v", err)
	}
	return nil
}
