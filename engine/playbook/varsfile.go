package playbook

import (
	"path/filepath"
	"strings"

	"play/engine/source"
	"play/modules/value"
)

// VarsFile loads one vars_files entry of a play: the first of the named files
// that is there, looked for in the vars folder beside the playbook, then beside
// it. A file is read once.
func (l *Loader) VarsFile(play *Play, names []string) (*value.Dict, error) {
	for _, name := range names {
		if path := findVars(play, expandHome(name)); path != "" {
			return l.varsFile(path)
		}
	}
	pos := play.Pos
	for _, a := range play.VarsFiles {
		pos = a.Pos
		break
	}
	return nil, source.Errorf(pos, "vars file %s was not found", strings.Join(names, ", ")).
		WithHint("vars_files are looked for in the vars folder beside the playbook, then beside it")
}

func findVars(play *Play, name string) string {
	if filepath.IsAbs(name) {
		return existing(name)
	}
	for _, dir := range []string{filepath.Join(play.Dir, "vars"), play.Dir} {
		if path := existing(filepath.Join(dir, name)); path != "" {
			return path
		}
	}
	return ""
}

// Vars loads a file of variables for include_vars. It is read anew each time: a
// task may have written it.
func (l *Loader) Vars(path string) (*value.Dict, error) {
	d, err := l.YAML.Vars(path)
	if err != nil {
		return nil, missing("vars file", path, source.Pos{}, err)
	}
	return d, nil
}
