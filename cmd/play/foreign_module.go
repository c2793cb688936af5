package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"play/action"
	"play/engine/modulefind"
	"play/engine/playbook"
	"play/engine/source"
	"play/modules/foreign"
	"play/modules/value"
)

// moduleCommand looks into modules that are not native.
func moduleCommand(h *host) *cli.Command {
	where := []cli.Flag{
		&cli.StringFlag{Name: "playbook-dir", Usage: "the `FOLDER` whose library, roles and collections count"},
		&cli.StringSliceFlag{Name: "module-path", Aliases: []string{"M"}, Usage: "look for modules in these `FOLDERS` too"},
		&cli.StringFlag{Name: "args", Aliases: []string{"a"}, Usage: "the module's `ARGUMENTS`: k=v words or a JSON object"},
	}
	return &cli.Command{
		Name: "module", Usage: "take a module that is not native apart, and run it from its parts",
		Subcommands: []*cli.Command{
			{Name: "explode", Usage: "write what would be sent for a module into a new folder", ArgsUsage: "MODULE DIR", Flags: append(where, commonFlags()...),
				UseShortOptionHandling: true, Action: func(c *cli.Context) error { return explodeAction(h, c) }},
			{Name: "execute", Usage: "run, on this machine, a module from the folder that explode wrote", ArgsUsage: "DIR", UseShortOptionHandling: true,
				Flags: []cli.Flag{where[2], &cli.StringFlag{Name: "interpreter", Usage: "run it with `PROGRAM`"},
					&cli.BoolFlag{Name: "check", Aliases: []string{"C"}, Usage: "set check mode"}},
				Action: func(c *cli.Context) error { return executeAction(h, c) }},
		},
	}
}

// exploded describes what stands in an exploded module's folder.
type exploded struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind"`
	Package     string   `json:"package,omitempty"` // Python: the dotted name
	File        string   `json:"file,omitempty"`    // others: the module's file in the folder
	Interpreter []string `json:"interpreter"`
}

// Files of an exploded module besides its own.
const (
	explodedAbout = "module.json"
	explodedArgs  = "args.json"
)

func explodeAction(h *host, c *cli.Context) error {
	if c.NArg() != 2 {
		return usagef("play module explode takes a module and a new folder, for example: play module explode community.general.ini_file /tmp/ini_file")
	}
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return err
	}
	args, err := plainArgs(c.String("args"))
	if err != nil {
		return err
	}
	beside := h.path(first(c.String("playbook-dir"), h.Dir))
	finder := newFinder(h, o)
	finder.AddPlaybook(beside)
	m, err := finder.Find(c.Args().First(), []string{beside})
	if err != nil {
		return err
	}
	dir := h.path(c.Args().Get(1))
	if left, _ := os.ReadDir(dir); len(left) > 0 { // it need not exist
		return fmt.Errorf("cannot explode %q: the folder %q is not empty", m.Name, dir)
	}
	about, err := explode(newForeign(h, o, finder), m, beside, dir)
	if err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, explodedAbout), about); err != nil {
		return err
	}
	text, err := value.EncodeJSON(args, value.JSONOptions{Multiline: true, Indent: "  "})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, explodedArgs), []byte(text+"\n"), 0o600)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(h.Out, "%s (%s) is in %s; edit %s and run it by: play module execute %s\n", m.Name, about.Kind, dir, explodedArgs, c.Args().Get(1))
	return nil
}

// explode writes a module's parts into dir.
func explode(f *action.Foreign, m *modulefind.Module, beside, dir string) (*exploded, error) {
	text, err := os.ReadFile(m.Path)
	if err != nil {
		return nil, err
	}
	about := &exploded{Name: m.Name[strings.LastIndexByte(m.Name, '.')+1:], Kind: string(modulefind.KindOf(text))}
	if program, words := modulefind.Shebang(text); program != "" && modulefind.KindOf(text) != modulefind.Binary {
		about.Interpreter = append([]string{program}, words...)
	}
	if about.Kind != string(modulefind.Python) {
		about.File = filepath.Base(m.Path)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		return about, os.WriteFile(filepath.Join(dir, about.File), text, 0o700)
	}
	about.Interpreter = []string{"/usr/bin/python3"}
	zip, err := f.Builder.Build(m, f.UtilsBeside([]string{beside}))
	if err != nil {
		return nil, err
	}
	about.Package = zip.Name
	return about, zip.Explode(dir)
}

func executeAction(h *host, c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("play module execute takes the folder that play module explode wrote")
	}
	dir := h.path(c.Args().First())
	var about exploded
	text, err := os.ReadFile(filepath.Join(dir, explodedAbout))
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil {
		return fmt.Errorf("cannot execute %q: it is no folder that play module explode wrote: %w", dir, err)
	}
	args, err := explodedArguments(dir, c.String("args"))
	if err != nil {
		return err
	}
	args.Set("_ansible_check_mode", c.Bool("check"))
	if program := c.String("interpreter"); program != "" {
		about.Interpreter = strings.Fields(program)
	}
	tmp, err := os.MkdirTemp("", "play-module-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	out, err := foreign.Run(c.Context, &foreign.Program{Name: about.Name, Kind: about.Kind, File: filepath.Join(dir, about.File), Package: about.Package,
		Interpreter: about.Interpreter, Args: args, Env: h.Environ, Dir: h.Dir, TmpDir: tmp})
	if err != nil {
		return err
	}
	shown, err := value.EncodeJSON(out, value.JSONOptions{Multiline: true, Indent: "    "})
	if err != nil {
		return err
	}
	fmt.Fprintln(h.Out, shown)
	if failed, _ := out.Get("failed"); value.Truth(failed) {
		return &codeError{exitFailed, nil}
	}
	return nil
}

// explodedArguments are those typed, or those of the folder.
func explodedArguments(dir, typed string) (*value.Dict, error) {
	if typed != "" {
		return plainArgs(typed)
	}
	text, err := os.ReadFile(filepath.Join(dir, explodedArgs))
	if errors.Is(err, os.ErrNotExist) {
		return value.NewDict(), nil
	}
	if err != nil {
		return nil, err
	}
	return plainArgs(string(text))
}

// plainArgs reads arguments without templates.
func plainArgs(text string) (*value.Dict, error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		args, err := playbook.ParseKV(text, false)
		if err != nil {
			return nil, usagef("cannot read the arguments %q: %v", text, err)
		}
		return args, nil
	}
	v, err := value.DecodeJSON([]byte(text))
	if err != nil {
		return nil, source.Errorf(source.Pos{}, "cannot read the arguments: %v", err)
	}
	return v.(*value.Dict), nil // what begins with a brace and is JSON is a dict
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
