package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tailcut/tailcut/dist"
	"github.com/tailcut/tailcut/live"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// deadlineAt reads a deadline: a duration from the start, or an instant as RFC 3339 has it.
func deadlineAt(text string, start time.Time) (sched.Time, error) {
	left, err := time.ParseDuration(text)
	if err != nil {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return 0, fmt.Errorf("expected a duration such as 10m, or an instant such as 2026-11-30T18:00:00Z, not %q", text)
		}
		if left = at.Sub(start); left <= 0 {
			return 0, fmt.Errorf("%s is over", text)
		}
	}
	if left <= 0 {
		return 0, fmt.Errorf("expected a duration above 0, not %s", text)
	}
	return sched.Time(left), nil
}

// livePolicy fits a policy that plans for deadlines to a single job on this machine, whose only arrival is its start: it plans anew as progress
// is reported. The job has no master beside its tasks, and is not given up when it is late. One that sets the speed of machines cannot be had.
func livePolicy(spec string) (string, error) {
	p, err := policy.New(spec, 0)
	if err == nil && sched.Paces(p) {
		err = live.ErrPaces
	}
	if err != nil {
		return spec, err
	}
	e, err := policy.Find(spec)
	if err != nil || !slices.ContainsFunc(e.Params, func(p policy.Param) bool { return p.Name == "late" }) {
		return spec, err
	}
	for _, p := range [][2]string{{"master_slots", "0"}, {"late", "demote"}, {"when", "reports"}, {"interval", "2s"}} {
		if spec, err = policy.WithDefault(spec, p[0], p[1]); err != nil {
			return "", err
		}
	}
	return spec, nil
}

// withLaw tells a policy that reckons with a law of durations which, unless its specification says so.
func withLaw(spec, law string) (string, error) {
	if law == "" {
		return spec, nil
	}
	l, err := dist.Parse(law)
	if err != nil {
		return "", err
	}
	return policy.WithDefault(spec, "law", "("+l.String()+")")
}

// outlook reckons how likely a run meets its deadline.
type outlook struct {
	deadline sched.Time // 0 for none
	law      dist.Law   // of all stages; nil for what is known of each
}

func newOutlook(run *live.Run, law string) (*outlook, error) {
	o := &outlook{deadline: run.Header.Job.Deadline}
	if law == "" {
		return o, nil
	}
	var err error
	o.law, err = dist.Parse(law)
	return o, err
}

// pocd returns the probability that the job meets its deadline with the attempts that it has now, by Shed's Theorem 2; ok is false while nothing is
// known of the durations in some stage. Stages that are open are taken one after the other, as are those to come, without clones. Where a stage has
// more tasks than there are slots, those beyond are taken to keep all slots busy for their mean. Both are cautious, or nearly right.
func (o *outlook) pocd(v *sched.View) (p float64, ok bool) {
	var works []plan.Work
	var clones []int
	job := v.Job(0)
	elapsed := (v.Now() - job.Arrived).Seconds()
	left := (o.deadline - v.Now()).Seconds()
	for s := range sched.StageID(v.Stages()) {
		st := v.Stage(s)
		n := int(st.Need - min(st.Need, st.Done))
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
		work := plan.Work{Tasks: n - beyond, Law: law}
		spare := 0
		if int(st.Running) == n {
			work.Progress, spare = leastOf(v, s)
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

// lawOf returns a law of a stage's durations: the one that is given, or Pareto's with the mean and the standard deviation that are known.
func (o *outlook) lawOf(st *sched.Stage) dist.Law {
	if o.law != nil {
		return o.law
	}
	mean, sd, ok := st.Estimate()
	switch {
	case !ok || mean <= 0:
		return nil
	case sd <= 0:
		return dist.Deterministic{Value: mean}
	}
	alpha := 1 + math.Sqrt(1+mean*mean/(sd*sd))
	return dist.Pareto{Alpha: alpha, Xm: mean * (alpha - 1) / alpha}
}

// leastOf returns how far the least advanced of a stage's running tasks is, by its most advanced attempt, and how many clones the task with
// the fewest has.
func leastOf(v *sched.View, s sched.StageID) (progress float64, clones int) {
	progress, clones = 1, math.MaxInt
	for t, ok := v.RunningTask(s, v.Stage(s).First); ok; t, ok = v.RunningTask(s, t+1) {
		best := 0.0
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			best = max(best, v.Attempt(a).Progress)
		}
		progress, clones = min(progress, best), min(clones, int(v.Task(t).Live)-1)
	}
	return progress, clones
}

// deadlineOutcome is what came of a deadline.
type deadlineOutcome struct {
	Seconds float64  `json:"deadline_seconds"` // from the run's start
	Met     bool     `json:"deadline_met"`
	PoCD    *float64 `json:"pocd,omitempty"` // as it was first known
	over    sched.Time
}

// deadlineOf tells how the run stands to its deadline; nil if it has none.
func deadlineOf(run *live.Run, first *float64) *deadlineOutcome {
	d := run.Header.Job.Deadline
	if d == 0 {
		return nil
	}
	over := run.View().Now() - d
	if run.State() > sched.JobActive {
		over = run.View().Job(0).Closed - d
	}
	return &deadlineOutcome{Seconds: d.Seconds(), Met: run.State() == sched.JobSucceeded && over <= 0, PoCD: first, over: over}
}

// String tells it to people.
func (d *deadlineOutcome) String() string {
	text := fmt.Sprintf("deadline: %.2f s after the start, ", d.Seconds)
	switch {
	case d.Met:
		text += fmt.Sprintf("met with %.2f s to spare", -d.over.Seconds())
	case d.over > 0:
		text += fmt.Sprintf("missed by %.2f s", d.over.Seconds())
	default:
		text += "not met"
	}
	if d.PoCD != nil {
		text += fmt.Sprintf("; the chance was %s when it was first known", chance(*d.PoCD))
	}
	return text
}
