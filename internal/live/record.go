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
	Reason                sched.Reason // why it was launched
	Why                   sched.Reason // why it was killed; Unexplained if it was not
	Launched, Start, Stop sched.Time   // it began at Start
	End                   End
	Bytes                 int64 // that each task which reads its result reads of it; 0 if that is not known
	Reported              bool  // progress of its own
}

// Seconds returns how long the attempt ran.
func (r *Record) Seconds() float64 { return (r.Stop - r.Start).Seconds() }

// history follows the batches of a journal, replayed or live, and keeps what the core forgets: the jobs and every
// attempt's life.
type history struct {
	loop     *loop                // nil in a replay
	jobs     map[sched.JobID]*Job // those that are not retired
	running  map[sched.AttemptID]spot
	launches int
	fetched  []fetched  // by site: what has come to it
	wake     sched.Time // the last Wake
}

// fetched is bytes from other sites, and what they cost.
type fetched struct {
	bytes int64
	paid  sched.Money
}

// spot is where an attempt that runs stands.
type spot struct {
	*Job
	at       int // in its records
	launched int // attempts of all jobs before it
}

// lives are those of the attempts of a job. Its maps are nil until something is in them.
type lives struct {
	records   []Record
	first     sched.TaskID // of the job's
	winners   []int32      // by task, counted from the first: the place of the attempt that won, from 1; 0 for none
	won       int          // tasks that have one
	points    points
	outputs   [][]byte // by place in records: those of winners that the journal has, nil for the others
	retries   int
	crashed   int
	work      int                   // how often what attempts do has changed
	failed    map[sched.TaskID]bool // whose next attempt is a retry
	stageDone []sched.Time          // instant of the last commit per stage
}

func newHistory() *history {
	return &history{jobs: map[sched.JobID]*Job{}, running: map[sched.AttemptID]spot{}}
}

// put adds to a map that may be nil.
func put[M ~map[K]V, K comparable, V any](m *M, k K, v V) {
	if *m == nil {
		*m = M{}
	}
	(*m)[k] = v
}

// add takes in a batch after the core has. visit sees every record as it ends.
func (h *history) add(v *sched.View, b *trace.Batch, visit func(*Job, *Record)) {
	for i := range b.Jobs {
		j := &Job{JournalJob: b.Jobs[i], loop: h.loop}
		j.first = v.Stage(v.Job(j.ID).FirstStage).First
		h.jobs[j.ID] = j
	}
	for i := range b.Outputs {
		x := h.running[b.Outputs[i].Attempt]
		x.keep(x.at, bytes.Clone(b.Outputs[i].Data)) // the reader's, or the executor's
	}
	if b.Settings != nil {
		h.wake = 0 // another policy's
		for _, j := range h.jobs {
			if b.Settings.Work != nil {
				j.work++ // what was saved for it is gone with the machines
			}
		}
	}
	h.know(v, b.Facts)
	h.tally(v, b.Facts)
	h.measure(b.Facts)
	for i := range b.Decisions {
		switch d := &b.Decisions[i]; d.Kind {
		case sched.Launch:
			h.launch(v, d)
		case sched.Commit:
			j := h.jobs[d.Job]
			j.win(d.Task, h.running[d.Attempt].at)
			delete(j.points, d.Task)
			if j.stageDone == nil {
				j.stageDone = make([]sched.Time, len(j.Stages))
			}
			j.stageDone[v.Stage(d.Stage).Index] = d.At
			h.end(v, d.Attempt, d.At, Won, sched.Unexplained, visit)
		case sched.Kill:
			h.end(v, d.Attempt, d.At, endBy(d.Reason), d.Reason, visit)
		case sched.Wake:
			h.wake = d.At
		}
	}
	for i := range b.Facts {
		switch f := &b.Facts[i]; f.Kind {
		// what failed although the core ended it otherwise is not among those that run any more
		case sched.AttemptFailed, sched.AttemptDoomed:
			h.end(v, f.Attempt, f.At, Failed, sched.Unexplained, visit)
		case sched.AttemptRefused:
			h.end(v, f.Attempt, f.At, Refused, sched.Unexplained, visit)
		case sched.JobRetried:
			if j := h.jobs[f.Job]; j != nil && v.Job(f.Job).State == sched.JobActive {
				j.told = false
			}
		case sched.JobRetired:
			delete(h.jobs, f.Job)
		}
	}
	for _, id := range b.Told {
		if j := h.jobs[id]; j != nil {
			j.told = true
		}
	}
}

