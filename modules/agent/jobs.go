package agent

import (
	"fmt"

	"play/modules"
	"play/modules/job"
	"play/modules/value"
)

// jobsArgs are the arguments of play_jobs.
type jobsArgs struct {
	Mode string  `arg:"mode,choices=list|show|wait|kill,default=list" doc:"what to do"`
	JID  string  `arg:"jid" doc:"the job; list needs none"`
	Dir  *string `arg:"_async_dir,type=path" doc:"the folder of the status files"`
}

// jobsModule finds and ends this user's detached jobs. It is for play jobs alone:
// no playbook can name it.
func jobsModule() modules.Module {
	return modules.Define("play_jobs", "List, show, await and kill detached runs", runJobs)
}

func runJobs(c *modules.Call, args *jobsArgs) (*modules.Result, error) {
	dir := job.Dir(c.Home)
	if args.Dir != nil && *args.Dir != "" {
		dir = *args.Dir
	}
	if args.Mode == "list" {
		return listJobs(dir)
	}
	file, err := job.At(dir, args.JID)
	if err != nil {
		return nil, err
	}
	switch args.Mode {
	case "wait":
		state, err := file.Wait(c)
		if err != nil {
			return nil, err
		}
		return modules.NewResult(false).With("state", state), nil
	case "kill":
		if err := file.Kill(c); err != nil {
			return nil, err
		}
		return modules.NewResult(true).With("state", "killed"), nil
	}
	status, err := file.Peek()
	if err != nil {
		return nil, err
	}
	return modules.NewResult(false).With("job", status), nil
}

func listJobs(dir string) (*modules.Result, error) {
	entries, err := job.List(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot list the jobs: %w", err)
	}
	jobs := value.NewList()
	for _, e := range entries {
		jobs.Append(value.DictOf("id", e.ID, "module", e.Module, "state", e.State, "begun", e.Begun, "ended", e.Ended))
	}
	return modules.NewResult(false).With("jobs", jobs), nil
}
