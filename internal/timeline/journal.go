package timeline

import (
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// FromJournal returns the timeline of a run, called name, up to the end of its journal. The error is that of
// [live.Replay].
func FromJournal(r *trace.JournalReader, policies live.Policies, name string) (*Timeline, error) {
	var view *sched.View
	last := sched.Time(0)
	records, err := live.Lives(r, policies, func(c *sched.Core, b *trace.Batch) { view, last = c.View(), b.Now })
	if err != nil {
		return nil, err
	}
	h := &r.Header
	t := empty()
	t.Name, t.Policy, t.Started, t.Until = name, h.Policy, h.Started, Seconds(last)
	t.Jobs = []JobRow{{Name: name, State: "queued", Deadline: Seconds(h.Job.Deadline)}}
	for i, stage := range h.Stages {
		t.Stages = append(t.Stages, StageRow{Name: stage, Tasks: h.Job.Stages[i].Tasks})
		t.Jobs[0].Tasks += h.Job.Stages[i].Tasks
	}
	if view != nil {
		t.Jobs[0].fill(view.Job(0))
	}
	l := lanes{known: machinesOf(h)}
	for i := range records {
		row := rowOf(&records[i])
		if row.End == Running {
			row.Stop = last
		}
		row.Slot = l.take(records[i].Machine, row.Launched)
		l.give(records[i].Machine, row.Slot, row.Stop)
		if row.End == live.Won {
			t.Jobs[0].Done++
		}
		t.Attempts.Add(&row)
	}
	t.Slots = append(t.Slots, l.rows...)
	return &t, nil
}

// fill takes over what the core says of the job.
func (j *JobRow) fill(row sched.Job) {
	j.State = State(row.State)
	j.Submitted, j.Fruitful, j.Fruitless = Seconds(row.Arrived), Seconds(row.Fruitful), Seconds(row.Fruitless)
	if j.State != "queued" && j.State != "running" {
		j.Ended = Seconds(row.Closed)
	}
}

// State says how a job stands, in the words of every format for programs.
func State(s sched.JobState) string {
	switch s {
	case sched.JobActive:
		return "running"
	case sched.JobSucceeded:
		return "succeeded"
	case sched.JobBroken:
		return "failed"
	case sched.JobStopped:
		return "cancelled"
	default:
		return "queued"
	}
}

// machinesOf names the machines of a run.
func machinesOf(h *trace.JournalHeader) (all []SlotRow) {
	for _, m := range h.Machines {
		row := SlotRow{Machine: m.Name}
		if h.Network != nil && int(m.Site) < len(h.Network.Names) {
			row.Site = h.Network.Names[m.Site]
		}
		all = append(all, row)
	}
	return all
}

// rowOf is an attempt of the only job; its slot is to be found.
func rowOf(r *live.Record) Row {
	row := Row{
		Stage: uint32(r.Stage), Task: uint32(r.Index), Number: uint32(r.Number), Launched: r.Launched, Start: r.Start, Stop: r.Stop,
		End: r.End, Clone: r.Clone, From: r.From, Reason: r.Reason, Why: r.Why,
	}
	if r.End == live.Running {
		row.End = Running
	}
	return row
}
