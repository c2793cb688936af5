package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/vault"
	"play/modules/atomicfile"
)

// vaultCommand encrypts and decrypts files as ansible-vault does.
func vaultCommand(h *host) *cli.Command {
	v := func(name, usage, args string, act func(*vaultTool) error, more ...cli.Flag) *cli.Command {
		flags := append(vaultFlags(), commonFlags()...)
		flags = append(flags, &cli.StringFlag{Name: "encrypt-vault-id", Usage: "encrypt with the password labelled `ID`"})
		return &cli.Command{Name: name, Usage: usage, ArgsUsage: args, Flags: append(flags, more...), UseShortOptionHandling: true,
			Action: func(c *cli.Context) error {
				tool, err := newVaultTool(h, c)
				if err != nil {
					return err
				}
				return act(tool)
			}}
	}
	output := &cli.StringFlag{Name: "output", Usage: "write to `FILE`, - for stdout"}
	return &cli.Command{
		Name: "vault", Usage: "encrypt and decrypt files",
		Action: noSubcommand,
		Subcommands: []*cli.Command{
			v("create", "write a new encrypted file in an editor", "FILE...", (*vaultTool).create),
			v("decrypt", "make files plain again", "[FILE...]", (*vaultTool).decrypt, output),
			v("edit", "change an encrypted file in an editor", "FILE...", (*vaultTool).edit),
			v("encrypt", "encrypt files", "[FILE...]", (*vaultTool).encrypt, output),
			v("encrypt_string", "encrypt a text for a YAML file", "[TEXT...]", (*vaultTool).encryptString, output,
				&cli.StringSliceFlag{Name: "name", Aliases: []string{"n"}, Usage: "the variable's `NAME`"},
				&cli.StringFlag{Name: "stdin-name", Usage: "the variable's `NAME` for the text on stdin"},
				&cli.BoolFlag{Name: "show-input", Usage: "with --prompt: show what is typed"},
				&cli.BoolFlag{Name: "prompt", Aliases: []string{"p"}, Usage: "ask for the text"}),
			v("rekey", "encrypt files with another password", "FILE...", (*vaultTool).rekey,
				&cli.StringFlag{Name: "new-vault-id", Usage: "the new password's label and `SOURCE`"},
				&cli.StringFlag{Name: "new-vault-password-file", Usage: "read the new password from `FILE`"}),
			v("view", "show an encrypted file", "FILE...", (*vaultTool).view),
		},
	}
}

// vaultTool is one vault command.
type vaultTool struct {
	host    *host
	cli     *cli.Context
	secrets *vault.Secrets
	load    func(ids []string, ask, fresh bool) (*vault.Secrets, error)

	identity string   // vault_encrypt_identity
	ids      []string // --vault-id and vault_identity_list
}

// newVaultTool reads the passwords; one that is asked for is asked twice when it
// is fresh: one to encrypt with.
func newVaultTool(h *host, c *cli.Context) (*vaultTool, error) {
	fresh := slices.Contains([]string{"create", "encrypt", "encrypt_string"}, c.Command.Name)
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return nil, err
	}
	t := &vaultTool{host: h, cli: c, identity: o.Settings.VaultEncryptIdentity, ids: append(c.StringSlice("vault-id"), o.Settings.VaultIdentities...)}
	t.load = func(ids []string, ask, fresh bool) (*vault.Secrets, error) {
		return vault.Load(c.Context, vault.Sources{IDs: ids, Ask: ask, New: fresh, Dir: h.Dir, Home: environ(h.Environ, "HOME"), Environ: h.Environ,
			DefaultID: o.Settings.VaultIdentity,
			Prompt:    func(ctx context.Context, prompt string) (string, error) { return h.Ask(ctx, prompt, false) }})
	}
	if t.secrets, err = t.load(o.VaultIDs, o.AskVault || len(o.VaultIDs) == 0, fresh); err != nil {
		return nil, err
	}
	t.secrets.MatchID = o.Settings.VaultIDMatch
	return t, nil
}

