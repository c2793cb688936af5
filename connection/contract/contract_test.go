package contract_test

import (
	"context"
	"os"
	"testing"

	"play/connection"
	"play/connection/contract"
	"play/connection/fleet"
	"play/connection/local"
	"play/connection/ssh"
)

func TestMain(m *testing.M) {
	contract.Agent()
	os.Exit(contract.Main(m))
}

func TestLocal(t *testing.T) {
	t.Parallel()
	home := shortTempDir(t)
	suite(t, contract.Peer{Dial: func(context.Context) (connection.Transport, error) {
		return &local.Transport{Env: append(os.Environ(), "HOME="+home)}, nil
	}})
}

// suite is everything that is asked of a connection.
func suite(t *testing.T, p contract.Peer) {
	t.Run("transport", func(t *testing.T) { t.Parallel(); contract.Transport(t, p) })
	t.Run("agent", func(t *testing.T) { t.Parallel(); contract.Links(t, p) })
}

func TestFleet(t *testing.T) {
	t.Parallel()
	_, target := fleetTarget(t, fleet.Options{})
	suite(t, peer(t, target))
}

func TestSSHD(t *testing.T) {
	t.Parallel()
	suite(t, peer(t, sshdTarget(t)))
}

// peer connects to a target by ssh.
func peer(t *testing.T, target *connection.Target) contract.Peer {
	d := dialer(t)
	return contract.Peer{Dial: func(ctx context.Context) (connection.Transport, error) { return d.Dial(ctx, target) }}
}

func dialer(t *testing.T) *ssh.Dialer {
	d := &ssh.Dialer{Home: t.TempDir(), User: "nobody"}
	t.Cleanup(func() { d.Close() })
	return d
}

// fleetTarget starts a fleet of one host and returns how to reach it.
func fleetTarget(t *testing.T, o fleet.Options) (*fleet.Host, *connection.Target) {
	t.Helper()
	o.Dir, o.Hosts = shortTempDir(t), 1
	f, err := fleet.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	h := f.Hosts[0]
	return h, &connection.Target{
		Name: h.Name, Transport: "ssh", Address: h.Address, Port: h.Port, User: f.User, KeyFiles: []string{f.Key},
		HostKeyChecking: true, Options: map[string]string{"userknownhostsfile": f.KnownHosts},
	}
}
