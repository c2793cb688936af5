package modules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// pythonRequirement is one library as pip takes it: a name with extras and
// version specifiers, or any other text (a path, an address).
type pythonRequirement struct {
	text  string // as given
	plain bool   // it is a name with specifiers
	name  string
	specs []versionSpec
	tail  string // a marker, with its semicolon
}

// versionSpec is one version specifier, such as >=1.2.
type versionSpec struct{ op, version string }

var (
	requirementForm = regexp.MustCompile(`^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(\[[^\]]*\])?\s*\(?((?:\s*(?:===|~=|==|!=|<=|>=|<|>)\s*[^\s,;()]+\s*,?)*)\)?\s*(;.*)?$`)
	specifierForm   = regexp.MustCompile(`(===|~=|==|!=|<=|>=|<|>)\s*([^\s,;()]+)`)
	nameSeparators  = regexp.MustCompile(`[-_.]+`)
	fromVCS         = regexp.MustCompile(`^(svn|git|hg|bzr)\+`)
)

// joinRequirements splits names at commas, but for those between extras and
// between specifiers of one library.
func joinRequirements(names []string) []string {
	var out []string
	open := false
	for _, name := range names {
		for part := range strings.SplitSeq(name, ",") {
			part = strings.TrimSpace(part)
			if n := len(out); n > 0 && (open || part != "" && strings.ContainsAny(part[:1], "<>=!~")) {
				out[n-1] += "," + part
			} else {
				out = append(out, part)
			}
			open = (open || strings.Contains(part, "[")) && !strings.Contains(part, "]")
		}
	}
	return out
}

func parseRequirement(text string) pythonRequirement {
	r := pythonRequirement{text: text}
	m := requirementForm.FindStringSubmatch(text)
	if m == nil {
		return r
	}
	r.plain, r.name, r.tail = true, m[1], m[4]
	if m[2] != "" {
		extras := strings.Split(strings.Trim(strings.ReplaceAll(m[2], " ", ""), "[]"), ",")
		slices.Sort(extras)
		r.name += "[" + strings.Join(extras, ",") + "]"
	}
	for _, s := range specifierForm.FindAllStringSubmatch(m[3], -1) {
		r.specs = append(r.specs, versionSpec{s[1], s[2]})
	}
	return r
}

// String is the requirement in pip's normal form, or the text as given.
func (r *pythonRequirement) String() string {
	if !r.plain {
		return r.text
	}
	var specs []string
	for _, s := range r.specs {
		specs = append(specs, s.op+s.version)
	}
	slices.Sort(specs)
	return r.name + strings.Join(specs, ",") + r.tail
}

// fromSource tells whether it is fetched from a version control system.
func (r *pythonRequirement) fromSource() bool { return fromVCS.MatchString(r.text) }

// installed tells whether one of pip's "name==version" lines fulfils it.
func (r *pythonRequirement) installed(lines []string) bool {
	name, _, _ := strings.Cut(r.name, "[")
	for _, line := range lines {
		have, version, ok := strings.Cut(line, "==")
		if r.plain && ok && pythonName(have) == pythonName(name) && r.allows(version) {
			return true
		}
	}
	return false
}

// pythonName is a library's name in the form of PEP 503.
func pythonName(name string) string {
	return strings.ToLower(nameSeparators.ReplaceAllString(name, "-"))
}

func (r *pythonRequirement) allows(version string) bool {
	for _, s := range r.specs {
		if !s.allows(version) {
			return false
		}
	}
	return true
}

func (s versionSpec) allows(version string) bool {
	prefix, wild := strings.CutSuffix(s.version, ".*")
	same := comparePython(version, s.version) == 0
	if wild {
		same = version == prefix || strings.HasPrefix(version, prefix+".")
	}
	order := comparePython(version, prefix)
	switch s.op {
	case "===":
		return version == s.version
	case "==":
		return same
	case "!=":
		return !same
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	}
	// ~=: at least this version, within the series of all numbers but the last
	i := strings.LastIndexByte(s.version, '.')
	return i > 0 && order >= 0 && (version == s.version[:i] || strings.HasPrefix(version, s.version[:i]+"."))
}

var pythonVersion = regexp.MustCompile(`^v?(?:(\d+)!)?(\d+(?:\.\d+)*)[-_.]?((?:a|b|c|rc|alpha|beta|pre|preview)[-_.]?\d*)?((?:[-_.]?(?:post|rev|r)[-_.]?\d*)|-\d+)?([-_.]?dev\d*)?(?:\+.*)?$`)

// comparePython orders two versions by PEP 440; one that has no such form
// stands before all others.
func comparePython(a, b string) int {
	x, y := pythonKey(a), pythonKey(b)
	for i := range max(len(x), len(y)) {
		var p, q int
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if p != q {
			return p - q
		}
	}
	return 0
}

// releaseNumbers is how many numbers of a release are compared.
const releaseNumbers = 8

// pythonKey turns a version into numbers that compare as versions do: epoch,
// release, then pre-release, post-release and development markers.
func pythonKey(v string) []int {
	m := pythonVersion.FindStringSubmatch(strings.ToLower(strings.TrimSpace(v)))
	if m == nil {
		return []int{-1}
	}
	key := make([]int, 1, releaseNumbers+5)
	key[0] = number(m[1])
	release := strings.Split(m[2], ".")
	for i := range releaseNumbers {
		n := 0
		if i < len(release) {
			n = number(release[i])
		}
		key = append(key, n)
	}
	pre, post, dev := 4, 0, 1
	switch {
	case strings.HasPrefix(m[3], "a"):
		pre = 1
	case strings.HasPrefix(m[3], "b"):
		pre = 2
	case m[3] != "":
		pre = 3
	case m[5] != "" && m[4] == "":
		pre = 0
	}
	if m[4] != "" {
		post = 1 + number(m[4])
	}
	if m[5] != "" {
		dev = 0
	}
	return append(key, pre, number(m[3]), post, dev, number(m[5]))
}

// number is the last run of digits in a text, or 0.
func number(text string) int {
	end := strings.LastIndexAny(text, "0123456789") + 1
	start := end
	for start > 0 && text[start-1] >= '0' && text[start-1] <= '9' {
		start--
	}
	n, err := strconv.Atoi(text[start:end])
	if err != nil {
		return 0
	}
	return n
}
