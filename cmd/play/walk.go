package main

import "play/engine/playbook"

// visit calls f for every block, task and handler of a play, in order.
func visit(p *playbook.Play, f func(playbook.Node)) {
	for _, nodes := range [][]playbook.Node{p.PreTasks, blockNodes(p.Roles), p.Tasks, p.PostTasks, taskNodes(p.Handlers)} {
		visitNodes(nodes, f)
	}
}

func visitNodes(nodes []playbook.Node, f func(playbook.Node)) {
	for _, n := range nodes {
		f(n)
		if b, ok := n.(*playbook.Block); ok {
			visitNodes(b.Body, f)
			visitNodes(b.Rescue, f)
			visitNodes(b.Always, f)
		}
	}
}

func blockNodes(blocks []*playbook.Block) []playbook.Node {
	nodes := make([]playbook.Node, len(blocks))
	for i, b := range blocks {
		nodes[i] = b
	}
	return nodes
}

func taskNodes(tasks []*playbook.Task) []playbook.Node {
	nodes := make([]playbook.Node, len(tasks))
	for i, t := range tasks {
		nodes[i] = t
	}
	return nodes
}
