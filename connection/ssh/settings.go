package ssh

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"play/connection"
	"play/connection/sshconfig"
)

// SettingError is a mistake in what the operator set; it fails every attempt.
type SettingError struct{ Msg string }

// Error gives the reason.
func (e *SettingError) Error() string { return e.Msg }

// settings is everything one connection needs, resolved.
type settings struct {
	name           string // inventory name, for messages
	host           string
	port           int
	user           string
	password       string
	keyFiles       []string // named by the operator, tried first
	defaultKeys    []string // tried last
	certFiles      []string
	identitiesOnly bool
	agentSock      string
	forward        bool     // the ssh-agent is offered to the host
	methods        []string // allowed ways to authenticate, in order
	knownHosts     []string // files; the first takes new keys
	strict         strictness
	hashNew        bool
	keyAlias       string
	hostKeyAlgos   []string
	timeout        time.Duration
	aliveEvery     time.Duration // 0: never
	aliveMax       int
	jump           []string // bastions as [user@]host[:port], the nearest first
	proxyCommand   string
	target         *connection.Target
}

// strictness is what happens with a host key that is not known.
type strictness int

const (
	strictAsk strictness = iota // the person is asked; refused where there is none
	strictYes                   // refused
	acceptNew                   // recorded, unless another key is known
	strictOff                   // not checked
)

func (s *settings) address() string { return net.JoinHostPort(s.host, strconv.Itoa(s.port)) }

// id names the connection among bastions.
func (s *settings) id() string { return s.user + "@" + s.address() + " " + strings.Join(s.jump, ",") }

// reader reads options and keeps the first error.
type reader struct {
	values sshconfig.Values
	err    error
}

func (r *reader) list(name string) []string { return r.values[strings.ToLower(name)] }

func (r *reader) text(name, otherwise string) string {
	if values := r.list(name); len(values) > 0 {
		return values[0]
	}
	return otherwise
}

func (r *reader) number(name string, otherwise int) int {
	text := r.text(name, "")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil && r.err == nil {
		r.err = &SettingError{fmt.Sprintf("cannot use the ssh option %s=%q: it is not a number", name, text)}
	}
	return n
}

func (r *reader) yes(name string, otherwise bool) bool {
	switch strings.ToLower(r.text(name, "")) {
	case "yes", "true":
		return true
	case "no", "false":
		return false
	}
	return otherwise
}

// resolve works out the settings of a target: what the target says counts
// before the operator's files.
func (d *Dialer) resolve(t *connection.Target) (*settings, error) {
	files, err := d.files.load(d)
	if err != nil {
		return nil, err
	}
	given, err := givenValues(t)
	if err != nil {
		return nil, err
	}
	values, err := sshconfig.Resolve(files, sshconfig.Query{Host: t.Host(), LocalUser: d.User, Given: given,
		Exec: func(command string, found sshconfig.Values) bool { return d.matchExec(t, command, found) }})
	if err != nil {
		return nil, &SettingError{fmt.Sprintf("cannot read the ssh configuration: %v", err)}
	}
	r := &reader{values: values}
	s := &settings{name: t.Name, target: t, password: t.Password}
	d.resolveAddress(r, s, t)
	d.resolveLogin(r, s, t)
	d.resolveHostKeys(r, s, t)
	s.timeout = time.Duration(r.number("ConnectTimeout", 0)) * time.Second
	if t.Timeout > 0 || s.timeout <= 0 {
		s.timeout = t.ConnectTimeout()
	}
	s.aliveEvery = time.Duration(r.number("ServerAliveInterval", 15)) * time.Second
	s.aliveMax = max(r.number("ServerAliveCountMax", 4), 1)
	if jump := r.text("ProxyJump", ""); jump != "" && !strings.EqualFold(jump, "none") {
		s.jump = strings.Split(jump, ",")
	}
	if command := r.text("ProxyCommand", ""); !strings.EqualFold(command, "none") && s.jump == nil {
		s.proxyCommand = command
	}
	return s, r.err
}

// givenValues are the target's own values by ssh_config name.
func givenValues(t *connection.Target) (sshconfig.Values, error) {
	given := sshconfig.Values{}
	for name, value := range t.Options {
		switch {
		case !slices.Contains(knownOptions, name):
			return nil, &SettingError{fmt.Sprintf("cannot honour the ssh option %q: it is not supported", name)}
		case name == "userknownhostsfile" || name == "globalknownhostsfile":
			given[name] = strings.Fields(value)
		default:
			given[name] = strings.Split(value, "\n")
		}
	}
	if t.User != "" {
		given["user"] = []string{t.User}
	}
	if t.Port != 0 {
		given["port"] = []string{strconv.Itoa(t.Port)}
	}
	return given, nil
}

// matchExecLimit bounds a command of "Match exec".
const matchExecLimit = 10 * time.Second

// matchExec runs a command of "Match exec".
func (d *Dialer) matchExec(t *connection.Target, command string, found sshconfig.Values) bool {
	ctx, cancel := context.WithTimeout(context.Background(), matchExecLimit)
	defer cancel()
	s := &settings{target: t}
	d.resolveAddress(&reader{values: found}, s, t)
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", d.expand(command, s))
	cmd.WaitDelay = time.Second
	return cmd.Run() == nil
}

