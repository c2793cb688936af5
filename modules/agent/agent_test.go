package agent_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"play/modules"
	"play/modules/agent"
	"play/modules/value"
	"play/modules/wire"
)

// controller speaks to an agent frame by frame.
type controller struct {
	t     *testing.T
	in    *io.PipeWriter // the agent's input
	w     *wire.Writer
	r     *wire.Reader
	ended chan error
}

func start(t *testing.T, config agent.Config) *controller {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &controller{t: t, in: inW, w: wire.NewWriter(inW), ended: make(chan error, 1)}
	if config.Env == nil {
		config.Env = os.Environ()
	}
	go func() {
		err := agent.Serve(context.Background(), inR, outW, config)
		inR.Close()
		outW.Close()
		c.ended <- err
	}()
	magic := make([]byte, len(wire.Magic))
	if _, err := io.ReadFull(outR, magic); err != nil || string(magic) != wire.Magic {
		t.Fatalf("%q %v", magic, err)
	}
	c.r = wire.NewReader(outR)
	if f := c.next(); f.Kind != wire.KindHello {
		t.Fatalf("first frame %+v", f)
	}
	t.Cleanup(func() { inW.Close(); outR.Close() })
	return c
}

func (c *controller) greet() *controller {
	c.w.Write(wire.KindHello, 0, &wire.Hello{Version: wire.Version})
	return c
}

// next reads a frame; the end of the stream gives one of kind 0.
func (c *controller) next() *wire.Frame {
	f, err := c.r.Next()
	if err != nil {
		return &wire.Frame{}
	}
	return f
}

func (c *controller) reply() *value.Dict {
	c.t.Helper()
	f := c.next()
	r, err := f.Reply()
	if f.Kind != wire.KindReply || err != nil {
		c.t.Fatalf("%+v %v", f, err)
	}
	v, err := value.DecodeJSON(r.Result)
	if err != nil {
		c.t.Fatal(err)
	}
	return v.(*value.Dict)
}

func get(d *value.Dict, name string) any {
	v, _ := d.Get(name)
	return v
}

