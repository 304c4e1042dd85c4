package kube

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// nodes is a cluster that takes its time for all that is not a task's work: 1 to 2.5 s to start a pod, up to 3 s to tell
// of its end, and 1.5 s to end it before. Times of pods are whole seconds. With these numbers Jobs take as long as on
// the control plane of TestSlowNode, within a twentieth.
type nodes struct {
	r     *rand.Rand
	slow  time.Duration // how many times as long tasks take on the last node
	takes time.Duration // by a task elsewhere
	past  bool          // earlier runs have shown how long a task takes
	told  bool          // tasks report their progress each second
	pods  map[ref]*onePod
}

// onePod is a pod as it is, and what the controller may see of it.
type onePod struct {
	sight
	starts, ends, known time.Time // once it has a node
}

// perNode is how many pods fit onto each of the nodes.
const perNode = 5

var nodeNames = []string{"a", "b", "c"}

func (n *nodes) upTo(d time.Duration) time.Duration { return time.Duration(n.r.Int64N(int64(d))) }

// schedule gives waiting pods a node that has room: one that is not to be avoided, if there is one, and of those the
// emptiest.
func (n *nodes) schedule(avoid []string, now time.Time) {
	used := map[string]int{}
	for _, p := range n.pods {
		if p.live || p.known.After(now) {
			used[p.node]++
		}
	}
	for _, key := range refs(n.pods) {
		p := n.pods[key]
		if p.node != "" || !p.live {
			continue
		}
		best, least := "", 1000
		for _, node := range nodeNames {
			bad := used[node]
			if slices.Contains(avoid, node) || n.tried(p, node) {
				bad += 100
			}
			if used[node] < perNode && bad < least {
				best, least = node, bad
			}
		}
		if best == "" {
			continue
		}
		used[best]++
		n.place(p, best, now)
	}
}

// tried tells whether another attempt of a pod's task is or was on a node.
func (n *nodes) tried(p *onePod, node string) bool {
	for _, q := range n.pods {
		if q != p && q.index == p.index && q.node == node {
			return true
		}
	}
	return false
}

func (n *nodes) place(p *onePod, node string, now time.Time) {
	takes := n.takes
	if node == nodeNames[len(nodeNames)-1] {
		takes *= n.slow
	}
	p.node = node
	p.starts = now.Add(time.Second + n.upTo(1500*time.Millisecond))
	p.ends = p.starts.Add(takes + n.upTo(200*time.Millisecond))
	p.known = p.ends.Add(n.upTo(3 * time.Second))
}

// show makes of pods what the controller sees of them.
func (n *nodes) show(now time.Time) (all []sight) {
	for _, key := range refs(n.pods) {
		p := n.pods[key]
		if p.live && p.node != "" && now.Sub(p.starts) >= 300*time.Millisecond {
			p.phase, p.begun = running, p.starts.Truncate(time.Second)
			if ran := min(now.Sub(p.starts), p.ends.Sub(p.starts)).Truncate(time.Second); n.told {
				p.progress = ran.Seconds() / p.ends.Sub(p.starts).Seconds()
			}
			if !now.Before(p.known) {
				p.phase, p.ended, p.live = succeeded, p.ends.Truncate(time.Second), false
			}
		}
		all = append(all, p.sight)
	}
	return all
}

// carryOut ends and makes pods as the controller does: a clone only beside an attempt that has begun.
func (n *nodes) carryOut(m *member, parallelism int, now time.Time) (clones int) {
	losers, others := m.surplus()
	for _, a := range slices.Concat(losers, others) {
		p := n.pods[a.ref]
		p.phase, p.live, p.known = gone, false, now.Add(1500*time.Millisecond)
	}
	room := parallelism
	for _, p := range n.pods {
		if p.live {
			room--
		}
	}
	m.promote(func(a *attempt) bool { return n.pods[a.ref] != nil })
	for _, a := range m.missing() {
		waits := a.clone && !slices.ContainsFunc(m.indexes[a.index].attempts, func(b *attempt) bool {
			p := n.pods[b.ref]
			return p != nil && p.live && !p.begun.IsZero()
		})
		if n.pods[a.ref] != nil || waits || room == 0 {
			continue
		}
		room--
		n.pods[a.ref] = &onePod{sight: sight{ref: a.ref, clone: a.clone, live: true, made: now.Truncate(time.Second)}}
		if a.clone {
			clones++
		}
	}
	return clones
}

