package inventory

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// patternCase is one recorded run of ansible --list-hosts.
type patternCase struct {
	Pattern, Limit string
	RC             int
	Hosts          []string
	Warnings       []string
	Error          string
	Unordered      bool // Ansible's own order changes from run to run
}

// testInventory loads sources with values read as data, and collects warnings.
func testInventory(t *testing.T, sources ...string) (*Inventory, *[]string) {
	t.Helper()
	warnings := &[]string{}
	inv, err := Load(sources, Options{Warn: func(msg string) { *warnings = append(*warnings, msg) }})
	if err != nil {
		t.Fatal(err)
	}
	return inv, warnings
}

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range recorded[patternCase](t, "testdata/patterns.json") {
		t.Run(c.Pattern+" limit "+c.Limit, func(t *testing.T) {
			t.Parallel()
			checkPattern(t, c)
		})
	}
}

func checkPattern(t *testing.T, c patternCase) {
	inv, warnings := testInventory(t, "testdata/patterns/hosts.ini")
	limit := strings.Replace(c.Limit, "@", "@testdata/patterns/", 1)
	hosts, err := inv.Match(c.Pattern, limit)
	if c.RC != 0 {
		checkNoMatch(t, c, hosts, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	got := hostNames(hosts)
	if len(got) == 0 && slices.Contains(localNames, c.Pattern) {
		got = []string{c.Pattern} // the command never limits the implicit localhost
	}
	if c.Unordered {
		slices.Sort(got)
		slices.Sort(c.Hosts)
	}
	if strings.Join(got, " ") != strings.Join(c.Hosts, " ") {
		t.Errorf("hosts %v, want %v", got, c.Hosts)
	}
	if got, want := *warnings, matchWarnings(c.Warnings); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}

// checkNoMatch is for runs that failed: of Match's own, or with no host left.
func checkNoMatch(t *testing.T, c patternCase, hosts []*Host, err error) {
	switch {
	case err != nil:
		got := strings.Replace(err.Error(), "testdata/patterns/", "", 1)
		if want := strings.NewReplacer("b'", "", "'", "").Replace(c.Error); got != want {
			t.Errorf("error %q, want %q", got, want)
		}
	case !strings.Contains(c.Error, "no hosts to target") || len(hosts) > 0:
		t.Errorf("hosts %v, want error %q", hostNames(hosts), c.Error)
	}
}

// matchWarnings leaves out what the command says itself.
func matchWarnings(all []string) []string {
	var own []string
	for _, w := range all {
		if !strings.HasPrefix(w, "No hosts matched") && !strings.HasPrefix(w, "Use [x:y]") {
			own = append(own, w)
		}
	}
	return own
}

func TestLimitFileUnreadable(t *testing.T) {
	t.Parallel()
	inv, _ := testInventory(t, "h1,h2")
	path := filepath.Join(t.TempDir(), "limit")
	if _, err := inv.Match("all", "@"+path); err == nil || err.Error() != "Unable to find limit file "+path {
		t.Errorf("error %v", err)
	}
	if err := os.WriteFile(path, []byte("h2\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hosts, err := inv.Match("all", "@"+path)
	if err != nil || strings.Join(hostNames(hosts), " ") != "h2" {
		t.Errorf("hosts %v, error %v", hostNames(hosts), err)
	}
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"all", "web[0]", "~(", "[", "web:&dc1:!old", "!", "&", "a[99999999999999999999]", "[!]", "[]-z]"} {
		f.Add(s)
	}
	inv, err := Load([]string{"testdata/patterns/hosts.ini"}, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		hosts, err := inv.Match(pattern, "")
		if err != nil && len(hosts) > 0 {
			t.Errorf("hosts %v with error %v", hostNames(hosts), err)
		}
	})
}
