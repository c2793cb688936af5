package main

import (
	"strings"

	"github.com/urfave/cli/v2"
)

// preflightOnly is the value of --preflight without one.
const preflightOnly = "only"

// arrange puts a command line as people write it (options after the playbook,
// -ihosts, -vvv, -e@file) into the order that the cli package reads: options
// first, each by itself, then "--" and the rest.
func arrange(args []string, flags []cli.Flag) []string {
	takes := map[string]bool{} // option name to "takes a value"
	for _, f := range flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, n := range f.Names() {
			takes[n] = !isBool
		}
	}
	takes["help"], takes["h"] = false, false
	var options, rest []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			rest = append(rest, args[i+1:]...)
			i = len(args)
		case strings.HasPrefix(arg, "--"):
			name, _, hasValue := strings.Cut(arg[2:], "=")
			if name == "preflight" && !hasValue {
				arg, hasValue = arg+"="+preflightOnly, true
			}
			options = append(options, arg)
			if takes[name] && !hasValue && i+1 < len(args) {
				i++
				options = append(options, args[i])
			}
		case len(arg) > 1 && arg[0] == '-':
			var used int
			options, used = shortOptions(options, arg[1:], args[i+1:], takes)
			i += used
		default:
			rest = append(rest, arg)
		}
	}
	return append(append(options, "--"), rest...)
}

// shortOptions takes a cluster such as vvv, bK or ihosts apart; used tells
// whether the next argument was taken as a value.
func shortOptions(options []string, cluster string, next []string, takes map[string]bool) (out []string, used int) {
	for j, c := range cluster {
		name := string(c)
		if !takes[name] {
			options = append(options, "-"+name)
			continue
		}
		options = append(options, "-"+name)
		if value := strings.TrimPrefix(cluster[j+len(name):], "="); value != "" {
			return append(options, value), 0
		}
		if len(next) > 0 {
			return append(options, next[0]), 1
		}
		return options, 0
	}
	return options, 0
}
