package agent

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"os/user"
	"sort"
	"syscall"

	"play/modules"
)

// Main is the agent's command line: "serve", "terminal" (a terminal for the
// programs that become another user), or what the agent gives itself.
// args are the arguments after those that brought the program here; list and web
// (nil: the plain agent's) are what it can do. It returns the exit status.
func Main(args []string, list []modules.Module, web modules.Web) int {
	if len(args) == 0 {
		args = []string{""}
	}
	var err error
	switch args[0] {
	case "serve":
		config := ownConfig(args, list, web)
		config.Watch = true
		err = serve(config)
	case "terminal":
		err = terminal(args)
	case "async":
		err = wrapper(ownConfig(args, list, web))
	default:
		err = errUsage
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "play-agent:", err)
		return 1
	}
	return 0
}

// ownConfig is the configuration of the running process.
func ownConfig(args []string, list []modules.Module, web modules.Web) Config {
	home := os.Getenv("HOME")
	if home == "" {
		if u, err := user.Current(); err == nil {
			home = u.HomeDir
		}
	}
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	dir, _ := os.Getwd() // a folder that is gone has no name
	return Config{
		Modules: withOwn(list), Web: web, Env: os.Environ(), Home: home, Dir: dir,
		TmpParents: tmpParents(exe, home),
		Self:       append([]string{exe}, os.Args[1:len(os.Args)-len(args)]...),
	}
}

// withOwn adds the agent's own module to those of playbooks, sorted by name.
func withOwn(list []modules.Module) []modules.Module {
	list = append(list, jobsModule())
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name }) // a generic sort would add an instance for this struct
	return list
}

// serve runs a session on the standard streams.
func serve(config Config) error {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	// Taking these signals also gives the processes we start their default
	// dispositions, whatever we were started with (play ignores SIGTSTP), and keeps a write to a
	// controller that is gone, or to a file beyond a limit on its size, from killing
	// us before we have cleaned up.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE, syscall.SIGXFSZ, syscall.SIGTSTP)
	go func() {
		for sig := range signals {
			if sig != syscall.SIGPIPE && sig != syscall.SIGXFSZ && sig != syscall.SIGTSTP {
				stop(fmt.Errorf("the agent got %v", sig))
			}
		}
	}()
	return Serve(ctx, os.Stdin, os.Stdout, config)
}
