package live

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// End says how an attempt ended.
type End string

// Ends of attempts.
const (
	Won     End = "won"
	Lost    End = "lost"    // another attempt of the task finished first
	Failed  End = "failed"  // ended without result
	Killed  End = "killed"  // by the policy, or because the job was over
	Refused End = "refused" // could not begin or work, for want of room on its machine; it is not counted
	Crashed End = "crashed" // was running when the engine died, or when its machine was lost
	Running End = ""
)

// Record is the life of one attempt.
type Record struct {
	Attempt
	Task                  sched.TaskID
	Launched, Start, Stop sched.Time // it began at Start
	End                   End
	Reason                sched.Reason // why it was launched
	Why                   sched.Reason // why it was killed; Unexplained if it was not
}

// Seconds returns how long the attempt ran.
func (r *Record) Seconds() float64 { return (r.Stop - r.Start).Seconds() }

// history follows the batches of a run, replayed or live, and keeps what the core forgets: every attempt's life.
type history struct {
	records   []Record
	byID      map[sched.AttemptID]int // of attempts that run
	winner    map[sched.TaskID]int
	points    points
	outputs   map[sched.AttemptID][]byte // of winners, where the journal has them, until they are committed
	retries   int
	crashed   int
	work      int                   // how often what attempts do has changed
	failed    map[sched.TaskID]bool // whose next attempt is a retry
	stageDone []sched.Time          // instant of the last commit per stage
	fetched   []int64               // bytes that have come to each site
	wake      sched.Time            // the last Wake
}

func newHistory(stages int) *history {
	return &history{byID: map[sched.AttemptID]int{}, winner: map[sched.TaskID]int{}, points: points{}, failed: map[sched.TaskID]bool{}, outputs: map[sched.AttemptID][]byte{}, stageDone: make([]sched.Time, stages)}
}

// add takes in a batch after the core has. visit sees every record as it ends.
func (h *history) add(v *sched.View, b *trace.Batch, visit func(*Record)) {
	for i := range b.Outputs {
		h.outputs[b.Outputs[i].Attempt] = bytes.Clone(b.Outputs[i].Data) // the reader's, or the executor's
	}
	if b.Settings != nil {
		h.wake = 0 // another policy's
		if b.Settings.Work != nil {
			h.work++ // what was saved for it is gone with the machines
		}
	}
	h.know(v, b.Facts)
	h.tally(v, b.Facts)
	for i := range b.Decisions {
		switch d := &b.Decisions[i]; d.Kind {
		case sched.Launch:
			st := v.Stage(d.Stage)
			a := Attempt{
				ID: d.Attempt, Stage: int(st.Index), Index: int(d.Task - st.First), Number: int(d.Number),
				Machine: d.Machine, Clone: v.Attempt(d.Attempt).Clone, Work: h.work,
			}
			if p := h.points.before(d.Task, d.From); p != nil {
				a.From, a.Source = p.progress, p.number
			}
			if h.failed[d.Task] && !a.Clone {
				h.retries++
				delete(h.failed, d.Task)
			}
			h.byID[d.Attempt] = len(h.records)
			h.records = append(h.records, Record{Attempt: a, Task: d.Task, Launched: d.At, Start: d.At, Stop: d.At, Reason: d.Reason})
		case sched.Commit:
			h.winner[d.Task] = h.byID[d.Attempt]
			delete(h.points, d.Task)
			h.stageDone[v.Stage(d.Stage).Index] = d.At
			h.end(v, d.Attempt, d.At, Won, sched.Unexplained, visit)
		case sched.Kill:
			h.end(v, d.Attempt, d.At, endBy(d.Reason), d.Reason, visit)
		case sched.Wake:
			h.wake = d.At
		}
	}
	for i := range b.Facts { // what failed although the core ended it otherwise is not among those that run any more
		switch f := &b.Facts[i]; f.Kind {
		case sched.AttemptFailed, sched.AttemptDoomed:
			h.end(v, f.Attempt, f.At, Failed, sched.Unexplained, visit)
		case sched.AttemptRefused:
			h.end(v, f.Attempt, f.At, Refused, sched.Unexplained, visit)
		}
	}
}

func endBy(r sched.Reason) End {
	switch r {
	case sched.SiblingWon, sched.StageOver:
		return Lost
	case sched.MachineGone:
		return Crashed
	default:
		return Killed
	}
}

func (h *history) end(v *sched.View, id sched.AttemptID, at sched.Time, how End, why sched.Reason, visit func(*Record)) {
	i, ok := h.byID[id]
	if !ok {
		return
	}
	delete(h.byID, id)
	r := &h.records[i]
	r.Start, r.Stop, r.End, r.Why = v.Rows().Started(id), at, how, why
	if how == Crashed {
		h.crashed++
	}
	if visit != nil {
		visit(r)
	}
}

// attempt returns one that has not ended; false if there is none.
func (h *history) attempt(id sched.AttemptID) (Attempt, bool) {
	i, ok := h.byID[id]
	if !ok {
		return Attempt{}, false
	}
	return h.records[i].Attempt, true
}

// winnerOf returns the attempt whose output is the result of a task that is done.
func (h *history) winnerOf(t sched.TaskID) Attempt { return h.records[h.winner[t]].Attempt }

// takeOutput returns the output of a winner that the journal has, and forgets it; nil if the executor has it.
func (h *history) takeOutput(id sched.AttemptID) []byte {
	out := h.outputs[id]
	delete(h.outputs, id)
	return out
}

// Straggling is from how many times the median winner of its stage on an attempt is called a straggler.
const Straggling = 2

// worst returns the attempt that ran longest in proportion to the median winner of its stage, nil if none is a
// straggler.
func (h *history) worst(stages int) (r *Record, ratio float64) {
	for i, q := range Slowness(h.records, stages) {
		if x := &h.records[i]; x.End != Crashed && q >= Straggling && q > ratio {
			r, ratio = x, q
		}
	}
	return r, ratio
}

// Slowness returns how long each attempt ran in proportion to the median winner of its stage, 0 where the stage has
// none.
func Slowness(records []Record, stages int) []float64 {
	lives := make([][]sched.Time, stages)
	for i := range records {
		if x := &records[i]; x.End == Won {
			lives[x.Stage] = append(lives[x.Stage], x.Stop-x.Start)
		}
	}
	medians := make([]sched.Time, stages)
	for s, l := range lives {
		if len(l) > 0 {
			slices.SortFunc(l, cmp.Compare[sched.Time])
			medians[s] = max(1, l[len(l)/2])
		}
	}
	ratios := make([]float64, len(records))
	for i := range records {
		if m := medians[records[i].Stage]; m > 0 {
			ratios[i] = float64(records[i].Stop-records[i].Start) / float64(m)
		}
	}
	return ratios
}
