package modules

import (
	"strings"

	"play/modules/value"
)

// serviceFactsArgs: the module takes no arguments.
type serviceFactsArgs struct{}

func serviceFacts() Module {
	return Define("service_facts", "Gather the states of services as facts", runServiceFacts)
}

func runServiceFacts(c *Call, _ *serviceFactsArgs) (*Result, error) {
	services := value.NewDict()
	for _, source := range []func(*value.Dict) error{c.factsOfSysvinit, c.factsOfOpenRC, c.factsOfSystemd} {
		if err := source(services); err != nil {
			return nil, err
		}
	}
	if services.Len() == 0 {
		return NewResult(false).With("skipped", true).With("msg",
			"Failed to find any services. This can be due to privileges or some other configuration issue."), nil
	}
	return NewResult(false).With("ansible_facts", value.DictOf("services", services)), nil
}

// serviceLines runs a program and returns the words of each line of its output;
// nothing where the program is missing or fails.
func (c *Call) serviceLines(argv ...string) ([][]string, error) {
	if c.findTool(argv[0]) == "" {
		return nil, nil
	}
	out, err := c.tool(argv...)
	if err != nil || out.failed() {
		return nil, err
	}
	var lines [][]string
	for line := range strings.Lines(out.out) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, words)
		}
	}
	return lines, nil
}

// factsOfSysvinit reads " [ + ]  name", as "service --status-all" prints.
func (c *Call) factsOfSysvinit(services *value.Dict) error {
	if c.findTool("chkconfig") != "" {
		return nil
	}
	lines, err := c.serviceLines("service", "--status-all")
	for _, w := range lines {
		if len(w) < 4 || w[0] != "[" || w[2] != "]" {
			continue
		}
		state := "stopped"
		if w[1] == "+" {
			state = "running"
		}
		services.Set(w[3], value.DictOf("name", w[3], "state", state, "source", "sysv"))
	}
	return err
}

// factsOfOpenRC reads "name [ started ]" below each runlevel.
func (c *Call) factsOfOpenRC(services *value.Dict) error {
	lines, err := c.serviceLines("rc-status", "-a", "-s")
	for _, w := range lines {
		if len(w) < 4 || w[1] != "[" {
			continue
		}
		state := "stopped"
		if w[2] == "started" {
			state = "running"
		}
		services.Set(w[0], value.DictOf("name", w[0], "state", state, "source", "openrc"))
	}
	return err
}

// factsOfSystemd reads the loaded units, then the unit files that are not.
func (c *Call) factsOfSystemd(services *value.Dict) error {
	units, err := c.serviceLines("systemctl", "list-units", "--no-pager", "--type", "service", "--all", "--plain", "--no-legend")
	if err != nil {
		return err
	}
	files, err := c.serviceLines("systemctl", "list-unit-files", "--no-pager", "--type", "service", "--all", "--no-legend")
	if err != nil {
		return err
	}
	status := map[string]string{}
	for _, w := range files {
		if len(w) > 1 {
			status[w[0]] = w[1]
		}
	}
	for _, w := range units {
		if name, fact := systemdFact(w, status); fact != nil {
			services.Set(name, fact)
		}
	}
	for _, w := range files {
		if _, known := services.Get(w[0]); !known && len(w) > 1 {
			state := "unknown"
			if !strings.Contains(w[0], "@.") {
				state = "inactive"
			}
			services.Set(w[0], value.DictOf("name", w[0], "state", state, "status", w[1], "source", "systemd"))
		}
	}
	return nil
}

// systemdFact describes one line of "systemctl list-units": name, load state,
// active state, state of the unit's kind, description.
func systemdFact(words []string, files map[string]string) (string, *value.Dict) {
	if len(words) > 0 && !strings.Contains(words[0], ".") {
		words = words[1:] // a mark in front of a unit with a problem
	}
	if len(words) < 4 || !strings.Contains(words[0], ".service") {
		return "", nil
	}
	state := "stopped"
	switch {
	case words[3] == "running":
		state = "running"
	case words[2] == "failed":
		state = "failed"
	}
	status, ok := files[words[0]]
	if words[1] == "not-found" {
		status = "not-found"
	} else if !ok {
		status = templateStatus(words[0], files)
	}
	return words[0], value.DictOf("name", words[0], "state", state, "status", status, "source", "systemd")
}

// templateStatus is the status of an instance's template.
func templateStatus(name string, files map[string]string) string {
	if template, _, ok := strings.Cut(name, "@"); ok {
		if status, ok := files[template+"@.service"]; ok {
			return status
		}
	}
	return "unknown"
}
