package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"play/engine/source"
	"play/modules/atomicfile"
	"play/modules/value"
)

// factCache keeps the facts of hosts between runs: one JSON file for each host
// in a folder, as the jsonfile cache of Ansible has them. With dir "" facts
// live as long as the run.
type factCache struct {
	s       *session
	dir     string
	prefix  string
	timeout time.Duration // facts that are older are not used; 0: none is too old
	stored  map[string]*value.Dict
}

// factCache reads the settings of the cache.
func (s *session) factCache() *factCache {
	o := s.opts.Settings
	c := &factCache{s: s, prefix: o.FactCachePrefix, timeout: time.Duration(o.FactCacheTimeout) * time.Second, stored: map[string]*value.Dict{}}
	switch name := strings.TrimPrefix(o.FactCache, "ansible.builtin."); name {
	case "memory", "":
	case "jsonfile", "community.general.jsonfile":
		if c.dir = o.FactCachePath; c.dir == "" {
			s.sink.Warning("fact_caching = jsonfile needs fact_caching_connection, the folder of its files; facts are kept in memory", source.Pos{})
		} else if !filepath.IsAbs(c.dir) {
			c.dir = filepath.Join(s.host.Dir, c.dir)
		}
	default:
		s.sink.Warning(fmt.Sprintf("there is no fact cache %q (%s); memory and jsonfile are known; facts are kept in memory", name, s.opts.Config.SetBy("CACHE_PLUGIN")), source.Pos{})
	}
	return c
}

func (c *factCache) path(host string) string { return filepath.Join(c.dir, c.prefix+host) }

// load gives the inventory's hosts the facts that are kept of them; with
// --flush-cache it forgets them instead.
func (c *factCache) load() {
	if c.dir == "" {
		return
	}
	for _, host := range append(c.s.inv.HostNames(), "localhost") {
		if host != filepath.Base(host) {
			continue // no name of a file
		}
		if c.s.opts.FlushCache {
			c.warn(os.Remove(c.path(host)))
			continue
		}
		if facts := c.read(host); facts != nil {
			state := c.s.store.Host(host)
			for _, name := range state.AddFacts(facts) {
				c.s.sink.Warning(fmt.Sprintf("%s: the cached fact %q is ignored: it would change how the host is reached", host, name), source.Pos{})
			}
			c.stored[host] = state.Injected()
		}
	}
}

// read returns the kept facts of a host, or nil.
func (c *factCache) read(host string) *value.Dict {
	info, err := os.Stat(c.path(host))
	if err != nil || c.timeout > 0 && time.Since(info.ModTime()) > c.timeout {
		c.warn(err)
		return nil
	}
	text, err := os.ReadFile(c.path(host))
	if err != nil {
		c.warn(err)
		return nil
	}
	v, err := value.DecodeJSON(text)
	facts, ok := v.(*value.Dict)
	if err != nil || !ok {
		c.s.sink.Warning(fmt.Sprintf("cannot read the cached facts in %q; they are gathered again", c.path(host)), source.Pos{})
		return nil
	}
	return facts
}

// keptFacts reads facts of earlier runs while the inventory is loaded; nil: none
// are kept.
func (s *session) keptFacts() func(host string) *value.Dict {
	c := s.factCache()
	if c.dir == "" {
		return nil
	}
	return func(host string) *value.Dict {
		if host != filepath.Base(host) {
			return nil
		}
		return c.read(host)
	}
}

// save keeps the facts that a playbook's run leaves.
func (c *factCache) save() {
	if c.dir == "" {
		return
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		c.warn(err)
		return
	}
	for _, host := range append(c.s.inv.HostNames(), "localhost") {
		facts := c.s.store.Host(host).Injected()
		old, kept := c.stored[host]
		switch {
		case host != filepath.Base(host) || kept && old == facts:
		case facts.Len() > 0:
			c.warn(c.write(host, facts))
		case kept:
			c.warn(os.Remove(c.path(host))) // meta: clear_facts
		}
	}
}

func (c *factCache) write(host string, facts *value.Dict) error {
	text, err := value.EncodeJSON(facts, value.JSONOptions{Multiline: true, Indent: "    ", SortKeys: true, EscapeInvalid: true})
	if err != nil {
		return err
	}
	return atomicfile.Write(c.path(host), strings.NewReader(text), atomicfile.Options{})
}

// warn tells of what kept the cache from working; the run goes on without.
func (c *factCache) warn(err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.s.sink.Warning(fmt.Sprintf("the fact cache: %v", err), source.Pos{})
	}
}
