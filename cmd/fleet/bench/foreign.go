package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// moduleCalls is how often a Python module is called.
const moduleCalls = 100

// warm times calls of one Python module, in play's warm interpreter and under
// ansible-playbook, where both ansible-core and Python are installed.
func (b *bench) warm() error {
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		return nil // said before
	}
	book := fmt.Sprintf("- hosts: all\n  gather_facts: false\n  vars: {play_prefer: python, ansible_python_interpreter: %s}\n"+
		"  tasks:\n    - ansible.builtin.stat: {path: /}\n      loop: \"{{ range(%d) }}\"\n", b.python(), moduleCalls)
	if err := os.WriteFile(filepath.Join(b.dir, "warm.yml"), []byte(book), 0o600); err != nil {
		return err
	}
	rounds := b.rounds
	b.rounds = 1
	defer func() { b.rounds = rounds }()
	a, c, err := b.pairs([]string{b.play, "-i", b.fleet.Inventory, "warm.yml"}, []string{"ansible-playbook", "-i", b.fleet.Inventory, "warm.yml"})
	if err != nil {
		return err
	}
	fmt.Printf("%d calls of one Python module on one SSH host\n  play %v   ansible-playbook (pipelining) %v   %.0f times as fast (aim: over 10)\n",
		moduleCalls, a.Round(time.Millisecond), c.Round(time.Millisecond), float64(c)/float64(a))
	return nil
}

// python is the system's Python, or the first one in PATH.
func (b *bench) python() string {
	if _, err := os.Stat("/usr/bin/python3"); err == nil {
		return "/usr/bin/python3"
	}
	return "auto_silent"
}
