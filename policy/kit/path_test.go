package kit

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// chains returns the longest chain of stages that begins with each, found through all chains.
func chains(spec *sched.JobSpec, slots int, usual float64) []float64 {
	var from func(s int) float64
	from = func(s int) float64 {
		longest := 0.0
		for _, e := range spec.Edges {
			if e.From == s {
				longest = max(longest, from(e.To))
			}
		}
		mean := spec.Stages[s].Mean.Seconds()
		if mean == 0 {
			mean = usual
		}
		return longest + mean*max(1, float64(spec.Stages[s].Tasks)/float64(slots))
	}
	all := make([]float64, len(spec.Stages))
	for s := range all {
		all[s] = from(s)
	}
	return all
}

// watched hands what happens to paths.
type watched struct {
	paths Paths
	usual float64
}

func (p *watched) Observe(v *sched.View, ev *sched.Event)   { p.paths.Observe(v, ev, p.usual) }
func (p *watched) Decide(v *sched.View, act *sched.Actions) {}

// TestPaths compares the paths of random jobs, whose stages are not in the order of their edges, with all chains.
func TestPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(117, 1))
	for range 200 {
		n, slots := 1+r.IntN(8), 1+r.IntN(6)
		spec := &sched.JobSpec{}
		for range n {
			st := sched.StageSpec{Tasks: 1 + r.IntN(9)}
			if r.IntN(2) == 0 {
				st.Mean = sched.Time(1+r.IntN(20)) * sched.Second
			}
			spec.Stages = append(spec.Stages, st)
		}
		order := r.Perm(n)
		for to := range n {
			for from := range to {
				if r.IntN(3) == 0 {
					spec.Edges = append(spec.Edges, sched.Edge{From: order[from], To: order[to]})
				}
			}
		}
		p := &watched{usual: 3}
		c := sched.New(p, sched.NoLimits())
		m, err := c.AddMachine(0, slots)
		if err != nil {
			t.Fatal(err)
		}
		j, err := c.Submit(spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Advance(0, []sched.Event{{Kind: sched.MachineJoined, Machine: m}, {Kind: sched.JobArrived, Job: j}}); err != nil {
			t.Fatal(err)
		}
		v, first := c.View(), c.View().Job(j).FirstStage
		for s, want := range chains(spec, slots, 3) {
			if len(spec.Edges) == 0 {
				want = 0
			}
			id := first + sched.StageID(s)
			if got := p.paths.From(v, id); math.Abs(got-want) > 1e-9 {
				t.Fatalf("stage %d of %+v: %v s, want %v", s, spec, got, want)
			}
			if len(spec.Edges) == 0 {
				continue
			}
			stage := v.Stage(id)
			if got := p.paths.Behind(v, id, 3); math.Abs(got-(want-Takes(v, &stage, stage.Unfinished(), 3))) > 1e-9 {
				t.Fatalf("behind stage %d of %+v: %v s of %v", s, spec, got, want)
			}
		}
	}
}

// TestPathsFollowTheUsual checks that paths are found anew once it is known what tasks take.
func TestPathsFollowTheUsual(t *testing.T) {
	p := &watched{}
	c := sched.New(p, sched.NoLimits())
	m, _ := c.AddMachine(0, 4)
	j, err := c.Submit(&sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1}, {Tasks: 1}, {Tasks: 1}}, Edges: []sched.Edge{{From: 0, To: 1}, {From: 1, To: 2}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Advance(0, []sched.Event{{Kind: sched.MachineJoined, Machine: m}, {Kind: sched.JobArrived, Job: j}}); err != nil {
		t.Fatal(err)
	}
	v, first := c.View(), c.View().Job(j).FirstStage
	for _, x := range []struct{ usual, want float64 }{{0, 2}, {7, 14}, {10, 14}, {20, 40}, {0.5, 1}} {
		if got := p.paths.Behind(v, first, x.usual); got != x.want {
			t.Errorf("with %v s a task: %v s, want %v", x.usual, got, x.want)
		}
	}
}
