package modules

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"play/modules/argspec"
	"play/modules/value"
)

// nagiosArgs are the arguments of nagios.
type nagiosArgs struct {
	Action       string  `arg:"action,required,choices=downtime|delete_downtime|silence|unsilence|enable_alerts|disable_alerts|silence_nagios|unsilence_nagios|command|servicegroup_host_downtime|servicegroup_service_downtime|acknowledge|forced_check" doc:"what Nagios is asked for"`
	Author       string  `arg:"author,default=Ansible" doc:"who asks"`
	Comment      string  `arg:"comment,default=Scheduling downtime" doc:"why"`
	Host         *string `arg:"host" doc:"the host, by its name in Nagios"`
	ServiceGroup *string `arg:"servicegroup" doc:"the group of services"`
	Start        *string `arg:"start" doc:"when a downtime begins, in seconds since 1970; now unless given"`
	Minutes      int     `arg:"minutes,default=30" doc:"how long a downtime is, in minutes"`
	CmdFile      *string `arg:"cmdfile" doc:"Nagios' command file; unless given, the one that its configuration names"`
	Services     *string `arg:"services,aliases=service" doc:"services, separated by commas; host: the host itself; all: every service of it"`
	Command      *string `arg:"command" doc:"the command of action command, as Nagios reads it, without the time"`
}

// Rules relates the arguments.
func (nagiosArgs) Rules() argspec.Rules {
	var r argspec.Rules
	for _, need := range [][]string{{"downtime", "host", "services"}, {"delete_downtime", "host", "services"}, {"silence", "host"}, {"unsilence", "host"},
		{"enable_alerts", "host", "services"}, {"disable_alerts", "host", "services"}, {"command", "command"},
		{"servicegroup_host_downtime", "host", "servicegroup"}, {"servicegroup_service_downtime", "host", "servicegroup"},
		{"acknowledge", "host", "services"}, {"forced_check", "host", "services"}} {
		r.RequiredIf = append(r.RequiredIf, argspec.RequiredIf{Name: "action", Value: need[0], Needs: need[1:]})
	}
	return r
}

func nagios() Module {
	return Define("nagios", "Schedule downtimes, silence alerts and more in Nagios", runNagios).In("community.general", "community.general.monitoring").NoCheck()
}

func runNagios(c *Call, args *nagiosArgs) (*Result, error) {
	path := nagiosCommandFile()
	if args.CmdFile != nil {
		path = *args.CmdFile
	}
	if path == "" {
		return nil, Failf("unable to locate nagios.cfg")
	}
	now := time.Now().Unix()
	start := now
	if args.Start != nil {
		n, err := strconv.ParseInt(strings.TrimSpace(*args.Start), 10, 64)
		if err != nil {
			return nil, Failf("invalid literal for int() with base 10: '%s'", *args.Start)
		}
		start = n
	}
	told := value.NewList()
	for _, words := range args.commands(now, start) {
		line := "[" + strconv.FormatInt(now, 10) + "] " + strings.Join(words, ";")
		if err := tellNagios(c.abs(path), line+"\n"); err != nil {
			return nil, err
		}
		told.Append(strings.TrimSpace(line))
	}
	return NewResult(true).With("nagios_commands", told), nil
}

// nagiosCommandFile is the file that the first configuration found names, or "".
func nagiosCommandFile() string {
	for _, path := range []string{"/etc/nagios/nagios.cfg", "/etc/nagios3/nagios.cfg", "/etc/nagios2/nagios.cfg", "/usr/local/etc/nagios/nagios.cfg",
		"/usr/local/groundwork/nagios/etc/nagios.cfg", "/omd/sites/oppy/tmp/nagios/nagios.cfg", "/usr/local/nagios/etc/nagios.cfg",
		"/usr/local/nagios/nagios.cfg", "/opt/nagios/etc/nagios.cfg", "/opt/nagios/nagios.cfg", "/etc/icinga/icinga.cfg", "/usr/local/icinga/etc/icinga.cfg"} {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(data)) {
			if name, file, ok := strings.Cut(line, "="); ok && strings.HasPrefix(name, "command_file") {
				return strings.TrimSpace(file)
			}
		}
	}
	return ""
}

