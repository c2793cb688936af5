package modules

import (
	"strings"

	"play/modules/value"
)

// rpmRow is the form of a package in answers of rpm and dnf repoquery.
const rpmRow = `%{name}|%{epoch}|%{version}|%{release}|%{arch}`

// list answers what packages there are.
func (d *dnfRun) list(what string) (*Result, error) {
	results := value.NewList()
	installed := []string{"-qa", "--qf", rpmRow + `\n`}
	ask := []string{"repoquery", "-q", "--qf", rpmRow + "|%{repoid}\n"}
	switch what {
	case "installed":
		return d.rows(results, d.rpm, "installed", installed)
	case "available":
		ask = append(ask, "--available")
	case "updates", "upgrades":
		ask = append(ask, "--upgrades")
	case "repos", "repositories":
		return d.repositories()
	default:
		if _, err := d.rows(results, d.rpm, "installed", append(installed, what)); err != nil {
			return nil, err
		}
		ask = append(ask, what)
	}
	return d.rows(results, d.dnf, "available", append(d.options(), ask...))
}

// rows appends the packages that a query prints.
func (d *dnfRun) rows(results *value.List, t *pkgTool, state string, args []string) (*Result, error) {
	if t == d.rpm && d.Installroot != "/" {
		args = append([]string{"--root", d.Installroot}, args...)
	}
	out, err := t.run(args...)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, d.failed(dnfReason(out), out, nil)
	}
	for _, line := range outLines(out.Stdout) {
		f := strings.Split(line, "|")
		if len(f) < 5 {
			continue
		}
		epoch := strings.ReplaceAll(f[1], "(none)", "0")
		repo := "installed"
		if len(f) > 5 {
			repo = f[5]
		}
		tail := f[2] + "-" + f[3] + "." + f[4]
		results.Append(value.DictOf("name", f[0], "arch", f[4], "epoch", epoch, "release", f[3], "version", f[2], "repo", repo,
			"envra", epoch+":"+f[0]+"-"+tail, "nevra", f[0]+"-"+epoch+":"+tail, "yumstate", state))
	}
	return &Result{value.DictOf("changed", false, "msg", "", "results", results)}, nil
}

func (d *dnfRun) repositories() (*Result, error) {
	out, err := d.dnf.run(append(d.options(), "-q", "repolist", "--enabled")...)
	if err != nil {
		return nil, err
	}
	if out.RC != 0 {
		return nil, d.failed(dnfReason(out), out, nil)
	}
	results := value.NewList()
	for i, line := range outLines(out.Stdout) {
		if id, _, _ := strings.Cut(line, " "); i > 0 {
			results.Append(value.DictOf("repoid", id, "state", "enabled"))
		}
	}
	return &Result{value.DictOf("changed", false, "msg", "", "results", results)}, nil
}
