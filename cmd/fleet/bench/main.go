// Command bench measures play against programs that do the same work, in pairs
// on one fleet in one run, and prints the medians and their ratio. Absolute
// times depend on the machine; the ratio is what counts.
//
//	bench -play bin/play -agent bin/agents/linux-amd64
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"play/connection/fleet"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	play := flag.String("play", "bin/play", "the play `executable`")
	agent := flag.String("agent", "bin/agents/linux-amd64", "the agent `executable` for the bare program")
	rounds := flag.Int("rounds", 9, "how often each is run")
	bareAddr := flag.String("bare", "", "be the bare program against this `address`")
	key := flag.String("key", "", "the bare program's private key `file`")
	user := flag.String("user", "", "the bare program's login name")
	flag.Parse()
	if *bareAddr != "" {
		if err := bare(*bareAddr, *user, *key, *agent); err != nil {
			log.Fatal(err)
		}
		return
	}
	b := &bench{play: abs(*play), agent: abs(*agent), rounds: *rounds}
	if err := b.run(); err != nil {
		log.Fatal(err)
	}
}

func abs(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return full
}

// commands is how many command tasks a run has.
const commands = 30

type bench struct {
	play, agent string
	rounds      int
	dir         string
	fleet       *fleet.Fleet
}

func (b *bench) run() error {
	dir, err := os.MkdirTemp("", "play-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b.dir = dir
	if b.fleet, err = fleet.New(fleet.Options{Dir: dir, Hosts: 1}); err != nil {
		return err
	}
	defer b.fleet.Close()
	if err := os.WriteFile(filepath.Join(dir, "commands.yml"), []byte(playbook()), 0o600); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ours := []string{b.play, "-i", b.fleet.Inventory, "commands.yml"}
	theirs := []string{self, "-bare", b.fleet.Hosts[0].Addr(), "-key", b.fleet.Key, "-user", b.fleet.User, "-agent", b.agent}
	fmt.Printf("%d command tasks on one SSH host, handshake included, medians of %d pairs\n", commands, b.rounds)
	a, c, err := b.pairs(ours, theirs)
	if err != nil {
		return err
	}
	fmt.Printf("  play %v   bare Go program over one agent stream %v   ratio %.2f (aim: under 1.5)\n",
		a.Round(100*time.Microsecond), c.Round(100*time.Microsecond), float64(a)/float64(c))
	if err := b.reference(ours); err != nil {
		return err
	}
	if err := b.warm(); err != nil {
		return err
	}
	return b.includes()
}

func playbook() string {
	return "- hosts: all\n  gather_facts: false\n  tasks:\n" + strings.Repeat("    - command: /bin/true\n", commands)
}

// reference times ansible-playbook on the same host where it is installed.
func (b *bench) reference(ours []string) error {
	path, err := exec.LookPath("ansible-playbook")
	if err != nil {
		fmt.Println("  ansible-playbook is not installed: no comparison with it")
		return nil
	}
	theirs := append([]string{path}, ours[1:]...)
	rounds := b.rounds
	b.rounds = 1
	defer func() { b.rounds = rounds }()
	a, c, err := b.pairs(ours, theirs)
	if err != nil {
		return err
	}
	fmt.Printf("  play %v   ansible-playbook (pipelining) %v   %.0f times as fast\n",
		a.Round(time.Millisecond), c.Round(time.Millisecond), float64(c)/float64(a))
	return nil
}

// pairs runs both commands in turn and returns their median times. One round
// before the first is not counted: it uploads the agent.
func (b *bench) pairs(ours, theirs []string) (a, c time.Duration, err error) {
	var as, cs []time.Duration
	for i := range b.rounds + 1 {
		ta, err := b.time(ours)
		if err != nil {
			return 0, 0, err
		}
		tc, err := b.time(theirs)
		if err != nil {
			return 0, 0, err
		}
		if i > 0 {
			as, cs = append(as, ta), append(cs, tc)
		}
	}
	slices.Sort(as)
	slices.Sort(cs)
	return as[len(as)/2], cs[len(cs)/2], nil
}

func (b *bench) time(args []string) (time.Duration, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "ANSIBLE_PIPELINING=1", "PLAY_NO_HISTORY=1")
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return time.Since(start), nil
}
