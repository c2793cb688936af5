package modules

// pingArgs are the arguments of ping.
type pingArgs struct {
	Data string `arg:"data,default=pong" doc:"the text to send back; crash raises an error"`
}

func ping() Module {
	return Define("ping", "Answer, to show that modules can run", runPing)
}

func runPing(_ *Call, args *pingArgs) (*Result, error) {
	if args.Data == "crash" {
		panic("boom")
	}
	return NewResult(false).With("ping", args.Data), nil
}
