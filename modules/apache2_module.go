package modules

import (
	"fmt"
	"strings"

	"play/modules/value"
)

// apache2ModuleArgs are the arguments of apache2_module.
type apache2ModuleArgs struct {
	Name       string  `arg:"name,required" doc:"the module, as a2enmod takes it"`
	Identifier *string `arg:"identifier" doc:"the module, as apache2ctl -M lists it"`
	Force      bool    `arg:"force,default=no" doc:"disable Debian's default modules too"`
	State      string  `arg:"state,default=present,choices=absent|present" doc:"whether it shall be enabled"`
	Ignore     bool    `arg:"ignore_configcheck,default=no" doc:"go on although the configuration is broken"`
	WarnMPM    bool    `arg:"warn_mpm_absent,default=yes" doc:"warn when no MPM module is loaded"`
}

func apache2Module() Module {
	return Define("apache2_module", "Enable and disable modules of Apache", runApache2Module).In("community.general", "community.general.web_infrastructure")
}

// apacheRun is one run of apache2_module.
type apacheRun struct {
	*Call
	*apache2ModuleArgs
	control, identifier string
	warnings            *value.List
}

func runApache2Module(c *Call, args *apache2ModuleArgs) (*Result, error) {
	r := &apacheRun{Call: c, apache2ModuleArgs: args, identifier: apacheIdentifier(args.Name), warnings: value.NewList()}
	if args.Identifier != nil && *args.Identifier != "" {
		r.identifier = *args.Identifier
	}
	if r.control = c.findTool("apache2ctl"); r.control == "" {
		r.control = c.findTool("apachectl")
	}
	if r.control == "" {
		return nil, Failf("Neither of apache2ctl nor apachctl found. At least one apache control binary is necessary.")
	}
	if args.Name == "cgi" {
		out, err := c.tool(r.control, "-V")
		if err != nil {
			return nil, err
		}
		if strings.Contains(strings.ReplaceAll(out.out, " ", ""), "threaded:yes") {
			return nil, Failf("Your MPM seems to be threaded. No automatic actions on module cgi possible.")
		}
	}
	return r.run()
}

func (r *apacheRun) run() (*Result, error) {
	wanted := r.State == "present"
	word, program := "disabled", "a2dismod"
	if wanted {
		word, program = "enabled", "a2enmod"
	}
	enabled, err := r.enabled()
	if err != nil {
		return nil, err
	}
	result := NewResult(enabled != wanted).With("result", "Module "+r.Name+" "+word)
	if enabled != wanted && !r.Check {
		if err := r.switchTo(wanted, word, program); err != nil {
			return nil, err
		}
	}
	if r.warnings.Len() > 0 {
		result.Set("warnings", r.warnings)
	}
	return result, nil
}

// switchTo enables or disables, and looks whether that worked.
func (r *apacheRun) switchTo(wanted bool, word, program string) error {
	if r.findTool(program) == "" {
		return Failf("%s not found. Perhaps this system does not use %s to manage apache", program, program)
	}
	argv := []string{program}
	if !wanted && r.Force {
		argv = append(argv, "-f")
	}
	out, err := r.tool(append(argv, r.Name)...)
	if err != nil {
		return err
	}
	enabled, err := r.enabled()
	if err != nil || enabled == wanted {
		return err
	}
	msg := fmt.Sprintf("Failed to set module %s to %s:\n%s\nMaybe the module identifier (%s) was guessed incorrectly."+
		"Consider setting the \"identifier\" option.", r.Name, word, out.out, r.identifier)
	return &Failure{Msg: msg, With: value.DictOf("rc", out.rc, "stdout", out.out, "stderr", out.errOut)}
}

// enabled asks Apache for its modules.
func (r *apacheRun) enabled() (bool, error) {
	out, err := r.tool(r.control, "-M")
	if err != nil || !out.failed() {
		return err == nil && strings.Contains(out.out, " "+r.identifier), err
	}
	msg := "Error executing " + r.control + ": " + out.errOut
	switch {
	case !r.Ignore:
		return false, Failf("%s", msg)
	case !strings.Contains(out.errOut, "AH00534") || !strings.Contains(r.Name, "mpm_"):
		r.warnings.Append(msg)
	case r.WarnMPM:
		r.warnings.Append("No MPM module loaded! apache2 reload AND other module actions will fail if no MPM module is loaded immediately.")
	}
	return false, nil
}

// apacheIdentifier is how a module is listed, for those that break the rule too.
func apacheIdentifier(name string) string {
	switch {
	case strings.Contains(name, "shib"):
		return "mod_shib"
	case strings.Contains(name, "evasive"):
		return "evasive20_module"
	case len(name) > 4 && strings.HasPrefix(name, "php") && name[3] >= '0' && name[3] <= '9' && name[4] == '.':
		return name[:4] + "_module"
	}
	return name + "_module"
}
