package playbook

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"play/modules/value"
)

// kvDiffers are texts that are read differently on purpose, and why.
var kvDiffers = map[string]string{}

// TestParseKV compares with what ansible-core's parser gave for each text.
func TestParseKV(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/kv.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Scan() // the version
	count := 0
	for lines.Scan() {
		var c struct {
			Text  string
			Raw   bool
			Pairs [][2]string
			Error bool
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		count++
		if kvDiffers[c.Text] != "" {
			continue
		}
		want := "error"
		if !c.Error {
			d := value.NewDict()
			for _, p := range c.Pairs {
				d.Set(p[0], p[1])
			}
			want = text(d)
		}
		got := "error"
		if d, err := ParseKV(c.Text, c.Raw); err == nil {
			got = text(d)
		}
		if got != want {
			t.Errorf("%q raw=%v:\n got %s\nwant %s", c.Text, c.Raw, got, want)
		}
	}
	if count < 120 {
		t.Errorf("only %d cases", count)
	}
}

func FuzzParseKV(f *testing.F) {
	for _, seed := range []string{"a=b c='d e'", "echo {{ x }} creates=/y", "a=\"\\x4", "x \\\n y=\n", "{% a=b", "\\"} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, s string, raw bool) {
		d, err := ParseKV(s, raw)
		if err == nil && d == nil {
			t.Error("neither a dict nor an error")
		}
	})
}
