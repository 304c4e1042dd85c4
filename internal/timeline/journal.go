package timeline

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// FromJournal returns the timeline of a journal, of a run or one segment of a server's, up to its end. A run's job is
// called name. The error is that of [live.Replay].
func FromJournal(r *trace.JournalReader, policies live.Policies, name string) (*Timeline, error) {
	jobs, until, err := live.JobsOf(r, policies)
	if err != nil {
		return nil, err
	}
	return FromJobs(&r.Header, jobs, until, name), nil
}

// FromSegments returns the timeline of the segments of a server's journal, one after the other: of all jobs that they
// know, which are those that were not over when the first begins.
func FromSegments(paths []string, policies live.Policies, name string) (*Timeline, error) {
	h, all, until, err := live.JobsOfAll(paths, policies)
	if err != nil {
		return nil, err
	}
	return FromJobs(h, all, until, name), nil
}

// FromJobs returns the timeline of jobs of a journal with this header, up to an instant.
func FromJobs(h *trace.JournalHeader, jobs map[sched.JobID]live.Known, until sched.Time, name string) *Timeline {
	t := empty()
	t.Name, t.Policy, t.Started, t.Until = name, h.Policy, h.Started, Seconds(until)
	var rows []journalRow
	for _, id := range slices.Sorted(maps.Keys(jobs)) {
		j := jobs[id]
		job := JobRow{ID: id, Name: j.Name, Deadline: Seconds(j.Spec.Deadline)}
		if h.Segment == nil {
			job.Name = name
		}
		job.Fill(j.Row)
		records := j.Records()
		for i := range records {
			rows = append(rows, t.journalRow(&records[i]))
			if records[i].End == live.Won {
				job.Done++
			}
		}
		for i, stage := range j.Stages {
			t.Stages = append(t.Stages, StageRow{Job: len(t.Jobs), Name: stage, Class: h.ClassName(j.Spec.Stages[i].Class), Tasks: j.Spec.Stages[i].Tasks})
			job.Tasks += j.Spec.Stages[i].Tasks
		}
		t.Jobs = append(t.Jobs, job)
	}
	slices.SortStableFunc(rows, func(a, b journalRow) int { return cmp.Compare(a.Launched, b.Launched) })
	l := lanes{known: machinesOf(h)}
	for i := range rows {
		r := &rows[i]
		r.Slot = l.take(r.machine, r.Launched)
		l.give(r.machine, r.Slot, r.Stop)
		t.Attempts.Add(&r.Row)
	}
	t.Slots = append(t.Slots, l.rows...)
	return &t
}

// journalRow is an attempt whose slot is to be found.
type journalRow struct {
	Row
	machine sched.MachineID
}

// journalRow is an attempt of the job that is to be added next.
func (t *Timeline) journalRow(r *live.Record) journalRow {
	row := rowOf(r)
	row.Job, row.Stage = uint32(len(t.Jobs)), uint32(len(t.Stages))+row.Stage
	if row.End == Running {
		row.Stop = max(row.Launched, sched.Time(t.Until))
	}
	return journalRow{row, r.Machine}
}

// Fill takes over what the core says of the job.
func (j *JobRow) Fill(row sched.Job) {
	j.State = State(row.State)
	if j.State == "running" && row.Paused {
		j.State = "paused"
	}
	j.Submitted, j.Fruitful, j.Fruitless = Seconds(row.Arrived), Seconds(row.Fruitful), Seconds(row.Fruitless)
	if row.State > sched.JobActive {
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
		row := SlotRow{Machine: m.Name, Class: h.ClassName(m.Class)}
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
