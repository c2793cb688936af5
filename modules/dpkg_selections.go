package modules

import (
	"strings"

	"play/modules/value"
)

// dpkgSelectionsArgs are the arguments of dpkg_selections.
type dpkgSelectionsArgs struct {
	Name      string `arg:"name,required" doc:"the package"`
	Selection string `arg:"selection,required,choices=install|hold|deinstall|purge" doc:"what dpkg shall do with it"`
}

func dpkgSelections() Module {
	return Define("dpkg_selections", "Hold a Debian package, or release it", runDpkgSelections)
}

func runDpkgSelections(c *Call, args *dpkgSelectionsArgs) (*Result, error) {
	dpkg, err := pkgProgram(c, "dpkg")
	if err != nil {
		return nil, err
	}
	out, err := dpkg.run("--get-selections", args.Name)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, dpkg.failed(out, "--get-selections", args.Name)
	}
	now := "not present"
	if f := strings.Fields(out.Stdout); len(f) > 1 {
		now = f[1]
	}
	if now != args.Selection && !c.Check {
		out, err := dpkg.feed(args.Name+" "+args.Selection+"\n", "--set-selections")
		if err != nil {
			return nil, err
		}
		if out.RC != 0 {
			return nil, dpkg.failed(out, "--set-selections")
		}
	}
	return &Result{value.DictOf("changed", now != args.Selection, "before", now, "after", args.Selection)}, nil
}
