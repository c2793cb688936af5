package modules

import (
	"os"
	"regexp"
	"strings"

	"play/modules/argspec"
	"play/modules/atomicfile"
	"play/modules/value"
)

// selinuxArgs are the arguments of selinux.
type selinuxArgs struct {
	Policy     *string `arg:"policy" doc:"the policy; needed unless SELinux gets disabled"`
	State      string  `arg:"state,required,choices=enforcing|permissive|disabled" doc:"the mode"`
	ConfigFile string  `arg:"configfile,default=/etc/selinux/config,aliases=conf|file" doc:"the file for the next boots"`
	Kernel     bool    `arg:"update_kernel_param,default=no" doc:"with grubby: also set the kernel's selinux parameter"`
}

// Rules relates the arguments.
func (selinuxArgs) Rules() argspec.Rules {
	var rules argspec.Rules
	for _, state := range []string{"enforcing", "permissive"} {
		rules.RequiredIf = append(rules.RequiredIf, argspec.RequiredIf{Name: "state", Value: state, Needs: []string{"policy"}})
	}
	return rules
}

// selinux was compared with the documentation only: no SELinux ran where it
// was written.
func selinux() Module {
	return Define("selinux", "Set the mode and policy of SELinux", runSelinux).In("ansible.posix")
}

func runSelinux(c *Call, args *selinuxArgs) (*Result, error) {
	path := c.abs(args.ConfigFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, Failf("Unable to find file %s", path)
	}
	s := &selinuxMode{Call: c, selinuxArgs: args, text: string(data), live: c.selinuxLive()}
	policy := s.setting("SELINUXTYPE")
	if args.Policy != nil {
		policy = *args.Policy
		s.put("SELINUXTYPE", policy, "SELinux policy configuration in '"+path+"' changed from '"+s.setting("SELINUXTYPE")+"' to '"+policy+"'")
	}
	if err := s.setLive(); err != nil {
		return nil, err
	}
	s.put("SELINUX", args.State, "Config SELinux state changed from '"+s.setting("SELINUX")+"' to '"+args.State+"'")
	if s.text != string(data) && !c.Check {
		if err := atomicfile.Write(realPath(path), strings.NewReader(s.text), atomicfile.Options{}); err != nil {
			return nil, Failf("%v", err)
		}
	}
	if args.Kernel {
		if err := s.setKernel(); err != nil {
			return nil, err
		}
	}
	out := &Result{value.DictOf("changed", len(s.messages) > 0, "msg", strings.Join(s.messages, ", "), "configfile", args.ConfigFile,
		"policy", policy, "state", args.State, "reboot_required", s.reboot)}
	return out, nil
}

// selinuxMode is SELinux on its way to the wanted mode.
type selinuxMode struct {
	*Call
	*selinuxArgs
	text     string // of the configuration
	live     string // enforcing, permissive or disabled
	reboot   bool
	messages []string
}

// selinuxLive is the mode of the running kernel.
func (c *Call) selinuxLive() string {
	data, err := os.ReadFile("/sys/fs/selinux/enforce")
	switch {
	case err != nil:
		return "disabled"
	case strings.TrimSpace(string(data)) == "1":
		return "enforcing"
	}
	return "permissive"
}

func selinuxLine(name string) *regexp.Regexp { return regexp.MustCompile(`(?m)^` + name + `=(.*)$`) }

func (s *selinuxMode) setting(name string) string {
	m := selinuxLine(name).FindStringSubmatch(s.text)
	if m == nil {
		return ""
	}
	return strings.TrimSpace(m[1])
}

// put sets a line of the configuration and notes the change.
func (s *selinuxMode) put(name, wanted, message string) {
	if s.setting(name) == wanted {
		return
	}
	s.messages = append(s.messages, message)
	if selinuxLine(name).MatchString(s.text) {
		s.text = selinuxLine(name).ReplaceAllLiteralString(s.text, name+"="+wanted)
		return
	}
	if s.text != "" && !strings.HasSuffix(s.text, "\n") {
		s.text += "\n"
	}
	s.text += name + "=" + wanted + "\n"
}

// setLive switches the running kernel as far as it can be switched.
func (s *selinuxMode) setLive() error {
	switch {
	case s.live == s.State:
		return nil
	case s.live == "disabled", s.State == "disabled":
		s.reboot = true
		if s.live != "disabled" && s.live != "permissive" {
			return s.enforce("0", "permissive")
		}
		return nil
	case s.State == "enforcing":
		return s.enforce("1", "enforcing")
	}
	return s.enforce("0", "permissive")
}

func (s *selinuxMode) enforce(digit, mode string) error {
	s.messages = append(s.messages, "SELinux state changed from '"+s.live+"' to '"+mode+"'")
	if s.Check {
		return nil
	}
	_, err := s.mustTool("setenforce", digit)
	return err
}

// setKernel sets the kernel's parameter for all boot entries.
func (s *selinuxMode) setKernel() error {
	out, err := s.mustTool("grubby", "--info=ALL")
	if err != nil {
		return err
	}
	off := strings.Contains(out.out, "selinux=0")
	if off == (s.State == "disabled") {
		return nil
	}
	s.messages = append(s.messages, "kernel parameter selinux changed")
	if s.Check {
		return nil
	}
	word := "--remove-args=selinux=0"
	if s.State == "disabled" {
		word = "--args=selinux=0"
	}
	_, err = s.mustTool("grubby", "--update-kernel=ALL", word)
	return err
}