// run runs a Job, and returns how long it takes and how many clones it has.
func (n *nodes) run(t *testing.T, spec string, tasks, parallelism int) (flow time.Duration, clones int) {
	t.Helper()
	p, err := policy.New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	n.pods = map[ref]*onePod{}
	s := settings{policy: spec, completions: tasks, start: epoch}
	if n.past {
		s.mean, s.sd = sched.Time(n.takes), sched.Second/2
	}
	r, m := alone(s, p)
	done := make(indexSet, tasks)
	m.look(nil, done)
	if err := r.join(m); err != nil {
		t.Fatal(err)
	}
	for ; flow < time.Hour; flow += 250 * time.Millisecond {
		now := epoch.Add(flow)
		sights := n.show(now)
		for i := range sights {
			if sights[i].phase == succeeded {
				done[sights[i].index] = true
			}
		}
		if done.count() == tasks {
			return flow, clones
		}
		m.look(sights, slices.Clone(done))
		if err := r.step(now, taken{int64(parallelism)}); err != nil {
			t.Fatal(err)
		}
		clones += n.carryOut(m, parallelism, now)
		n.schedule(m.slowNodes(now), now)
	}
	t.Fatalf("%s: %d of %d tasks are done after an hour", spec, done.count(), tasks)
	return flow, clones
}

// Equal tasks of seconds get no clones under auto, although their starts differ, their times are whole seconds and
// their ends are known late; where one of three nodes is ten times as slow, its tasks get clones. Each row is the mean
// of ten runs.
func TestAutoKnowsStarts(t *testing.T) {
	const runs = 10
	for _, c := range []struct {
		name               string
		tasks, parallelism int
		takes, slow        time.Duration
		told, past         bool
		most               float64 // of the time under fifo
		least, clones      float64
	}{
		{"equal", 60, 12, 3, 1, false, false, 1, 0, 0},
		{"equal, with reports", 60, 12, 3, 1, true, false, 1, 0, 0},
		{"equal, one wave", 12, 12, 4, 1, false, false, 1, 0, 0},
		{"equal, one wave, with reports", 12, 12, 4, 1, true, false, 1, 0, 0},
		{"equal, most wait for a node", 60, 60, 4, 1, false, false, 1.01, 0, 0.2},
		{"equal, most wait for a node, with reports", 60, 60, 4, 1, true, false, 1, 0, 0},
		{"equal, known from earlier runs", 60, 12, 3, 1, false, true, 1, 0, 0},
		{"equal, one wave, known from earlier runs", 12, 12, 4, 1, false, true, 1, 0, 0},
		{"equal, known from earlier runs, with reports", 24, 12, 5, 1, true, true, 1, 0, 0},
		{"slow node, known from earlier runs", 12, 12, 4, 10, false, true, 0.8, 3, 6},
		{"slow node", 60, 12, 3, 10, false, false, 0.85, 1, 15},
		{"slow node, with reports", 60, 12, 3, 10, true, false, 0.72, 1, 12},
		{"slow node, two waves", 24, 12, 5, 10, false, false, 0.62, 3, 10},
		{"slow node, two waves, with reports", 24, 12, 5, 10, true, false, 0.55, 3, 6},
		{"slow node, longer tasks", 24, 12, 20, 10, false, false, 0.42, 3, 10},
		{"slow node, longer tasks, with reports", 24, 12, 20, 10, true, false, 0.38, 3, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			flows, clones := map[string]float64{}, 0.0
			for seed := range uint64(runs) {
				for _, spec := range []string{"fifo", "auto"} {
					n := &nodes{r: rand.New(rand.NewPCG(seed, 1)), slow: c.slow, takes: c.takes * time.Second, told: c.told, past: c.past}
					flow, k := n.run(t, spec, c.tasks, c.parallelism)
					flows[spec] += flow.Seconds() / runs
					clones += float64(k) / runs
				}
			}
			ratio := flows["auto"] / flows["fifo"]
			t.Logf("%.1f s, of fifo's %.2f; %.1f clones", flows["auto"], ratio, clones)
			if ratio > c.most || clones < c.least || clones > c.clones {
				t.Errorf("%.3f of the time under fifo and %.1f clones, want at most %v and %v to %v", ratio, clones, c.most, c.least, c.clones)
			}
		})
	}
}
