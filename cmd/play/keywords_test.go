package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"play/engine/playbook"
)

// TestKeywordsAreRecorded: for every keyword that the loader knows,
// testdata/recorded/keywords.tsv names recorded cases that use it.
func TestKeywordsAreRecorded(t *testing.T) {
	t.Parallel()
	cases := recordedFor(t, "keywords.tsv")
	for _, noun := range []string{"play", "role", "block", "task", "handler", "import_playbook"} {
		for _, keyword := range playbook.KeywordsOf(noun) {
			if len(cases[keyword]) == 0 {
				t.Errorf("no recorded case shows the keyword %q", keyword)
			}
		}
	}
	checkUse(t, cases, `(?m)(^|[\s{,\[-])%s\s*[:=]`)
}

// leastSpecial is how many variables the reference's documentation calls special
// or lists beside them.
const leastSpecial = 51

// TestSpecialVariablesAreRecorded: testdata/recorded/special.tsv names recorded
// cases for every special variable.
func TestSpecialVariablesAreRecorded(t *testing.T) {
	t.Parallel()
	cases := recordedFor(t, "special.tsv")
	if len(cases) < leastSpecial {
		t.Errorf("%d special variables, want at least %d", len(cases), leastSpecial)
	}
	checkUse(t, cases, `\b%s\b`)
}

// checkUse looks whether the cases hold the words that they are named for.
func checkUse(t *testing.T, cases map[string][]string, pattern string) {
	t.Helper()
	for word, names := range cases {
		used := regexp.MustCompile(fmt.Sprintf(pattern, word))
		for _, name := range names {
			if !used.MatchString(recordedInput(t, name)) {
				t.Errorf("the recorded case %s does not use %q", name, word)
			}
		}
	}
}

// recordedFor reads a table of words and the recorded cases that show them.
func recordedFor(t *testing.T, table string) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/recorded", table))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]string{}
	for _, line := range strings.Split(string(data), "\n") {
		word, names, found := strings.Cut(line, "\t")
		if found {
			cases[word] = strings.Fields(names)
		}
	}
	return cases
}

// recordedInput is all that a recorded case hands to the program. Cases that ask
// what variables are worth stand in the folder variables.
func recordedInput(t *testing.T, name string) string {
	t.Helper()
	dir := "testdata/recorded/"
	if base, ok := strings.CutPrefix(name, "variables/"); ok {
		dir, name = "testdata/variables/", base
	}
	archive, err := txtar.ParseFile(dir + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := &recordedCase{archive: archive}
	text := c.header("args") + "\n" + c.header("env") + "\n"
	for _, f := range archive.Files {
		switch f.Name {
		case "stdout", "stderr", "stdout.play":
		default:
			text += string(f.Data) + "\n"
		}
	}
	return text
}
