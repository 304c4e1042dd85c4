package policy

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// checkTwins lets policies and their naive twins decide in random worlds where jobs come and go, attempts fail, machines are lost and progress is reported, under
// several limits. They must decide the same, but for when they want to be called.
func checkTwins(t *testing.T, draw func(t *rapid.T) (spec string, twin sched.Policy)) {
	clones, launched := 0, 0
	for _, l := range []sched.Limits{sched.NoLimits(), sched.DefaultLimits(), {Attempts: 2, Clones: sched.CloneBudget{Floor: 2}}} {
		rapid.Check(t, func(r *rapid.T) {
			spec, twin := draw(r)
			p, err := New(spec, 1)
			if err != nil {
				r.Fatal(err)
			}
			x := newSrewPair(r, p, twin, l)
			x.loose = true
			for range rapid.IntRange(1, 60).Draw(r, "steps") {
				x.advance(r)
			}
			x.finish(r)
			clones, launched = clones+x.cloned, launched+x.launched
		})
	}
	if clones < 10 && !testing.Short() { // by chance of the worlds; more than a hundred are usual
		t.Errorf("%d clones of %d attempts: the worlds are too tame", clones, launched)
	}
}

// naive is what naive twins have in common: everything is counted anew from the rows.
type naive struct {
	fair  bool                           // order of jobs: fair, else by arrival
	quiet kit.Silence                    // shared with the fast policies; TestHung and TestStillness are about it
	ends  map[sched.AttemptID]sched.Time // estimated ends, as of the last report that said something
	won   map[sched.StageID][]sched.Time // durations of winners
}

func newNaive(fair bool) naive {
	return naive{fair: fair, ends: map[sched.AttemptID]sched.Time{}, won: map[sched.StageID][]sched.Time{}}
}

func (n *naive) Observe(v *sched.View, ev *sched.Event) {
	n.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptProgress:
		n.reckon(v, ev.Attempt)
	case sched.AttemptDone:
		n.won[ev.Stage] = append(n.won[ev.Stage], v.Now()-v.Attempt(ev.Attempt).Started)
	}
}

func (n *naive) reckon(v *sched.View, a sched.AttemptID) {
	row := n.quiet.Attempt(v, a)
	if rem, ok := row.Remaining(v.Now()); ok {
		n.ends[a] = v.Now() + min(rem, sched.Never-v.Now())
	}
}

// look puts off the ends of attempts that stand still, when the policy does.
func (n *naive) look(v *sched.View, act *sched.Actions) {
	n.quiet.Look(v, func(_ sched.StageID, t sched.TaskID) {
		for _, a := range n.attempts(v, t) {
			if n.quiet.Silent(v, a) {
				n.reckon(v, a)
			}
		}
	})
	kit.WakeFor(act, &n.quiet.Due)
}

// jobs returns the active jobs, the next one to get a slot first.
func (n *naive) jobs(v *sched.View) (jobs []sched.JobID) {
	for j := range sched.JobID(v.Rows().Jobs()) {
		if v.Job(j).State == sched.JobActive {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b sched.JobID) int {
		if n.fair {
			return cmp.Or(cmp.Compare(v.Job(a).Live, v.Job(b).Live), cmp.Compare(a, b)) // weights are 1, minimum shares 0
		}
		return cmp.Or(cmp.Compare(v.Job(a).Arrived, v.Job(b).Arrived), cmp.Compare(a, b))
	})
	return jobs
}

// next returns the next task that waits, if a slot is free.
func (n *naive) next(v *sched.View) (sched.TaskID, bool) {
	for _, j := range n.jobs(v) {
		for t := range sched.TaskID(v.Rows().Tasks()) {
			if v.Rows().JobOf(t) == j && v.Task(t).State == sched.TaskPending && v.FreeSlots() > 0 {
				return t, true
			}
		}
	}
	return 0, false
}

// stages returns the open stages of active jobs.
func (n *naive) stages(v *sched.View) (open []sched.StageID) {
	for s := range sched.StageID(v.Rows().Stages()) {
		if st := v.Stage(s); st.State == sched.StageOpen && v.Job(st.Job).State == sched.JobActive {
			open = append(open, s)
		}
	}
	return open
}

// running returns the running tasks of a stage.
func (n *naive) running(v *sched.View, s sched.StageID) (tasks []sched.TaskID) {
	for t := range sched.TaskID(v.Rows().Tasks()) {
		if v.Task(t).Stage == s && v.Task(t).State == sched.TaskRunning {
			tasks = append(tasks, t)
		}
	}
	return tasks
}

// attempts returns the running attempts of a task, the youngest first.
func (n *naive) attempts(v *sched.View, t sched.TaskID) (all []sched.AttemptID) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		all = append(all, a)
	}
	return all
}

// end returns when the quickest attempt of a task ends, as far as is known.
func (n *naive) end(v *sched.View, t sched.TaskID) (first sched.Time, ok bool) {
	for _, a := range n.attempts(v, t) {
		if end, known := n.ends[a]; known && (!ok || end < first) {
			first, ok = end, true
		}
	}
	return first, ok
}

// free returns the machines with a free slot; apart those of them that do not run the task.
func (n *naive) free(v *sched.View, t sched.TaskID) (free, apart []sched.MachineID) {
	for m := range sched.MachineID(v.Rows().Machines()) {
		if mc := v.Machine(m); mc.Up && mc.Used < mc.Slots {
			free = append(free, m)
			if !slices.ContainsFunc(n.attempts(v, t), func(a sched.AttemptID) bool { return v.Attempt(a).Machine == m }) {
				apart = append(apart, m)
			}
		}
	}
	return free, apart
}

// start launches a task that waits.
func (n *naive) start(v *sched.View, act *sched.Actions, t sched.TaskID) sched.AttemptID {
	free, _ := n.free(v, t)
	return kit.Start(v, act, t, free[0])
}

// clone launches another attempt of a running task, away from the others if possible.
func (n *naive) clone(v *sched.View, act *sched.Actions, t sched.TaskID, why sched.Reason) sched.AttemptID {
	free, apart := n.free(v, t)
	return kit.Launch(act, t, append(apart, free...)[0], 0, why)
}
