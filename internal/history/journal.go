package history

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// journal reads the journal of a run of Tailcut, or what a job of a server has left. Job is the run's name and Stage
// the stage's. An attempt that was launched while another of its task ran is speculative.
type journal struct {
	header  *trace.JournalHeader
	running map[sched.AttemptID]sched.Decision // the launch
	beside  map[sched.AttemptID]bool           // launched as clones
	began   map[sched.AttemptID]sched.Time     // in a run whose attempts wait until they begin
	tasks   map[sched.TaskID]int               // attempts that run
	spoke   map[int]bool                       // stages whose attempts report progress
	latest  sched.Time
	slots   slotCount
	left    int // slots of the server whose job it was, until a run goes on
	there   map[sched.MachineID]bool
	a       Record
}

func (j *journal) read(in *lines, emit emit) error {
	data, err := io.ReadAll(in.in)
	if err != nil {
		return in.wrong("", unreadable(err))
	}
	r, err := trace.NewJournalReader(in.name, data)
	if err != nil {
		return err
	}
	j.header = &r.Header
	j.running, j.beside, j.tasks = map[sched.AttemptID]sched.Decision{}, map[sched.AttemptID]bool{}, map[sched.TaskID]int{}
	j.began, j.there, j.spoke = map[sched.AttemptID]sched.Time{}, map[sched.MachineID]bool{}, map[int]bool{}
	if err := j.before(r, emit); err != nil {
		return err
	}
	for {
		b, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := j.batch(b, emit); err != nil {
			return err
		}
	}
}

// before tells of the attempts that a journal begins with, of the time when their job was a server's.
func (j *journal) before(r *trace.JournalReader, emit emit) error {
	if len(j.header.Stages) == 0 && j.header.Segment != nil {
		return live.ErrMany
	}
	lived, err := live.Before(r)
	if err != nil || len(lived.Records) == 0 {
		return err
	}
	for i := range lived.Records {
		x := &lived.Records[i]
		j.latest = max(j.latest, x.Stop)
		j.spoke[x.Stage] = true // it is not kept, and so not said to be silent
		var ok bool
		if j.a, ok = RecordOf(j.header.Run, j.stage(x.Stage), j.instant(0), x); !ok {
			continue
		}
		if m := int(x.Machine); m < len(j.header.Machines) {
			j.a.Host = j.header.Machines[m].Name
		}
		if err := emit(&j.a); err != nil {
			return err
		}
	}
	for _, m := range j.header.Machines { // they are lost at its end, if it goes on
		j.left += m.Slots
	}
	j.slots.add(j.instant(0), j.left)
	return nil
}

// RecordOf returns an attempt of a job whose clock began at an instant since 1970; false if it could not begin.
func RecordOf(job, stage string, began sched.Time, r *live.Record) (Record, bool) {
	a := Record{
		Job: job, Stage: stage, Task: r.Index, Number: r.Number, Start: began + r.Start, Duration: span(r.Start, r.Stop), Speculative: r.Clone,
	}
	switch r.End {
	case live.Won:
		a.Outcome = Succeeded
	case live.Failed:
		a.Outcome = Failed
	case live.Running:
		a.Outcome = Running
	case live.Refused:
		return a, false
	default:
		a.Outcome = Killed
	}
	return a, true
}

// batch applies facts, then decisions, as the core did.
func (j *journal) batch(b *trace.Batch, emit emit) error {
	if j.left > 0 { // a run goes on with what a server's job has left
		j.slots.add(j.instant(j.latest), -j.left)
		j.left = 0
	}
	j.latest = max(j.latest, b.Now)
	for _, f := range b.Facts {
		var err error
		switch f.Kind {
		case sched.AttemptDone:
			err = j.ended(f.Attempt, f.At, Succeeded, emit)
		case sched.AttemptFailed, sched.AttemptDoomed:
			err = j.ended(f.Attempt, f.At, Failed, emit)
		case sched.AttemptProgress:
			if d, known := j.running[f.Attempt]; known {
				j.spoke[int(d.Stage)] = true
			}
			j.begin(f.Attempt, f.At)
		case sched.AttemptBegan:
			j.begin(f.Attempt, f.At)
		case sched.AttemptRefused:
			j.forget(f.Attempt)
		case sched.MachineJoined:
			j.machine(f, true)
		case sched.MachineLost, sched.MachineStopped:
			j.machine(f, false)
			for _, id := range slices.SortedFunc(maps.Keys(j.running), cmp.Compare) {
				if err == nil && j.running[id].Machine == f.Machine {
					err = j.ended(id, f.At, Killed, emit)
				}
			}
		}
		if err != nil {
			return err
		}
	}
	for _, d := range b.Decisions {
		switch d.Kind {
		case sched.Launch:
			j.running[d.Attempt] = d
			if j.tasks[d.Task] > 0 {
				j.beside[d.Attempt] = true
			}
			j.tasks[d.Task]++
		case sched.Kill:
			if err := j.ended(d.Attempt, d.At, Killed, emit); err != nil {
				return err
			}
		}
	}
	return nil
}

