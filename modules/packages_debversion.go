package modules

import "strings"

// compareDebVersions orders two versions of Debian packages by the rules of
// Debian's policy manual, 5.6.12: negative, zero or positive.
func compareDebVersions(a, b string) int {
	epochA, a := debEpoch(a)
	epochB, b := debEpoch(b)
	if c := compareDebPart(epochA, epochB); c != 0 {
		return c
	}
	upstreamA, revisionA := debRevision(a)
	upstreamB, revisionB := debRevision(b)
	if c := compareDebPart(upstreamA, upstreamB); c != 0 {
		return c
	}
	return compareDebPart(revisionA, revisionB)
}

func debEpoch(v string) (epoch, rest string) {
	if e, r, ok := strings.Cut(v, ":"); ok {
		return e, r
	}
	return "0", v
}

func debRevision(v string) (upstream, revision string) {
	if i := strings.LastIndexByte(v, '-'); i >= 0 {
		return v[:i], v[i+1:]
	}
	return v, "0"
}

// compareDebPart compares alternating runs of other characters and of digits.
func compareDebPart(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a = debRun(a, false)
		y, b = debRun(b, false)
		if c := compareDebText(x, y); c != 0 {
			return c
		}
		x, a = debRun(a, true)
		y, b = debRun(b, true)
		x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
		if len(x) != len(y) {
			return len(x) - len(y)
		}
		if c := strings.Compare(x, y); c != 0 {
			return c
		}
	}
	return 0
}

// debRun cuts off the leading run of digits, or of other characters.
func debRun(s string, digits bool) (run, rest string) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9') == digits {
		i++
	}
	return s[:i], s[i:]
}

// compareDebText orders letters before other characters, and ~ before the end.
func compareDebText(a, b string) int {
	for i := 0; i < len(a) || i < len(b); i++ {
		if d := debRank(a, i) - debRank(b, i); d != 0 {
			return d
		}
	}
	return 0
}

func debRank(s string, i int) int {
	switch {
	case i >= len(s):
		return 0
	case s[i] == '~':
		return -1
	case s[i] >= 'a' && s[i] <= 'z', s[i] >= 'A' && s[i] <= 'Z':
		return int(s[i])
	}
	return int(s[i]) + 256
}
