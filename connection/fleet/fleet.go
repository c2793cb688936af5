// Package fleet is a fleet of SSH hosts inside one process, to try play on and
// to test it: each host listens at a loopback address of its own, has a host
// key and a home folder of its own, runs commands by /bin/sh as the user who
// started the fleet, and misbehaves on demand. Flowing in: how many hosts, and
// a folder. Flowing out: running servers, an inventory and keys. It needs no
// root, listens on loopback only, and is no security boundary: its hosts share
// the machine.
package fleet

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// Options say what fleet to make.
type Options struct {
	Dir      string // where homes, keys and the inventory go; must exist
	Hosts    int    // how many; they are named web1, web2, …
	Password string // accepted for every user; "": public keys only
	// Authorized are further keys that log in everywhere.
	Authorized []ssh.PublicKey
	Shell      string // the users' login shell; "": /bin/sh
	// Sudo puts a stand-in for sudo first in PATH, which runs commands as the
	// same user with a home of the other one's. SudoPassword is what it asks
	// for; "": nothing. A stand-in for shutdown stands beside it, which reboots
	// the host.
	Sudo         bool
	SudoPassword string
}

// Fleet is a running fleet.
type Fleet struct {
	Hosts      []*Host
	Dir        string
	Inventory  string // path of an inventory for play and for ansible
	Key        string // path of the private key that every host accepts
	KnownHosts string // path of the file with all host keys
	User       string // the name to log in with
	options    Options
	authorized []ssh.PublicKey
}

// New starts a fleet. Close ends it.
func New(o Options) (*Fleet, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	f := &Fleet{
		Dir: dir, Inventory: filepath.Join(dir, "inventory.ini"), Key: filepath.Join(dir, "id_ed25519"),
		KnownHosts: filepath.Join(dir, "known_hosts"), User: "play", options: o,
	}
	if u, err := user.Current(); err == nil {
		f.User = u.Username
	}
	if err := f.prepare(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Close ends all hosts, their connections and the processes on them.
func (f *Fleet) Close() {
	for _, h := range f.Hosts {
		h.shut()
	}
	for _, h := range f.Hosts {
		h.wait.Wait()
	}
}

func (f *Fleet) prepare() error {
	signer, err := f.writeKey()
	if err != nil {
		return err
	}
	f.authorized = append(f.options.Authorized, signer.PublicKey())
	if f.options.Sudo {
		if err := f.writeSudo(); err != nil {
			return err
		}
	}
	var known strings.Builder
	for i := range f.options.Hosts {
		h, err := f.newHost(i)
		if err != nil {
			return err
		}
		f.Hosts = append(f.Hosts, h)
		known.WriteString(knownhosts.Line([]string{h.addr()}, h.key.PublicKey()) + "\n")
	}
	if err := os.WriteFile(f.KnownHosts, []byte(known.String()), 0o600); err != nil {
		return err
	}
	return os.WriteFile(f.Inventory, []byte(f.inventory()), 0o600)
}

// writeKey makes the key pair that logs in everywhere.
func (f *Fleet) writeKey() (ssh.Signer, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, err
	}
	block, err := ssh.MarshalPrivateKey(private, "fleet")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(f.Key, pem.EncodeToMemory(block), 0o600); err != nil {
		return nil, err
	}
	return signer, os.WriteFile(f.Key+".pub", ssh.MarshalAuthorizedKey(signer.PublicKey()), 0o600)
}

// inventory names the hosts with all that is needed to reach them.
func (f *Fleet) inventory() string {
	var b strings.Builder
	b.WriteString("[web]\n")
	for _, h := range f.Hosts {
		fmt.Fprintf(&b, "%s ansible_host=%s ansible_port=%d\n", h.Name, h.Address, h.Port)
	}
	fmt.Fprintf(&b, "\n[all:vars]\nansible_user=%s\nansible_ssh_private_key_file=%q\n", f.User, f.Key)
	fmt.Fprintf(&b, "ansible_ssh_common_args='-o UserKnownHostsFile=%s -o IdentitiesOnly=yes'\n", f.KnownHosts)
	return b.String()
}

// newHost makes the i-th host and lets it listen.
func (f *Fleet) newHost(i int) (*Host, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	h := &Host{Name: "web" + strconv.Itoa(i+1), fleet: f, conns: map[net.Conn]bool{}}
	if h.key, err = ssh.NewSignerFromKey(private); err != nil {
		return nil, err
	}
	h.Home = filepath.Join(f.Dir, "hosts", h.Name, "home")
	if err := os.MkdirAll(h.Home, 0o700); err != nil {
		return nil, err
	}
	if f.options.Sudo {
		if err := os.WriteFile(h.BootID(), []byte("first\n"), 0o600); err != nil {
			return nil, err
		}
		h.wait.Go(h.obeyShutdown)
	}
	return h, h.listenAt(loopback(i))
}

// loopback is the i-th host's own address.
func loopback(i int) string { return fmt.Sprintf("127.0.%d.%d", 1+i/250, 1+i%250) }
