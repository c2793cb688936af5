package modules

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// databaseCase is what testdata/database/record.py wrote: the answer of the
// collection's own module to the same arguments on a real server.
type databaseCase struct {
	Name        string
	Setup       string
	Files       map[string]string
	Args        json.RawMessage
	Check, Diff bool
	Result      map[string]any
	Probe       string
	After       []string
	Unlike      *struct { // where the native module answers differently: why, and what
		Why    string
		Result map[string]any
		After  []string
	}
}

// TestRecordedDatabases runs the recorded cases against a real server of the
// machine's own, on a Unix socket in a temporary folder.
func TestRecordedDatabases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/database/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	kinds := map[string]func(t *testing.T) *databaseServer{"mysql": mysqlServer, "postgresql": postgresqlServer}
	sets := map[string][]databaseSet{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		must(t, err)
		var set databaseSet
		must(t, json.Unmarshal(data, &set))
		sets[set.Server] = append(sets[set.Server], set)
	}
	for kind, sets := range sets {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			server := kinds[kind](t)
			for _, set := range sets {
				for _, c := range set.Cases {
					t.Run(set.Module+"/"+c.Name, func(t *testing.T) { c.run(t, server, Table(All())[set.Module]) })
				}
			}
		})
	}
}

type databaseSet struct {
	Module, Server string
	Cases          []databaseCase
}

func (c *databaseCase) run(t *testing.T, server *databaseServer, m Module) {
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o777))
	fill := strings.NewReplacer("{dir}", dir, "{sock}", server.sock).Replace
	for name, text := range c.Files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(fill(text)), 0o644))
	}
	server.run(t, fill(c.Setup))
	r := &recordedCase{Args: json.RawMessage(fill(string(c.Args))), Check: c.Check, Diff: c.Diff}
	top := t.TempDir()
	must(t, os.Mkdir(filepath.Join(top, "root"), 0o755))
	must(t, os.Mkdir(filepath.Join(top, "bin"), 0o755))
	if c.Unlike != nil {
		c.Result, c.After = c.Unlike.Result, c.Unlike.After
	}
	got := r.call(t, m, filepath.Join(top, "root"), top)
	got, want := refill(t, got, strings.NewReplacer(dir, "{dir}", server.sock, "{sock}").Replace), refill(t, c.Result, strings.Clone)
	if !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Errorf("result\n  got  %s\n  want %s", g, w)
	}
	if c.Probe == "" {
		return
	}
	if after := lines(server.run(t, fill(c.Probe))); !reflect.DeepEqual(after, c.After) {
		t.Errorf("left\n  got  %q\n  want %q", after, c.After)
	}
}

// refill brings a result into the recorded form.
func refill(t *testing.T, result map[string]any, clean func(string) string) map[string]any {
	t.Helper()
	data, err := json.Marshal(result)
	must(t, err)
	var out map[string]any
	must(t, json.Unmarshal([]byte(clean(string(data))), &out))
	for _, key := range []string{"invocation", "exception"} {
		delete(out, key)
	}
	if out["changed"] == false && out["failed"] == true {
		delete(out, "changed")
	}
	return out
}

func lines(text string) []string {
	out := []string{}
	for line := range strings.Lines(text) {
		out = append(out, strings.TrimSuffix(line, "\n"))
	}
	return out
}

// databaseServer is a running server and how statements get to it.
type databaseServer struct {
	sock   string
	client []string
}

func (s *databaseServer) run(t *testing.T, sql string) string {
	t.Helper()
	if sql == "" {
		return ""
	}
	cmd := exec.Command(s.client[0], s.client[1:]...)
	cmd.Stdin = strings.NewReader(sql)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", sql, err, stderr.String())
	}
	return string(out)
}

// need skips where the machine lacks a program, and returns its path.
func need(t *testing.T, name string, folders ...string) string {
	t.Helper()
	for _, pattern := range folders {
		if found, _ := filepath.Glob(filepath.Join(pattern, name)); len(found) > 0 {
			return found[len(found)-1]
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("the machine lacks %s", name)
	}
	return path
}

// serverFolder is a short path (a socket's may have 107 bytes) that the server's
// user owns.
func serverFolder(t *testing.T, user string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("starting a server as its own user needs root")
	}
	dir, err := os.MkdirTemp("", "db-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	if out, err := exec.Command("chown", user, dir).CombinedOutput(); err != nil {
		t.Skipf("the machine has no user %s: %s", user, out)
	}
	return dir
}

// launch starts a server and waits until it answers on its socket.
func launch(t *testing.T, socket string, argv ...string) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // what has ended already needs none
		select {
		case <-ended:
		case <-time.After(30 * time.Second):
			_ = cmd.Process.Kill()
		}
	})
	for limit := time.Now().Add(2 * time.Minute); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial("unix", socket); err == nil {
			conn.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s: %v\n%s", argv[0], err, log.String())
		default:
		}
	}
	t.Fatalf("%s does not answer on %s", argv[0], socket)
}

func mysqlServer(t *testing.T) *databaseServer {
	install, daemon, client := need(t, "mariadb-install-db"), need(t, "mariadbd", "/usr/sbin"), need(t, "mysql")
	dir := serverFolder(t, "mysql")
	out, err := exec.Command(install, "--no-defaults", "--datadir="+dir+"/data", "--user=mysql",
		"--auth-root-authentication-method=normal", "--skip-test-db").CombinedOutput()
	if err != nil {
		t.Fatalf("mariadb-install-db: %v\n%s", err, out)
	}
	sock := dir + "/sock"
	launch(t, sock, daemon, "--no-defaults", "--datadir="+dir+"/data", "--user=mysql", "--socket="+sock, "--skip-networking",
		"--pid-file="+dir+"/pid", "--character-set-server=utf8mb4")
	return &databaseServer{sock: sock, client: []string{client, "--no-defaults", "-S", sock, "-uroot", "-N", "-B"}}
}

func postgresqlServer(t *testing.T) *databaseServer {
	const versions = "/usr/lib/postgresql/*/bin"
	initdb, daemon, client := need(t, "initdb", versions), need(t, "postgres", versions), need(t, "psql")
	dir := serverFolder(t, "postgres")
	as := []string{need(t, "setpriv"), "--reuid=postgres", "--regid=postgres", "--clear-groups"}
	make := append(as[:len(as):len(as)], initdb, "-D", dir+"/data", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
	if out, err := exec.Command(make[0], make[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	launch(t, dir+"/.s.PGSQL.5432", append(as[:len(as):len(as)], daemon, "-D", dir+"/data", "-k", dir, "-h", "", "-F")...)
	s := &databaseServer{sock: dir, client: []string{client, "-X", "-q", "-A", "-t", "-h", dir, "-U", "postgres", "-v", "ON_ERROR_STOP=1"}}
	for limit := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) { // it listens before it is ready
		cmd := exec.Command(s.client[0], append(s.client[1:], "-c", "select 1")...)
		if cmd.Run() == nil {
			return s
		}
		if time.Now().After(limit) {
			t.Fatal("the server does not get ready")
		}
	}
}
