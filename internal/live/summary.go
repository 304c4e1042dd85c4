package live

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Summary is what a run came to.
type Summary struct {
	State     string // succeeded, failed or cancelled
	Dropped   bool   // it failed because its deadline passed
	Flow      sched.Time
	Tasks     int
	Attempts  int
	Clones    int
	Resumed   int        // attempts that went on from what another had saved
	Retries   int        // attempts begun because the ones before had ended without result, but for those that crashed
	Crashed   int        // attempts that ended with the engine or their machine
	Fruitful  sched.Time // machine time of winners
	Fruitless sched.Time // machine time of all others
	Recovered int        // tasks done before the engine was last started
	Stages    []StageSummary
	Sites     []SiteSummary // empty unless the run has sites
	// the attempt slowest in proportion to its stage's median winner, nil if none took twice as long
	Straggler     *Record
	StragglerOver float64 // how many times that median it took

	StragglerAlone bool         // it was the only attempt of its task
	Failed         []FailedTask // in the order of stages and indexes
	Unfinished     int          // tasks given up that had not failed for good: they waited or ran at the end
}

// FailedTask is a task that has failed for good.
type FailedTask struct {
	Last     Record  // its last attempt that failed
	Attempts int     // that began
	Tries    int     // failures that end the task: one more than its retries
	Failure  *Report // its last failure; nil if that was before this start
}

// StageSummary is the part of one stage.
type StageSummary struct {
	Name     string
	Tasks    int
	Done     int
	GivenUp  int // tasks that have failed for good, or cannot run because others have
	Attempts int
	Seconds  float64 // from its first launch to its last commit
}

// SiteSummary is the part of one site.
type SiteSummary struct {
	Name    string
	Slots   int
	Tasks   int     // whose winners ran there
	Seconds float64 // of slots that attempts held, winners or not
	Bytes   int64   // that came from other sites
	Money   float64 // that these and the slots cost, if they have prices
}

// Summary sums up a job as it stands.
func (j *Job) Summary() *Summary {
	v := j.loop.core.View()
	row := v.Job(j.ID)
	s := &Summary{
		State: "cancelled", Flow: row.Closed - row.Arrived, Tasks: int(row.Tasks), Attempts: int(row.Attempts), Clones: int(row.Clones),
		Retries: j.retries, Crashed: j.crashed, Fruitful: row.Fruitful, Fruitless: row.Fruitless,
	}
	switch row.State {
	case sched.JobSucceeded:
		s.State = "succeeded"
	case sched.JobBroken:
		s.State = "failed"
	case sched.JobStopped:
		if s.Dropped = row.Dropped(); s.Dropped || j.halts(&row) {
			s.State = "failed"
		} else {
			s.Flow = v.Now() - row.Arrived
		}
	default:
		s.Flow = v.Now() - row.Arrived
	}
	j.blame(s)
	s.Straggler, s.StragglerOver = j.worst(len(j.Stages))
	s.StragglerAlone = s.Straggler != nil
	s.Stages = make([]StageSummary, len(j.Stages))
	first := make([]sched.Time, len(s.Stages))
	for i := range s.Stages {
		st := v.Stage(row.FirstStage + sched.StageID(i))
		s.Stages[i] = StageSummary{Name: j.Stages[i], Tasks: j.Spec.Stages[i].Tasks, Done: int(st.Done), GivenUp: int(st.GivenUp)}
	}
	for i := range j.records {
		rec := &j.records[i]
		if rec.End == Refused {
			continue
		}
		if rec.From > 0 {
			s.Resumed++
		}
		if s.Straggler != nil && rec.Task == s.Straggler.Task && rec != s.Straggler {
			s.StragglerAlone = false
		}
		if s.Stages[rec.Stage].Attempts++; s.Stages[rec.Stage].Attempts == 1 {
			first[rec.Stage] = rec.Launched
		}
	}
	s.Sites = j.sites()
	for i, done := range j.stageDone {
		if done > first[i] {
			s.Stages[i].Seconds = (done - first[i]).Seconds()
		}
	}
	return s
}

