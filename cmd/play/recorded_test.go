package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"play/modules/shellquote"
)

// recordedCase is one run of ansible-playbook as testdata/recorded/record.py
// wrote it down; that file explains the headers.
type recordedCase struct {
	path    string
	archive *txtar.Archive
	dir     string
}

// recordedAnswers are the files of a case that are no input.
var recordedAnswers = []string{"stdout", "stderr", "stdout.play"}

const recordedHosts = `h1 ansible_connection=local
h2 ansible_connection=local
h3 ansible_connection=local
h4 ansible_connection=local
`

// TestRecorded runs play on the files of every recorded run of ansible-playbook
// and compares stdout and the exit status: the order of tasks, every result,
// and the recap. Only the order of the hosts inside one task may differ.
// UPDATE_PLAY=1 rewrites stdout.play of the cases that deviate.
func TestRecorded(t *testing.T) {
	t.Parallel()
	compareRecorded(t, "testdata/recorded/*.txtar")
}

// TestRecordedVariables does the same for the runs that ask what variables are
// worth.
func TestRecordedVariables(t *testing.T) {
	t.Parallel()
	compareRecorded(t, "testdata/variables/*.txtar")
}

func compareRecorded(t *testing.T, pattern string) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recorded cases: %v", err)
	}
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(p)
			if err != nil {
				t.Fatal(err)
			}
			c := &recordedCase{path: p, archive: archive, dir: t.TempDir()}
			c.check(t)
		})
	}
}

func (c *recordedCase) check(t *testing.T) {
	c.layOut(t)
	stdout, stderr, status := c.run(t)
	want, file := c.file("stdout"), "stdout"
	if c.header("deviation") != "" {
		file = "stdout.play"
		if os.Getenv("UPDATE_PLAY") != "" {
			c.update(t, stdout)
		}
		want = c.file(file)
	} else if c.file("stdout.play") != "" {
		t.Fatal("stdout.play needs a deviation: line with its reason")
	}
	if code := c.wantStatus(); status != code {
		t.Errorf("exit status %d, want %d", status, code)
	}
	if out := c.header("leave-out"); out != "" {
		lines := regexp.MustCompile("(?m)" + out + ".*\n")
		want, stdout = lines.ReplaceAllString(want, ""), lines.ReplaceAllString(stdout, "")
	}
	perHost := c.header("compare") == "hosts"
	if diff := cmp.Diff(arranged(want, perHost), arranged(stdout, perHost)); diff != "" {
		t.Errorf("%s (-recorded +play):\n%s\nstderr:\n%s", file, diff, stderr)
	}
	if c.file("stderr") != "" && stderr == "" && c.header("play-status") == "" {
		t.Error("the recorded run ended with an error on stderr, play said nothing")
	}
}

// header joins the values of a "key: value" line of the comment.
func (c *recordedCase) header(key string) string {
	var values []string
	for _, line := range strings.Split(string(c.archive.Comment), "\n") {
		if v, ok := strings.CutPrefix(line, key+": "); ok {
			values = append(values, v)
		}
	}
	return strings.Join(values, " ")
}

func (c *recordedCase) wantStatus() int {
	status := c.header("play-status")
	if status == "" {
		_, status, _ = strings.Cut(c.header("recorded"), "exit status ")
	}
	code := -1
	_, _ = fmt.Sscan(status, &code) // -1 fails the comparison
	return code
}