// machine counts the slots of a machine that joins or is lost.
func (j *journal) machine(f sched.Event, there bool) {
	if j.there[f.Machine] == there || int(f.Machine) >= len(j.header.Machines) {
		return
	}
	j.there[f.Machine] = there
	slots := j.header.Machines[f.Machine].Slots
	if !there {
		slots = -slots
	}
	j.slots.add(j.instant(f.At), slots)
}

// course says what the run was told to do.
func (j *journal) course() *Course {
	if j.header == nil {
		return &Course{}
	}
	c := &Course{
		Application: j.header.Run, Began: j.instant(0), Ended: j.instant(j.latest), Slots: j.slots.course(), System: "tailcut", Version: j.header.Version,
		Settings: map[string]string{"policy": j.header.Policy},
	}
	for i := range j.header.Job.Stages {
		st := StageCourse{Job: j.header.Run, Stage: j.stage(i), Silent: !j.spoke[i]}
		for _, e := range j.header.Job.Edges {
			if e.To == i {
				st.Parents = append(st.Parents, j.stage(e.From))
			}
		}
		c.Stages = append(c.Stages, st)
	}
	return c
}

// begin notes when an attempt has begun, if it waited.
func (j *journal) begin(id sched.AttemptID, at sched.Time) {
	if _, began := j.began[id]; j.header.Waits && !began {
		if _, known := j.running[id]; known {
			j.began[id] = at
		}
	}
}

// forget takes back the launch of an attempt that has not begun.
func (j *journal) forget(id sched.AttemptID) {
	if d, known := j.running[id]; known {
		delete(j.running, id)
		delete(j.beside, id)
		delete(j.began, id)
		j.tasks[d.Task]--
	}
}

// ended tells of an attempt. Facts about attempts that are gone are ignored, as the core does.
func (j *journal) ended(id sched.AttemptID, at sched.Time, outcome Outcome, emit emit) error {
	d, known := j.running[id]
	if !known {
		return nil
	}
	delete(j.running, id)
	j.tasks[d.Task]--
	start := d.At
	if j.header.Waits { // one that has not begun has run for no time
		start = at
		if began, ok := j.began[id]; ok {
			start = began
		}
		delete(j.began, id)
	}
	j.a = Record{
		Job: j.header.Run, Stage: j.stage(int(d.Stage)), Task: j.task(d), Number: int(d.Number),
		Start: j.instant(start), Duration: span(start, at), Outcome: outcome, Speculative: j.beside[id],
	}
	delete(j.beside, id)
	if m := int(d.Machine); m < len(j.header.Machines) {
		j.a.Host = j.header.Machines[m].Name
	}
	return emit(&j.a)
}

func (j *journal) stage(i int) string {
	if i < len(j.header.Stages) {
		return j.header.Stages[i]
	}
	return strconv.Itoa(i)
}

// task returns the number of a task within its stage: the core numbers the tasks of a job through.
func (j *journal) task(d sched.Decision) int {
	t := int(d.Task)
	for s := range min(int(d.Stage), len(j.header.Job.Stages)) {
		t -= j.header.Job.Stages[s].Tasks
	}
	return t
}

// instant turns an instant of the run into one since 1970.
func (j *journal) instant(at sched.Time) sched.Time {
	return sched.Time(j.header.Started.UnixNano()) + at
}

// finish tells of what ran when the journal ends.
func (j *journal) finish(emit emit) error {
	for _, id := range slices.SortedFunc(maps.Keys(j.running), cmp.Compare) {
		if err := j.ended(id, j.latest, Running, emit); err != nil {
			return err
		}
	}
	return nil
}