// Durations returns for each stage how long the attempts that won ran, and how long those that were cut off since
// another one won, or the policy ended them. One that went on from what another had saved counts as the whole task
// would have taken.
func Durations(records []Record, stages int) (won, cut [][]sched.Time) {
	won, cut = make([][]sched.Time, stages), make([][]sched.Time, stages)
	for i := range records {
		rec := &records[i]
		switch whole, ok := sched.Whole(rec.Stop-rec.Start, rec.From); {
		case rec.End == Won && ok:
			won[rec.Stage] = append(won[rec.Stage], sched.FromSeconds(whole))
		case (rec.End == Lost || rec.End == Killed) && ok && whole > 0: // one that waited says nothing
			cut[rec.Stage] = append(cut[rec.Stage], sched.FromSeconds(whole))
		}
	}
	return won, cut
}

// Slowest returns for each stage the tasks whose winners ran longest, the slowest first: of a stage of n tasks as
// many as most(n).
func Slowest(all []Record, spec *sched.JobSpec, most func(tasks int) int) [][]int {
	won := make([][]*Record, len(spec.Stages))
	for i := range all {
		if rec := &all[i]; rec.End == Won {
			won[rec.Stage] = append(won[rec.Stage], rec)
		}
	}
	slowest := make([][]int, len(won))
	for i, records := range won {
		slices.SortFunc(records, func(a, b *Record) int {
			return cmp.Or(cmp.Compare(b.Stop-b.Start, a.Stop-a.Start), cmp.Compare(a.Index, b.Index))
		})
		for _, rec := range records[:min(len(records), most(spec.Stages[i].Tasks))] {
			slowest[i] = append(slowest[i], rec.Index)
		}
	}
	return slowest
}

// blame finds the tasks that failed for good, and counts those that did not finish because of them.
func (j *Job) blame(s *Summary) {
	v := j.loop.core.View()
	at := map[sched.TaskID]int{} // in s.Failed
	for i := range j.records {
		rec := &j.records[i]
		if v.Task(rec.Task).State != sched.TaskBroken || rec.End == Refused {
			continue
		}
		n, ok := at[rec.Task]
		if !ok {
			n = len(s.Failed)
			at[rec.Task], s.Failed = n, append(s.Failed, FailedTask{Last: *rec, Tries: int(v.Stage(v.Task(rec.Task).Stage).Retries) + 1})
			if rep, ok := j.notes[rec.Task]; ok {
				s.Failed[n].Failure = &rep
			}
		}
		s.Failed[n].Attempts++
		if rec.End == Failed {
			s.Failed[n].Last = *rec
		}
	}
	slices.SortFunc(s.Failed, func(a, b FailedTask) int { return cmp.Compare(a.Last.Task, b.Last.Task) })
	if len(s.Failed) == 0 {
		return
	}
	row := v.Job(j.ID)
	first := v.Stage(row.FirstStage).First
	for t := first; t < first+sched.TaskID(row.Tasks); t++ {
		if state := v.Task(t).State; state == sched.TaskStranded || state == sched.TaskSkipped {
			s.Unfinished++
		}
	}
}

// sites sums up what was done where.
func (j *Job) sites() []SiteSummary {
	h, fetched := j.loop.header, j.loop.past.fetched
	if h.Network == nil {
		return nil
	}
	all, paid := make([]SiteSummary, h.Network.Sites()), make([]sched.Money, h.Network.Sites())
	for i := range all {
		all[i].Name = h.Network.Names[i]
		if i < len(fetched) {
			all[i].Bytes, paid[i] = fetched[i].bytes, fetched[i].paid
		}
	}
	for _, m := range h.Machines {
		all[m.Site].Slots += m.Slots
	}
	for i := range j.records {
		rec := &j.records[i]
		k := h.Machines[rec.Machine].Site
		site := &all[k]
		site.Seconds += rec.Seconds()
		paid[k] += h.Network.Hire(k, max(0, rec.Stop-rec.Start))
		if rec.End == Won {
			site.Tasks++
		}
	}
	for i := range all {
		all[i].Money = paid[i].Units()
	}
	return all
}
