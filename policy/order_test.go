package policy

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// naiveOrder is the twin of Order: it looks at every job, stage and finished attempt for each free slot.
type naiveOrder struct {
	less func(v *sched.View, a, b sched.JobID) bool
	done map[sched.JobID]int
}

func newNaiveOrder(name string) *naiveOrder {
	twin := &naiveOrder{done: map[sched.JobID]int{}}
	twin.less = map[string]func(v *sched.View, a, b sched.JobID) bool{
		"fifo": func(v *sched.View, a, b sched.JobID) bool {
			x, y := v.Job(a).Priority, v.Job(b).Priority
			return x > y || x == y && earlier(v, a, b)
		},
		"fair": naiveFair,
		"edf": func(v *sched.View, a, b sched.JobID) bool {
			x, y := v.Job(a).Deadline, v.Job(b).Deadline
			return x < y || x == y && earlier(v, a, b)
		},
		"srpt": func(v *sched.View, a, b sched.JobID) bool {
			x, y := twin.work(v, a), twin.work(v, b)
			return x < y || x == y && earlier(v, a, b)
		},
	}[name]
	return twin
}

func (n *naiveOrder) Observe(_ *sched.View, ev *sched.Event) {
	if ev.Kind == sched.AttemptDone {
		n.done[ev.Job]++
	}
}

func (n *naiveOrder) Decide(v *sched.View, act *sched.Actions) {
	for {
		m, ok := v.FreeMachine(0)
		best := sched.JobID(0)
		found := false
		for j, active := v.ActiveJob(0); active; j, active = v.ActiveJob(j + 1) {
			if v.Job(j).Pending > 0 && (!found || n.less(v, j, best)) {
				best, found = j, true
			}
		}
		if !ok || !found {
			return
		}
		s := v.Job(best).FirstStage
		for v.Stage(s).Pending == 0 {
			s++
		}
		t := v.Stage(s).First
		for v.Task(t).State != sched.TaskPending {
			t++
		}
		why := sched.Original
		switch {
		case v.Task(t).Saved > 0:
			why = sched.Resume
		case v.Task(t).Launched > 0:
			why = sched.Retry
		}
		kit.Launch(act, t, m, v.Task(t).Saved, why)
	}
}

func earlier(v *sched.View, a, b sched.JobID) bool {
	x, y := v.Job(a).Arrived, v.Job(b).Arrived
	return x < y || x == y && a < b
}

// naiveFair is the order of digest section 2, literally.
func naiveFair(v *sched.View, a, b sched.JobID) bool {
	x, y := v.Job(a), v.Job(b)
	needyX, needyY := x.Live < x.MinShare, y.Live < y.MinShare
	rx, ry := float64(x.Live)/x.Weight, float64(y.Live)/y.Weight
	switch {
	case needyX != needyY:
		return needyX
	case needyX:
		rx, ry = float64(x.Live)/float64(max(x.MinShare, 1)), float64(y.Live)/float64(max(y.MinShare, 1))
	}
	return rx < ry || rx == ry && a < b
}

func (n *naiveOrder) work(v *sched.View, j sched.JobID) float64 {
	job := v.Job(j)
	known, unknown := 0.0, 0.0
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		if mean, _, ok := st.Estimate(); ok {
			known += float64(st.Unfinished()) * micros(mean)
		} else {
			unknown += float64(st.Unfinished())
		}
	}
	mean := 1.0
	if n.done[j] > 0 {
		mean = job.Fruitful.Seconds() / float64(n.done[j])
	}
	return known + unknown*micros(mean)
}

func micros(seconds float64) float64 { return max(1, math.Round(seconds*1e6)) }

// TestOrderTwin runs messy worlds under each order and under its twin: the same decisions.
func TestOrderTwin(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"fifo", "fair", "srpt", "edf"} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(150) {
				twin := newNaiveOrder(name)
				fast, err := New(name, 1)
				if err != nil {
					t.Fatal(err)
				}
				w := policytest.MessyWorld(t, fast, sched.NoLimits(), seed)
				w.Run()
				naive := policytest.MessyWorld(t, twin, sched.NoLimits(), seed)
				naive.Run()
				if diff := cmp.Diff(naive.Orders, w.Orders); diff != "" {
					t.Fatalf("seed %d (-naive +fast):\n%s", seed, diff)
				}
			}
		})
	}
}

// redundant are the policies about redundancy only, which take the order of jobs as a parameter.
var redundant = []string{"dolly", "flink", "fork", "grass", "hadoop", "hadoop2", "late", "mantri", "spark", "backup", "mantri-dup"}

