package timeline

import (
	"cmp"
	"strconv"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Recorder makes the timeline of a simulated run, by the code that makes that of a live one from its journal.
type Recorder struct {
	w         *trace.Workload
	delay     sched.Time
	chronicle *live.Chronicle
	header    trace.JournalHeader
	machines  [1 << 8]int // of each class so far
	view      *sched.View
}

// NewRecorder returns the recorder of one run of a workload. Its job of index i is the core's job i. Delay is the time
// for which each attempt holds its slot before it starts, of which the core is not told; 0 for none.
func NewRecorder(w *trace.Workload, policy string, delay sched.Time) *Recorder {
	return &Recorder{
		w: w, delay: delay, chronicle: live.NewChronicle(),
		header: trace.JournalHeader{Policy: policy, Started: time.Unix(0, 0).UTC(), Segment: &trace.JournalSegment{}},
	}
}

// Watch takes in a step of the simulation, see [sim.Watch].
func (r *Recorder) Watch(v *sched.View, facts []sched.Event, decisions []sched.Decision) {
	b := trace.Batch{Now: v.Now(), Facts: facts, Decisions: decisions}
	for i := range facts {
		switch f := &facts[i]; f.Kind {
		case sched.JobArrived:
			b.Jobs = append(b.Jobs, r.job(f.Job))
		case sched.MachineJoined:
			r.meet(v, f.Machine)
		}
	}
	r.view = v
	r.chronicle.Add(v, &b)
}

// job describes a job as the journal of a server does. One without a name is called by its number.
func (r *Recorder) job(id sched.JobID) *trace.JournalJob {
	row := &r.w.Jobs[id]
	j := &trace.JournalJob{ID: id, Name: cmp.Or(r.w.Names[row.Name], strconv.FormatUint(uint64(row.Number), 10))}
	r.w.Spec(int(id), &j.Spec)
	for i, st := range r.w.StagesOf(int(id)) {
		j.Stages = append(j.Stages, cmp.Or(r.w.Names[st.Name], strconv.Itoa(i)))
	}
	return j
}

// meet notes a machine that has joined. Its name is its number among those of its class, from 1.
func (r *Recorder) meet(v *sched.View, id sched.MachineID) {
	for n := len(r.header.Machines); n <= int(id); n++ {
		m := v.Machine(sched.MachineID(n))
		r.machines[m.Class]++
		r.header.Machines = append(r.header.Machines, trace.JournalMachine{Name: strconv.Itoa(r.machines[m.Class]), Class: m.Class, Site: m.Site})
	}
}

// Timeline returns what the attempts did, once the run is over.
func (r *Recorder) Timeline() *Timeline {
	r.header.ClassNames = r.w.Classes
	t := FromJobs(&r.header, r.chronicle.Jobs(r.view), r.view.Now(), r.w.Name)
	for i := range t.Attempts.Start {
		t.Attempts.Start[i] = min(t.Attempts.Start[i]+r.delay, t.Attempts.Stop[i])
	}
	return t
}
