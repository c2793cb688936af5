package ssh_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"play/connection"
	"play/connection/fleet"
	"play/connection/ssh"
)

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestParseArgs(t *testing.T) {
	t.Parallel()
	cases := []struct {
		words []string
		want  map[string]string
		err   string
	}{
		{nil, map[string]string{}, ""},
		{[]string{"-o", "StrictHostKeyChecking=no", "-oUserKnownHostsFile=/dev/null", "-C"},
			map[string]string{"stricthostkeychecking": "no", "userknownhostsfile": "/dev/null"}, ""},
		{[]string{"-o", "ControlMaster=auto", "-o", "ControlPersist=60s"}, map[string]string{"controlmaster": "auto", "controlpersist": "60s"}, ""},
		{[]string{"-o", "Port 22", "-o", "port=23"}, map[string]string{"port": "22"}, ""},
		{[]string{"-i", "/a", "-i/b", "-J", "jump", "-p", "2222"}, map[string]string{"identityfile": "/a\n/b", "proxyjump": "jump", "port": "2222"}, ""},
		{[]string{"-o", `ProxyCommand="ssh -W %h:%p gw"`}, map[string]string{"proxycommand": "ssh -W %h:%p gw"}, ""},
		{[]string{"-A", "-o", "ForwardAgent=no"}, map[string]string{"forwardagent": "yes"}, ""},
		{[]string{"-o", "PKCS11Provider=x"}, nil, `cannot honour the ssh option "PKCS11Provider": it is not supported`},
		{[]string{"-L", "1:2:3"}, nil, `cannot honour the ssh argument "-L": it is not supported`},
		{[]string{"-o"}, nil, `cannot honour the ssh argument "-o": its value is missing`},
		{[]string{"-o", "Port"}, nil, `cannot honour the ssh option "Port": its value is missing`},
		{[]string{"host"}, nil, `cannot honour the ssh argument "host": only options are expected`},
	}
	for _, c := range cases {
		got, err := ssh.ParseArgs(c.words)
		if said := fmt.Sprint(err); c.err != "" && said != c.err || c.err == "" && err != nil {
			t.Errorf("%q: error %v, want %q", c.words, err, c.err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q: %s", c.words, d)
		}
	}
}

// TestConfigFile: the operator's ssh_config says where a host is and how to log in.
func TestConfigFile(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 1, fleet.Options{})
	h := f.Hosts[0]
	d := dialer(t)
	config := filepath.Join(d.Home, ".ssh", "config")
	mkdir(t, filepath.Dir(config))
	write(t, config, fmt.Sprintf("Host alias\n  HostName %s\n  Port %d\n  User %s\n  IdentityFile ~/${KEY}-%%r-%%n\n\nHost *\n  UserKnownHostsFile %s\n  Port 1\n",
		h.Address, h.Port, f.User, f.KnownHosts))
	write(t, filepath.Join(d.Home, "key-"+f.User+"-alias"), read(t, f.Key))
	d.Getenv = func(name string) string { return map[string]string{"KEY": "key"}[name] }
	d.ConfigFiles = []string{config, filepath.Join(d.Home, "absent")}
	to := &connection.Target{Name: "web1", Address: "alias", HostKeyChecking: true}
	if _, err := dial(t, d, to); err != nil {
		t.Error(err)
	}
	// What the inventory says counts more.
	to.Port = 2
	_, err := dial(t, d, to)
	wantError(t, err, "port 2: Connection refused")
}

func TestUnknownOption(t *testing.T) {
	t.Parallel()
	to := &connection.Target{Name: "web1", Retries: 5, Options: map[string]string{"tunnel": "yes"}}
	_, err := dial(t, dialer(t), to)
	wantError(t, err, `cannot honour the ssh option "tunnel"`)
}

// TestProxyJump: hosts behind a bastion share one connection to it.
func TestProxyJump(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 6, fleet.Options{})
	bastion, inner := f.Hosts[0], f.Hosts[1]
	d := dialer(t)
	jump := f.User + "@" + bastion.Addr()
	var wait sync.WaitGroup
	for _, h := range f.Hosts[2:] {
		wait.Go(func() {
			to := target(f, h)
			to.Options["proxyjump"] = jump + "," + inner.Addr()
			tr, err := dial(t, d, to)
			if err != nil {
				t.Errorf("%s: %v", h.Name, err)
				return
			}
			if _, err := tr.Start(t.Context(), "true"); err != nil {
				t.Errorf("%s: %v", h.Name, err)
			}
		})
	}
	wait.Wait()
	for _, h := range f.Hosts[:2] {
		if n := h.Logins(); n != 1 {
			t.Errorf("%d connections to the bastion %s, want 1", n, h.Name)
		}
	}
}

func TestProxyJumpLost(t *testing.T) {
	t.Parallel()
	f := newFleet(t, 2, fleet.Options{})
	if err := f.Hosts[0].SetFaults(fleet.Faults{Refuse: true}); err != nil {
		t.Fatal(err)
	}
	to := target(f, f.Hosts[1])
	to.Options["proxyjump"] = f.Hosts[0].Addr()
	_, err := dial(t, dialer(t), to)
	wantError(t, err, "cannot reach the jump host", f.Hosts[0].Addr(), "Connection refused")
}