func (c *recordedCase) file(name string) string {
	for _, f := range c.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func (c *recordedCase) layOut(t *testing.T) {
	files := append([]txtar.File{{Name: "hosts", Data: []byte(recordedHosts)}}, c.archive.Files...)
	for _, f := range files {
		if slices.Contains(recordedAnswers, f.Name) {
			continue
		}
		path := filepath.Join(c.dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(string(f.Data), "#!") {
			mode = 0o755
		}
		if err := os.WriteFile(path, f.Data, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// run starts play in the case's folder and returns its normalised stdout.
func (c *recordedCase) run(t *testing.T) (stdout, stderr string, status int) {
	args, err := shellquote.Split(c.header("args"))
	if err != nil {
		t.Fatal(err)
	}
	env, err := shellquote.Split(c.header("env"))
	if err != nil {
		t.Fatal(err)
	}
	inventory := c.header("inventory")
	if inventory == "" {
		inventory = "hosts"
	}
	cmd := exec.Command("play", append([]string{"-i", inventory, "-f", "4", "site.yml"}, args...)...)
	cmd.Dir = c.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "LC_ALL=C.UTF-8", "ANSIBLE_NOCOLOR=1", "ANSIBLE_GATHERING=explicit", "PLAY_NO_HISTORY=1"}, env...)
	var out, errOut strings.Builder
	cmd.Stdin = strings.NewReader(c.file("stdin"))
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.stable(out.String()), errOut.String(), cmd.ProcessState.ExitCode()
}

// volatile is what differs from run to run, as record.py has it.
var volatile = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+`), "TIME"},
	{regexp.MustCompile(`\b\d:\d\d:\d\d\.\d+`), "DELTA"},
	{regexp.MustCompile(`\bj\d+\.[0-9a-f]+|\b\d{6,}\.\d{2,}`), "JID"},
}

func (c *recordedCase) stable(text string) string {
	text = strings.ReplaceAll(text, c.dir, "DIR")
	for _, v := range volatile {
		text = v.pattern.ReplaceAllString(text, v.name)
	}
	return text
}

func (c *recordedCase) update(t *testing.T, stdout string) {
	kept := slices.DeleteFunc(c.archive.Files, func(f txtar.File) bool { return f.Name == "stdout.play" })
	c.archive.Files = append(kept, txtar.File{Name: "stdout.play", Data: []byte(stdout)})
	if err := os.WriteFile(c.path, txtar.Format(c.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shown is what one host's end of a task looks like: its lines.
type shown struct {
	banner, host string
	lines        []string
}

var (
	bannerLine = regexp.MustCompile(`^[A-Z][A-Za-z ]+ (\[.*\] )?\*{3,}$|^Perform task: `)
	resultLine = regexp.MustCompile(`^(?:ok|changed|skipping|fatal|failed|FAILED - RETRYING|UNREACHABLE): \[([^\] ]+)|^ASYNC \w+ on ([^: ]+)|^included: .* for (.*)$`)
)

// arranged cuts the text into sections by banner and puts each section's
// results into the order of the hosts; perHost follows each host alone instead.
func arranged(text string, perHost bool) string {
	results := cutResults(stripPlaces(text))
	if perHost {
		slices.SortStableFunc(results, func(a, b *shown) int { return strings.Compare(a.host, b.host) })
	}
	var out strings.Builder
	for len(results) > 0 {
		n := 1
		for n < len(results) && results[n].host != "" && !perHost {
			n++
		}
		section := results[:n]
		slices.SortStableFunc(section, func(a, b *shown) int { return strings.Compare(a.host, b.host) })
		for _, r := range section {
			if perHost && r.host != "" {
				fmt.Fprintln(&out, r.banner)
			}
			if !perHost || r.host != "" {
				fmt.Fprintln(&out, strings.Join(r.lines, "\n"))
			}
		}
		results = results[n:]
	}
	return out.String()
}

// cutResults makes a list of banners (without a host) and results.
func cutResults(text string) []*shown {
	var results []*shown
	last := &shown{}
	banner, diff := "", false
	for _, line := range strings.Split(text, "\n") {
		if line == "" {
			continue // it stands between banners, whichever host came last
		}
		m := resultLine.FindStringSubmatch(line)
		switch {
		case bannerLine.MatchString(line):
			banner = line
			last, diff = &shown{banner: banner}, false
			results = append(results, last)
		case strings.HasPrefix(line, "--- before"):
			last, diff = &shown{banner: banner, host: "?"}, true
			results = append(results, last)
		case m != nil && diff:
			last.host, diff = m[1], false
		case m != nil:
			last = &shown{banner: banner, host: m[1] + m[2] + m[3]}
			results = append(results, last)
		}
		last.lines = append(last.lines, line)
	}
	return results
}

// errorPlace is where the reference puts an error inside its msg; play tells
// that in a line of its own.
var errorPlace = regexp.MustCompile(`\\n\\nThe error appears to be in '(\\.|[^"\\])*"`)

// quoted is a text inside JSON.
var quoted = regexp.MustCompile(`"(\\.|[^"\\])*"`)

// stripPlaces takes out of recorded messages what play says elsewhere, or
// once: ansible-core 2.14 names an undefined variable twice.
func stripPlaces(text string) string {
	return quoted.ReplaceAllStringFunc(errorPlace.ReplaceAllString(text, `"`), func(s string) string {
		inner := s[:len(s)-1]
		for i := strings.Index(inner, ". "); i > 0; {
			if last := inner[i+2:]; len(last) > 8 && strings.HasSuffix(inner[:i], last) {
				return stripPlaces(inner[:i] + `"`)
			}
			next := strings.Index(inner[i+2:], ". ")
			if next < 0 {
				break
			}
			i += 2 + next
		}
		return s
	})
}
