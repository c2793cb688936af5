package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"play/engine/vault"
)

// plainText is a text that encrypt_string makes a YAML value of.
type plainText struct {
	name, text string
	from       string // in words
}

// encryptString prints texts as inline vault values: that of the prompt, that of
// stdin, those of the command line.
func (t *vaultTool) encryptString() error {
	secret, err := t.secret()
	if err != nil {
		return err
	}
	texts, err := t.plainTexts()
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for i, p := range texts {
		encrypted, err := vault.Encrypt([]byte(p.text), secret)
		if err != nil {
			return err
		}
		if len(texts) > 1 {
			fmt.Fprintf(t.host.Err, "# The encrypted version of %s\n", p.describe(i+1))
		}
		out.WriteString(inlineVault(p.name, string(encrypted)))
	}
	if err := t.write("-", out.Bytes(), true); err != nil {
		return err
	}
	if terminal(t.host.OutFile) {
		fmt.Fprintln(t.host.Err, "Encryption successful")
	}
	return nil
}

func (p *plainText) describe(n int) string {
	if p.name == "" {
		return fmt.Sprintf("the string #%d from %s.)", n, p.from)
	}
	return fmt.Sprintf("variable (%q, the string #%d from %s).", p.name, n, p.from)
}

// plainTexts gathers the texts; an empty one is a mistake.
func (t *vaultTool) plainTexts() ([]plainText, error) {
	var texts []plainText
	args := slices.DeleteFunc(t.cli.Args().Slice(), func(a string) bool { return a == "-" })
	readsInput := len(args) < t.cli.NArg() || t.cli.IsSet("stdin-name") || len(args) == 0 && !t.cli.Bool("prompt")
	if t.cli.Bool("prompt") {
		if readsInput {
			return nil, usagef("The --prompt option is not supported if also reading input from stdin")
		}
		asked, err := t.askText()
		if err != nil {
			return nil, err
		}
		texts = append(texts, asked)
	}
	if readsInput {
		read, err := t.readText()
		if err != nil {
			return nil, err
		}
		texts = append(texts, read)
	}
	return append(texts, t.named(args)...), nil
}

func (t *vaultTool) askText() (plainText, error) {
	name, err := t.host.Ask(t.cli.Context, "Variable name (enter for no name): ", true)
	if err != nil {
		return plainText{}, err
	}
	prompt, show := "String to encrypt (hidden): ", t.cli.Bool("show-input")
	if show {
		prompt = "String to encrypt:"
	}
	text, err := t.host.Ask(t.cli.Context, prompt, show)
	if err == nil && text == "" {
		err = usagef("The plaintext provided from the prompt was empty, not encrypting")
	}
	return plainText{name, text, "the interactive prompt"}, err
}

func (t *vaultTool) readText() (plainText, error) {
	person := terminal(t.host.OutFile)
	if person {
		fmt.Fprintln(t.host.Err, "Reading plaintext input from stdin. (ctrl-d to end input, twice if your content does not already have a newline)")
	}
	text, err := io.ReadAll(t.host.In)
	switch {
	case err != nil:
		return plainText{}, fmt.Errorf("cannot read the text from stdin: %w", err)
	case len(text) == 0:
		return plainText{}, usagef("stdin was empty, not encrypting")
	case person && !bytes.HasSuffix(text, []byte("\n")):
		fmt.Fprintln(t.host.Err)
	}
	return plainText{t.cli.String("stdin-name"), string(text), "stdin"}, nil
}

// named pairs the texts of the command line with the names of --name.
func (t *vaultTool) named(args []string) []plainText {
	names := t.cli.StringSlice("name")
	if len(names) > 0 && len(names) != len(args) {
		fmt.Fprintf(t.host.Err, "The number of --name options do not match the number of args.\nThe last named variable will be %q. The rest will not have names.\n", names[len(names)-1])
	}
	texts := make([]plainText, len(args))
	for i, arg := range args {
		texts[i] = plainText{text: arg, from: "the command line args"}
		if i < len(names) {
			texts[i].name = names[i]
		}
	}
	return texts
}

// inlineVault is an encrypted text as a YAML value, with its name if it has one.
func inlineVault(name, encrypted string) string {
	head := "!vault |\n"
	if name != "" {
		head = name + ": " + head
	}
	lines := strings.Split(strings.TrimRight(encrypted, "\n"), "\n")
	return head + "          " + strings.Join(lines, "\n          ") + "\n"
}
