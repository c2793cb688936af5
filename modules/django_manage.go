package modules

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// djangoManageArgs are the arguments of django_manage.
type djangoManageArgs struct {
	Command    string  `arg:"command,required" doc:"the command of manage.py, with its arguments"`
	Project    string  `arg:"project_path,required,type=path,aliases=app_path|chdir" doc:"the folder with manage.py"`
	Settings   *string `arg:"settings,type=path" doc:"the module of the settings"`
	PythonPath *string `arg:"pythonpath,type=path,aliases=python_path" doc:"a folder to add to Python's path"`
	Virtualenv *string `arg:"virtualenv,type=path,aliases=virtual_env" doc:"the virtual environment; made if it is not there"`
	Apps       *string `arg:"apps" doc:"the apps, separated by spaces"`
	CacheTable *string `arg:"cache_table" doc:"the table of the cache"`
	Clear      bool    `arg:"clear,default=no" doc:"clear the files before collecting new ones"`
	Database   *string `arg:"database" doc:"the database"`
	FailFast   bool    `arg:"failfast,default=no,aliases=fail_fast" doc:"stop at the first test that fails"`
	Fixtures   *string `arg:"fixtures" doc:"the fixtures to load, separated by spaces"`
	TestRunner *string `arg:"testrunner,aliases=test_runner" doc:"the class that runs tests"`
	Skip       bool    `arg:"skip" doc:"skip migrations that are missing"`
	Merge      bool    `arg:"merge" doc:"run migrations that are missing, out of order"`
	Link       bool    `arg:"link" doc:"link files instead of copying them"`
	Ack        bool    `arg:"ack_venv_creation_deprecation" doc:"accepted and without effect"`
}

func djangoManage() Module {
	return Define("django_manage", "Run commands of a Django project", runDjangoManage).In("community.general", "community.general.web_infrastructure").NoCheck()
}

func runDjangoManage(c *Call, args *djangoManageArgs) (*Result, error) {
	words, err := shellquote.Split(args.Command)
	if err != nil || len(words) == 0 {
		return nil, Failf("cannot read the command %q", args.Command)
	}
	if err := args.check(words[0]); err != nil {
		return nil, err
	}
	own := *c
	own.Dir = c.abs(args.Project)
	if err := args.enter(&own); err != nil {
		return nil, err
	}
	argv, err := args.words(words)
	if err != nil {
		return nil, err
	}
	if !isDir(own.Dir) {
		return nil, Failf("cannot run manage.py: there is no folder %q", own.Dir)
	}
	out, err := own.tool(argv...)
	if err != nil {
		return nil, err
	}
	printed := out.out
	if out.failed() {
		if words[0] != "createcachetable" || !strings.Contains(out.errOut, "table") || !strings.Contains(out.errOut, "already exists") {
			return nil, djangoFailure(&own, words[0], argv, out)
		}
		printed = "already exists."
	}
	result := NewResult(djangoChanged(words[0], printed)).With("out", printed).With("cmd", stringList(argv)).
		With("app_path", args.Project).With("project_path", args.Project)
	for name, text := range map[string]*string{"virtualenv": args.Virtualenv, "settings": args.Settings, "pythonpath": args.PythonPath} {
		result.Set(name, nil)
		if text != nil {
			result.Set(name, *text)
		}
	}
	return result, nil
}

// check refuses arguments that the command does not take.
func (a *djangoManageArgs) check(command string) error {
	allowed := map[string][]string{"createcachetable": {"database"}, "flush": {"database"}, "loaddata": {"database", "fixtures"}, "syncdb": {"database"},
		"test": {"failfast", "testrunner", "apps"}, "migrate": {"apps", "database"}, "collectstatic": {"clear"}}[command]
	given := func(text *string) bool { return deref(text) != "" }
	for _, o := range []struct {
		name string
		set  bool
	}{{"apps", given(a.Apps)}, {"clear", a.Clear}, {"database", given(a.Database)}, {"failfast", a.FailFast}, {"fixtures", given(a.Fixtures)}, {"testrunner", given(a.TestRunner)}} {
		if o.set && !slices.Contains(allowed, o.name) {
			return Failf("%s param is incompatible with command=%s", o.name, command)
		}
	}
	if command == "loaddata" && !given(a.Fixtures) {
		return Failf("fixtures param is required for command=loaddata")
	}
	return nil
}

