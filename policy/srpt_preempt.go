package policy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// preemptive is SRPT as Schrage has it: at each event the jobs with the least remaining work have the slots, and
// attempts of others end for them, if their stages are resumable.
//
// Here the remaining work of a task is that beyond the progress of its attempt, or beyond what an attempt that was
// ended has left behind. With exact reports and known sizes it is Schrage's. An event costs O(active tasks).
type preemptive struct {
	work kit.Workload
	jobs []preemptiveJob
}

type preemptiveJob struct {
	id      sched.JobID
	left    float64 // microseconds of work
	arrived sched.Time
	live    int // attempts that run
	share   int // of the slots
}

func (p *preemptive) Observe(v *sched.View, ev *sched.Event) { p.work.Observe(v, ev) }

func (p *preemptive) Decide(v *sched.View, act *sched.Actions) {
	if v.Pending() == 0 {
		return
	}
	p.rank(v)
	if wanted := p.divide(v.Slots()) - v.FreeSlots(); wanted > 0 {
		for i := len(p.jobs) - 1; i >= 0 && wanted > 0; i-- {
			wanted -= p.evict(v, act, &p.jobs[i], wanted)
		}
	}
	for i := range p.jobs {
		x := &p.jobs[i]
		for n := x.share - x.live; n > 0 && startNext(v, act, x.id); n-- {
		}
	}
	for i := range p.jobs { // slots that others should have had and could not, such as where attempts cannot be ended
		for startNext(v, act, p.jobs[i].id) {
		}
	}
}

// startNext starts the next task of a job that waits, if there is one and a free slot.
func startNext(v *sched.View, act *sched.Actions, j sched.JobID) bool {
	t, ok := kit.FirstPending(v, j)
	m, free := v.FreeMachine(0)
	if !ok || !free {
		return false
	}
	kit.Start(v, act, t, m)
	return true
}

// rank sorts the active jobs by remaining work, then arrival, then id.
func (p *preemptive) rank(v *sched.View) {
	p.jobs = p.jobs[:0]
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		if job := v.Job(j); !job.Paused && job.Pending+job.Live > 0 {
			left := p.work.Remaining(v, j) - progressed(v, &job)
			p.jobs = append(p.jobs, preemptiveJob{id: j, left: left, arrived: job.Arrived, live: int(job.Live), share: int(job.Pending + job.Live)})
		}
	}
	slices.SortFunc(p.jobs, func(a, b preemptiveJob) int {
		return cmp.Or(cmp.Compare(a.left, b.left), cmp.Compare(a.arrived, b.arrived), cmp.Compare(a.id, b.id))
	})
}

// progressed returns the work that the job's unfinished tasks have behind them, in microseconds.
func progressed(v *sched.View, job *sched.Job) (done float64) {
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		mean, _, ok := st.Estimate()
		if !ok || !st.Resumable {
			continue
		}
		share := 0.0
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			if a, runs := v.FirstAttempt(t); runs {
				at := v.Attempt(a)
				share += at.ProgressAtTime(v.Now())
			}
		}
		for t, ok := v.PendingTask(s, 0); ok; t, ok = v.PendingTask(s, t+1) {
			share += v.Task(t).Saved
		}
		done += share * mean * 1e6
	}
	return done
}

// divide gives the slots to the jobs by rank, and returns how many attempts those below their shares lack.
func (p *preemptive) divide(slots int) (wanted int) {
	for i := range p.jobs {
		x := &p.jobs[i]
		x.share = min(x.share, slots)
		slots -= x.share
		wanted += max(0, x.share-x.live)
	}
	return wanted
}

// evict ends up to n attempts of a job above its share, of later stages first, and returns how many.
func (p *preemptive) evict(v *sched.View, act *sched.Actions, x *preemptiveJob, n int) (ended int) {
	n = min(n, x.live-x.share)
	job := v.Job(x.id)
	for s := job.FirstStage + sched.StageID(job.Stages); s > job.FirstStage && ended < n; s-- {
		if !v.Stage(s - 1).Resumable {
			continue
		}
		for t, ok := v.RunningTask(s-1, 0); ok && ended < n; t, ok = v.RunningTask(s-1, t+1) {
			a, runs := v.FirstAttempt(t)
			if !runs || !v.Rows().MayKill(a) {
				continue
			}
			if err := act.Kill(a, sched.Share); err != nil {
				panic(fmt.Sprintf("policy: %v", err))
			}
			ended++
			x.live--
		}
	}
	return ended
}
