package policy

import (
	"cmp"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// checkTwins lets policies and their naive twins decide in random worlds where jobs come and go, attempts fail, machines are lost and progress is reported, under
// several limits. They must decide the same, but for when they want to be called.
func checkTwins(t *testing.T, draw func(t *rapid.T) (spec string, twin sched.Policy)) {
	checkTwinsOf(t, 10, draw)
}

// checkTwinsOf is checkTwins for policies of which there should be so many clones.
func checkTwinsOf(t *testing.T, want int, draw func(t *rapid.T) (spec string, twin sched.Policy)) {
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
	if clones < want && !testing.Short() { // by chance of the worlds; more than a hundred are usual
		t.Errorf("%d clones of %d attempts: the worlds are too tame", clones, launched)
	}
}

// naive is what naive twins have in common: everything is counted anew from the rows.
type naive struct {
	fair    bool                           // order of jobs: fair, else by arrival
	quiet   kit.Silence                    // shared with the fast policies; TestHung and TestStillness are about it
	ends    map[sched.AttemptID]sched.Time // estimated ends, as of the last report that said something
	won     map[sched.StageID][]sched.Time // durations of winners
	tnew    string
	winners []sched.AttemptID
	whole   map[sched.StageID]map[sched.AttemptID]float64 // seconds that each attempt of a stage takes, as far as is known
}

func newNaive(fair bool) naive {
	return naive{
		fair: fair, ends: map[sched.AttemptID]sched.Time{}, won: map[sched.StageID][]sched.Time{}, whole: map[sched.StageID]map[sched.AttemptID]float64{},
	}
}

func (n *naive) Observe(v *sched.View, ev *sched.Event) {
	n.quiet.Observe(v, ev)
	switch ev.Kind {
	case sched.AttemptProgress:
		n.reckon(v, ev.Attempt)
	case sched.AttemptDone:
		n.won[ev.Stage] = append(n.won[ev.Stage], v.Now()-v.Attempt(ev.Attempt).Started)
		n.winners = append(n.winners, ev.Attempt)
		n.lasts(v, ev.Attempt, v.Now())
	}
}

// lasts notes how long an attempt takes, or would have taken as far as was last known.
func (n *naive) lasts(v *sched.View, a sched.AttemptID, end sched.Time) {
	row := v.Attempt(a)
	if left := 1 - row.From; left >= 1./64 {
		s := v.Task(row.Task).Stage
		if n.whole[s] == nil {
			n.whole[s] = map[sched.AttemptID]float64{}
		}
		n.whole[s][a] = (end - row.Started).Seconds() / left
	}
}

// durations returns what t_new is estimated from, with tnew=finished and tnew=all.
func (n *naive) durations(s sched.StageID) (all []float64) {
	for a, seconds := range n.whole[s] {
		if n.tnew == "all" || slices.Contains(n.winners, a) {
			all = append(all, seconds)
		}
	}
	slices.Sort(all)
	return all
}

// mean returns the mean of t_new in seconds.
func (n *naive) mean(v *sched.View, s sched.StageID) (float64, bool) {
	st := v.Stage(s)
	if n.tnew == "known" && st.Mean > 0 {
		return st.Mean.Seconds(), true
	}
	if all := n.durations(s); n.tnew == "all" && len(all) > 0 {
		sum := new(big.Int)
		for _, x := range all {
			sum.Add(sum, big.NewInt(int64(sched.FromSeconds(x))))
		}
		ns, _ := new(big.Float).SetInt(sum).Float64()
		return ns / 1e9 / float64(len(all)), true
	}
	mean, _, ok := st.Measured()
	return mean, ok
}

func (n *naive) reckon(v *sched.View, a sched.AttemptID) {
	row := n.quiet.Attempt(v, a)
	if rem, ok := row.Remaining(v.Now()); ok {
		n.ends[a] = v.Now() + min(rem, sched.Never-v.Now())
	}
	if end, ok := n.ends[a]; ok {
		n.lasts(v, a, end)
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
