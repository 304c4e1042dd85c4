package policy

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// An oracle is a slow reference of a policy: it polls, it looks at every task each time, and it decides as the code of
// the policy's original does, which the tests restate. It shares with the policy where a job stands in an order, which
// machine a clone may go to and which attempts stand still (kit.Ranking, kit.Places, kit.Silence); these have tests of
// their own.
type oracle struct {
	name  string
	specs []string
	slow  func(a kit.Args) sched.Policy
	most  uint64                   // worlds of the long tests; 0 means 2,000
	every uint64                   // takes the worlds with numbers that are multiples of it; 0 means 1
	fate  func(f *policytest.Fate) // changes what becomes of attempts; may be nil
	plain bool                     // the policy clones nothing
	two   bool                     // classes of slots, each with a policy of its own
	sites bool                     // machines are at several
	costs bool                     // and data may not be everywhere, and bytes and slots have prices

	// when rounding may first have decided something in the slow policy, so that nothing is compared from then on; may be nil
	rounded func(slow sched.Policy) sched.Time
}

var oracles = []oracle{sparkOracle, lateOracle, hadoopOracle, hadoop2Oracle, flinkOracle, forkOracle, forkLearnOracle, fifoOracle, fairOracle, srptOracle, capacityOracle,
	lapsOracle, wlapsOracle, intermediateOracle, hopperOracle, eseOracle, maxsrptOracle, splitsrptOracle, fillsrptOracle, geocloneOracle, costly,
	chronosCloneOracle, chronosRestartOracle, chronosResumeOracle, laxityOracle, shedOracle}

// TestOracles compares the decisions of policies with those of their oracles, instants included, in 40 messy worlds
// each. TestManyOracles, of the long tests, does so in thousands.
func TestOracles(t *testing.T) {
	t.Parallel()
	for _, o := range oracles {
		t.Run(o.name, func(t *testing.T) {
			if clones := o.compare(t, 0, 40); clones < 100 && !o.plain {
				t.Errorf("only %d clones were compared", clones)
			}
		})
	}
}

// compare runs so many worlds from a number on and returns how many clones started in them.
func (o *oracle) compare(t *testing.T, from, worlds uint64) (clones int) {
	t.Helper()
	for n := from; n < from+worlds; n++ {
		seed, spec := n*max(o.every, 1), o.specs[n%uint64(len(o.specs))]
		e, args, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		l := policytest.Limits[n/uint64(len(o.specs))%uint64(len(policytest.Limits))]
		w, slow := o.world(t, func() sched.Policy { return e.New(args) }, l, seed), o.world(t, func() sched.Policy { return o.slow(args) }, l, seed)
		w.Lag, slow.Lag = 0, 0 // a late call is late for whoever was woken
		if given := w.Fate; o.fate != nil {
			w.Fate = func(d *sched.Decision) policytest.Fate { f := given(d); o.fate(&f); return f }
			slow.Fate = w.Fate
		}
		w.Run()
		slow.Run()
		until := sched.Never
		if o.rounded != nil {
			until = o.rounded(slow.Policy)
		}
		if diff := gocmp.Diff(withoutWakes(slow.Orders, until), withoutWakes(w.Orders, until)); diff != "" {
			t.Fatalf("%s, world %d (-oracle +policy):\n%s", spec, seed, diff)
		}
		for i := range w.Orders {
			if d := &w.Orders[i]; d.Kind == sched.Launch && d.Reason > sched.Retry && d.At < until {
				clones++
			}
		}
	}
	return clones
}

// world returns the world of a seed, with the policy.
func (o *oracle) world(t *testing.T, of func() sched.Policy, l sched.Limits, seed uint64) *policytest.World {
	switch {
	case o.two:
		return policytest.MessyClasses(t, 2, sched.PerClass(of(), of()), l, seed)
	case o.costs:
		l.MaxWait = 0
		return policytest.MessyConfined(t, of(), l, seed)
	case o.sites:
		return policytest.MessySites(t, of(), l, seed)
	}
	return policytest.MessyWorld(t, of(), l, seed)
}

