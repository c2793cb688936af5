package main

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// recordedOption is an option of one of Ansible's programs.
type recordedOption struct {
	Names []string
	Value bool // it takes one
}

// TestFlagsOfAnsible: every option of Ansible's programs is one here, under all
// of its names, and takes a value where it does there.
func TestFlagsOfAnsible(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/flags/options.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct{ Options map[string][]recordedOption }
	if err := json.Unmarshal(data, &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Options) != 15 {
		t.Fatalf("%d programs and subcommands", len(recorded.Options))
	}
	for words, options := range recorded.Options {
		t.Run(words, func(t *testing.T) {
			t.Parallel()
			flags, ok := flagsOf(newApp(&host{}), words)
			if !ok {
				t.Fatal("there is no such command")
			}
			for _, o := range options {
				checkOption(t, flags, o)
			}
		})
	}
}

// flagsOf finds the options of a command by the words that call it.
func flagsOf(app *cli.App, words string) ([]cli.Flag, bool) {
	program, sub, _ := strings.Cut(words, " ")
	flags, commands := app.Flags, app.Commands
	for _, name := range []string{calledAs[program], sub} {
		if name == "" {
			continue
		}
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
		if i < 0 {
			return nil, false
		}
		flags, commands = commands[i].Flags, commands[i].Subcommands
	}
	return flags, true
}

func checkOption(t *testing.T, flags []cli.Flag, o recordedOption) {
	for _, name := range o.Names {
		short := strings.TrimLeft(name, "-")
		if short == "h" || short == "help" { // every command of the cli package has it
			continue
		}
		i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), short) })
		if i < 0 {
			t.Errorf("%s is not accepted", name)
			continue
		}
		if _, isBool := flags[i].(*cli.BoolFlag); isBool == o.Value {
			t.Errorf("%s takes a value: %v, want %v", name, !isBool, o.Value)
		}
	}
}

// TestFlagsAreDescribed: the help text says what each option does, and names
// what it takes.
func TestFlagsAreDescribed(t *testing.T) {
	t.Parallel()
	app := newApp(&host{})
	seen := 0
	var walk func(path string, flags []cli.Flag, commands []*cli.Command)
	walk = func(path string, flags []cli.Flag, commands []*cli.Command) {
		for _, f := range flags {
			seen++
			checkDescribed(t, path, f)
		}
		for _, c := range commands {
			if c.Usage == "" {
				t.Errorf("%s %s says nothing of what it does", path, c.Name)
			}
			walk(path+" "+c.Name, c.Flags, c.Subcommands)
		}
	}
	walk("play", app.Flags, app.Commands)
	if seen < 200 {
		t.Errorf("only %d options", seen)
	}
}

func checkDescribed(t *testing.T, path string, f cli.Flag) {
	described, ok := f.(cli.DocGenerationFlag)
	if !ok || described.GetUsage() == "" {
		t.Errorf("%s --%s has no description", path, f.Names()[0])
		return
	}
	visible, _ := f.(cli.VisibleFlag)
	if described.TakesValue() && visible.IsVisible() && !strings.Contains(described.GetUsage(), "`") {
		t.Errorf("%s --%s does not name what it takes", path, f.Names()[0])
	}
	if strings.HasSuffix(described.GetUsage(), ".") {
		t.Errorf("%s --%s ends with a full stop, the others do not", path, f.Names()[0])
	}
}
