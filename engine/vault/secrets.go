package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// DefaultID labels passwords that were given without a label.
const DefaultID = "default"

// Sources say where passwords come from.
type Sources struct {
	// IDs are --vault-id and --vault-password-file values, in order: a path,
	// "prompt", or either with a label in front: "label@path".
	IDs []string
	// Ask asks the person (--ask-vault-password) when no other source does.
	Ask bool
	// New says that the passwords are to encrypt with: what the person types is
	// asked for twice.
	New bool
	// Prompt reads a password from the person without showing it.
	Prompt func(ctx context.Context, prompt string) (string, error)
	// Dir is where relative paths start; "" is the process's folder.
	Dir string
	// Home stands for ~ in paths.
	Home string
	// Environ is the environment of password scripts; nil: the process's.
	Environ []string
	// DefaultID labels passwords without a label; "" is "default".
	DefaultID string
}

// Load reads all passwords, in the order of the sources.
func Load(ctx context.Context, src Sources) (*Secrets, error) {
	if src.DefaultID == "" {
		src.DefaultID = DefaultID
	}
	s := &Secrets{}
	asked := false
	for _, text := range src.IDs {
		id, from := splitID(text, src.DefaultID)
		isPrompt := from == "prompt" || from == "prompt_ask_vault_pass"
		asked = asked || isPrompt
		password, err := src.read(ctx, id, from)
		if err != nil {
			return nil, err
		}
		s.List = append(s.List, Secret{ID: id, Password: password})
	}
	if src.Ask && !asked {
		password, err := src.ask(ctx, "Vault password: ", "New Vault password: ")
		if err != nil {
			return nil, err
		}
		s.List = append(s.List, Secret{ID: src.DefaultID, Password: password})
	}
	return s, nil
}

// splitID parts "label@source".
func splitID(text, defaultID string) (id, from string) {
	id, from, ok := strings.Cut(text, "@")
	if !ok {
		return defaultID, text
	}
	if id == "" {
		id = defaultID
	}
	return id, from
}

func (src *Sources) read(ctx context.Context, id, from string) ([]byte, error) {
	switch from {
	case "prompt":
		return src.ask(ctx, "Vault password ("+id+"): ", "New vault password ("+id+"): ")
	case "prompt_ask_vault_pass":
		return src.ask(ctx, "Vault password: ", "New Vault password: ")
	}
	path := from
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = src.Home + path[1:]
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(src.Dir, path)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("cannot find the vault password file %q", path)
	case err != nil:
		return nil, fmt.Errorf("cannot read the vault password file %q: %w", path, err)
	case info.IsDir():
		return nil, fmt.Errorf("cannot read the vault password file %q: it is a folder", path)
	case info.Mode().Perm()&0o111 != 0:
		return src.run(ctx, id, path)
	}
	return readFile(path)
}

// readFile takes the file's text without the blanks around it.
func readFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the vault password file %q: %w", path, err)
	}
	if IsEncrypted(data) {
		return nil, fmt.Errorf("cannot use the vault password file %q: it is encrypted itself", path)
	}
	password := bytes.TrimSpace(data)
	if len(password) == 0 {
		return nil, fmt.Errorf("cannot use the vault password file %q: it is empty", path)
	}
	return password, nil
}

// run takes the output of a password script without its line end. A script
// named …-client is told the label.
func (src *Sources) run(ctx context.Context, id, path string) ([]byte, error) {
	var args []string
	if name := filepath.Base(path); strings.HasSuffix(strings.TrimSuffix(name, filepath.Ext(name)), "-client") {
		args = []string{"--vault-id", id}
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.Stdin, cmd.Stderr = src.Environ, os.Stdin, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot run the vault password script %q: %w", path, err)
	}
	password := bytes.Trim(out, "\r\n")
	if len(password) == 0 {
		return nil, fmt.Errorf("cannot use the vault password script %q: it printed nothing", path)
	}
	return password, nil
}

// ask reads a password from the person: by one question, or by another, twice,
// when it is a new one.
func (src *Sources) ask(ctx context.Context, known, fresh string) ([]byte, error) {
	if src.Prompt == nil {
		return nil, errors.New("cannot ask for a vault password: there is no terminal")
	}
	if !src.New {
		return src.answer(ctx, known)
	}
	password, err := src.answer(ctx, fresh)
	if err != nil {
		return nil, err
	}
	again, err := src.answer(ctx, "Confirm "+strings.Replace(fresh, "New vault", "new vault", 1))
	if err == nil && !bytes.Equal(password, again) {
		err = errors.New("Passwords do not match")
	}
	return password, err
}

func (src *Sources) answer(ctx context.Context, question string) ([]byte, error) {
	answer, err := src.Prompt(ctx, question)
	if err != nil {
		return nil, err
	}
	password := bytes.TrimSpace([]byte(answer))
	if len(password) == 0 {
		return nil, errors.New("Invalid vault password was provided")
	}
	return password, nil
}