// secret is the password to encrypt with.
func (t *vaultTool) secret() (vault.Secret, error) {
	want := first(t.cli.String("encrypt-vault-id"), t.identity)
	if want == "" && len(t.ids) > 1 {
		return vault.Secret{}, usagef("The vault-ids %s are available to encrypt. Specify the vault-id to encrypt with --encrypt-vault-id", strings.Join(labels(t.secrets.List), ","))
	}
	for _, s := range t.secrets.List {
		if want == "" || s.ID == want {
			return s, nil
		}
	}
	if want != "" {
		return vault.Secret{}, &codeError{exitError, fmt.Errorf("did not find a match for --encrypt-vault-id=%s in the known vault ids %s", want, strings.Join(labels(t.secrets.List), ","))}
	}
	return vault.Secret{}, usagef("a vault password is needed to encrypt: --vault-password-file or --vault-id")
}

func labels(secrets []vault.Secret) []string {
	var out []string
	for _, s := range secrets {
		out = append(out, s.ID)
	}
	return out
}

// files are the arguments; at least one.
func (t *vaultTool) files() ([]string, error) {
	if t.cli.NArg() == 0 {
		return nil, usagef("play vault %s needs a file", t.cli.Command.Name)
	}
	return t.cli.Args().Slice(), nil
}

// read returns a file's content; "-" is stdin.
func (t *vaultTool) read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(t.host.In)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("cannot read %q: %w", name, err)
	}
	return data, nil
}

// write replaces a file, or the one that --output names; secret files are
// private from the start.
func (t *vaultTool) write(name string, data []byte, private bool) error {
	if out := t.cli.String("output"); out != "" {
		name = out
	}
	if name == "-" {
		_, err := t.host.Out.Write(data)
		return err
	}
	options := atomicfile.Options{}
	if _, err := os.Stat(name); err != nil && private {
		mode := uint32(0o600)
		options.Mode = &mode
	}
	f, err := atomicfile.Create(name, options)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Abort()
		return fmt.Errorf("cannot write %q: %w", name, err)
	}
	return f.Commit()
}

// each applies change to every file.
func (t *vaultTool) each(private bool, change func(name string, data []byte) ([]byte, error)) error {
	names := t.cli.Args().Slice()
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		data, err := t.read(name)
		if err != nil {
			return err
		}
		if data, err = change(name, data); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := t.write(name, data, private); err != nil {
			return err
		}
	}
	return nil
}

func (t *vaultTool) encrypt() error {
	secret, err := t.secret()
	if err != nil {
		return err
	}
	err = t.each(true, func(_ string, data []byte) ([]byte, error) {
		if vault.IsEncrypted(data) {
			return nil, errors.New("input is already encrypted")
		}
		return vault.Encrypt(data, secret)
	})
	return t.done(err, "Encryption successful")
}

func (t *vaultTool) decrypt() error {
	err := t.each(true, func(_ string, data []byte) ([]byte, error) { return t.secrets.Decrypt(data) })
	return t.done(err, "Decryption successful")
}

func (t *vaultTool) view() error {
	names, err := t.files()
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := t.read(name)
		if err != nil {
			return err
		}
		plain, err := t.secrets.Decrypt(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if _, err := t.host.Out.Write(plain); err != nil {
			return err
		}
	}
	return nil
}

func (t *vaultTool) rekey() error {
	if _, err := t.files(); err != nil {
		return err
	}
	source := first(t.cli.String("new-vault-id"), t.cli.String("new-vault-password-file"))
	ids := []string{}
	if source != "" {
		ids = append(ids, source)
	}
	fresh, err := t.load(ids, source == "", true)
	if err != nil {
		return err
	}
	err = t.each(true, func(_ string, data []byte) ([]byte, error) {
		plain, err := t.secrets.Decrypt(data)
		if err != nil {
			return nil, err
		}
		return vault.Encrypt(plain, fresh.List[0])
	})
	return t.done(err, "Rekey successful")
}

func (t *vaultTool) create() error {
	names, err := t.files()
	if err != nil {
		return err
	}
	secret, err := t.secret()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, err := os.Stat(name); err == nil {
			return fmt.Errorf("%s exists, please use \"edit\" instead", name)
		}
		if err := t.editor(name, nil, secret); err != nil {
			return err
		}
	}
	return nil
}

func (t *vaultTool) edit() error {
	names, err := t.files()
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := t.read(name)
		if err != nil {
			return err
		}
		plain, secret, err := t.secrets.DecryptID(data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := t.editor(name, plain, secret); err != nil {
			return err
		}
	}
	return nil
}

// done says that all went well, on stderr, where the data did not go.
func (t *vaultTool) done(err error, text string) error {
	if err == nil && t.cli.String("output") != "-" {
		fmt.Fprintln(t.host.Err, text)
	}
	return err
}
