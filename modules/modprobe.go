package modules

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"

	"play/modules/shellquote"
	"play/modules/value"
)

// modprobeArgs are the arguments of modprobe.
type modprobeArgs struct {
	Name       string `arg:"name,required" doc:"the kernel module"`
	State      string `arg:"state,default=present,choices=absent|present" doc:"whether it shall be loaded"`
	Params     string `arg:"params,default=" doc:"its parameters"`
	Persistent string `arg:"persistent,hidden,default=disabled,choices=disabled|absent|present" doc:"whether it shall be loaded at boot; disabled: leave that alone"`
}

func modprobe() Module {
	return Define("modprobe", "Load and unload kernel modules", runModprobe).In("community.general", "community.general.system")
}

func runModprobe(c *Call, args *modprobeArgs) (*Result, error) {
	out := NewResult(false).With("name", args.Name).With("params", args.Params).With("state", args.State)
	loaded := c.kernelHas(args.Name)
	if loaded != (args.State == "present") {
		out.Changed(true)
		if !c.Check {
			if err := c.switchKernelModule(args, out); err != nil {
				return nil, err
			}
		}
	}
	if args.Persistent == "disabled" {
		return out, nil
	}
	changed, err := c.persistKernelModule(args)
	if changed {
		out.Changed(true)
	}
	return out, err
}

// kernelHas tells whether a module is loaded or built in.
func (c *Call) kernelHas(name string) bool {
	name = strings.ReplaceAll(name, "-", "_")
	data, err := os.ReadFile("/proc/modules")
	if err == nil {
		for line := range strings.Lines(string(data)) {
			if strings.HasPrefix(line, name+" ") {
				return true
			}
		}
	}
	var system unix.Utsname
	if unix.Uname(&system) != nil {
		return false
	}
	data, err = os.ReadFile(filepath.Join("/lib/modules", unix.ByteSliceToString(system.Release[:]), "modules.builtin"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(data)) {
		file := filepath.Base(strings.TrimSpace(line))
		if strings.ReplaceAll(strings.TrimSuffix(file, ".ko"), "-", "_") == name {
			return true
		}
	}
	return false
}

func (c *Call) switchKernelModule(args *modprobeArgs, result *Result) error {
	argv := []string{"modprobe", "-r", args.Name}
	if args.State == "present" {
		params, err := shellquote.Split(args.Params)
		if err != nil {
			return Failf("cannot read the parameters '%s': %v", args.Params, err)
		}
		argv = append([]string{"modprobe", args.Name}, params...)
	}
	out, err := c.tool(argv...)
	if err != nil || !out.failed() {
		return err
	}
	with := result.Dict.Clone()
	with.Update(value.DictOf("changed", false, "rc", out.rc, "stdout", out.out, "stderr", out.errOut))
	return &Failure{Msg: out.errOut, With: with}
}

// The folders and files that name the modules to load at boot, and their
// parameters.
const (
	modulesLoadDir = "/etc/modules-load.d"
	modprobeDir    = "/etc/modprobe.d"
	modulesFile    = "/etc/modules"
)

// persistKernelModule brings the files for the boot into the wanted state.
func (c *Call) persistKernelModule(args *modprobeArgs) (changed bool, err error) {
	load := regexp.MustCompile(`^ *` + regexp.QuoteMeta(args.Name) + ` *(?:[#;].*)?$`)
	options := regexp.MustCompile(`^options\s+` + regexp.QuoteMeta(args.Name) + `\s+(.*?)\s*$`)
	loads := matchingFiles(append(confFiles(modulesLoadDir), modulesFile), load)
	params := matchingFiles(confFiles(modprobeDir), options)
	if args.Persistent == "absent" {
		return c.forgetKernelModule(loads, load, params, options)
	}
	if len(loads) == 0 {
		changed = true
		err = c.writeConf(modulesLoadDir, args.Name, args.Name+"\n")
	}
	if err != nil || args.Params == "" || hasOptions(params, options, args.Params) {
		return changed, err
	}
	if _, err = c.forgetKernelModule(nil, load, params, options); err != nil {
		return true, err
	}
	return true, c.writeConf(modprobeDir, args.Name, "options "+args.Name+" "+args.Params+"\n")
}

func (c *Call) writeConf(dir, name, text string) error {
	if c.Check {
		return nil
	}
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".conf"), []byte(text), 0o644)
	}
	if err != nil {
		return Failf("cannot write the configuration of the module: %v", err)
	}
	return nil
}

func confFiles(dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*.conf"))
	if err != nil {
		return nil
	}
	return files
}

// matchingFiles keeps the files that have a line of the pattern.
func matchingFiles(files []string, pattern *regexp.Regexp) []string {
	var found []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if pattern.MatchString(strings.TrimRight(line, "\n")) {
				found = append(found, file)
				break
			}
		}
	}
	return found
}

// hasOptions tells whether the files set just these parameters.
func hasOptions(files []string, pattern *regexp.Regexp, params string) bool {
	set := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		for line := range strings.Lines(string(data)) {
			if m := pattern.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
				for _, word := range strings.Fields(m[1]) {
					set[word] = true
				}
			}
		}
	}
	wanted := strings.Fields(params)
	for _, word := range wanted {
		if !set[word] {
			return false
		}
	}
	return len(set) == len(wanted)
}

// forgetKernelModule comments out the lines that load the module or set its
// parameters at boot.
func (c *Call) forgetKernelModule(loads []string, load *regexp.Regexp, params []string, options *regexp.Regexp) (bool, error) {
	changed := len(loads)+len(params) > 0
	if c.Check {
		return changed, nil
	}
	for i, group := range [][]string{loads, params} {
		pattern := []*regexp.Regexp{load, options}[i]
		for _, file := range group {
			if err := commentOut(file, pattern); err != nil {
				return changed, Failf("cannot change %q: %v", file, err)
			}
		}
	}
	return changed, nil
}

func commentOut(file string, pattern *regexp.Regexp) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var b strings.Builder
	for line := range strings.Lines(string(data)) {
		if pattern.MatchString(strings.TrimRight(line, "\n")) {
			b.WriteString("#")
		}
		b.WriteString(line)
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