func (d *Dialer) resolveAddress(r *reader, s *settings, t *connection.Target) {
	s.host = strings.ReplaceAll(strings.ReplaceAll(r.text("HostName", t.Host()), "%h", t.Host()), "%%", "%")
	s.port = r.number("Port", 22)
	s.user = r.text("User", d.User)
	s.keyAlias = r.text("HostKeyAlias", "")
}

// defaultIdentities are OpenSSH's, in its order.
var defaultIdentities = [...]string{"id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk"}

func (d *Dialer) resolveLogin(r *reader, s *settings, t *connection.Target) {
	s.keyFiles = append(s.keyFiles, t.KeyFiles...)
	s.keyFiles = append(s.keyFiles, r.list("IdentityFile")...)
	for i, file := range s.keyFiles {
		s.keyFiles[i] = d.expand(file, s)
	}
	for _, file := range r.list("CertificateFile") {
		s.certFiles = append(s.certFiles, d.expand(file, s))
	}
	s.keyFiles = slices.DeleteFunc(s.keyFiles, func(f string) bool { return strings.EqualFold(f, "none") })
	if len(s.keyFiles) == 0 {
		for _, name := range defaultIdentities {
			s.defaultKeys = append(s.defaultKeys, filepath.Join(d.Home, ".ssh", name))
		}
	}
	s.identitiesOnly = r.yes("IdentitiesOnly", false)
	switch sock := r.text("IdentityAgent", ""); sock {
	case "", "SSH_AUTH_SOCK":
		s.agentSock = d.AgentSock
	case "none":
	default:
		s.agentSock = d.expand(sock, s)
	}
	s.forward = s.agentSock != "" && r.yes("ForwardAgent", false)
	preferred := strings.Split(r.text("PreferredAuthentications", "publickey,keyboard-interactive,password"), ",")
	option := map[string]string{"publickey": "PubkeyAuthentication", "keyboard-interactive": "KbdInteractiveAuthentication", "password": "PasswordAuthentication"}
	for _, method := range preferred {
		if name, ok := option[method]; ok && r.yes(name, true) {
			s.methods = append(s.methods, method)
		}
	}
}

func (d *Dialer) resolveHostKeys(r *reader, s *settings, t *connection.Target) {
	user, global := r.list("UserKnownHostsFile"), r.list("GlobalKnownHostsFile")
	if user == nil {
		user = []string{"~/.ssh/known_hosts", "~/.ssh/known_hosts2"}
	}
	if global == nil {
		global = []string{"/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"}
	}
	for _, file := range slices.Concat(user, global) {
		if file != "none" {
			s.knownHosts = append(s.knownHosts, d.expand(file, s))
		}
	}
	switch strings.ToLower(r.text("StrictHostKeyChecking", "")) {
	case "no", "off":
		s.strict = strictOff
	case "accept-new":
		s.strict = acceptNew
	case "yes":
		s.strict = strictYes
	}
	if t.AcceptNew && s.strict != strictOff {
		s.strict = acceptNew
	}
	if !t.HostKeyChecking {
		s.strict = strictOff
	}
	s.hashNew = r.yes("HashKnownHosts", false)
	if algos := r.text("HostKeyAlgorithms", ""); algos != "" && !strings.ContainsAny(algos, "+-^*") {
		s.hostKeyAlgos = strings.Split(algos, ",")
	}
}

// expand replaces ~, ${VARIABLES} and tokens in a file name, as ssh does.
func (d *Dialer) expand(path string, s *settings) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(d.Home, rest)
	}
	local, _ := os.Hostname()
	short, _, _ := strings.Cut(local, ".")
	alias := s.keyAlias
	if alias == "" {
		alias = s.target.Host()
	}
	path = strings.NewReplacer("%%", "%", "%d", d.Home, "%h", s.host, "%n", s.target.Host(), "%p", strconv.Itoa(s.port),
		"%r", s.user, "%u", d.User, "%l", local, "%L", short, "%i", strconv.Itoa(os.Getuid()), "%k", alias).Replace(path)
	return d.variables(path)
}

// variables replaces ${NAME} by the operator's environment.
func (d *Dialer) variables(text string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed || d.Getenv == nil {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(before + d.Getenv(name))
		text = after
	}
}

// configFiles reads each ssh_config once for a whole run.
type configFiles struct {
	once  sync.Once
	files []*sshconfig.File
	err   error
}

func (c *configFiles) load(d *Dialer) ([]*sshconfig.File, error) {
	c.once.Do(func() {
		for _, path := range d.ConfigFiles {
			f, err := sshconfig.Read(path, filepath.Dir(path), d.Home)
			if err != nil {
				c.err = &SettingError{fmt.Sprintf("cannot read the ssh configuration: %v", err)}
				return
			}
			c.files = append(c.files, f)
		}
	})
	return c.files, c.err
}
