package kube

import (
	"slices"
	"testing"
)

// Each index is the nodes of its attempts, of which the last one has won.
func TestSlowNodes(t *testing.T) {
	for _, c := range []struct {
		name    string
		indexes [][]string
		want    []string
	}{
		{"nothing yet", nil, nil},
		{"bad luck", [][]string{{"a", "b"}}, nil},
		{"twice", [][]string{{"a", "b"}, {"a", "c"}}, []string{"a"}},
		{"but wins as often", [][]string{{"a", "b"}, {"a", "c"}, {"a"}, {"a"}}, nil},
		{"by its own clones", [][]string{{"a", "a"}, {"a", "a"}}, nil},
		{"never on a node", [][]string{{"", "b"}, {"", "b"}}, nil},
		{"the worst first", [][]string{{"b", "c"}, {"b", "c"}, {"a", "c"}, {"a", "c"}, {"d", "a", "c"}}, []string{"a", "b"}},
	} {
		r := &run{}
		for i, nodes := range c.indexes {
			var all []*attempt
			for k, node := range nodes {
				last := k == len(nodes)-1
				all = append(all, &attempt{ref: ref{i, k}, node: node, seen: true, won: last, dropped: !last})
			}
			r.indexes = append(r.indexes, history{attempts: all})
		}
		if got := r.slowNodes(); !slices.Equal(got, c.want) {
			t.Errorf("%s: slow are %v, want %v", c.name, got, c.want)
		}
	}
}
