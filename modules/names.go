package modules

// In tells the collections that a module stands for, newest home first, where
// it is not ansible.builtin's: its own one, those that it lived in before, and
// the folders in them by which it was called. A module of "docker_network" with
// In("community.docker", "community.general") is community.docker.docker_network
// and community.general.docker_network, and no other collection's module of
// that name. TestNames says what is missing here.
func (m Module) In(collections ...string) Module {
	m.Collections = collections
	return m
}

// Formerly tells full names of another short name that lead to the module:
// x509_certificate was community.crypto.openssl_certificate. The short name
// alone leads here too.
func (m Module) Formerly(full ...string) Module {
	m.Former = full
	return m
}

// FullNames are the full names that the module stands for; the first is its own.
func (m Module) FullNames() []string {
	return append(FullNames(m.Name, m.Collections), m.Former...)
}

// FullNames puts a short name into collections; none mean ansible.builtin.
func FullNames(name string, collections []string) []string {
	if len(collections) == 0 {
		return []string{"ansible.builtin." + name}
	}
	names := make([]string, len(collections))
	for i, c := range collections {
		names[i] = c + "." + name
	}
	return names
}
