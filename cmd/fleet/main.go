// Command fleet serves SSH hosts on loopback addresses to try play on. It
// writes an inventory for play and for ansible, prints its path, and ends all
// hosts at an interrupt. It needs no root.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"play/connection/fleet"
)

func main() {
	n := flag.Int("n", 5, "how many hosts")
	dir := flag.String("D", "", "keep homes, keys and the inventory in `folder` (default: a temporary one, removed at the end)")
	sudo := flag.Bool("sudo", false, "put a stand-in for sudo on the hosts, which runs commands as the same user")
	eof := flag.Bool("until-eof", false, "end when standard input ends, too")
	flag.Parse()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if *eof {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // any end means: stop
			stop <- os.Interrupt
		}()
	}
	if err := serve(fleet.Options{Dir: *dir, Hosts: *n, Sudo: *sudo}, os.Stdout, stop); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

// serve runs the fleet until it is told to stop, and writes the inventory's path.
func serve(o fleet.Options, out io.Writer, stop <-chan os.Signal) error {
	if o.Dir == "" {
		temp, err := os.MkdirTemp("", "play-fleet-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		o.Dir = temp
	} else if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	f, err := fleet.New(o)
	if err != nil {
		return err
	}
	defer f.Close()
	fmt.Fprintln(out, f.Inventory)
	<-stop
	return nil
}
