package modules

import (
	"play/modules/job"
	"play/modules/value"
)

// asyncStatusArgs are the arguments of async_status.
type asyncStatusArgs struct {
	JID  string  `arg:"jid,required" doc:"the job's id, as its start gave it"`
	Mode string  `arg:"mode,choices=status|cleanup,default=status" doc:"cleanup removes the job's status file"`
	Dir  *string `arg:"_async_dir,type=path" doc:"the folder of the status files"`
}

func asyncStatus() Module {
	return Define("async_status", "Ask for the state of a detached run", runAsyncStatus).NoCheck()
}

func runAsyncStatus(c *Call, args *asyncStatusArgs) (*Result, error) {
	dir := job.Dir(c.Home)
	if args.Dir != nil {
		dir = *args.Dir
	}
	if args.Mode == "cleanup" {
		return cleanupJob(dir, args.JID)
	}
	out := jobResult(args.JID, "results_file", dir)
	status, err := readJob(dir, args.JID)
	if err != nil {
		return nil, noJob(out, err)
	}
	for k, v := range status.All() {
		if name, ok := k.(string); ok {
			out.Set(name, v)
		}
	}
	return out, nil
}

func readJob(dir, jid string) (*value.Dict, error) {
	file, err := job.At(dir, jid)
	if err != nil {
		return nil, job.ErrNone // no such id was ever given out
	}
	return file.Read()
}

func cleanupJob(dir, jid string) (*Result, error) {
	out := jobResult(jid, "erased", dir)
	file, err := job.At(dir, jid)
	if err != nil {
		return nil, noJob(out, job.ErrNone)
	}
	if err := file.Remove(); err != nil {
		return nil, noJob(out, err)
	}
	return out, nil
}

// jobResult is what every answer begins with; pathKey names the status file.
func jobResult(jid, pathKey, dir string) *Result {
	return NewResult(false).With("ansible_job_id", jid).With("started", 0).With("finished", 0).
		With(pathKey, dir+"/"+jid).With("stdout", "").With("stderr", "")
}

func noJob(out *Result, err error) error {
	return &Failure{Msg: err.Error(), With: out.With("started", 1).With("finished", 1).Dict}
}
