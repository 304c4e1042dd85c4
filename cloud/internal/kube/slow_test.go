package kube

import (
	"slices"
	"testing"
	"time"
)

// Each index is the nodes of its attempts, of which the last one has won, after 10 s.
func TestOvertakenNodes(t *testing.T) {
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
		if got := settled(c.indexes).slowNodes(epoch); !slices.Equal(got, c.want) {
			t.Errorf("%s: slow are %v, want %v", c.name, got, c.want)
		}
	}
}

func settled(indexes [][]string) *member {
	m := &member{sights: map[ref]*sight{}}
	for i, nodes := range indexes {
		var all []*attempt
		for k, node := range nodes {
			last, end := k == len(nodes)-1, dropped
			if last {
				end = won
			}
			all = append(all, &attempt{ref: ref{i, k}, node: node, seen: true, fate: end})
			if last {
				m.sights[ref{i, k}] = &sight{phase: succeeded, node: node, begun: epoch, ended: epoch.Add(10 * time.Second)}
			}
		}
		m.indexes = append(m.indexes, history{attempts: all})
	}
	return m
}

// A node that is done with its long attempts is no better than one that has them still.
func TestLongNodes(t *testing.T) {
	m := settled([][]string{{"a"}, {"a"}, {"a"}, {"b"}, {"b"}, {"b"}, {"b"}})
	for i := 3; i < 5; i++ {
		m.sights[ref{i, 0}].ended = epoch.Add(23 * time.Second)
	}
	if got := m.slowNodes(epoch); len(got) > 0 {
		t.Errorf("slow are %v; half of the attempts were in time", got)
	}
	m.sights[ref{5, 0}].ended = epoch.Add(23 * time.Second)
	if got := m.slowNodes(epoch); !slices.Equal(got, []string{"b"}) {
		t.Errorf("slow are %v, want b", got)
	}
}

// Attempts of 10 s have succeeded on node b. Those that run since the start are late after 22 s.
func TestLateNodes(t *testing.T) {
	for _, c := range []struct {
		name  string
		done  int
		age   time.Duration
		olds  []string // nodes of attempts of that age
		young []string // and of some that have just begun
		want  []string
	}{
		{"late", 3, 23 * time.Second, []string{"a", "a"}, []string{"a", "a"}, []string{"a"}},
		{"not yet", 3, 22 * time.Second, []string{"a", "a"}, nil, nil},
		{"too little known", 2, time.Hour, []string{"a", "a"}, nil, nil},
		{"one", 3, time.Hour, []string{"a", "b"}, nil, nil},
		{"the lesser part", 3, time.Hour, []string{"b", "b"}, []string{"b", "b", "b"}, nil},
	} {
		m := settled(slices.Repeat([][]string{{"b"}}, c.done))
		now := epoch.Add(c.age)
		for k, node := range append(slices.Clone(c.olds), c.young...) {
			begun := epoch
			if k >= len(c.olds) {
				begun = now
			}
			a := &attempt{ref: ref{len(m.indexes), 0}, node: node, seen: true}
			m.indexes = append(m.indexes, history{attempts: []*attempt{a}})
			m.sights[a.ref] = &sight{phase: running, node: node, begun: begun}
		}
		if got := m.slowNodes(now); !slices.Equal(got, c.want) {
			t.Errorf("%s: slow are %v, want %v", c.name, got, c.want)
		}
	}
}
