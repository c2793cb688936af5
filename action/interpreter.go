package action

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"play/engine/modulefind"
	"play/engine/task"
	"play/modules/value"
)

// chosen is the program that runs a module.
type chosen struct {
	words      []string
	discovered string // set when this call found it out
	warning    string
}

// note tells what was found out in the result, as a fact.
func (c *chosen) note(result *value.Dict) {
	if c.warning != "" {
		appendTo(result, "warnings", c.warning)
	}
	if c.discovered == "" {
		return
	}
	facts, _ := result.Get("ansible_facts")
	d, ok := facts.(*value.Dict)
	if !ok {
		d = value.NewDict()
		result.Set("ansible_facts", d)
	}
	d.Set("discovered_interpreter_python", c.discovered)
}

// autoModes are the values that ask for discovery.
var autoModes = []string{"", "auto", "auto_silent", "auto_legacy", "auto_legacy_silent"}

// interpreter chooses the program for a module: the variable
// ansible_<name>_interpreter, for Python also the configuration and discovery,
// or what the file itself names.
func (d *Deps) interpreter(ctx context.Context, a *task.Attempt, m *modulefind.Module, p *parcel) (*chosen, error) {
	if p.kind == modulefind.Binary {
		return &chosen{}, nil
	}
	shebang := p.shebang
	if shebang == nil {
		shebang = []string{"/usr/bin/python"}
	}
	name := modulefind.InterpreterName(shebang[0], shebang[1:])
	r := &reach{a: a, on: a.On}
	set := strings.TrimSpace(r.str("", "ansible_"+name+"_interpreter"))
	if r.err != nil {
		return nil, r.err
	}
	if name != "python" {
		if set == "" {
			return &chosen{words: shebang}, nil
		}
		return &chosen{words: append(strings.Fields(set), restOf(shebang)...)}, nil
	}
	if set == "" {
		set = value.Str(setting(a, "INTERPRETER_PYTHON", "auto"))
	}
	if !slices.Contains(autoModes, set) {
		return &chosen{words: append(strings.Fields(set), restOf(shebang)...)}, nil
	}
	c, err := d.discover(ctx, a, or(set, "auto_legacy"))
	if err != nil {
		return nil, err
	}
	c.words = append(c.words, restOf(shebang)...)
	return c, nil
}

// restOf are the arguments of a shebang; those of env begin with the program.
func restOf(shebang []string) []string {
	rest := shebang[1:]
	if strings.HasSuffix(shebang[0], "/env") && len(rest) > 0 {
		rest = rest[1:]
	}
	return rest
}

// discovery is what is found out about an agent's host, once.
type discovery struct {
	mu   sync.Mutex
	path string
}

// discover finds the host's Python, and remembers it for the run.
func (d *Deps) discover(ctx context.Context, a *task.Attempt, mode string) (*chosen, error) {
	t, err := d.target(a)
	if err != nil {
		return nil, err
	}
	f := d.Foreign
	f.mu.Lock()
	if f.interpreters == nil {
		f.interpreters = map[string]*discovery{}
	}
	known := f.interpreters[t.Key()]
	if known == nil {
		known = &discovery{}
		f.interpreters[t.Key()] = known
	}
	f.mu.Unlock()
	known.mu.Lock()
	defer known.mu.Unlock()
	if known.path != "" {
		return &chosen{words: []string{known.path}}, nil
	}
	list, _ := setting(a, "INTERPRETER_PYTHON_FALLBACK", pythons()).(*value.List)
	r := &reach{a: a, on: a.On}
	if own, ok := r.get("ansible_interpreter_python_fallback").(*value.List); ok {
		list = own
	}
	plain := *a
	plain.Check = false
	found, err := d.call(ctx, &plain, "_foreign", value.DictOf("kind", "discover", "interpreter", list), nil)
	if err != nil {
		return nil, err
	}
	path, warning := pickPython(a.Target, mode, found, list)
	known.path = path
	return &chosen{words: []string{path}, discovered: path, warning: warning}, nil
}

