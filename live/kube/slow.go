package kube

import (
	"cmp"
	"slices"
)

// A node on which one attempt after another is overtaken by a clone elsewhere is likely to be slow for the tasks to come as well, and the scheduler, which
// sees that the overtaken have left it, would send it these first. So pods of the same Job prefer other nodes from then on. It is advice, not
// state: a controller that starts again, whose losers are deleted by then, learns it anew.

// leastBeaten is how often a node's attempts have to be overtaken: once can be the task's bad luck.
const leastBeaten = 2

// mostSlow bounds the nodes that a pod is told to keep away from, and with them the size of pods.
const mostSlow = 16

// slowNodes returns the nodes on which more attempts of the Job were overtaken by younger ones on other nodes than have won, the worst first.
func (r *run) slowNodes() []string {
	balance, beaten := map[string]int{}, map[string]int{}
	for i := range r.indexes {
		all := r.indexes[i].attempts
		at := slices.IndexFunc(all, func(a *attempt) bool { return a.won })
		if at < 0 {
			continue
		}
		winner := all[at]
		balance[winner.node]--
		for _, a := range all[:at] {
			if a.dropped && a.node != "" && a.node != winner.node {
				balance[a.node]++
				beaten[a.node]++
			}
		}
	}
	var slow []string
	for node, n := range beaten {
		if n >= leastBeaten && balance[node] > 0 {
			slow = append(slow, node)
		}
	}
	slices.SortFunc(slow, func(a, b string) int { return cmp.Or(cmp.Compare(balance[b], balance[a]), cmp.Compare(a, b)) })
	return slow[:min(len(slow), mostSlow)]
}
