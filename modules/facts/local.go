package facts

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"play/modules/value"
)

// local reads the facts that the host's operator put into files: JSON, INI, or
// programs that print either.
func local(ctx context.Context, h *Host) (*value.Dict, []string, error) {
	found := value.NewDict()
	var warnings []string
	if h.FactPath != "" {
		files, _ := filepath.Glob(filepath.Join(h.path(h.FactPath), "*.fact"))
		sort.Strings(files)
		for _, file := range files {
			v, warning := h.localFact(ctx, file)
			if warning != "" {
				warnings = append(warnings, warning)
				v = warning
			}
			found.Set(strings.TrimSuffix(filepath.Base(file), ".fact"), v)
		}
	}
	return value.DictOf("local", found), warnings, nil
}

func (h *Host) localFact(ctx context.Context, file string) (v any, warning string) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Sprintf("Could not stat fact (%s): %v", file, err)
	}
	var text string
	if info.Mode().Perm()&0o111 != 0 && info.Mode().IsRegular() && unix.Access(file, unix.X_OK) == nil {
		out, rc, stderr := runFact(ctx, h.Env, file)
		if rc != 0 {
			return nil, fmt.Sprintf("Failure executing fact script (%s), rc: %d, err: %s", file, rc, stderr)
		}
		text = out
	} else {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Sprintf("error loading fact - please check content: %s", file)
		}
		text = string(data)
	}
	if v, err := value.DecodeJSON([]byte(text)); err == nil {
		return v, ""
	}
	if d, ok := parseINI(text); ok {
		return d, ""
	}
	return nil, "error loading facts as JSON or ini - please check content: " + file
}

func runFact(ctx context.Context, env []string, file string) (stdout string, rc int, stderr string) {
	cmd := exec.CommandContext(ctx, file)
	cmd.Env = env
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		return "", 1, err.Error()
	}
	if err != nil {
		return out.String(), max(cmd.ProcessState.ExitCode(), 1), errs.String()
	}
	return out.String(), 0, ""
}

// parseINI reads sections of options; option names are lower case.
func parseINI(text string) (*value.Dict, bool) {
	all := value.NewDict()
	var section *value.Dict
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case trimmed[0] == '[' && strings.Contains(trimmed, "]"):
			name := trimmed[1:strings.LastIndexByte(trimmed, ']')]
			section, last = value.NewDict(), ""
			all.Set(name, section)
		case section == nil:
			return nil, false
		case last != "" && (line[0] == ' ' || line[0] == '\t'):
			old, _ := section.Get(last)
			section.Set(last, old.(string)+"\n"+trimmed)
		default:
			i := strings.IndexAny(trimmed, "=:")
			if i <= 0 {
				return nil, false
			}
			last = strings.ToLower(strings.TrimSpace(trimmed[:i]))
			section.Set(last, strings.TrimSpace(trimmed[i+1:]))
		}
	}
	return all, all.Len() > 0
}