// measure notes how much is read of the results of attempts that are done, and which have reported progress.
func (h *history) measure(facts []sched.Event) {
	for i := range facts {
		f := &facts[i]
		if f.Kind != sched.AttemptProgress && (f.Kind != sched.AttemptDone || f.Bytes <= 0) {
			continue
		}
		at, runs := h.running[f.Attempt]
		switch {
		case !runs:
		case f.Kind == sched.AttemptProgress:
			at.records[at.at].Reported = true
		default:
			at.records[at.at].Bytes = f.Bytes
		}
	}
}

func (h *history) launch(v *sched.View, d *sched.Decision) {
	j, st := h.jobs[d.Job], v.Stage(d.Stage)
	a := Attempt{
		ID: d.Attempt, Stage: int(st.Index), Index: int(d.Task - st.First), Number: int(d.Number),
		Machine: d.Machine, Clone: v.Attempt(d.Attempt).Clone, Work: j.work,
	}
	if len(j.Tried) > 0 {
		a.Number += j.Tried[int(d.Task-v.Stage(v.Job(d.Job).FirstStage).First)]
	}
	if x := j.points.before(d.Task, d.From); x != nil {
		a.From, a.Source = x.progress, x.number
	}
	if j.failed[d.Task] && !a.Clone {
		j.retries++
		delete(j.failed, d.Task)
	}
	h.running[d.Attempt] = spot{Job: j, at: len(j.records), launched: h.launches}
	h.launches++
	j.records = append(j.records, Record{Attempt: a, Task: d.Task, Launched: d.At, Start: d.At, Stop: d.At, Reason: d.Reason})
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

// end ends a record; the reason is that of a kill.
func (h *history) end(v *sched.View, id sched.AttemptID, at sched.Time, how End, why sched.Reason, visit func(*Job, *Record)) {
	x, ok := h.running[id]
	if !ok {
		return
	}
	delete(h.running, id)
	r := &x.records[x.at]
	r.Start, r.Stop, r.End, r.Why = v.Rows().Started(id), at, how, why
	if how == Crashed {
		x.crashed++
	}
	if visit != nil {
		visit(x.Job, r)
	}
}

// keep keeps the output of the attempt at a place, which the journal has. One of no bytes is one as well.
func (l *lives) keep(at int, output []byte) {
	if more := at + 1 - len(l.outputs); more > 0 {
		l.outputs = append(l.outputs, make([][]byte, more)...)
	}
	l.outputs[at] = output
}

// outputAt returns the output of the attempt at a place; nil if the journal does not have it.
func (l *lives) outputAt(at int) (output []byte) {
	if at < len(l.outputs) {
		output = l.outputs[at]
	}
	return output
}

// win notes that the attempt at a place has won a task.
func (l *lives) win(t sched.TaskID, at int) {
	i := int(t - l.first)
	if more := i + 1 - len(l.winners); more > 0 {
		l.winners = append(l.winners, make([]int32, more)...)
	}
	l.winners[i] = int32(at) + 1
	l.won++
}

// winnerOf returns the place of the attempt whose output is the result of a task; false if the task is not done.
func (l *lives) winnerOf(t sched.TaskID) (at int, done bool) {
	if i := int(t) - int(l.first); i >= 0 && i < len(l.winners) {
		at = int(l.winners[i]) - 1
		return at, at >= 0
	}
	return 0, false
}

// Straggling is from how many times the median winner of its stage on an attempt is called a straggler.
const Straggling = 2

// worst returns the attempt that ran longest in proportion to the median winner of its stage, nil if none is a
// straggler.
func (l *lives) worst(stages int) (r *Record, ratio float64) {
	for i, q := range Slowness(l.records, stages) {
		if x := &l.records[i]; x.End != Crashed && q >= Straggling && q > ratio {
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
