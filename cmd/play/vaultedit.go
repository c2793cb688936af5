package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"play/engine/vault"
	"play/modules/shellquote"
)

// plainCopy is a plaintext in a private folder, for an editor.
type plainCopy struct{ dir, path string }

func newPlainCopy(name string, plain []byte) (*plainCopy, error) {
	dir, err := os.MkdirTemp("", "play-vault-") // its mode is 0700
	if err != nil {
		return nil, fmt.Errorf("cannot make a private folder: %w", err)
	}
	c := &plainCopy{dir, filepath.Join(dir, filepath.Base(name))}
	if err := os.WriteFile(c.path, plain, 0o600); err != nil {
		c.shred()
		return nil, fmt.Errorf("cannot write a private copy: %w", err)
	}
	return c, nil
}

// shred overwrites the plaintext before it removes it, with whatever the editor
// has left beside it.
func (c *plainCopy) shred() {
	if f, err := os.OpenFile(c.path, os.O_WRONLY, 0); err == nil {
		if info, err := f.Stat(); err == nil {
			_, _ = f.Write(make([]byte, info.Size())) // it is removed anyway
		}
		_ = f.Close() // likewise
	}
	_ = os.RemoveAll(c.dir) // what is left holds zeros
}

// editor lets the person change a text in a private folder that is emptied
// afterwards, and stores it encrypted if it differs.
func (t *vaultTool) editor(name string, plain []byte, secret vault.Secret) error {
	c, err := newPlainCopy(name, plain)
	if err != nil {
		return err
	}
	t.host.private.Store(c)
	defer func() {
		c.shred() // first: a second signal meanwhile does so too
		t.host.private.Store(nil)
	}()
	if err := t.edited(c.path); err != nil {
		return err
	}
	changed, err := os.ReadFile(c.path)
	if err != nil {
		return fmt.Errorf("cannot read what was edited: %w", err)
	}
	if plain != nil && bytes.Equal(changed, plain) {
		return nil
	}
	encrypted, err := vault.Encrypt(changed, secret)
	if err != nil {
		return err
	}
	return t.write(name, encrypted, true)
}

// edited runs the person's editor on a file. A signal to play ends it.
func (t *vaultTool) edited(path string) error {
	words, err := shellquote.Split(first(environ(t.host.Environ, "EDITOR"), "vi"))
	if err != nil || len(words) == 0 {
		return &codeError{exitError, fmt.Errorf("cannot read the command in $EDITOR: %q", environ(t.host.Environ, "EDITOR"))}
	}
	cmd := exec.CommandContext(t.cli.Context, words[0], append(words[1:], path)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.host.In, t.host.Out, t.host.Err
	err = cmd.Run()
	if errors.Is(t.cli.Context.Err(), context.Canceled) {
		return &codeError{exitInterrupted, errors.New("interrupted: nothing is changed")}
	}
	if err != nil {
		return fmt.Errorf("cannot edit with %q: %w", words[0], err)
	}
	return nil
}
