package kit

import "github.com/tailcut/tailcut/sched"

// Silence finds attempts that stand still: a task that hangs does not report that it hangs. It is for policies that
// judge by progress, and all of them judge an attempt that stands still alike:
//
//	still     time since the last report of progress worth the name: at least a tenth of what the attempt's pace so far promised
//	patience  4 times the mean time between two reports in the stage, the mean duration of an attempt where none has reported;
//	          twice as long for each attempt of the task that was killed because it stood still
//	t_rem     max((1-phi) age/(phi-From), still) from when still is above patience: what it has done since it last
//	          reported is not known, so its rate is that over its whole age; and what has lasted so long may last as long again
//
// So t_rem grows with time, also of an attempt that has said 0.99 and says so again, or has said nothing at all. Of
// an attempt whose driver told the rate, and so the end, still counts from that end. Where reports come at regular
// intervals and say what is so, no attempt stands still, and the policies decide as if there were no silence.
//
// No report wakes a policy to look at such an attempt. So each stage is looked at again and again: after patience,
// and where nothing has been heard from the stage since the last look after half as long again each time. A look
// costs O(attempts of the stage), no more than the reports that the attempts would have sent in the meantime.
type Silence struct {
	Launch  sched.Time // that an attempt takes to get to work, unless that is told: so long it has nothing to report
	rows    []heard    // by row
	stages  PerStage[silentStage]
	Due     Heap[Rising[sched.Time]]         // stages by their next look
	strikes sched.Table[sched.TaskID, uint8] // attempts of a task that were killed because they stood still
}

// heard is what an attempt has reported.
type heard struct {
	gen  uint32
	last sched.Time // the last report
	// the last that showed progress worth the name; where the rate was told, the end that follows from it
	moved    sched.Time
	progress float64 // at moved
}

// silentStage has the sum and the number of the times between two reports.
type silentStage struct {
	sum, count float64
	lull       sched.Time // between the last look and the next
}

const (
	patienceReports = 4   // reports that may fail to come
	creep           = 0.1 // of an attempt's pace, below which it does not move
	mostStrikes     = 6
)

// Observe takes note of what attempts report. It has to see every event.
func (s *Silence) Observe(v *sched.View, ev *sched.Event) {
	switch ev.Kind {
	case sched.StageReady:
		if v.Rows().Visible(ev.Stage) {
			*s.stages.Open(ev.Stage) = silentStage{}
			s.hear(v, ev.Stage)
		}
	case sched.AttemptProgress:
		s.report(v, ev)
		s.hear(v, ev.Stage)
	case sched.AttemptTaken:
		s.take(v, ev.Attempt)
		s.hear(v, ev.Stage)
	case sched.AttemptBegan:
		s.Launch = 0 // it is told when attempts get to work
		s.hear(v, ev.Stage)
	case sched.AttemptDone, sched.AttemptFailed, sched.AttemptLost, sched.TaskReady:
		s.hear(v, ev.Stage)
	case sched.StageDone, sched.JobFailed, sched.JobCancelled:
		s.Due.End(v, ev)
		s.stages.End(v, ev)
	case sched.JobRetired:
		DropTasks(&s.strikes, v, ev.Job)
	}
}

// report takes in what an attempt says.
func (s *Silence) report(v *sched.View, ev *sched.Event) {
	now, a := v.Now(), v.Attempt(ev.Attempt)
	x := s.of(ev.Attempt, &a)
	if now > x.last && ev.Rate == 0 {
		st := s.stages.Of(ev.Stage)
		st.sum += (now - x.last).Seconds()
		st.count++
	}
	x.last = now
	switch gain := ev.Progress - x.progress; {
	case ev.Rate > 0:
		x.moved, x.progress = Later(now, (1-ev.Progress)/ev.Rate), ev.Progress
	case gain < 0:
		x.progress = ev.Progress
	case gain > 0 && gain*(now-a.Started-s.Launch).Seconds() >= creep*(ev.Progress-a.From)*(now-x.moved).Seconds():
		x.moved, x.progress = now, ev.Progress
	}
	s.rows = Grown(s.rows, ev.Attempt.Row())
	s.rows[ev.Attempt.Row()] = x
}

// take takes over what is known of an attempt that the policy did not launch.
func (s *Silence) take(v *sched.View, id sched.AttemptID) {
	a := v.Attempt(id)
	x := s.of(id, &a)
	if a.Rate > 0 || a.Progress > a.From {
		x.last, x.moved, x.progress = a.ProgressAt, a.ProgressAt, a.Progress
	}
	if a.Rate > 0 {
		x.moved = Later(a.ProgressAt, (1-a.Progress)/a.Rate)
	}
	s.rows = Grown(s.rows, id.Row())
	s.rows[id.Row()] = x
}

