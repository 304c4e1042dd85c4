package kube

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"
)

// A node on which most attempts take too long is likely to be slow for the tasks to come as well, and the scheduler,
// which sees only that it is empty once its attempts have been ended, would send it these first. So further pods of the
// same Job prefer other nodes. It is advice, not state: what a controller that starts again cannot see any more,
// because losers are deleted, it learns anew. What all Jobs have learned is in the ledger.

const (
	leastLate = 2 // attempts of a node that are late, before it is the node's doing: one is bad luck
	leastDone = 3 // attempts that have succeeded, before others can be late
	mostSlow  = 16
)

// record is what is known of a node.
type record struct {
	running, late int // attempts that run, and those of them that have run for too long
	// attempts that took too long or were overtaken by a younger one on another node, and those that won in time
	bad, good int
}

func (r *record) slow() bool {
	return r.late >= leastLate && 2*r.late >= r.running || r.late+r.bad >= leastLate && r.late+r.bad > r.good
}

// slowNodes returns the nodes that pods should rather not go to, at most mostSlow, which bounds the size of pods: the
// worst first.
func (m *member) slowNodes(now time.Time) []string {
	limit := tooLong(m.shown())
	nodes := map[string]*record{}
	for i := range m.indexes {
		winner := ""
		for _, a := range slices.Backward(m.indexes[i].attempts) { // the younger come first
			if a.node == "" {
				continue
			}
			n := nodes[a.node]
			if n == nil {
				n = &record{}
				nodes[a.node] = n
			}
			s := m.sights[a.ref]
			switch {
			case a.fate == won && s != nil && took(s) > limit:
				winner = a.node
				n.bad++
			case a.fate == won:
				winner = a.node
				n.good++
			case winner != "" && a.fate == dropped && a.node != winner:
				n.bad++
			case s != nil && s.phase == running && !s.begun.IsZero():
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
		return cmp.Or(cmp.Compare(nodes[b].late+nodes[b].bad, nodes[a].late+nodes[a].bad), cmp.Compare(a, b))
	})
	return slow[:min(len(slow), mostSlow)]
}

// tooLong is twice the median of what attempts that succeeded took, and the two seconds that times to the second may be
// wrong by.
func tooLong(sights iter.Seq[sight]) time.Duration {
	var all []time.Duration
	for s := range sights {
		if d := took(&s); d > 0 {
			all = append(all, d)
		}
	}
	if len(all) < leastDone {
		return math.MaxInt64
	}
	slices.Sort(all)
	return 2*all[len(all)/2] + 2*time.Second
}

// shown returns what the pods of the Job showed last.
func (m *member) shown() iter.Seq[sight] {
	return func(yield func(sight) bool) {
		for _, s := range m.sights {
			if !yield(*s) {
				return
			}
		}
	}
}

// took is for how long an attempt ran that has succeeded, 0 if that is not known.
func took(s *sight) time.Duration {
	if s.phase != succeeded || s.begun.IsZero() || s.ended.IsZero() {
		return 0
	}
	return s.ended.Sub(s.begun)
}