func TestControllersThatBreakTheRules(t *testing.T) {
	t.Parallel()
	ping := &wire.Call{Module: "ping"}
	cases := map[string]struct {
		play func(c *controller)
		want string
	}{
		"other version": {func(c *controller) { c.w.Write(wire.KindHello, 0, &wire.Hello{Version: 9}) }, "the agent speaks protocol version 1 and play speaks version 9"},
		"no hello":      {func(c *controller) { c.w.Write(wire.KindCall, 1, ping) }, "no hello"},
		"two hellos":    {func(c *controller) { c.greet().greet() }, "a second hello"},
		"an id again": {func(c *controller) {
			c.greet().w.Write(wire.KindCall, 1, ping)
			c.next()
			c.w.Write(wire.KindCall, 1, ping)
		}, "call 1 after call 1"},
		"cancel of no call":  {func(c *controller) { c.greet().w.Write(wire.KindCancel, 5, nil) }, "never made"},
		"content of no call": {func(c *controller) { c.greet().w.Write(wire.KindData, 5, []byte("x")) }, "never made"},
		"a reply":            {func(c *controller) { c.greet().w.Write(wire.KindReply, 1, &wire.Reply{}) }, "from a controller"},
		"parts for old calls": {func(c *controller) {
			c.greet().w.Write(wire.KindCall, 3, ping)
			c.next()
			c.w.Write(wire.KindPart, 2, []byte("x"))
		}, "which was made before"},
		"a giant frame": {func(c *controller) { c.greet(); c.in.Write([]byte{0xff, 0, 0, 0}) }, "4278190080 bytes"},
		"silence":       {func(c *controller) { c.greet() }, "the controller was silent for 300ms"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := agent.Config{Modules: modules.All()}
			if name == "silence" {
				config.Idle = 300 * time.Millisecond
			}
			c := start(t, config)
			tc.play(c)
			f := c.next()
			why, err := f.Text()
			if f.Kind != wire.KindBye || err != nil || !strings.Contains(why, tc.want) {
				t.Errorf("kind %d, %q, %v", f.Kind, why, err)
			}
			if err := <-c.ended; err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestByeAndEndOfInputAreNoErrors(t *testing.T) {
	t.Parallel()
	c := start(t, agent.Config{}).greet()
	c.w.Write(wire.KindBye, 0, "done")
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
	c = start(t, agent.Config{}).greet()
	c.in.Close()
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

// awaitPID waits for a file with the number of a process.
func awaitPID(t *testing.T, path string) (pid int) {
	t.Helper()
	for range 3000 {
		data, _ := os.ReadFile(path)
		if n, _ := fmt.Sscan(string(data), &pid); n == 1 {
			return pid
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not come", path)
	return 0
}

func TestEndOfInputEndsWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	c := start(t, agent.Config{Modules: modules.All(), TmpParents: []string{dir}}).greet()
	c.w.Write(wire.KindCall, 1, &wire.Call{Module: "shell", Args: []byte(`{"_raw_params": "echo $$ >` + started + `.new; mv ` + started + `.new ` + started + `; sleep 300; :"}`)})
	pid := awaitPID(t, started)
	c.in.Close()
	go func() {
		for c.next().Kind != 0 {
		}
	}()
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("the command goes on without a controller")
	}
	left, _ := filepath.Glob(filepath.Join(dir, "play-agent-*"))
	if len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// secretive shows its secret in every way it can.
func secretive() modules.Module {
	type args struct {
		Token string `arg:"token,nolog"`
		How   string `arg:"how"`
	}
	return modules.Define("secretive", "Leak", func(c *modules.Call, a *args) (*modules.Result, error) {
		io.WriteString(c.Output, a.Token)
		switch a.How {
		case "fail":
			return nil, modules.Failf("cannot use %s", a.Token)
		case "panic":
			panic("with " + a.Token)
		}
		return modules.NewResult(true).With("in", value.DictOf(a.Token, value.NewList("x"+a.Token+"y", a.Token))), nil
	})
}

func TestSecretsAreInNoResult(t *testing.T) {
	t.Parallel()
	const canary = "c4n4ry"
	c := start(t, agent.Config{Modules: []modules.Module{secretive()}}).greet()
	for i, args := range []string{`"how": "ok"`, `"how": "fail"`, `"how": "panic"`, `"how": "c4n4ry"`, `"hwo": "c4n4ry"`, `"how": {"a": "c4n4ry"}`} {
		call := &wire.Call{Module: "secretive", Args: []byte(`{"token": "` + canary + `", ` + args + `}`), Live: true}
		if err := c.w.Write(wire.KindCall, uint32(i+1), call); err != nil {
			t.Fatal(err)
		}
		f := c.next()
		if f.Kind != wire.KindReply || bytes.Contains(f.Payload, []byte(canary)) {
			t.Errorf("%s: kind %d, %q", args, f.Kind, f.Payload)
		}
	}
}

func TestResultOfOneModule(t *testing.T) {
	t.Parallel()
	c := start(t, agent.Config{Modules: []modules.Module{secretive()}}).greet()
	c.w.Write(wire.KindCall, 1, &wire.Call{Module: "secretive", Args: []byte(`{"token": "t0p", "_ansible_verbosity": 3}`)})
	want := "{'changed': True, 'in': {'********': ['x********y', 'VALUE_SPECIFIED_IN_NO_LOG_PARAMETER']}, " +
		"'invocation': {'module_args': {'token': 'VALUE_SPECIFIED_IN_NO_LOG_PARAMETER', 'how': None}}}"
	if got := value.Repr(c.reply()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCheckModeOfModulesWithoutIt(t *testing.T) {
	t.Parallel()
	m := modules.Define("act", "Act", func(*modules.Call, *struct{}) (*modules.Result, error) {
		t.Error("the module ran")
		return modules.NewResult(true), nil
	}).NoCheck()
	c := start(t, agent.Config{Modules: []modules.Module{m}}).greet()
	c.w.Write(wire.KindCall, 1, &wire.Call{Module: "act", Check: true})
	if got := c.reply(); get(got, "skipped") != true || get(got, "msg") != "remote module (act) does not support check mode" {
		t.Errorf("got %s", value.Repr(got))
	}
}

func TestModulesThatDoNotListen(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	m := modules.Define("deaf", "Wait", func(*modules.Call, *struct{}) (*modules.Result, error) {
		<-release
		return modules.NewResult(false), nil
	})
	c := start(t, agent.Config{Modules: []modules.Module{m}}).greet()
	c.w.Write(wire.KindCall, 1, &wire.Call{Module: "deaf", Timeout: 0.1})
	began := time.Now()
	if got := c.reply(); get(got, "failed") != true {
		t.Errorf("got %s", value.Repr(got))
	}
	if took := time.Since(began); took > 40*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestBadJSON(t *testing.T) {
	t.Parallel()
	c := start(t, agent.Config{Modules: modules.All()}).greet()
	for i, args := range []string{"{", "[]", `{"a":`, "\xff"} {
		c.w.Write(wire.KindCall, uint32(i+1), &wire.Call{Module: "ping", Args: []byte(args)})
		if got := c.reply(); get(got, "failed") != true || !strings.HasPrefix(value.Str(get(got, "msg")), "cannot read the call's arguments") {
			t.Errorf("%q: %s", args, value.Repr(got))
		}
	}
}

func TestEnvironmentOfACall(t *testing.T) {
	t.Parallel()
	c := start(t, agent.Config{Modules: modules.All(), Env: []string{"PATH=" + os.Getenv("PATH"), "A=agent", "B=agent"}}).greet()
	c.w.Write(wire.KindCall, 1, &wire.Call{Module: "shell", Args: []byte(`{"_raw_params": "echo $A $B $C"}`), Env: []string{"A=task", "C=task"}})
	if got := get(c.reply(), "stdout"); got != "task agent task" {
		t.Errorf("got %q", got)
	}
}

func TestEveryModuleHasASpec(t *testing.T) {
	t.Parallel()
	// Serve panics when a module's tags are wrong or the list has a name twice.
	c := start(t, agent.Config{Modules: modules.All()}).greet()
	c.in.Close()
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}
