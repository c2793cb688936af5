package modules

import (
	"os"
	"strings"

	"play/modules/shellquote"
	"play/modules/value"
)

// dpkgDivertArgs are the arguments of dpkg_divert.
type dpkgDivertArgs struct {
	Path   string  `arg:"path,required,type=path" doc:"the file whose place packages shall leave alone"`
	State  string  `arg:"state,default=present,choices=absent|present" doc:"whether it is diverted"`
	Holder *string `arg:"holder,type=str" doc:"the package that may still put its file there; none: LOCAL"`
	Divert *string `arg:"divert,type=path" doc:"where packages put it instead"`
	Rename bool    `arg:"rename,default=no" doc:"move the file too"`
	Force  bool    `arg:"force,default=no" doc:"move it over a file that is there"`
}

func dpkgDivert() Module {
	return Define("dpkg_divert", "Divert a file that Debian packages bring", runDpkgDivert).In("community.general", "community.general.system")
}

// diversion is the state of one path.
type diversion struct{ path, divert, holder string }

// dict is the state under Ansible's names.
func (d diversion) dict() *value.Dict {
	if d.holder == "" {
		return value.DictOf("path", d.path, "state", "absent", "divert", nil, "holder", nil)
	}
	return value.DictOf("path", d.path, "state", "present", "divert", d.divert, "holder", d.holder)
}

// divertRun is one run of dpkg_divert.
type divertRun struct {
	*dpkgDivertArgs
	tool               *pkgTool
	commands, messages []string
}

func runDpkgDivert(c *Call, args *dpkgDivertArgs) (*Result, error) {
	tool, err := pkgProgram(c, "dpkg-divert")
	if err != nil {
		return nil, err
	}
	d := &divertRun{dpkgDivertArgs: args, tool: tool}
	before, err := d.read()
	if err != nil {
		return nil, err
	}
	want := d.wanted()
	after := want
	if before == want || c.Check {
		if _, err = d.run(true, d.argv()); err != nil {
			return nil, err
		}
	} else if after, err = d.apply(before, want); err != nil {
		return nil, err
	}
	diff := value.NewDict()
	if c.Diff {
		diff = value.DictOf("before", before.dict(), "after", after.dict())
	}
	return NewResult(before != want).With("diversion", after.dict()).With("commands", stringList(d.commands)).
		With("messages", stringList(d.messages)).With("diff", diff), nil
}

// read asks for the path's diversion.
func (d *divertRun) read() (diversion, error) {
	now := diversion{path: d.Path}
	holder, err := d.tool.run("--listpackage", d.Path)
	if err != nil {
		return now, err
	}
	if now.holder = strings.TrimSpace(holder.Stdout); now.holder == "" {
		return now, nil
	}
	name, err := d.tool.run("--truename", d.Path)
	if err == nil {
		now.divert = strings.TrimSpace(name.Stdout)
	}
	return now, err
}

// wanted is the diversion that the arguments ask for.
func (d *divertRun) wanted() diversion {
	want := diversion{path: d.Path}
	if d.State == "absent" {
		return want
	}
	want.divert, want.holder = d.Path+".distrib", "LOCAL"
	if d.Divert != nil {
		want.divert = *d.Divert
	}
	if d.Holder != nil && *d.Holder != "" {
		want.holder = *d.Holder
	}
	return want
}

// argv are the arguments of dpkg-divert for the wanted state.
func (d *divertRun) argv() []string {
	argv := []string{"--no-rename"}
	if d.Rename {
		argv[0] = "--rename"
	}
	if d.State == "absent" {
		return append(argv, "--remove", d.Path)
	}
	switch {
	case d.Holder != nil && *d.Holder != "" && *d.Holder != "LOCAL":
		argv = append(argv, "--package", *d.Holder)
	default:
		argv = append(argv, "--local")
	}
	if d.Divert != nil {
		argv = append(argv, "--divert", *d.Divert)
	}
	return append(argv, "--add", d.Path)
}

// run runs dpkg-divert, or only asks it what would be done, and notes what it said.
func (d *divertRun) run(test bool, argv []string) (*pkgOutcome, error) {
	words := argv
	if test {
		words = append([]string{"--test"}, argv...)
	}
	out, err := d.tool.run(words...)
	if err == nil && out.RC == 0 {
		d.commands = append(d.commands, shellquote.Join(append([]string{d.tool.Path}, argv...)))
		d.messages = append(d.messages, strings.TrimSpace(out.Stdout))
	}
	return out, err
}

// apply changes the diversion; one of another holder or place goes first.
func (d *divertRun) apply(before, want diversion) (diversion, error) {
	if d.Rename && d.Force && d.State == "present" && lexists(want.divert) {
		if err := os.Remove(want.divert); err != nil {
			return before, err
		}
	}
	argv := d.argv()
	out, err := d.run(false, argv)
	if err != nil {
		return before, err
	}
	if out.RC != 0 && before.holder != "" && want.holder != "" {
		if out, err = d.run(false, []string{argv[0], "--remove", d.Path}); err == nil && out.RC == 0 {
			out, err = d.run(false, argv)
		}
		if err != nil {
			return before, err
		}
	}
	if out.RC != 0 {
		return before, d.failed("Unexpected error while changing state of the diversion.", before, out)
	}
	after, err := d.read()
	if err == nil && after != want {
		err = d.failed("Unexpected error: see stdout and stderr for details.", after, out)
	}
	return after, err
}

func (d *divertRun) failed(msg string, now diversion, out *pkgOutcome) error {
	with := out.dict()
	with.Set("changed", false)
	with.Set("cmd", shellquote.Join(append([]string{d.tool.Path}, d.argv()...)))
	with.Set("diversion", now.dict())
	return &Failure{Msg: msg, With: with}
}
