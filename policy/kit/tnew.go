package kit

import (
	"math/bits"

	"github.com/tailcut/tailcut/sched"
)

// TNew estimates t_new, the duration of another attempt of a stage's task, for all policies that compare it with the
// time that a running attempt has left. What it goes by is the policy's parameter tnew:
//
//	finished  the attempts of the stage that have won. Early winners are short, so it begins too low
//	all       the winners, and every other attempt of the stage that ran or runs, each by its age plus the time left that
//	          its last report implied: age + t_rem, see Ends. One that has told nothing is left out, until its silence
//	          tells something, see Silence
//	known     the mean and standard deviation that the workload states for the stage, and for shares of it Pareto's law
//	          with these, see StageLaw. Where it states none, as finished
//
// With all, an attempt that is over without having won stays as it was last judged: to leave losers out would be to
// forget the stragglers. That makes the estimate whole where every attempt reports; between its start and its first
// report an attempt is missing.
//
// An event costs O(1), O(log attempts of the stage) for policies that ask for shares.
type TNew struct {
	known tnewKind
	share float64 // that Quantile is asked for; below 0 for never

	stages PerStage[tnewStage]
	rows   []tnewRow // of all: what a running attempt counts for
}

type tnewKind uint8

const (
	tnewFinished tnewKind = iota
	tnewAll
	tnewKnown
)

// tnewStage is what is known of the attempts of a stage.
type tnewStage struct {
	sum  exactSum
	n    uint64
	seen Percentile
	law  StageLaw
}

// tnewRow is what an attempt counts for in its stage.
type tnewRow struct {
	gen   uint32 // 0 for nobody's
	id    int32  // in seen
	whole sched.Time
}

// TNewParam is the parameter of policies that take a TNew, with the default of the policy's source.
func TNewParam(def string) Param {
	return Param{
		Name: "tnew", Kind: Choice, Default: def, Choices: []string{"finished", "all", "known"},
		Help: "what a new attempt's duration is estimated from: the stage's winners, all its attempts with running ones by age and time left, or the law that the workload states",
	}
}

// NewTNew returns the estimator that the parameters name, for policies that ask for means only.
func NewTNew(a Args) TNew { return NewTNewShare(a, -1) }

// NewTNewShare is NewTNew for policies that also ask for the duration that a share of the attempts, 0 to 1, stays
// below.
func NewTNewShare(a Args, share float64) TNew {
	kind := map[string]tnewKind{"finished": tnewFinished, "all": tnewAll, "known": tnewKnown}
	return TNew{known: kind[a.Choice("tnew")], share: share}
}

// Observe takes note of an event. It has to see every one, after ends has.
func (e *TNew) Observe(v *sched.View, ev *sched.Event, ends *Ends) {
	switch ev.Kind {
	case sched.StageReady:
		st := e.stages.Open(ev.Stage)
		st.sum, st.n, st.law, st.seen.P = exactSum{}, 0, StageLaw{}, e.share
		st.seen.Reset()
	case sched.AttemptProgress, sched.AttemptTaken:
		e.Judge(v, ev.Attempt, ends)
	case sched.AttemptDone:
		e.count(v, ev.Attempt, v.Now())
		if ev.Attempt.Row() < len(e.rows) {
			e.rows[ev.Attempt.Row()].gen = 0
		}
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		e.stages.End(v, ev)
	}
}

// Judge takes note of when a running attempt is expected to end, after something has changed that.
func (e *TNew) Judge(v *sched.View, a sched.AttemptID, ends *Ends) {
	if e.known != tnewAll {
		return
	}
	if end, ok := ends.Of(a); ok {
		e.count(v, a, end)
	}
}

// JudgeTask is Judge for all running attempts of a task.
func (e *TNew) JudgeTask(v *sched.View, t sched.TaskID, ends *Ends) {
	for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
		e.Judge(v, a, ends)
	}
}

// count lets an attempt that ends at an instant count, in place of what it counted for before.
func (e *TNew) count(v *sched.View, id sched.AttemptID, end sched.Time) {
	if e.known != tnewAll && e.share < 0 {
		return // Stage.Measured is enough
	}
	a := v.Attempt(id)
	seconds, ok := sched.Whole(end-a.Started, a.From)
	if !ok {
		return
	}
	st := e.stages.Of(v.Task(a.Task).Stage)
	if e.known != tnewAll {
		st.seen.Add(seconds)
		return
	}
	e.rows = Grown(e.rows, id.Row())
	row := &e.rows[id.Row()]
	if row.gen == id.Generation() {
		st.sum.sub(row.whole)
		if e.share >= 0 {
			st.seen.Set(int(row.id), seconds)
		}
	} else {
		*row = tnewRow{gen: id.Generation()}
		st.n++
		if e.share >= 0 {
			row.id = int32(st.seen.Add(seconds))
		}
	}
	row.whole = sched.FromSeconds(seconds)
	st.sum.add(row.whole)
}

// Mean returns the mean of t_new in seconds; ok is false while nothing is known.
func (e *TNew) Mean(s sched.StageID, st *sched.Stage) (mean float64, ok bool) {
	switch e.known {
	case tnewAll:
		if e.stages.Has(s) && e.stages.Of(s).n > 0 {
			x := e.stages.Of(s)
			return x.sum.seconds() / float64(x.n), true
		}
	case tnewKnown:
		mean, _, ok = st.Estimate()
		return mean, ok
	}
	mean, _, ok = st.Measured()
	return mean, ok
}

// Quantile returns the duration in seconds that the share of the attempts stays below; ok is false while nothing is
// known, and where the share is 1 and nothing is above it.
func (e *TNew) Quantile(s sched.StageID, st *sched.Stage) (x float64, ok bool) {
	stage := e.stages.Of(s)
	if e.known == tnewKnown && st.Mean > 0 {
		return stage.law.Of(nil, st).Quantile(e.share), true
	}
	return stage.seen.Value()
}

// exactSum is a sum of times, which may be more than a Time can hold.
type exactSum struct{ hi, lo uint64 }

func (s *exactSum) add(t sched.Time) {
	lo, carry := bits.Add64(s.lo, uint64(t), 0)
	s.hi, s.lo = s.hi+carry, lo
}

func (s *exactSum) sub(t sched.Time) {
	lo, borrow := bits.Sub64(s.lo, uint64(t), 0)
	s.hi, s.lo = s.hi-borrow, lo
}

func (s *exactSum) seconds() float64 {
	return (float64(s.hi)*(1<<64) + float64(s.lo)) / float64(sched.Second)
}