// enter puts the virtual environment in front of the path, and makes it if need be.
func (a *djangoManageArgs) enter(c *Call) error {
	if a.Virtualenv == nil {
		return nil
	}
	bin := filepath.Join(c.abs(*a.Virtualenv), "bin")
	if !exists(filepath.Join(bin, "activate")) {
		out, err := c.tool("virtualenv", *a.Virtualenv)
		if err != nil {
			return err
		}
		if out.failed() {
			return &Failure{Msg: djangoWords(out.out, out.errOut), With: value.DictOf("cmd", stringList([]string{c.findTool("virtualenv"), *a.Virtualenv}))}
		}
	}
	path, _ := c.Getenv("PATH")
	c.Env = append(c.Env[:len(c.Env):len(c.Env)], "PATH="+bin+string(os.PathListSeparator)+path, "VIRTUAL_ENV="+*a.Virtualenv)
	return nil
}

// words is the command line.
func (a *djangoManageArgs) words(command []string) ([]string, error) {
	argv := append([]string{"./manage.py"}, command...)
	if slices.Contains([]string{"flush", "syncdb", "migrate", "test", "collectstatic"}, command[0]) && !slices.Contains(command, "--noinput") {
		argv = append(argv, "--noinput")
	}
	for _, o := range []struct {
		name string
		text *string
	}{{"settings", a.Settings}, {"pythonpath", a.PythonPath}, {"database", a.Database}} {
		if deref(o.text) != "" {
			argv = append(argv, "--"+o.name+"="+*o.text)
		}
	}
	for _, o := range []struct {
		name string
		set  bool
	}{{"clear", a.Clear}, {"failfast", a.FailFast}, {"skip", a.Skip}, {"merge", a.Merge}, {"link", a.Link}} {
		if o.set {
			argv = append(argv, "--"+o.name)
		}
	}
	apps, err := shellquote.Split(deref(a.Apps))
	if err != nil {
		return nil, Failf("cannot read the apps %q: %v", *a.Apps, err)
	}
	argv = append(argv, apps...)
	if deref(a.CacheTable) != "" {
		argv = append(argv, *a.CacheTable)
	}
	fixtures, err := shellquote.Split(deref(a.Fixtures))
	if err != nil {
		return nil, Failf("cannot read the fixtures %q: %v", *a.Fixtures, err)
	}
	return append(argv, fixtures...), nil
}

func djangoFailure(c *Call, command string, argv []string, out *toolOutcome) error {
	msg := djangoWords(out.out, out.errOut)
	with := value.DictOf("cmd", stringList(argv))
	if strings.Contains(out.errOut, "Unknown command:") {
		msg = djangoWords(out.errOut, "Unknown django command: "+command)
	} else {
		path, _ := c.Getenv("PATH")
		with.Set("path", path)
	}
	return &Failure{Msg: msg, With: with}
}

func djangoWords(out, errOut string) string {
	msg := ""
	if out != "" {
		msg = "stdout: " + out
	}
	if errOut != "" {
		msg += "\n:stderr: " + errOut
	}
	return msg
}

// djangoChanged reads from what a command printed whether it has changed something.
func djangoChanged(command, out string) bool {
	installed := func(line string) bool {
		return strings.Contains(line, "Installed") && !strings.Contains(line, "Installed 0 object")
	}
	tells := map[string]func(line string) bool{
		"flush": installed, "loaddata": installed,
		"syncdb": func(line string) bool { return strings.Contains(line, "Creating table ") || installed(line) },
		"migrate": func(line string) bool {
			return strings.Contains(line, "Migrating forwards ") || strings.Contains(line, "Applying") || installed(line)
		},
		"collectstatic": func(line string) bool { return line != "" && !strings.Contains(line, "0 static files") },
	}[command]
	if command == "createcachetable" {
		return !strings.Contains(out, "already exists")
	}
	return tells != nil && slices.ContainsFunc(strings.Split(out, "\n"), tells)
}
