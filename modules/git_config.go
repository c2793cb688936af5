package modules

import (
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// gitConfigArgs are the arguments of git_config.
type gitConfigArgs struct {
	ListAll bool    `arg:"list_all,default=no" doc:"return all settings"`
	Name    *string `arg:"name" doc:"the setting"`
	Repo    *string `arg:"repo,type=path" doc:"the repository, for the scope local"`
	File    *string `arg:"file,type=path" doc:"the file, for the scope file"`
	Scope   *string `arg:"scope,choices=file|local|global|system" doc:"where the setting stands; system unless all are listed"`
	State   string  `arg:"state,default=present,choices=present|absent" doc:"whether it shall be set"`
	Value   *string `arg:"value" doc:"its value; without one it is returned"`
}

// Rules relates the arguments.
func (gitConfigArgs) Rules() argspec.Rules {
	return argspec.Rules{
		MutuallyExclusive: [][]string{{"list_all", "name"}, {"list_all", "value"}, {"list_all", "state"}},
		RequiredIf: []argspec.RequiredIf{{Name: "scope", Value: "local", Needs: []string{"repo"}},
			{Name: "scope", Value: "file", Needs: []string{"file"}}},
		RequiredOneOf: [][]string{{"list_all", "name"}},
	}
}

func gitConfig() Module {
	return Define("git_config", "Read and set git's configuration", runGitConfig).In("community.general", "community.general.source_control")
}

func runGitConfig(c *Call, args *gitConfigArgs) (*Result, error) {
	own := *c
	own.Dir = args.folder(c)
	argv := args.command()
	out, err := own.tool(argv...)
	if err != nil {
		return nil, err
	}
	const unreadable, unset = 128, 1
	if args.ListAll && args.Scope != nil && out.rc == unreadable && strings.Contains(out.errOut, "unable to read config file") {
		return NewResult(false).With("msg", "").With("config_values", value.NewDict()), nil
	}
	if out.rc > unset {
		return nil, &Failure{Msg: out.errOut, With: value.DictOf("rc", out.rc, "cmd", strings.Join(args.shown(c, argv), " "))}
	}
	text := strings.TrimRight(out.out, " \n\t\r")
	if args.ListAll {
		return NewResult(false).With("msg", "").With("config_values", gitSettings(text)), nil
	}
	wanted := ""
	if args.State == "present" && args.Value != nil {
		wanted = *args.Value
	}
	switch {
	case args.State == "present" && wanted == "":
		return NewResult(false).With("msg", "").With("config_value", text), nil
	case args.State == "absent" && out.out == "":
		return NewResult(false).With("msg", "no setting to unset"), nil
	case text == wanted:
		return NewResult(false).With("msg", ""), nil
	}
	return args.change(&own, argv, text, wanted)
}

// change sets or unsets.
func (a *gitConfigArgs) change(c *Call, argv []string, old, wanted string) (*Result, error) {
	before := argv
	if wanted != "" {
		argv = append(append([]string{}, argv...), wanted)
	} else {
		last := len(argv) - 1
		argv = append(append([]string{}, argv[:last]...), "--unset", argv[last])
	}
	if !c.Check {
		if !isDir(c.Dir) {
			return nil, Failf("cannot set %q: there is no folder %q", *a.Name, c.Dir)
		}
		out, err := c.tool(argv...)
		if err != nil {
			return nil, err
		}
		if out.errOut != "" {
			return nil, &Failure{Msg: out.errOut, With: value.DictOf("rc", out.rc, "cmd", stringList(a.shown(c, argv)))}
		}
		if wanted == "" {
			before = argv
		}
	}
	header := strings.Join(a.shown(c, before), " ")
	return NewResult(true).With("msg", "setting changed").With("diff", value.DictOf(
		"before_header", header, "before", old+"\n", "after_header", header, "after", wanted+"\n")), nil
}

// shown is the command line with the program's path.
func (a *gitConfigArgs) shown(c *Call, argv []string) []string {
	return append([]string{c.findTool(argv[0])}, argv[1:]...)
}

// folder is where git is run: nowhere near a repository unless one is meant.
func (a *gitConfigArgs) folder(c *Call) string {
	if a.Repo != nil && (a.ListAll || a.Scope != nil && *a.Scope == "local") {
		return c.abs(*a.Repo)
	}
	return "/"
}

// command is the command line that reads.
func (a *gitConfigArgs) command() []string {
	argv := []string{"git", "config", "--includes"}
	if a.ListAll {
		argv = append(argv, "-l")
	}
	switch {
	case a.Scope != nil && *a.Scope == "file":
		argv = append(argv, "-f", *a.File)
	case a.Scope != nil:
		argv = append(argv, "--"+*a.Scope)
	case !a.ListAll:
		argv = append(argv, "--system")
	}
	if a.Name != nil && *a.Name != "" {
		argv = append(argv, *a.Name)
	}
	return argv
}

// gitSettings reads lines of name=value; the last of a name counts.
func gitSettings(text string) *value.Dict {
	settings := value.NewDict()
	for line := range strings.Lines(text) {
		name, v, _ := strings.Cut(strings.TrimRight(line, "\n"), "=")
		settings.Set(name, v)
	}
	return settings
}
