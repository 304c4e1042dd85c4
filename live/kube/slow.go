package kube

import (
	"cmp"
	"slices"
	"time"
)

// A node on which most attempts take too long is likely to be slow for the tasks to come as well, and the scheduler, which sees only that it is
// empty once its attempts have been ended, would send it these first. So further pods of the same Job prefer other nodes. It is advice, not state: what a
// controller that starts again cannot see any more, because losers are deleted, it learns anew.

const (
	leastLate = 2 // attempts of a node that are late, before it is the node's doing: one is bad luck
	leastDone = 3 // attempts that have succeeded, before others can be late
	mostSlow  = 16
)

// strikes are what speaks against a node.
type strikes struct {
	running, late int // attempts that run, and those of them that have run for too long
	overtaken     int // attempts that a younger one on another node was faster than
	won           int
}

func (s *strikes) slow() bool {
	return s.late >= leastLate && 2*s.late >= s.running || s.overtaken >= leastLate && s.overtaken > s.won
}

// slowNodes returns the nodes that pods should rather not go to, at most mostSlow, which bounds the size of pods: the worst first.
func (r *run) slowNodes(now time.Time) []string {
	limit := r.tooLong()
	nodes := map[string]*strikes{}
	at := func(node string) *strikes {
		if nodes[node] == nil {
			nodes[node] = &strikes{}
		}
		return nodes[node]
	}
	for i := range r.indexes {
		var winner *attempt
		for _, a := range slices.Backward(r.indexes[i].attempts) { // the younger come first
			s := r.sights[a.ref]
			switch {
			case a.node == "":
			case a.won:
				winner = a
				at(a.node).won++
			case winner != nil && a.dropped && a.node != winner.node:
				at(a.node).overtaken++
			case s != nil && s.phase == running && !s.begun.IsZero():
				n := at(a.node)
				n.running++
				if now.Sub(s.begun) > limit {
					n.late++
				}
			}
		}
	}
	var slow []string
	for node, s := range nodes {
		if s.slow() {
			slow = append(slow, node)
		}
	}
	slices.SortFunc(slow, func(a, b string) int {
		return cmp.Or(cmp.Compare(nodes[b].late+nodes[b].overtaken, nodes[a].late+nodes[a].overtaken), cmp.Compare(a, b))
	})
	return slow[:min(len(slow), mostSlow)]
}

// tooLong is twice the median of what attempts that succeeded took, and the two seconds that times to the second may be wrong by.
func (r *run) tooLong() time.Duration {
	var took []time.Duration
	for _, s := range r.sights {
		if s.phase == succeeded && !s.begun.IsZero() && !s.ended.IsZero() {
			took = append(took, s.ended.Sub(s.begun))
		}
	}
	if len(took) < leastDone {
		return 1<<63 - 1
	}
	slices.Sort(took)
	return 2*took[len(took)/2] + 2*time.Second
}
