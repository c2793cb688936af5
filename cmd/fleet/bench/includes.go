package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// includeHosts is how many hosts include files in a loop, on the control machine
// alone.
const includeHosts = 100

// includes times loops over an include at growing lengths: twice as many must
// take about twice as long.
func (b *bench) includes() error {
	files := map[string]string{
		"many.ini":     fmt.Sprintf("h[001:%d]\n", includeHosts),
		"included.yml": "- set_fact: {x: \"{{ item }}\"}\n",
		"includes.yml": "- hosts: all\n  gather_facts: false\n  tasks:\n" +
			"    - include_tasks: included.yml\n      loop: \"{{ range(n | int) | list }}\"\n",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	fmt.Printf("a loop over include_tasks, %d hosts, linear, medians of 3\n", includeHosts)
	var before time.Duration
	for _, n := range []int{125, 250, 500} {
		took, err := b.median([]string{b.play, "-i", "many.ini", "includes.yml", "-e", fmt.Sprint("n=", n)})
		if err != nil {
			return err
		}
		fmt.Printf("  %3d includes %v   %v each", n, took.Round(time.Millisecond), (took / time.Duration(n)).Round(10*time.Microsecond))
		if before > 0 {
			fmt.Printf("   %.2f times the half (aim: under 2.6)", float64(took)/float64(before))
		}
		fmt.Println()
		before = took
	}
	return nil
}

// median runs a command three times.
func (b *bench) median(args []string) (time.Duration, error) {
	var all []time.Duration
	for range 3 {
		d, err := b.time(args)
		if err != nil {
			return 0, err
		}
		all = append(all, d)
	}
	slices.Sort(all)
	return all[1], nil
}
