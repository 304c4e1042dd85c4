// Package outlook estimates the probability that a running job meets its deadline, for display. It decides nothing.
package outlook

import (
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/sched"
)

// Outlook reckons how likely the only job of a core meets its deadline.
type Outlook struct {
	Law laws.Law // of durations in all stages; nil for what is known of each
}

// New reads the law; "" is nil.
func New(law string) (*Outlook, error) {
	if law == "" {
		return &Outlook{}, nil
	}
	l, err := laws.Parse(law)
	return &Outlook{Law: l}, err
}

// PoCD returns the probability that a job meets its deadline with the attempts that it has now, by Shed's Theorem 2;
// ok is false if it has none, and while nothing is known of the durations in some stage. Stages that are open are taken
// one after the other, as are those to come, without clones. Where a stage has more tasks than there are slots, those
// beyond are taken to keep all slots busy for their mean. Both are cautious, or nearly right.
func (o *Outlook) PoCD(v *sched.View, id sched.JobID) (p float64, ok bool) {
	var works []plan.Work
	var clones []int
	job := v.Job(id)
	if job.Deadline == sched.Never {
		return 0, false
	}
	elapsed := (v.Now() - job.Arrived).Seconds()
	left := (job.Deadline - v.Now()).Seconds()
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		st := v.Stage(s)
		n := int(st.Unfinished())
		if st.State == sched.StageClosed || n == 0 {
			continue
		}
		law := o.lawOf(&st)
		if law == nil {
			return 0, false
		}
		beyond := max(0, n-v.Slots())
		if beyond > 0 {
			left -= float64(beyond) * law.Mean() / float64(v.Slots())
		}
		work := plan.Work{Tasks: n - beyond, Law: law, Deadline: left}
		spare := 0
		if int(st.Running) == n {
			var mute bool
			if work.Progress, spare, mute = leastOf(v, s); mute {
				work.Age, work.Held = likeliestLate(v, s, work), spare
			}
		}
		works, clones = append(works, work), append(clones, spare)
	}
	if len(works) == 0 {
		return 1, true
	}
	if !(left > 0) {
		return 0, true
	}
	works[0].Deadline, works[0].Elapsed = elapsed+left, elapsed
	p, _, err := plan.ChainPoCD(works, clones)
	return p, err == nil
}

// lawOf returns a law of a stage's durations: the one that is given, or Pareto's with the mean and the standard
// deviation that are known.
func (o *Outlook) lawOf(st *sched.Stage) laws.Law {
	if o.Law != nil {
		return o.Law
	}
	mean, sd, ok := st.Estimate()
	switch {
	case !ok || mean <= 0:
		return nil
	case sd <= 0:
		return laws.Deterministic{Value: mean}
	}
	alpha := 1 + math.Sqrt(1+mean*mean/(sd*sd))
	return laws.Pareto{Alpha: alpha, Xm: mean * (alpha - 1) / alpha}
}

// leastOf returns how far the least advanced of a stage's running tasks is, by its most advanced attempt, how many
// clones the task with the fewest has, and whether no attempt has shown anything.
func leastOf(v *sched.View, s sched.StageID) (progress float64, clones int, mute bool) {
	progress, clones, mute = 1, math.MaxInt, true
	for t, ok := v.RunningTask(s, v.Stage(s).First); ok; t, ok = v.RunningTask(s, t+1) {
		best := 0.0
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			row := v.Attempt(a)
			best, mute = max(best, row.Progress), mute && row.Progress == 0 && row.Rate == 0
		}
		progress, clones = min(progress, best), min(clones, int(v.Task(t).Live)-1)
	}
	return progress, clones, mute
}

// likeliestLate returns the age in seconds of the oldest attempt of the task that is likeliest to be late, in a stage
// of which nothing else is known.
func likeliestLate(v *sched.View, s sched.StageID, w plan.Work) (age float64) {
	worst := math.Inf(-1)
	for t, ok := v.RunningTask(s, v.Stage(s).First); ok; t, ok = v.RunningTask(s, t+1) {
		oldest := 0.0
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			oldest = max(oldest, (v.Now() - v.Attempt(a).Started).Seconds())
		}
		if late := w.LogLate(oldest); late > worst {
			age, worst = oldest, late
		}
	}
	return age
}