// tellNagios writes one command into the pipe that Nagios reads.
func tellNagios(path, line string) error {
	with := value.DictOf("cmdfile", path)
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &Failure{Msg: "nagios command file does not exist", With: with}
	case info.Mode()&os.ModeNamedPipe == 0:
		return &Failure{Msg: "nagios command file is not a fifo file", With: with}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0) // without a reader it fails, where it would wait
	if err == nil {
		_, err = f.WriteString(line)
		f.Close()
	}
	if err != nil {
		return &Failure{Msg: "unable to write to nagios command file", With: with}
	}
	return nil
}

// commands are Nagios' external commands for the action, with their fields.
func (a *nagiosArgs) commands(now, start int64) [][]string {
	second := func(t int64) string { return strconv.FormatInt(t, 10) }
	length := int64(a.Minutes) * 60
	downtime := []string{second(start), second(start + length), "1", "0", second(length), a.Author, a.Comment}
	group := deref(a.ServiceGroup)
	switch a.Action {
	case "downtime":
		return a.each("SCHEDULE_HOST_DOWNTIME", "SCHEDULE_HOST_SVC_DOWNTIME", "SCHEDULE_SVC_DOWNTIME", downtime...)
	case "acknowledge":
		return a.each("ACKNOWLEDGE_HOST_PROBLEM", "", "ACKNOWLEDGE_SVC_PROBLEM", "0", "1", "0", a.Author, a.Comment)
	case "forced_check":
		const soon = 3
		return a.each("SCHEDULE_FORCED_HOST_CHECK", "SCHEDULE_FORCED_HOST_SVC_CHECKS", "SCHEDULE_FORCED_SVC_CHECK", second(now+soon))
	case "delete_downtime":
		return a.deletions()
	case "enable_alerts":
		return a.each("ENABLE_HOST_NOTIFICATIONS", "ENABLE_HOST_SVC_NOTIFICATIONS", "ENABLE_SVC_NOTIFICATIONS")
	case "disable_alerts":
		return a.each("DISABLE_HOST_NOTIFICATIONS", "DISABLE_HOST_SVC_NOTIFICATIONS", "DISABLE_SVC_NOTIFICATIONS")
	case "silence":
		return [][]string{{"DISABLE_HOST_SVC_NOTIFICATIONS", *a.Host}, {"DISABLE_HOST_NOTIFICATIONS", *a.Host}}
	case "unsilence":
		return [][]string{{"ENABLE_HOST_SVC_NOTIFICATIONS", *a.Host}, {"ENABLE_HOST_NOTIFICATIONS", *a.Host}}
	case "silence_nagios":
		return [][]string{{"DISABLE_NOTIFICATIONS"}}
	case "unsilence_nagios":
		return [][]string{{"ENABLE_NOTIFICATIONS"}}
	case "servicegroup_host_downtime":
		return [][]string{append([]string{"SCHEDULE_SERVICEGROUP_HOST_DOWNTIME", group}, downtime...)}
	case "servicegroup_service_downtime":
		return [][]string{append([]string{"SCHEDULE_SERVICEGROUP_SVC_DOWNTIME", group}, downtime...)}
	}
	return [][]string{{*a.Command}}
}

// each is the command for the host, for all its services, or one for each
// service. Without one for all, "all" is a service's name.
func (a *nagiosArgs) each(host, all, service string, fields ...string) [][]string {
	switch {
	case *a.Services == "host":
		return [][]string{append([]string{host, *a.Host}, fields...)}
	case *a.Services == "all" && all != "":
		return [][]string{append([]string{all, *a.Host}, fields...)}
	}
	var commands [][]string
	for _, name := range strings.Split(*a.Services, ",") {
		commands = append(commands, append([]string{service, *a.Host, name}, fields...))
	}
	return commands
}

func (a *nagiosArgs) deletions() (commands [][]string) {
	names, comment := strings.Split(*a.Services, ","), a.Comment
	switch *a.Services {
	case "host":
		names = []string{""}
	case "all":
		names, comment = []string{""}, ""
	}
	for _, name := range names {
		commands = append(commands, []string{"DEL_DOWNTIME_BY_HOST_NAME", *a.Host, name, "", comment})
	}
	return commands
}
