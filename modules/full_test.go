package modules

import (
	"slices"
	"testing"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// TestNeeds: which calls go to the full agent.
func TestNeeds(t *testing.T) {
	t.Parallel()
	needs := Needs()
	cases := []struct {
		module string
		args   *value.Dict
		want   bool
	}{
		{"uri", value.NewDict(), true},
		{"docker_container", value.DictOf("name", "x"), true},
		{"command", value.DictOf("_raw_params", "curl https://a.example"), false},
		{"no_such_module", value.NewDict(), false},
		{"apt", value.DictOf("deb", "https://a.example/x.deb"), true},
		{"apt", value.DictOf("deb", "/tmp/x.deb"), false},
		{"apt", value.DictOf("name", value.NewList("a", "b")), false},
		{"package", value.DictOf("deb", "http://a.example/x.deb"), true},
		{"apt_repository", value.DictOf("repo", "deb http://a.example/debian stable main"), false},
		{"apt_repository", value.DictOf("repo", " ppa:owner/name"), true},
		{"apt_key", value.DictOf("url", "https://a.example/key"), true},
		{"apt_key", value.DictOf("id", "1234ABCD", "keyserver", "hkp://a.example"), false},
		{"unarchive", value.DictOf("src", "https://a.example/x.tar"), true},
		{"unarchive", value.DictOf("src", nil), false},
		{"authorized_key", value.DictOf("key", "ssh-rsa AAAA me@https://a.example"), false},
		{"authorized_key", value.DictOf("key", "https://a.example/me.keys"), true},
		{"deb822_repository", value.DictOf("uris", "https://a.example", "signed_by", "/etc/key.gpg"), false},
	}
	for _, c := range cases {
		if got := needs(c.module, c.args); got != c.want {
			t.Errorf("%s %v: got %t", c.module, c.args, got)
		}
	}
}

// TestDownloads: the arguments that may be an address exist, with no alias left out.
func TestDownloads(t *testing.T) {
	t.Parallel()
	for _, m := range All() {
		for _, name := range m.downloads {
			i := slices.IndexFunc(argspec.Of(m.Args).Options, func(o argspec.Option) bool { return o.Name == name })
			if i < 0 {
				t.Errorf("%s has no argument %q", m.Name, name)
				continue
			}
			for _, alias := range argspec.Of(m.Args).Options[i].Aliases {
				if !slices.Contains(m.downloads, alias) {
					t.Errorf("%s: the alias %q of %q may be an address too", m.Name, alias, name)
				}
			}
		}
	}
}

// TestPlainAgentSaysWhatItLacks: HTTP is an error there, not a crash.
func TestPlainAgentSaysWhatItLacks(t *testing.T) {
	t.Parallel()
	h := &httpClient{Call: &Call{Context: t.Context()}}
	if _, err := h.send("GET", "http://localhost", nil, time.Time{}); err == nil {
		t.Error("a request was sent")
	}
}
