package modules

import (
	"strings"

	"play/modules/argspec"
	"play/modules/shellquote"
	"play/modules/value"
)

// composerArgs are the arguments of composer.
type composerArgs struct {
	Command    string  `arg:"command,default=install" doc:"the command"`
	Arguments  string  `arg:"arguments,default=" doc:"its arguments, such as packages"`
	Executable *string `arg:"executable,type=path,aliases=php_path" doc:"the PHP program"`
	WorkingDir *string `arg:"working_dir,type=path" doc:"the folder of the project"`
	Global     bool    `arg:"global_command,default=no" doc:"act on the user's own packages"`
	Source     bool    `arg:"prefer_source,default=no" doc:"pass --prefer-source"`
	Dist       bool    `arg:"prefer_dist,default=no" doc:"pass --prefer-dist"`
	NoDev      bool    `arg:"no_dev,default=yes" doc:"leave out what only development needs"`
	NoScripts  bool    `arg:"no_scripts,default=no" doc:"run no scripts"`
	NoPlugins  bool    `arg:"no_plugins,default=no" doc:"use no plugins"`
	APCU       bool    `arg:"apcu_autoloader,default=no" doc:"cache found classes in APCu"`
	Optimize   bool    `arg:"optimize_autoloader,default=yes" doc:"convert the autoloader to a class map"`
	ClassMap   bool    `arg:"classmap_authoritative,default=no" doc:"load classes from the class map only"`
	NoPlatform bool    `arg:"ignore_platform_reqs,default=no" doc:"do not check PHP and its extensions"`
	Composer   *string `arg:"composer_executable,type=path" doc:"the composer program"`
}

// Rules relates the arguments.
func (composerArgs) Rules() argspec.Rules {
	return argspec.Rules{RequiredIf: []argspec.RequiredIf{{Name: "global_command", Value: false, Needs: []string{"working_dir"}}}}
}

func composer() Module {
	return Define("composer", "Install PHP packages with Composer", runComposer).In("community.general", "community.general.packaging.language")
}

func runComposer(c *Call, args *composerArgs) (*Result, error) {
	if strings.ContainsAny(args.Command, " \t\n\r\f\v") {
		return nil, Failf("Use the 'arguments' param for passing arguments with the 'command'")
	}
	known, err := args.options(c)
	if err != nil {
		return nil, err
	}
	words := args.words(known)
	if c.Check {
		if !known["dry-run"] {
			return &Result{value.DictOf("changed", false, "skipped", true, "msg", "command '"+args.Command+"' does not support check mode, skipping")}, nil
		}
		words = append(words, "--dry-run")
	}
	more, err := shellquote.Split(args.Arguments)
	if err != nil {
		return nil, Failf("cannot read the arguments '%s': %v", args.Arguments, err)
	}
	argv := []string{args.Command}
	if args.Global {
		argv = []string{"global", args.Command}
	}
	out, err := args.run(c, append(append(argv, words...), more...))
	if err != nil {
		return nil, err
	}
	if out.failed() {
		return nil, &Failure{Msg: oneLine(out.errOut), With: value.DictOf("stdout", out.errOut)}
	}
	msg := oneLine(out.out + out.errOut)
	idle := strings.Contains(msg, "Nothing to install or update") || strings.Contains(msg, "Nothing to install, update or remove")
	return NewResult(!idle).With("msg", msg).With("stdout", out.out+out.errOut), nil
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// options asks which options the command has.
func (a *composerArgs) options(c *Call) (map[string]bool, error) {
	out, err := a.run(c, []string{"help", a.Command, "--no-interaction", "--format=json"})
	if err != nil {
		return nil, err
	}
	if out.failed() {
		return nil, Failf("%s", oneLine(out.errOut))
	}
	help, err := value.DecodeJSON([]byte(out.out))
	if err != nil {
		return nil, Failf("cannot read what composer says of %q: %v", a.Command, err)
	}
	known := map[string]bool{}
	node, _ := help.(*value.Dict)
	for _, key := range []string{"definition", "options"} {
		if node == nil {
			return known, nil
		}
		v, _ := node.Get(key)
		node, _ = v.(*value.Dict)
	}
	if node != nil {
		for k := range node.All() {
			known[value.Str(k)] = true
		}
	}
	return known, nil
}

// words are the options that are wanted and known.
func (a *composerArgs) words(known map[string]bool) []string {
	var words []string
	add := func(on bool, name string) {
		if on && known[name] {
			words = append(words, "--"+name)
		}
	}
	for _, name := range []string{"no-ansi", "no-interaction", "no-progress"} {
		add(true, name)
	}
	if !a.Global {
		words = append(words, "--working-dir", *a.WorkingDir)
	}
	add(a.Source, "prefer-source")
	add(a.Dist, "prefer-dist")
	add(a.NoDev, "no-dev")
	add(a.NoScripts, "no-scripts")
	add(a.NoPlugins, "no-plugins")
	add(a.APCU, "apcu-autoloader")
	add(a.Optimize, "optimize-autoloader")
	add(a.ClassMap, "classmap-authoritative")
	add(a.NoPlatform, "ignore-platform-reqs")
	return words
}

// run runs composer under PHP.
func (a *composerArgs) run(c *Call, words []string) (*toolOutcome, error) {
	php, program := "php", "composer"
	if a.Executable != nil {
		php = *a.Executable
	}
	if a.Composer != nil {
		program = *a.Composer
	}
	program, err := c.needTool(program)
	if err != nil {
		return nil, err
	}
	return c.tool(append([]string{php, program}, words...)...)
}
