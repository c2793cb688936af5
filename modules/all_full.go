//go:build !plain

package modules

import (
	"sort"
	"time"

	"play/modules/value"
)

// Large lists the modules that the full agent alone has, sorted by name: they
// link TLS, certificates or Docker's interface, which most hosts never need.
func Large() []Module {
	return []Module{
		dockerComposeV2(),
		dockerContainer(),
		dockerContainerExec(),
		dockerContainerInfo(),
		dockerHostInfo(),
		dockerImage(),
		dockerImageBuild(),
		dockerImageInfo(),
		dockerImagePull(),
		dockerLoginModule(),
		dockerNetwork(),
		dockerNetworkInfo(),
		dockerPrune(),
		dockerVolume(),
		dockerVolumeInfo(),
		getURL(),
		opensslCSR(),
		opensslCSRInfo(),
		opensslCSRPipe(),
		opensslPrivateKey(),
		opensslPrivateKeyInfo(),
		opensslPublicKey(),
		uri(),
		x509Certificate(),
		x509CertificateInfo(),
		x509CertificatePipe(),
	}
}

// All lists every native module, sorted by name.
func All() []Module {
	list := Plain()
	for _, m := range Large() {
		m.large = true
		list = append(list, m)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name }) // a generic sort would add an instance for this struct
	return list
}

// HTTP is the full agent's Web.
func HTTP(h *httpClient, method, address string, body []byte, since time.Time) (*httpReply, error) {
	return h.follow(method, address, body, since)
}

// Needs returns what tells whether a call of a module needs the full agent.
func Needs() func(module string, args *value.Dict) bool {
	table := Table(All())
	return func(module string, args *value.Dict) bool { return table[module].Full(args) }
}
