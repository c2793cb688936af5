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
		password, err := src.read(ctx, id, from, isPrompt)
		if err != nil {
			return nil, err
		}
		s.List = append(s.List, Secret{ID: id, Password: password})
	}
	if src.Ask && !asked {
		password, err := src.ask(ctx, src.DefaultID)
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

func (src *Sources) read(ctx context.Context, id, from string, isPrompt bool) ([]byte, error) {
	if isPrompt {
		return src.ask(ctx, id)
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

func (src *Sources) ask(ctx context.Context, id string) ([]byte, error) {
	if src.Prompt == nil {
		return nil, errors.New("cannot ask for a vault password: there is no terminal")
	}
	prompt := "Vault password: "
	if id != DefaultID {
		prompt = "Vault password (" + id + "): "
	}
	answer, err := src.Prompt(ctx, prompt)
	if err != nil {
		return nil, err
	}
	password := bytes.TrimSpace([]byte(answer))
	if len(password) == 0 {
		return nil, errors.New("cannot use an empty vault password")
	}
	return password, nil
}
