package iterator

import "play/engine/playbook"

// part is the part of a block that a host is in.
type part int

const (
	body part = iota
	rescue
	always
)

// frame is one list of nodes that a host is inside of.
type frame struct {
	nodes    []playbook.Node
	next     int             // index of the next node
	block    *playbook.Block // the block whose part nodes is; nil for a plain list
	part     part
	failed   bool  // the body or rescue failed and waits for always to end
	handlers bool  // nodes are handlers: only notified ones run
	base     []int // position of the frame itself
}

// hostState is where one host stands: the lists it is inside of, the outermost
// first.
type hostState struct {
	stack    []*frame
	current  *playbook.Task // peeked, not yet done
	pos      Position
	notified map[*playbook.Task]bool
	queued   []*frame
	begun    map[*playbook.Block]bool   // role applications of which a task ran
	complete map[string]*playbook.Block // by Once: the application that ran
	failed   bool                       // left the play by a failure
	done     bool                       // left the play otherwise
}

// leave ends the top frame: the next part of its block, or the list around it.
func (s *hostState) leave() {
	f := s.pop()
	if f.block == nil {
		return
	}
	if f.part != always && len(f.block.Always) > 0 {
		s.enter(f, always, f.block.Always, false)
		return
	}
	if f.failed {
		s.unwind()
		return
	}
	if s.begun[f.block] {
		if s.complete == nil {
			s.complete = map[string]*playbook.Block{}
		}
		s.complete[f.block.Once] = f.block
	}
}

// enter goes on with another part of f's block.
func (s *hostState) enter(f *frame, p part, nodes []playbook.Node, failed bool) {
	base := append([]int(nil), f.base...)
	base[len(base)-1] = int(p)
	s.stack = append(s.stack, &frame{nodes: nodes, block: f.block, part: p, failed: failed, base: base})
}

func (s *hostState) pop() *frame {
	f := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	return f
}

// unwind drops frames until a rescue or always part is found.
func (s *hostState) unwind() (rescued bool) {
	for len(s.stack) > 0 {
		f := s.pop()
		if f.block == nil {
			continue
		}
		if f.part == body && len(f.block.Rescue) > 0 {
			s.enter(f, rescue, f.block.Rescue, false)
			return true
		}
		if f.part != always && len(f.block.Always) > 0 {
			s.enter(f, always, f.block.Always, true)
			return false
		}
	}
	s.failed = true
	return false
}

// mark notes that a task of the role application ran.
func (s *hostState) mark(b *playbook.Block) {
	if s.begun == nil {
		s.begun = map[*playbook.Block]bool{}
	}
	s.begun[b] = true
}

// hadRole reports whether another application of the same role ran.
func (s *hostState) hadRole(b *playbook.Block) bool {
	ran := s.complete[b.Once]
	return b.Once != "" && ran != nil && ran != b
}
