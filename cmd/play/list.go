package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"play/engine/playbook"
	"play/modules/value"
	"play/strategy"
)

// list prints what --list-hosts, --list-tasks and --list-tags ask for, as
// ansible-playbook does.
type list struct {
	s                  *session
	out                io.Writer
	hosts, tasks, tags bool
}

func (l *list) playbook(pb *playbook.Playbook) error {
	fmt.Fprintf(l.out, "\nplaybook: %s\n", pb.Path)
	l.s.setPlaybook(pb)
	for i, p := range pb.Plays {
		if err := l.play(i, p); err != nil {
			return err
		}
	}
	return nil
}

func (l *list) play(i int, p *playbook.Play) error {
	v := strategy.NewPreview(l.s.builder, l.s.context, p, l.s.opts.Tags, l.s.opts.SkipTags)
	patterns, name, err := v.Heading()
	if err != nil {
		return err
	}
	joined := strings.Join(patterns, ",")
	fmt.Fprintf(l.out, "\n  play #%d (%s): %s\tTAGS: [%s]\n", i+1, joined, name, strings.Join(v.PlayTags(), ","))
	if l.hosts {
		if err := l.listHosts(patterns); err != nil {
			return err
		}
	}
	if l.tasks {
		fmt.Fprintln(l.out, "    tasks:")
	}
	all := map[string]bool{}
	for _, t := range v.PlayTags() {
		all[t] = true
	}
	for _, t := range v.Tasks() {
		for _, tag := range t.Tags {
			all[tag] = true
		}
		if l.tasks {
			fmt.Fprintf(l.out, "      %s\tTAGS: [%s]\n", t.Name, strings.Join(t.Tags, ", "))
		}
	}
	if l.tags {
		names := make([]string, 0, len(all))
		for t := range all {
			names = append(names, t)
		}
		slices.Sort(names)
		fmt.Fprintf(l.out, "      TASK TAGS: [%s]\n", strings.Join(names, ", "))
	}
	return nil
}

func (l *list) listHosts(patterns []string) error {
	hosts, err := l.s.inv.Match(strings.Join(patterns, ","))
	if err != nil {
		return err
	}
	fmt.Fprintf(l.out, "    pattern: %s\n    hosts (%d):\n", value.Repr(texts(patterns)), len(hosts))
	for _, h := range hosts {
		fmt.Fprintf(l.out, "      %s\n", h)
	}
	return nil
}
