// Package vars answers "what is this name worth for this host and task". Facts,
// registered results and included variables flow in through a Store while the
// run goes on; a Scope per (host, task) flows out and is read by templates,
// layer by layer, highest precedence first. Nothing is copied per host or task,
// and nothing is evaluated here except the names of vars_files.
package vars

import (
	"slices"
	"strings"
	"sync"

	"play/modules/value"
)

// Store holds what a run learns about its hosts. It is safe for concurrent use.
type Store struct {
	// Merge is hash_behaviour=merge; it is set before the first host is asked for.
	Merge bool
	// Apart is inject_facts_as_vars=no: facts are found in ansible_facts alone. It
	// is set before the first host is asked for.
	Apart bool

	mu    sync.RWMutex
	hosts map[string]*HostState
}

// NewStore returns an empty store.
func NewStore() *Store { return &Store{hosts: map[string]*HostState{}} }

// Host returns the state of a host, making it on first use.
func (s *Store) Host(name string) *HostState {
	s.mu.RLock()
	h := s.hosts[name]
	s.mu.RUnlock()
	if h != nil {
		return h
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h = s.hosts[name]; h == nil {
		h = &HostState{merge: s.Merge, apart: s.Apart}
		s.hosts[name] = h
	}
	return h
}

// HostState is what was learnt about one host: its facts, what include_vars
// brought, and what set_fact and register stored. The values are data. A
// container that was stored is never changed afterwards, so readers may keep it.
type HostState struct {
	merge    bool
	apart    bool // facts are in ansible_facts alone
	mu       sync.RWMutex
	facts    *value.Dict     // by name without the ansible_ prefix
	injected *value.Dict     // by the name the module gave
	included *value.Dict     // include_vars
	set      *value.Dict     // set_fact and register
	fromHost map[string]bool // names of set that hold what a host sent
}

// ControlMachine tells whether a host's name stands for the control machine
// itself: what it sends is no stranger's data.
func ControlMachine(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// Facts returns the ansible_facts dict; never nil.
func (h *HostState) Facts() *value.Dict {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.facts == nil {
		return value.NewDict()
	}
	return h.facts
}

// Injected returns the facts under the names that modules gave them, such as
// ansible_distribution; never nil.
func (h *HostState) Injected() *value.Dict {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.injected == nil {
		return value.NewDict()
	}
	return h.injected
}

// AddFacts merges a module's ansible_facts. Names that would change how hosts
// are reached are dropped and returned, so that a host cannot redirect or
// execute anything on the control machine.
func (h *HostState) AddFacts(facts *value.Dict) (dropped []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	bare, injected := h.facts.Clone(), h.injected.Clone()
	for k, v := range facts.All() {
		name, ok := k.(string)
		if !ok {
			continue
		}
		if Reserved(name) {
			dropped = append(dropped, name)
			continue
		}
		injected.Set(name, v)
		if short, ok := strings.CutPrefix(name, "ansible_"); ok && name != "ansible_local" {
			name = short
		}
		bare.Set(name, v)
		if name == "ansible_local" {
			bare.Set("local", v)
		}
	}
	h.facts, h.injected = bare, injected
	return dropped
}

// ClearFacts forgets the facts (meta: clear_facts).
func (h *HostState) ClearFacts() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.facts, h.injected = nil, nil
}

// Set stores a set_fact or registered variable; fromHost tells that a host's
// data had a part in it.
func (h *HostState) Set(name string, v any, fromHost bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.set == nil {
		h.set, h.fromHost = value.NewDict(), map[string]bool{}
	}
	h.set.Set(name, v)
	if fromHost {
		h.fromHost[name] = true
	} else {
		delete(h.fromHost, name)
	}
}

// sent tells whether a set_fact or registered variable holds what a host sent.
func (h *HostState) sent(name string) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.fromHost[name]
}

// Include stores what include_vars read.
func (h *HostState) Include(vars *value.Dict) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.included == nil {
		h.included = value.NewDict()
	}
	if h.merge {
		h.included = value.Combine(h.included, vars)
		return
	}
	h.included.Update(vars)
}

// lookupSet finds a set_fact or registered variable.
func (h *HostState) lookupSet(name string) (any, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.set.Get(name)
}

// lookupIncluded finds an include_vars variable.
func (h *HostState) lookupIncluded(name string) (any, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.included.Get(name)
}

// lookupFact finds an injected fact, or ansible_facts itself.
func (h *HostState) lookupFact(name string) (any, bool) {
	if name == "ansible_facts" {
		return h.Facts(), true
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.apart && name != alwaysInjected {
		return nil, false
	}
	return h.injected.Get(name)
}

// alwaysInjected is a variable even where facts are apart.
const alwaysInjected = "ansible_local"

// factNames lists what lookupFact finds but ansible_facts.
func (h *HostState) factNames() []string {
	names := h.names(func(h *HostState) *value.Dict { return h.injected })
	if !h.apart {
		return names
	}
	return slices.DeleteFunc(names, func(n string) bool { return n != alwaysInjected })
}

// names lists every name of one kind of layer.
func (h *HostState) names(pick func(*HostState) *value.Dict) []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return dictNames(pick(h))
}

func dictNames(d *value.Dict) []string {
	names := make([]string, 0, d.Len())
	for k := range d.All() {
		if s, ok := k.(string); ok {
			names = append(names, s)
		}
	}
	return names
}
