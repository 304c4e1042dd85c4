package policy

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// srewPrior stands for E of a task while nothing at all has finished, in seconds. Alone it ranks jobs by their number
// of tasks.
const srewPrior = 1.0

// srewRanks keeps the active jobs in the order of their remaining effective workload. A fact only marks its job as
// stale, in O(1); the order is put right when it is asked for, by one merge of the stale jobs into the rest. So a slot
// with d stale jobs of n costs O(n + d log d), however many facts it brought.
type srewRanks struct {
	lambda float64
	order  []srewKey // jobs that were active at the last refresh, best first; keys of stale jobs are out of date
	// jobs that have arrived, ended or finished a task since then, or are ranked by a guess; each once
	stale []sched.JobID
	moved []srewKey                         // scratch of refresh
	jobs  sched.Table[sched.JobID, srewJob] // of those in order or stale

	sum   float64 // of the durations of all attempts that have won, seconds per whole task
	count float64
}

// srewJob is what the policy remembers of a job.
type srewJob struct {
	stale bool         // listed in srewRanks.stale
	turn  sched.TaskID // the task to which the next odd clone goes, if it runs
}

// srewKey ranks a job: by workload, then arrival, then id.
type srewKey struct {
	workload float64 // Upsilon_j(t), seconds
	arrived  sched.Time
	job      sched.JobID
}

func (k srewKey) Compare(o srewKey) int {
	if c := cmp.Compare(k.workload, o.workload); c != 0 {
		return c
	}
	if c := cmp.Compare(k.arrived, o.arrived); c != 0 {
		return c
	}
	return cmp.Compare(k.job, o.job)
}

// observe notes what changes the workload of a job.
func (r *srewRanks) observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.AttemptDone:
		a := v.Attempt(ev.Attempt)
		if d, ok := sched.Whole(ev.At-a.Started, a.From); ok {
			r.sum += d
			r.count++
		}
		r.mark(ev.Job)
	case sched.JobArrived, sched.JobPaused, sched.JobContinued, sched.JobDone, sched.JobFailed, sched.JobCancelled, sched.TaskGivenUp, sched.StageDone:
		r.mark(ev.Job)
	}
}

func (r *srewRanks) mark(j sched.JobID) {
	if job := r.jobs.At(j); !job.stale {
		job.stale = true
		r.stale = append(r.stale, j)
	}
}

// refresh puts the order right.
func (r *srewRanks) refresh(v *sched.View) {
	if len(r.stale) == 0 {
		return
	}
	kept := r.order[:0]
	for _, k := range r.order {
		if !r.jobs.Of(k.job).stale {
			kept = append(kept, k)
		}
	}
	r.moved = r.moved[:0]
	guessed := r.stale[:0]
	for _, j := range r.stale {
		x := r.jobs.Of(j)
		x.stale = false
		job := v.Job(j)
		if job.State != sched.JobActive {
			r.jobs.Drop(j)
			continue
		}
		if job.Paused {
			continue
		}
		work, guess := r.workload(v, &job)
		r.moved = append(r.moved, srewKey{work, job.Arrived, j})
		if guess { // the guess changes with whatever finishes
			x.stale = true
			guessed = append(guessed, j)
		}
	}
	r.stale = guessed
	slices.SortFunc(r.moved, srewKey.Compare)
	r.order = mergeRanks(kept, r.moved)
}

// mergeRanks merges two ascending lists into the first, from the back.
func mergeRanks(a, b []srewKey) []srewKey {
	i, j := len(a)-1, len(b)-1
	a = append(a, b...)
	for k := len(a) - 1; j >= 0; k-- {
		if i >= 0 && a[i].Compare(b[j]) > 0 {
			a[k] = a[i]
			i--
		} else {
			a[k] = b[j]
			j--
		}
	}
	return a
}

// workload returns Upsilon_j(t) of equation (25), the sum over stages of unfinished tasks times (E + lambda sigma), in
// seconds. guess tells that E of a stage is not known yet, so that the mean of everything finished so far stands for
// it.
func (r *srewRanks) workload(v *sched.View, job *sched.Job) (work float64, guess bool) {
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		left := st.Unfinished()
		if left == 0 {
			continue
		}
		mean, sd, ok := st.Estimate()
		if !ok {
			guess, mean, sd = true, r.prior(), 0
		}
		work += float64(left) * (mean + r.lambda*sd)
	}
	return work, guess
}

func (r *srewRanks) prior() float64 {
	if r.count == 0 {
		return srewPrior
	}
	return r.sum / r.count
}
