// Package config reads ansible.cfg and the ANSIBLE_* environment. Flowing in:
// an environment and a working folder. Flowing out: typed Settings, and for
// every known option its value with where it was set, for "config dump". The
// list of options is data (options.tsv, recorded from ansible-config, and
// own.tsv). It reads no other file, changes nothing, and prints nothing.
package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/engine/source"
)

// Source is where configuration comes from.
type Source struct {
	Environ []string // "NAME=value" entries, as of os.Environ
	Dir     string   // the working folder; "" is the process's
	Home    string   // the person's home; "" is $HOME
	System  string   // the system-wide file; "" is /etc/ansible/ansible.cfg
}

// Config is configuration as read. It is not changed after Load.
type Config struct {
	File     string // the file that was used, or ""
	Settings *Settings
	Warnings []string // unknown options, an ignored file

	values map[string]*Value
	names  []string
}

// Value is one option's value and where it was set.
type Value struct {
	Option
	// Value is nil, bool, int, float64, string or *value.List of strings.
	Value any
	Env   string     // the variable that set it, or ""
	Pos   source.Pos // the place in the file that set it, or zero
}

// Origin says where the value was set: "default", "env: NAME" or a file's path.
func (v *Value) Origin() string {
	switch {
	case v.Env != "":
		return "env: " + v.Env
	case !v.Pos.IsZero():
		return v.Pos.File
	}
	return "default"
}

// Load reads the configuration. An unreadable file and a value that is none of
// its option's type are *source.Error.
func Load(src Source) (*Config, error) {
	l := newLoader(src)
	path, err := l.find()
	if err != nil {
		return nil, err
	}
	file := &iniFile{}
	if path != "" {
		if file, err = readINI(path); err != nil {
			return nil, err
		}
	}
	c := &Config{File: path, Warnings: l.warnings, values: map[string]*Value{}}
	for _, o := range Options() {
		v, err := l.value(o, file)
		if err != nil {
			return nil, err
		}
		c.values[o.Name] = v
		c.names = append(c.names, o.Name)
	}
	c.Warnings = append(c.Warnings, l.unknown(file)...)
	c.Settings = newSettings(c)
	return c, nil
}

// Names lists every known option, sorted.
func (c *Config) Names() []string { return slices.Clone(c.names) }

// Get returns an option's value by its name, such as DEFAULT_FORKS or
// connection.ssh.timeout.
func (c *Config) Get(name string) (*Value, bool) {
	v, ok := c.values[name]
	return v, ok
}

// Place is where the configuration file sets an option, or zero.
func (c *Config) Place(name string) source.Pos {
	if v, ok := c.values[name]; ok {
		return v.Pos
	}
	return source.Pos{}
}

// SetBy says where an option was set: a place in a file, "env: NAME" or "default".
func (c *Config) SetBy(name string) string {
	v, ok := c.values[name]
	switch {
	case !ok:
		return "default"
	case v.Pos.IsZero():
		return v.Origin()
	}
	return v.Pos.String()
}

// Lookup is Get for the config lookup of templates: the bare value.
func (c *Config) Lookup(name string) (any, bool) {
	v, ok := c.values[name]
	if !ok {
		return nil, false
	}
	return v.Value, true
}

// loader holds what reading needs.
type loader struct {
	Source
	env      map[string]string
	warnings []string
}

func newLoader(src Source) *loader {
	l := &loader{Source: src, env: make(map[string]string, len(src.Environ))}
	for _, e := range src.Environ {
		if name, v, ok := strings.Cut(e, "="); ok {
			l.env[name] = v
		}
	}
	if l.Home == "" {
		l.Home = l.env["HOME"]
	}
	if l.Dir == "" {
		l.Dir, _ = os.Getwd()
	}
	if l.System == "" {
		l.System = "/etc/ansible/ansible.cfg"
	}
	return l
}

// find returns the configuration file: ANSIBLE_CONFIG, ansible.cfg in the
// working folder unless others may write there, ~/.ansible.cfg, the system's.
// The first that exists is the only one.
func (l *loader) find() (string, error) {
	if named := l.env["ANSIBLE_CONFIG"]; named != "" {
		path := l.absolute(expandUser(named, l.Home), l.Dir)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, "ansible.cfg")
		}
		if readable(path) {
			return path, nil
		}
	}
	local := filepath.Join(l.Dir, "ansible.cfg")
	if exists(local) {
		info, err := os.Stat(l.Dir)
		if err != nil {
			return "", fmt.Errorf("cannot read folder %q: %w", l.Dir, err)
		}
		if info.Mode().Perm()&0o002 == 0 {
			return local, nil
		}
		l.warnings = append(l.warnings, fmt.Sprintf("Ansible is being run in a world writable directory (%s), ignoring it as an ansible.cfg source. "+
			"For more information see https://docs.ansible.com/ansible/devel/reference_appendices/config.html#cfg-in-world-writable-dir", l.Dir))
	}
	for _, path := range []string{filepath.Join(l.Home, ".ansible.cfg"), l.System} {
		if filepath.IsAbs(path) && readable(path) {
			return path, nil
		}
	}
	return "", nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readable reports whether a file exists that this process may read.
func readable(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && !info.IsDir()
}