func withoutWakes(orders []sched.Decision, until sched.Time) []sched.Decision {
	return slices.DeleteFunc(slices.Clone(orders), func(d sched.Decision) bool { return d.Kind == sched.Wake || d.At >= until })
}

// slowly is what oracles have in common.
type slowly struct {
	ranking kit.Ranking
	places  kit.Places
	cluster bool                           // clones after the fresh tasks of all jobs
	won     map[sched.StageID][]sched.Time // durations of winners
}

func newSlowly(a kit.Args) slowly {
	return slowly{ranking: kit.NewRanking(a), cluster: a.Get("clones") == "cluster", won: map[sched.StageID][]sched.Time{}}
}

func (p *slowly) Observe(v *sched.View, ev *sched.Event) {
	p.ranking.Learn(v, ev)
	p.places.Observe(v, ev)
	if ev.Kind == sched.AttemptDone {
		p.won[ev.Stage] = append(p.won[ev.Stage], v.Now()-v.Attempt(ev.Attempt).Started)
	}
}

// jobs returns the active jobs in their order.
func (p *slowly) jobs(v *sched.View) (jobs []sched.JobID) {
	for j := range sched.JobID(v.Rows().Jobs()) {
		if v.Job(j).State == sched.JobActive {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b sched.JobID) int {
		x, y := v.Job(a), v.Job(b)
		return cmp.Or(p.ranking.Standing(v, a, &x).Compare(p.ranking.Standing(v, b, &y)), cmp.Compare(a, b))
	})
	return jobs
}

// serve offers each free slot to the jobs in their order: a job takes it for a task that waits, or for a clone.
func (p *slowly) serve(v *sched.View, fresh func(t sched.TaskID) bool, clone func(j sched.JobID) bool) {
	for p.offer(v, fresh, clone) {
	}
}

func (p *slowly) offer(v *sched.View, fresh func(t sched.TaskID) bool, clone func(j sched.JobID) bool) (taken bool) {
	jobs := p.jobs(v)
	for _, j := range jobs {
		if t, ok := pendingOf(v, j); ok && v.FreeSlots() > 0 {
			return fresh(t)
		}
		if !p.cluster && v.CloneRoom() > 0 && clone(j) {
			return true
		}
	}
	return p.cluster && slices.ContainsFunc(jobs, func(j sched.JobID) bool { return v.CloneRoom() > 0 && clone(j) })
}

// pendingOf returns the first task of a job that waits.
func pendingOf(v *sched.View, j sched.JobID) (sched.TaskID, bool) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Rows().JobOf(t) == j && v.Task(t).State == sched.TaskPending && v.Rows().Visible(v.Task(t).Stage) {
			return t, true
		}
	}
	return 0, false
}

// start launches a task that waits on the first free machine.
func (p *slowly) start(v *sched.View, act *sched.Actions, t sched.TaskID) sched.AttemptID {
	m, _ := v.FreeMachine(0)
	return kit.Start(v, act, t, m)
}

// running returns the running tasks of a job, or of a stage.
func runningOf(v *sched.View, in func(t sched.TaskID) bool) (tasks []sched.TaskID) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Task(t).State == sched.TaskRunning && in(t) {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

func inJob(v *sched.View, j sched.JobID) func(sched.TaskID) bool {
	return func(t sched.TaskID) bool { return v.Rows().JobOf(t) == j }
}

func inStage(v *sched.View, s sched.StageID) func(sched.TaskID) bool {
	return func(t sched.TaskID) bool { return v.Task(t).Stage == s }
}

// only returns the attempt of a task that has one.
func only(v *sched.View, t sched.TaskID) (sched.AttemptID, bool) {
	a, ok := v.FirstAttempt(t)
	return a, ok && v.Task(t).Live == 1
}

// stagesOf returns the open stages of a job.
func stagesOf(v *sched.View, j sched.JobID) (open []sched.StageID) {
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if v.Stage(s).State == sched.StageOpen {
			open = append(open, s)
		}
	}
	return open
}

// nextCheck returns the first multiple of an interval after now.
func nextCheck(now, interval sched.Time) sched.Time { return (now/interval + 1) * interval }
