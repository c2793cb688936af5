package modules

import (
	"os"
	"strings"

	"play/modules/argspec"
	"play/modules/value"
)

// cronArgs are the arguments of cron.
type cronArgs struct {
	Name         string  `arg:"name,required" doc:"what marks the job, or the name of the variable"`
	User         *string `arg:"user" doc:"whose table; with cron_file, who runs the job"`
	Job          *string `arg:"job,aliases=value" doc:"the command, or the variable's value"`
	CronFile     *string `arg:"cron_file,type=path" doc:"use this file of /etc/cron.d instead of a user's table"`
	State        string  `arg:"state,default=present,choices=present|absent" doc:"whether the job or variable shall be there"`
	Backup       bool    `arg:"backup,default=no" doc:"keep a copy of the old table"`
	Minute       string  `arg:"minute,default=*" doc:"when to run"`
	Hour         string  `arg:"hour,default=*" doc:"when to run"`
	Day          string  `arg:"day,default=*,aliases=dom" doc:"day of the month"`
	Month        string  `arg:"month,default=*" doc:"when to run"`
	Weekday      string  `arg:"weekday,default=*,aliases=dow" doc:"day of the week, 0 is Sunday"`
	SpecialTime  *string `arg:"special_time,choices=reboot|yearly|annually|monthly|weekly|daily|hourly" doc:"a named time"`
	Disabled     bool    `arg:"disabled,default=no" doc:"comment the job out"`
	Env          bool    `arg:"env,default=no" doc:"manage a variable, not a job"`
	InsertAfter  *string `arg:"insertafter" doc:"put a new variable after this one"`
	InsertBefore *string `arg:"insertbefore" doc:"put a new variable before this one"`
}

// Rules relates the arguments.
func (cronArgs) Rules() argspec.Rules {
	return argspec.Rules{MutuallyExclusive: [][]string{{"insertafter", "insertbefore"}}}
}

func cron() Module {
	return Define("cron", "Manage jobs and variables of cron", runCron)
}

func runCron(c *Call, args *cronArgs) (*Result, error) {
	if err := args.check(); err != nil {
		return nil, err
	}
	t := &cronTable{Call: c, user: args.User}
	if args.CronFile != nil {
		t.file = *args.CronFile
		if !strings.HasPrefix(t.file, "/") {
			t.file = "/etc/cron.d/" + t.file
		}
	}
	if err := t.read(); err != nil {
		return nil, err
	}
	before := t.render()
	backup, err := t.backup(args.Backup && !c.Check)
	if err != nil {
		return nil, err
	}
	changed, err := args.edit(t)
	if err != nil {
		return nil, err
	}
	if emptied := changed && t.file != "" && args.State == "absent" && len(t.lines) == 0; emptied {
		return args.removeFile(t, before)
	}
	if changed && !c.Check {
		if err := t.write(); err != nil {
			return nil, err
		}
	}
	return args.report(t, changed, before, backup)
}

// check refuses arguments that do not go together.
func (a *cronArgs) check() error {
	timed := a.Minute != "*" || a.Hour != "*" || a.Day != "*" || a.Month != "*" || a.Weekday != "*"
	switch {
	case a.State == "present" && a.CronFile != nil && a.User == nil && !a.Env:
		return Failf("To use cron_file=... parameter you must specify user=... as well")
	case a.SpecialTime != nil && timed:
		return Failf("You must specify time and date fields or special time.")
	case a.State == "present" && a.Job == nil:
		return Failf("You must specify 'job' to install a new cron job or variable")
	case !a.Env && (a.InsertAfter != nil || a.InsertBefore != nil):
		return Failf("Insertafter and insertbefore parameters are valid only with env=yes")
	}
	return nil
}

// edit brings the table's lines into the wanted state.
func (a *cronArgs) edit(t *cronTable) (changed bool, err error) {
	switch {
	case a.Env && a.State == "present":
		return t.setVariable(a.Name, a.Name+`="`+*a.Job+`"`, a.InsertAfter, a.InsertBefore)
	case a.Env:
		return t.removeVariable(a.Name), nil
	case a.State == "present":
		return t.setJob(a.Name, a.line()), nil
	}
	return t.removeJob(a.Name), nil
}

// line is the job's line in the table.
func (a *cronArgs) line() string {
	words := []string{a.Minute, a.Hour, a.Day, a.Month, a.Weekday}
	if a.SpecialTime != nil {
		words = []string{"@" + *a.SpecialTime}
	}
	if a.CronFile != nil && a.User != nil {
		words = append(words, *a.User)
	}
	line := strings.Join(append(words, strings.Trim(*a.Job, "\r\n")), " ")
	if a.Disabled {
		return "#" + line
	}
	return line
}

// removeFile drops a file of /etc/cron.d that has no line left.
func (a *cronArgs) removeFile(t *cronTable, before string) (*Result, error) {
	if !t.Check {
		if err := os.Remove(t.file); err != nil {
			return nil, Failf("cannot remove %q: %v", t.file, err)
		}
	}
	diff := value.NewDict()
	if t.Diff {
		diff = value.DictOf("before", before, "before_header", t.file, "after", "", "after_header", "/dev/null")
	}
	return NewResult(true).With("cron_file", *a.CronFile).With("state", "absent").With("diff", diff), nil
}

func (a *cronArgs) report(t *cronTable, changed bool, before, backup string) (*Result, error) {
	out := &Result{value.DictOf("jobs", stringList(t.jobs()), "envs", stringList(t.variables()), "warnings", value.NewList(), "changed", changed)}
	if a.CronFile != nil {
		out.Set("cron_file", *a.CronFile)
	}
	switch {
	case backup != "" && changed:
		out.Set("backup_file", backup)
	case backup != "":
		if err := os.Remove(backup); err != nil {
			return nil, Failf("cannot remove %q: %v", backup, err)
		}
	}
	if t.Diff {
		after := before
		if changed {
			after = t.render()
		}
		out.Set("diff", value.DictOf("before", before, "before_header", t.title(), "after", after, "after_header", t.title()))
	}
	return out, nil
}