// of returns what is known of a running attempt.
func (s *Silence) of(id sched.AttemptID, a *sched.Attempt) heard {
	if row := id.Row(); row < len(s.rows) && s.rows[row].gen == id.Generation() {
		return s.rows[row]
	}
	start := a.Started + min(s.Launch, sched.Never-a.Started)
	return heard{gen: id.Generation(), last: start, moved: start, progress: a.From}
}

// hear takes notice that something was heard from a stage.
func (s *Silence) hear(v *sched.View, id sched.StageID) {
	if !s.stages.Has(id) {
		return
	}
	patience := s.patience(v, id)
	if patience == sched.Never {
		return
	}
	s.stages.Of(id).lull = patience
	if at := v.Now() + min(patience, sched.Never-v.Now()); !s.Due.Has(int(id)) || at < s.Due.Key(int(id)).X {
		s.Due.Set(int(id), Rising[sched.Time]{at})
	}
}

// patience returns how long an attempt of a stage may stand still, Never while nothing is known of the stage.
func (s *Silence) patience(v *sched.View, id sched.StageID) sched.Time {
	if mean, ok := s.Interval(id); ok {
		return max(1, sched.FromSeconds(patienceReports*mean))
	}
	stage := v.Stage(id)
	if mean, _, ok := stage.Estimate(); ok && mean > 0 {
		return max(1, sched.FromSeconds(mean))
	}
	return sched.Never
}

// Interval returns the mean time between two reports in a stage, in seconds; ok is false if there was none.
func (s *Silence) Interval(id sched.StageID) (mean float64, ok bool) {
	st := s.stages.Of(id)
	if st.count == 0 {
		return 0, false
	}
	return st.sum / st.count, true
}

// Remaining returns the time that a running attempt still needs if it stands still; ok is false if it does not.
func (s *Silence) Remaining(v *sched.View, id sched.AttemptID, a *sched.Attempt) (rem sched.Time, ok bool) {
	x := s.of(id, a)
	patience := s.patience(v, v.Task(a.Task).Stage)
	if n := s.strikes.Get(a.Task); n > 0 {
		patience = min(patience, sched.Never>>mostStrikes) << n
	}
	still := v.Now() - x.moved
	if still <= patience {
		return 0, false
	}
	if done := a.Progress - a.From; done > 0 && a.Rate == 0 {
		age := (v.Now() - a.Started - s.Launch).Seconds()
		still = max(still, Later(0, age*(1-a.Progress)/done))
	}
	return still, true
}

// Attempt returns the row of a running attempt as it is to be judged: one that stands still will be done when
// remaining says, and goes on from what it has reported.
func (s *Silence) Attempt(v *sched.View, id sched.AttemptID) sched.Attempt {
	a := v.Attempt(id)
	if rem, silent := s.Remaining(v, id, &a); silent {
		a.Progress, a.ProgressAt = min(a.Progress, NearlyDone), v.Now()
		a.Rate = (1 - a.Progress) / rem.Seconds()
	}
	return a
}

// Silent tells whether a running attempt stands still.
func (s *Silence) Silent(v *sched.View, id sched.AttemptID) bool {
	a := v.Attempt(id)
	_, ok := s.Remaining(v, id, &a)
	return ok
}

// Strike takes notice that an attempt of a task is killed because it stood still. The next ones get more time, so
// that a task that always stands still does not have attempts without end.
func (s *Silence) Strike(t sched.TaskID) {
	n := s.strikes.At(t)
	*n = min(*n+1, mostStrikes)
}

// longer is half as long again, and more than before however short that was: attempts that end within a nanosecond of
// their start must not have their stage looked at every nanosecond.
func longer(lull sched.Time) sched.Time { return lull + min(max(lull/2, 1), sched.Never-lull) }

// Look calls a function for the tasks with an attempt that stands still, in the stages whose turn to be looked at has
// come.
func (s *Silence) Look(v *sched.View, do func(st sched.StageID, t sched.TaskID)) {
	for s.Due.Len() > 0 && s.Due.TopKey().X <= v.Now() {
		id := sched.StageID(s.Due.Top())
		st := s.stages.Of(id)
		s.Due.Set(int(id), Rising[sched.Time]{v.Now() + min(st.lull, sched.Never-v.Now())})
		st.lull = longer(st.lull)
		for t, ok := v.RunningTask(id, 0); ok; t, ok = v.RunningTask(id, t+1) {
			for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
				if s.Silent(v, a) {
					do(id, t)
					break
				}
			}
		}
	}
}

// NearlyDone is that of a task that is not done although it should be.
const NearlyDone = 1 - 1e-9

// Mute tells whether no attempt that runs in a stage has shown what it has done, or begun with some of it. Then nothing
// but their ages is known.
func Mute(v *sched.View, s sched.StageID) bool {
	for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
		for a, ok := v.FirstAttempt(t); ok; a, ok = v.NextAttempt(a) {
			if row := v.Attempt(a); row.Progress > 0 || row.Rate > 0 {
				return false
			}
		}
	}
	return true
}
