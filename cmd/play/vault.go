package main

import (
	"context"
	"strings"

	"play/engine/vault"
	"play/engine/yamlload"
)

// vaultSecrets are the vault passwords of the command line and configuration;
// nil when there are none.
func vaultSecrets(ctx context.Context, h *host, o *options) (yamlload.Decrypter, error) {
	secrets, err := vault.Load(ctx, vault.Sources{
		IDs: o.VaultIDs, Ask: o.AskVault, Dir: h.Dir, Home: environ(h.Environ, "HOME"), Environ: h.Environ, DefaultID: o.Settings.VaultIdentity,
		Prompt: func(ctx context.Context, prompt string) (string, error) { return h.Ask(ctx, prompt, false) },
	})
	if err != nil || len(secrets.List) == 0 {
		return nil, err
	}
	secrets.MatchID = o.Settings.VaultIDMatch
	return secrets, nil
}

// environ finds a variable in a list of NAME=value.
func environ(list []string, name string) string {
	for _, e := range list {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}
