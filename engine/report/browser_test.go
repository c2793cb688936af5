package report_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tab is a page in a browser that is steered over pipes.
type tab struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	id      int
	session string
}

// openTab opens a page in Chromium and waits until its script has run.
func openTab(t *testing.T, page string) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, append(chromiumArgs(t), "--remote-debugging-pipe", "--window-size=1200,900", "about:blank")...)
	cmd.Env = append(os.Environ(), "HOME="+lasting(t))
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // 3 and 4
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	kill := func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // it may have ended
	limit := time.AfterFunc(2*time.Minute, kill)
	t.Cleanup(func() { limit.Stop(); kill(); _ = cmd.Wait(); _, _ = ourIn.Close(), ourOut.Close() })
	b := &tab{t: t, to: ourOut, from: bufio.NewReader(ourIn)}
	target := b.call("Target.createTarget", map[string]any{"url": "file://" + page})["targetId"]
	b.session = b.call("Target.attachToTarget", map[string]any{"targetId": target, "flatten": true})["sessionId"].(string)
	for !b.ready() {
		time.Sleep(50 * time.Millisecond)
	}
	return b
}

// ready tells whether the page's script has run; while the page is loaded there
// may be no document to ask.
func (b *tab) ready() bool {
	b.t.Helper()
	got, _ := b.ask("Runtime.evaluate", map[string]any{"expression": "document.documentElement.dataset.ready", "returnByValue": true})
	result, _ := got["result"].(map[string]any)
	return got["exceptionDetails"] == nil && result["value"] != nil
}

// call asks the browser for something and returns its answer.
func (b *tab) call(method string, params map[string]any) map[string]any {
	b.t.Helper()
	got, refused := b.ask(method, params)
	if refused != nil {
		b.t.Fatalf("%s: %v", method, refused)
	}
	return got
}

// ask is call for what the browser may refuse.
func (b *tab) ask(method string, params map[string]any) (answer map[string]any, refused any) {
	b.t.Helper()
	b.id++
	msg := map[string]any{"id": b.id, "method": method, "params": params}
	if b.session != "" {
		msg["sessionId"] = b.session
	}
	data, err := json.Marshal(msg)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(data, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		data, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: the browser ended: %v", method, err)
		}
		var answer struct {
			ID     int
			Result map[string]any
			Error  any
		}
		if err := json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.id {
			continue // an event
		}
		return answer.Result, answer.Error
	}
}

// eval is the value of an expression in the page, a text.
func (b *tab) eval(expr string) string {
	b.t.Helper()
	got := b.call("Runtime.evaluate", map[string]any{"expression": expr, "returnByValue": true})
	if got["exceptionDetails"] != nil {
		b.t.Fatalf("%s: %v", expr, got["exceptionDetails"])
	}
	text, _ := got["result"].(map[string]any)["value"].(string)
	return text
}

// TestSteered filters, opens and moves as a person would.
func TestSteered(t *testing.T) {
	t.Parallel()
	r := big(14, 12)
	for _, i := range []int{5, 6} {
		r.Results[i].Status, r.Results[i].Detail = "failed", r.Results[5].Detail
	}
	b := openTab(t, write(t, r))
	const helpers = `
		const byId = (id) => document.getElementById(id);
		const type = (id, text) => { byId(id).value = text; byId(id).dispatchEvent(new Event("input")); };
		const key = (k) => byId("matrix").dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
		const status = (s) => document.querySelector('[data-status="' + s + '"]').click();
		const open = (sel) => { const d = document.querySelector(sel); d.open = true; d.dispatchEvent(new Event("toggle")); return d.innerText; };`
	for _, c := range []struct{ does, want string }{
		{`type("byhost", "web002 web01"); byId("matrixhint").textContent`, "6 hosts of 14, 12 tasks of 12"},
		{`type("byhost", ""); type("bytask", "task 12"); byId("matrixhint").textContent`, "14 hosts of 14, 1 task of 12"},
		{`type("bytask", ""); status("ok"); status("skipped"); status("changed"); byId("matrixhint").textContent`, "2 hosts of 14, 1 task of 12"},
		{`status("ok"); status("skipped"); status("changed"); byId("matrixhint").textContent`, "14 hosts of 14, 12 tasks of 12"},
		{`key("ArrowDown"); key("ArrowRight"); key("Enter"); byId("detail").innerText`, "on web002.example"},
		{`key("End"); byId("detail").innerText`, "task 12"},
		{`document.activeElement.id`, "detail"},
		{`open("#failures details")`, "2 hosts"},
		{`open("#changes details")`, "+new"},
		{`byId("critical").click(); byId("critical").getAttribute("aria-pressed") + byId("times").innerText`, "true"},
		{`String(document.documentElement.scrollWidth <= innerWidth)`, "true"},
	} {
		if got := b.eval("(() => {" + helpers + " return eval(" + jsText(c.does) + ") })()"); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q has no %q", c.does, got, c.want)
		}
	}
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true})
	if got := b.eval("String(document.documentElement.scrollWidth) + ' of ' + innerWidth"); got != "360 of 360" {
		t.Errorf("at the width of a phone the page is wider than the screen: %s", got)
	}
}

// jsText is a text as a literal of JavaScript.
func jsText(text string) string {
	data, _ := json.Marshal(text) // a text cannot fail
	return string(data)
}
