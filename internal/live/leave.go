package live

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// A job of an engine that is over leaves a journal of its own, so that its folder is what that of a run is: whoever
// looks there finds its tasks and its attempts, and a run goes on with what is not done. The journal is a segment of an
// engine that has this job alone, as job 0, and machines that are down: a header, the state, and no batch. Its time
// begins with the header's start. See docs/decisions/0036-a-job-leaves-a-journal-of-its-own.md.

// Lived are attempts, and the outputs of those that have won, by their places, where a journal has them and no folder.
type Lived struct {
	Records []Record
	Outputs map[int][]byte
}

// lived returns the attempts of a job.
func (j *Job) lived() *Lived {
	x := &Lived{Records: j.records}
	for i, output := range j.outputs {
		if output != nil {
			put(&x.Outputs, i, output)
		}
	}
	return x
}

// Leave writes the journal of a job that is over. The header is that of a run, which knows no classes of slots: its
// machines lose theirs, and of the policies of several classes the first is left. Earlier are the attempts that the job
// had before its submission, with times of the header's start; what they have done, the job was told when it was
// submitted. Unless the results are published, the journal has the outputs of both that are in no folder.
func (o *Over) Leave(path string, h *trace.JournalHeader, earlier *Lived) error {
	shift := sched.Time(h.Started.Sub(o.started))
	x := o.alone(shift)
	tally(&x, earlier.Records)
	records := o.allRecords(shift, earlier.Records)
	header := *h
	header.Rules, header.Segment, header.Job = trace.JournalRules, &trace.JournalSegment{Number: 1, State: 2}, x.Spec
	header.Policy, _, _ = strings.Cut(h.Policy, "/")
	header.Machines, header.ClassNames = slices.Clone(h.Machines), nil
	for i := range header.Machines {
		header.Machines[i].Class = 0
	}
	j := jobState{Job: &trace.JournalJob{Name: o.Job.Name, Run: h.Run, Submitted: o.Job.Submitted, Spec: x.Spec, Stages: h.Stages, Command: h.Command, Work: h.Work}}
	j.Retries, j.Crashed, j.Attempts = o.left.Retries, o.left.Crashed, columnsOf(records, 0)
	if !o.Succeeded() {
		j.Outputs = maps.Clone(earlier.Outputs)
		for i, output := range o.Job.lived().Outputs {
			put(&j.Outputs, len(earlier.Records)+i, output)
		}
	}
	for _, done := range o.left.StageDone {
		j.StageDone = append(j.StageDone, max(0, done-shift))
	}
	snapshot, err := json.Marshal(snapshotOf(x, header.Machines, records))
	if err != nil {
		return err
	}
	state, err := json.Marshal(&j)
	if err != nil {
		return err
	}
	journal, err := trace.CreateJournal(path, &header, snapshot, state)
	if err != nil {
		return err
	}
	return journal.Close()
}

// alone returns what the core knows of the job as if it were the only one, and time had begun later.
func (o *Over) alone(shift sched.Time) sched.SavedJob {
	x := o.saved
	x.ID, x.Stage, x.Task, x.Paused = 0, 0, 0, false
	x.Spec.Stages = slices.Clone(x.Spec.Stages)
	for i := range x.Spec.Stages {
		x.Spec.Stages[i].Class, x.Spec.Stages[i].Waits = 0, false
	}
	tryToo(&x, o.Job.Tried)
	x.Arrived, x.Closed = max(0, x.Arrived-shift), max(0, x.Closed-shift)
	if x.Spec.Deadline > 0 {
		x.Spec.Deadline = max(1, x.Spec.Deadline-shift)
	}
	return x
}

// tryToo adds to what is saved of tasks the attempts that they had before the submission.
func tryToo(j *sched.SavedJob, tried map[int]int) {
	if len(tried) == 0 {
		return
	}
	saved, before := *j, slices.Sorted(maps.Keys(tried))
	j.Tasks = nil
	until := func(end int) { // those of which there was nothing else to say
		for ; len(before) > 0 && before[0] < end; before = before[1:] {
			j.Add(sched.SavedTask{Index: uint32(before[0]), Launched: uint32(tried[before[0]])})
		}
	}
	for t := range saved.Singly() {
		if until(int(t.Index)); len(before) > 0 && before[0] == int(t.Index) {
			t.Launched += uint32(tried[before[0]])
			before = before[1:]
		}
		j.Add(t)
	}
	until(math.MaxInt)
}

// allRecords returns the attempts of the job, behind earlier ones. Each has an id that none will get that is launched
// later: they are all of row 0, one generation after the other.
func (o *Over) allRecords(shift sched.Time, earlier []Record) []Record {
	records := append(make([]Record, 0, len(earlier)+len(o.Records)), earlier...)
	for _, r := range o.Records {
		r.Launched, r.Start, r.Stop, r.Task = max(0, r.Launched-shift), max(0, r.Start-shift), max(0, r.Stop-shift), r.Task-o.saved.Task
		records = append(records, r)
	}
	for i := range records {
		records[i].ID = sched.AttemptID(i+1) << 32
	}
	return records
}

// snapshotOf is a core that has one job, which is over, and machines that are down.
func snapshotOf(x sched.SavedJob, machines []trace.JournalMachine, records []Record) *sched.Snapshot {
	s := &sched.Snapshot{
		At: x.Closed, Pace: 1, NextJob: 1, NextStage: sched.StageID(len(x.Spec.Stages)), Jobs: []sched.SavedJob{x},
		Rows: []uint32{uint32(len(records)) + 1}, Spare: []int32{0},
	}
	for i := range x.Spec.Stages {
		s.NextTask += sched.TaskID(x.Spec.Stages[i].Tasks)
	}
	for i := range machines {
		s.Machines = append(s.Machines, sched.SavedMachine{Slots: uint32(machines[i].Slots), Room: uint32(machines[i].Slots)})
	}
	for i := range records {
		s.At = max(s.At, records[i].Stop)
	}
	return s
}

// tally adds attempts to what is saved of their job.
func tally(x *sched.SavedJob, attempts []Record) {
	for i := range attempts {
		r := &attempts[i]
		if r.End == Refused {
			continue
		}
		x.Attempts++
		if r.Clone {
			x.Clones++
		}
		if r.End == Won {
			x.Fruitful += r.Stop - r.Start
		} else {
			x.Fruitless += r.Stop - r.Start
		}
	}
}

// Before returns the attempts that a journal begins with, that of a run or of a job that an engine has left: none
// unless it is a segment.
func Before(r *trace.JournalReader) (*Lived, error) {
	past, err := pastOf(r)
	if err != nil || past.jobs[job] == nil {
		return &Lived{}, err
	}
	return past.jobs[job].lived(), nil
}