// TestOrders has golden examples of digest sections 1, 2 and 5 on one slot: tasks 0-1, 2-3 and 4-6 belong to jobs 0, 1 and 2. Without clones, policies
// about redundancy launch in the order that is asked for.
func TestOrders(t *testing.T) {
	s := sched.Second
	cases := []struct {
		name, policy string
		slots        int
		jobs         [3]*sched.JobSpec
		arrive       [3]sched.Time
		want         []sched.TaskID
	}{
		{"priority before arrival, arrival before id", "fifo", 1,
			[3]*sched.JobSpec{policytest.Tasks(2), policytest.Tasks(2), {Priority: 1, Stages: []sched.StageSpec{{Tasks: 3}}}},
			[3]sched.Time{1, 0, 2}, []sched.TaskID{4, 5, 6, 2, 3, 0, 1}},
		{"one each in turn, ties by id", "fair", 3, [3]*sched.JobSpec{policytest.Tasks(2), policytest.Tasks(2), policytest.Tasks(3)},
			[3]sched.Time{}, []sched.TaskID{0, 2, 4, 1, 3, 5, 6}},
		{"twice the weight, twice the slots", "fair", 3,
			[3]*sched.JobSpec{policytest.Tasks(2), {Weight: 2, Stages: []sched.StageSpec{{Tasks: 2}}}, policytest.Tasks(3)},
			[3]sched.Time{0, 0, 100 * s}, []sched.TaskID{0, 2, 3, 1, 4, 5, 6}},
		{"below its minimum share first", "fair", 4,
			[3]*sched.JobSpec{policytest.Tasks(2), policytest.Tasks(2), {MinShare: 2, Stages: []sched.StageSpec{{Tasks: 3}}}},
			[3]sched.Time{}, []sched.TaskID{4, 5, 0, 2, 6, 1, 3}},
		{"least remaining work first: 2 x 9, 2 x 5, 3 x 1", "srpt", 1,
			[3]*sched.JobSpec{known(2, 9*s), known(2, 5*s), known(3, s)}, [3]sched.Time{}, []sched.TaskID{4, 5, 6, 2, 3, 0, 1}},
		{"the earliest deadline first, late or not, and then who has none", "edf", 1,
			[3]*sched.JobSpec{policytest.Tasks(2), {Deadline: 200 * s, Stages: []sched.StageSpec{{Tasks: 2}}}, {Deadline: s, Priority: -1, Stages: []sched.StageSpec{{Tasks: 3}}}},
			[3]sched.Time{0, 0, 5 * s}, []sched.TaskID{2, 4, 5, 6, 3, 0, 1}},
		{"nothing known: fewest tasks first, a second each, until the job has a measure", "srpt", 1, [3]*sched.JobSpec{policytest.Tasks(2), policytest.Tasks(2), policytest.Tasks(3)},
			[3]sched.Time{1, 0, 0}, []sched.TaskID{2, 0, 4, 3, 1, 5, 6}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			specs := []string{c.policy}
			for _, name := range redundant {
				specs = append(specs, name+":order="+c.policy)
			}
			for _, spec := range specs {
				w := on(t, spec, sched.Limits{Attempts: 1})
				w.Machine(2, c.slots)
				for i, spec := range c.jobs {
					w.Submit(c.arrive[i], spec)
				}
				w.Fate = func(d *sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 10 * s} }
				w.Run()
				if diff := cmp.Diff(c.want, w.Launches()); diff != "" {
					t.Errorf("%s launched (-want +got):\n%s", spec, diff)
				}
			}
		})
	}
}

func known(n int, mean sched.Time) *sched.JobSpec {
	return &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: n, Mean: mean}}}
}

// TestSRPTMeasures checks the fallback of srpt.go: the second stage has no mean of its own, the job's finished attempts stand in.
func TestSRPTMeasures(t *testing.T) {
	w := on(t, "srpt", sched.DefaultLimits())
	w.Machine(0, 1)
	two := &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1}, {Tasks: 2}}, Edges: []sched.Edge{{From: 0, To: 1}}}
	w.Submit(0, two)                       // 3 tasks of 1 s as far as is known, then 2 of 10 s
	w.Submit(0, known(1, 15*sched.Second)) // goes before them then
	w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 10 * sched.Second} }
	w.Run()
	if diff := cmp.Diff([]sched.TaskID{0, 3, 1, 2}, w.Launches()); diff != "" {
		t.Errorf("launched (-want +got):\n%s", diff)
	}
}
