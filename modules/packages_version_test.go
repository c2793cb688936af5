package modules

import "testing"

func sign(n int) string {
	switch {
	case n < 0:
		return "<"
	case n > 0:
		return ">"
	}
	return "="
}

// TestVersions compares versions; the answers are those of dpkg 1.21.22
// (dpkg --compare-versions) and of Python's packaging 22 (packaging.version).
func TestVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind    string
		compare func(a, b string) int
		cases   [][3]string
	}{
		{"debian", compareDebVersions, [][3]string{
			{"1.0", "1.0", "="}, {"1.0-1", "1.0-2", "<"}, {"1.0~rc1", "1.0", "<"}, {"1:0.9", "2.0", ">"}, {"1.0a", "1.0+b", "<"},
			{"1.0.9", "1.0.10", "<"}, {"1.0", "1.0-0", "="}, {"1.0-1", "1.0-1+b2", "<"}, {"2.0~~", "2.0~", "<"}, {"0:1", "1", "="},
			{"1.2-a-1", "1.2-b-1", "<"}, {"09", "9", "="},
		}},
		{"python", comparePython, [][3]string{
			{"1.0", "1.0.0", "="}, {"1.0a1", "1.0b1", "<"}, {"1.0rc1", "1.0", "<"}, {"1.0.dev1", "1.0a1", "<"}, {"1.0.post1", "1.0", ">"},
			{"1!0.1", "9", ">"}, {"1.10", "1.9", ">"}, {"1.0.post1.dev2", "1.0.post1", "<"}, {"1.0a1.dev1", "1.0a1", "<"},
			{"1.0-1", "1.0.post1", "="}, {"v1.0", "1.0", "="},
		}},
	} {
		for _, v := range c.cases {
			if got := sign(c.compare(v[0], v[1])); got != v[2] {
				t.Errorf("%s: %s %s %s, want %s", c.kind, v[0], got, v[1], v[2])
			}
		}
	}
}
