package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"play/engine/lint"
	"play/modules/atomicfile"
)

// lintCommand looks for mistakes in files, without running anything.
func lintCommand(h *host) *cli.Command {
	return &cli.Command{Name: "lint", Usage: "look for mistakes and bad habits in playbooks, tasks, roles and templates", ArgsUsage: "[PATH...]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "fix", Usage: "put right what can be put right safely"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "`FORM` of the findings: text, json or sarif"},
			&cli.StringFlag{Name: "level", Value: "warning", Usage: "show findings from this `LEVEL` on: note, warning, error"},
			&cli.StringSliceFlag{Name: "skip", Usage: "leave out the rules `ID,ID`"},
			&cli.BoolFlag{Name: "rules", Usage: "list the rules and stop"},
		},
		Action: func(c *cli.Context) error { return lintAction(h, c) }}
}

// levels are the levels from the least on.
var levels = []lint.Level{lint.Note, lint.Warning, lint.Error}

func lintAction(h *host, c *cli.Context) error {
	if c.Bool("rules") {
		for _, r := range lint.Rules() {
			fmt.Fprintf(h.Out, "%-18s %-8s %s\n", r.ID, r.Level, r.Doc)
		}
		return nil
	}
	w := &lintWork{h: h, from: slices.Index(levels, lint.Level(c.String("level"))), fix: c.Bool("fix")}
	if w.from < 0 {
		return usagef("--level takes note, warning or error, not %q", c.String("level"))
	}
	if !slices.Contains([]string{"text", "json", "sarif"}, c.String("format")) {
		return usagef("--format takes text, json or sarif, not %q", c.String("format"))
	}
	paths := c.Args().Slice()
	if len(paths) == 0 {
		paths = []string{"."}
	}
	files, err := lintFiles(h, paths)
	if err != nil {
		return &codeError{exitError, err}
	}
	if w.linter, err = newLinter(h, c, files); err != nil {
		return err
	}
	for _, name := range files {
		if err := w.file(name); err != nil {
			return &codeError{exitError, err}
		}
	}
	return w.end(c.String("format"))
}

// newLinter knows the modules and plugins that files can use.
func newLinter(h *host, c *cli.Context, files []string) (*lint.Linter, error) {
	o, err := readOptions(c.Context, h, c)
	if err != nil {
		return nil, err
	}
	finder := newFinder(h, o)
	for _, name := range files {
		finder.AddPlaybook(filepath.Dir(h.path(name)))
	}
	l := lint.New(newEnv(o.Compat, nil, newTextPlugins(h, o.Config, files).plugin))
	l.Known = knownModules(finder).Known
	l.Skip, err = skippedRules(o, c)
	return l, err
}

// skippedRules are the rules that are off.
func skippedRules(o *options, c *cli.Context) ([]string, error) {
	skip := append(commaList(c.StringSlice("skip")), o.Settings.LintSkip...)
	for _, id := range skip {
		if !slices.ContainsFunc(lint.Rules(), func(r lint.Rule) bool { return r.ID == id }) {
			return nil, usagef("there is no rule %q; \"play lint --rules\" lists them", id)
		}
	}
	return skip, nil
}

// lintFiles lists the YAML files and templates at and below paths.
func lintFiles(h *host, paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(h.path(p))
		if err != nil {
			return nil, fmt.Errorf("cannot look at %q: %w", p, err)
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		below, err := lintFolder(h, p)
		if err != nil {
			return nil, fmt.Errorf("cannot look at %q: %w", p, err)
		}
		files = append(files, below...)
	}
	return files, nil
}

func lintFolder(h *host, top string) (files []string, err error) {
	err = filepath.WalkDir(h.path(top), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != h.path(top) && passedOver(d.Name()) {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(h.path(top), path)
		if err == nil && d.Type().IsRegular() && (isTemplate(rel) || slices.Contains([]string{".yml", ".yaml"}, filepath.Ext(path))) {
			files = append(files, filepath.Join(top, rel))
		}
		return err
	})
	return files, err
}

// isTemplate tells template files by where they stand and how they are called.
func isTemplate(name string) bool {
	return filepath.Ext(name) == ".j2" || slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(name)), "/"), "templates")
}

// passedOver tells folders that hold no files of the language's own.
func passedOver(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains([]string{"files", "ansible_collections", "node_modules", "venv"}, name)
}

// lintWork is one lint run.
type lintWork struct {
	h      *host
	linter *lint.Linter
	from   int
	fix    bool
	found  []lint.Finding
	fixed  int
}

// maxFixes is how often a file is looked at again after a fix.
const maxFixes = 5

func (w *lintWork) file(name string) error {
	path := w.h.path(name)
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read %q: %w", name, err)
	}
	found := w.look(name, text)
	changed := 0
	for range maxFixes {
		if !w.fix {
			break
		}
		better, n := lint.Fix(text, found)
		if n == 0 {
			break
		}
		text, changed = better, changed+n
		found = w.look(name, text)
	}
	if changed > 0 {
		if err := atomicfile.Write(path, bytes.NewReader(text), atomicfile.Options{}); err != nil {
			return fmt.Errorf("cannot write %q: %w", name, err)
		}
		w.fixed += changed
	}
	w.found = append(w.found, found...)
	return nil
}

// look finds what is shown of a text.
func (w *lintWork) look(name string, text []byte) []lint.Finding {
	check := w.linter.File
	if isTemplate(name) {
		check = w.linter.Template
	}
	return slices.DeleteFunc(check(name, text), func(f lint.Finding) bool { return slices.Index(levels, f.Level) < w.from })
}

// end prints the findings; those that are more than notes make the exit code.
func (w *lintWork) end(format string) error {
	var err error
	switch format {
	case "json":
		err = printJSON(w.h.Out, w.asJSON())
	case "sarif":
		err = printJSON(w.h.Out, lint.SARIF(w.found, version))
	default:
		w.text()
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(w.found, func(f lint.Finding) bool { return f.Level != lint.Note }) {
		return &codeError{code: exitFailed}
	}
	return nil
}

func (w *lintWork) asJSON() []any {
	out := []any{}
	for _, f := range w.found {
		out = append(out, struct {
			lint.Finding
			File    string `json:"file"`
			Line    int    `json:"line"`
			Column  int    `json:"column"`
			Fixable bool   `json:"fixable"`
		}{f, f.Pos.File, f.Pos.Line, f.Pos.Col, f.Fixable()})
	}
	return out
}

func (w *lintWork) text() {
	fixable := 0
	for _, f := range w.found {
		fmt.Fprintf(w.h.Out, "%s: %s %s: %s\n", f.Pos, f.Level, f.Rule, f.Msg)
		if f.Hint != "" {
			fmt.Fprintf(w.h.Out, "    hint: %s\n", f.Hint)
		}
		if f.Fixable() {
			fixable++
		}
	}
	if w.fixed > 0 {
		fmt.Fprintf(w.h.Out, "%d put right\n", w.fixed)
	}
	if fixable > 0 {
		fmt.Fprintf(w.h.Out, "%d of %d can be put right with --fix\n", fixable, len(w.found))
	}
}
