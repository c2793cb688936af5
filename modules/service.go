package modules

import (
	"context"
	"fmt"
	"os"
	"time"

	"play/modules/facts"
	"play/modules/value"
)

// serviceArgs are the arguments of service. Those of systemd beside the common
// ones have an effect where systemd runs the services.
type serviceArgs struct {
	Name         *string  `arg:"name,required,aliases=service|unit" doc:"the service"`
	State        *string  `arg:"state,choices=reloaded|restarted|started|stopped" doc:"what the service shall do"`
	Enabled      *bool    `arg:"enabled" doc:"whether the service starts at boot"`
	Use          string   `arg:"use,default=auto" doc:"the service manager: auto finds it"`
	Sleep        *int     `arg:"sleep" doc:"seconds between stop and start of a restart (System V)"`
	Pattern      *string  `arg:"pattern" doc:"text in the process list that shows that the service runs (System V)"`
	Runlevel     string   `arg:"runlevel,default=default" doc:"the OpenRC runlevel"`
	Arguments    *string  `arg:"arguments,aliases=args" doc:"further words for the init script"`
	Force        bool     `arg:"force,hidden" doc:"systemd: replace links that are in the way"`
	Masked       *bool    `arg:"masked,hidden" doc:"systemd: whether the unit cannot be started at all"`
	DaemonReload bool     `arg:"daemon_reload,hidden,default=no,aliases=daemon-reload" doc:"systemd: read all unit files again first"`
	DaemonReexec bool     `arg:"daemon_reexec,hidden,default=no,aliases=daemon-reexec" doc:"systemd: restart systemd itself first"`
	Scope        string   `arg:"scope,hidden,default=system,choices=system|user|global" doc:"systemd: whose units"`
	NoBlock      bool     `arg:"no_block,hidden,default=no" doc:"systemd: do not wait for the end of the operation"`
	Runlevels    []string `arg:"runlevels,hidden" doc:"System V: the runlevels to be enabled in"`
	Daemonize    bool     `arg:"daemonize,hidden,default=no" doc:"System V: detach the script from this process"`
}

func service() Module {
	return Define("service", "Manage services, whatever runs them", runService)
}

func runService(c *Call, args *serviceArgs) (*Result, error) {
	manager := args.Use
	if manager == "auto" {
		manager = c.serviceManager()
	}
	switch manager {
	case "systemd":
		return serviceBySystemd(c, args)
	case "sysvinit":
		return serviceBySysvinit(c, args)
	}
	if args.State == nil && args.Enabled == nil {
		return nil, Failf("one of the following is required: state, enabled")
	}
	return runServiceTools(c, args, manager)
}

// serviceManager names what runs the services of this machine.
func (c *Call) serviceManager() string {
	h := &facts.Host{Env: c.Env, Now: time.Now, UID: os.Getuid(), GID: os.Getgid(), Run: c.factTool}
	found, err := facts.Gather(c, h, []string{"!all", "!min", "service_mgr"}, 10*time.Second)
	if err != nil {
		return "service"
	}
	name, _ := found.Facts.Get("service_mgr")
	return value.Str(name)
}

// factTool runs a program for a fact; false when it failed.
func (c *Call) factTool(_ context.Context, argv ...string) (string, bool) {
	out, err := c.tool(argv...)
	if err != nil || out.failed() {
		return "", false
	}
	return out.out, true
}

func serviceBySystemd(c *Call, a *serviceArgs) (*Result, error) {
	out, err := runSystemd(c, &systemdArgs{Name: a.Name, State: a.State, Enabled: a.Enabled, Force: a.Force, Masked: a.Masked,
		DaemonReload: a.DaemonReload, DaemonReexec: a.DaemonReexec, Scope: a.Scope, NoBlock: a.NoBlock})
	if err == nil {
		out.unused(a, "systemd")
	}
	return out, err
}

// unused warns of arguments that only other service managers have.
func (r *Result) unused(a *serviceArgs, manager string) {
	for _, o := range []struct {
		name  string
		given bool
	}{{"pattern", a.Pattern != nil}, {"runlevel", a.Runlevel != "default"}, {"sleep", a.Sleep != nil}, {"arguments", a.Arguments != nil}} {
		if o.given {
			r.warn(fmt.Sprintf(`Ignoring "%s" as it is not used in "%s"`, o.name, manager))
		}
	}
}

// warn adds a warning to the result.
func (r *Result) warn(text string) {
	list, _ := r.Get("warnings")
	warnings, ok := list.(*value.List)
	if !ok {
		warnings = value.NewList()
		r.Set("warnings", warnings)
	}
	warnings.Append(text)
}