// pythons are the programs to look for where the configuration lists none.
func pythons() *value.List {
	return value.NewList("python3.11", "python3.10", "python3.9", "python3.8", "python3.7", "python3.6", "python3.5",
		"/usr/bin/python3", "/usr/libexec/platform-python", "python2.7", "/usr/bin/python", "python")
}

// distributions are the Pythons that belong to distributions, from a version on.
var distributions = map[string][]struct {
	from int
	path string
}{
	"redhat": {{6, "/usr/bin/python"}, {8, "/usr/libexec/platform-python"}, {9, "/usr/bin/python3"}},
	"debian": {{8, "/usr/bin/python"}, {10, "/usr/bin/python3"}},
	"fedora": {{23, "/usr/bin/python3"}},
	"ubuntu": {{14, "/usr/bin/python"}, {16, "/usr/bin/python3"}},
}

// families are distributions that go by another one's versions.
var families = map[string]string{
	"rhel": "redhat", "centos": "redhat", "rocky": "redhat", "almalinux": "redhat", "ol": "redhat", "amzn": "redhat", "scientific": "redhat",
	"raspbian": "debian", "kali": "debian", "linuxmint": "debian", "pop": "debian",
}

const discoveryPage = "https://docs.ansible.com/ansible-core/2.14/reference_appendices/interpreter_discovery.html"

// pickPython chooses by mode from what the host has; warning is "" when there is
// nothing to say.
func pickPython(host, mode string, found *value.Dict, tried *value.List) (path, warning string) {
	paths := textsOf(found, "found")
	silent := strings.HasSuffix(mode, "_silent")
	say := func(path, format string, args ...any) (string, string) {
		if silent {
			return path, ""
		}
		return path, fmt.Sprintf(format, args...)
	}
	if len(paths) == 0 {
		return say("/usr/bin/python", "No python interpreters found for host %s (tried %s)", host, value.Repr(tried))
	}
	platform, distro, version := textOf(found, "platform"), textOf(found, "distribution"), textOf(found, "version")
	own := distributionPython(distro, version)
	switch {
	case platform != "linux" || own == "":
		return say(paths[0], "Platform %s on host %s is using the discovered Python interpreter at %s, but future installation of "+
			"another Python interpreter could change the meaning of that path. See %s for more information.", platform, host, paths[0], discoveryPage)
	case strings.HasPrefix(mode, "auto_legacy") && own != "/usr/bin/python" && slices.Contains(paths, "/usr/bin/python"):
		return say("/usr/bin/python", "Distribution %s %s on host %s should use %s, but is using /usr/bin/python for backward compatibility "+
			"with prior Ansible releases. See %s for more information", distro, version, host, own, discoveryPage)
	case !slices.Contains(paths, own):
		return say(paths[0], "Distribution %s %s on host %s should use %s, but is using %s, since the discovered platform python "+
			"interpreter was not present. See %s for more information.", distro, version, host, own, paths[0], discoveryPage)
	}
	return own, ""
}

// distributionPython is the Python that a distribution's version brings, or "".
func distributionPython(distro, version string) string {
	table := distributions[strings.ToLower(distro)]
	if table == nil {
		table = distributions[families[strings.ToLower(distro)]]
	}
	if table == nil || version == "" {
		return ""
	}
	major, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(major)
	if err != nil {
		return ""
	}
	path := table[0].path
	for _, row := range table {
		if n >= row.from {
			path = row.path
		}
	}
	return path
}

func textOf(d *value.Dict, key string) string {
	v, _ := d.Get(key)
	s, _ := v.(string)
	return s
}

func textsOf(d *value.Dict, key string) []string {
	v, _ := d.Get(key)
	l, _ := v.(*value.List)
	var out []string
	if l != nil {
		for _, item := range l.Items {
			out = append(out, value.Str(item))
		}
	}
	return out
}
