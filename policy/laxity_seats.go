package policy

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// seatJob is a job with a deadline and tasks that wait.
//
//	s     seconds until its turn: w of the seated jobs with earlier deadlines / slots
//	y     left - s, the seconds that an attempt then has
//	p(s)  chance that all n waiting tasks are in time, (1 - P(X > y) P(X > y-c)^chance)^n: an attempt that is known to be
//	      late, c after its launch, is replaced
//	w     work that it takes on average: all of it if it is in time, and else what it takes to know that it is not, c for
//	      each task
type seatJob struct {
	job    sched.JobID
	until  sched.Time // its deadline
	left   float64    // seconds until then for the tasks that wait, if they start now
	work   float64    // seconds of machine time of all its tasks that are not done
	value  float64    // that it is worth in time
	tasks  float64    // n
	law    laws.Law   // of X
	cost   float64    // c
	chance float64    // that a new attempt draws a new duration

	seated   bool
	expected float64 // w
}

// seatWait is the part of its chance that a job may lose by waiting for those before it.
const seatWait = 0.1

// inTime returns p(s).
func (j *seatJob) inTime(s float64) float64 {
	y := j.left - s
	if y <= 0 {
		return 0
	}
	late := j.law.Survival(y)
	if late > 0 && j.chance > 0 {
		late *= math.Pow(j.law.Survival(y-j.cost), j.chance)
	}
	return math.Exp(j.tasks * math.Log1p(-min(late, 1)))
}

// seat chooses the jobs that get slots in the order of their deadlines. It is the rule of Moore and Hodgson (Moore,
// Management Science 15, 1968), which has the most jobs in time on one machine, with chances instead of certainties:
// jobs are taken in that order, and when one would lose too much by waiting for those before it, the one among them and
// it whose work is worth least, p(0) value / w, is left out. O(jobs log jobs). The heap is a buffer.
func seat(jobs []seatJob, slots float64, worth *kit.Heap[kit.Rising[float64]]) {
	slices.SortFunc(jobs, func(a, b seatJob) int {
		return cmp.Or(cmp.Compare(a.until, b.until), cmp.Compare(a.job, b.job))
	})
	worth.Clear()
	seated := 0.0 // w together
	for i := range jobs {
		j := &jobs[i]
		alone := j.inTime(0)
		if j.seated = alone > 0; !j.seated {
			continue
		}
		j.expected = alone*j.work + (1-alone)*min(j.work, j.tasks*j.cost)
		seated += j.expected
		worth.Set(i, kit.Rising[float64]{X: alone * j.value / j.expected})
		for j.seated && j.inTime((seated-j.expected)/slots) < (1-seatWait)*alone {
			out := worth.Top()
			worth.Drop(out)
			jobs[out].seated = false
			seated -= jobs[out].expected
		}
	}
}

// laxityTurn is where a job with waiting tasks stands: jobs with a seat by their deadlines; then those that may meet
// theirs but have no seat, or are worth something though late, by their work over their value; and then those that
// cannot or have none, by their work. Work is in microseconds.
type laxityTurn struct {
	class int
	by    int64
}

// Compare is negative where a goes before b.
func (a laxityTurn) Compare(b laxityTurn) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.by, b.by))
}

// touch looks at the place of a job among those with waiting tasks.
func (p *laxity) touch(v *sched.View, j sched.JobID) {
	if p.mute != nil {
		p.mute.order.Touch(v, j)
	}
	job := v.Job(j)
	work := func(of float64) int64 { return int64(min(p.work.Remaining(v, j)/of, math.MaxInt64/2)) }
	switch {
	case job.Pending == 0 || job.State != sched.JobActive:
		p.waiting.Drop(int(j))
	case p.deadlines.Has(int(j)) && p.seats.Get(j):
		p.waiting.Set(int(j), laxityTurn{by: int64(job.Deadline)})
	case p.deadlines.Has(int(j)) || p.late.Has(int(j)):
		p.waiting.Set(int(j), laxityTurn{1, work(job.Value)})
	default:
		p.waiting.Set(int(j), laxityTurn{2, work(1)})
	}
}

// place seats the jobs anew, after jobs, stages or machines have come or gone.
func (p *laxity) place(v *sched.View) {
	p.reseat = false
	p.jobs = p.jobs[:0]
	for id := range p.deadlines.All() {
		if job := v.Job(sched.JobID(id)); job.Pending > 0 && job.State == sched.JobActive {
			p.jobs = append(p.jobs, p.candidate(v, sched.JobID(id), &job))
		}
	}
	seat(p.jobs, float64(max(1, v.Slots())), &p.worth)
	for i := range p.jobs {
		if x := &p.jobs[i]; p.seats.Get(x.job) != x.seated {
			*p.seats.At(x.job) = x.seated
			p.touch(v, x.job)
		}
	}
}

// candidate describes a job that asks for a seat. An attempt of the stage that waits takes what search for a good one
// takes, nu, if that is less than the mean; tasks beyond the slots wait for a turn of so long, and each later stage
// takes the mean of the job's tasks, more often if they do not fit into the slots.
func (p *laxity) candidate(v *sched.View, j sched.JobID, job *sched.Job) seatJob {
	slots := float64(max(1, v.Slots()))
	s, _ := v.WaitingStage(job.FirstStage)
	st := v.Stage(s)
	x := seatJob{
		job: j, until: job.Deadline, value: job.Value, tasks: float64(job.Pending), law: p.lawOf(v, s), cost: p.cost(s),
		chance: p.redraw.chance(j), left: (job.Deadline - v.Now() - p.Launch).Seconds(), work: p.work.Remaining(v, j) / 1e6,
	}
	mean := p.mean(v, j)
	turn := mean
	if x.law == nil {
		x.law = laws.Deterministic{Value: mean}
	} else {
		turn = p.turn(v, s, x.law, x.chance)
		x.work += float64(st.Unfinished()) * (turn - mean)
	}
	x.work = max(x.work, 1e-6)
	x.left -= max(0, x.tasks/slots-1) * turn
	for next := s + 1; next < job.FirstStage+sched.StageID(job.Stages); next++ {
		if st := v.Stage(next); st.Unfinished() > 0 {
			x.left -= mean * max(1, float64(st.Unfinished())/slots)
		}
	}
	return x
}

// mean returns the seconds that a task of a job takes that is not done, as far as is known.
func (p *laxity) mean(v *sched.View, j sched.JobID) float64 {
	return p.work.Remaining(v, j) / 1e6 / float64(v.Job(j).Unfinished)
}
