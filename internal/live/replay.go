package live

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// newCore builds a core with the machines of a journal, and with the job of a run, which is job 0.
func newCore(h *trace.JournalHeader, p sched.Policy) (*sched.Core, error) {
	core := sched.New(p, h.Limits)
	if h.Rules < 1 {
		core.CountClones()
	}
	if h.Rules < 2 {
		core.KillAtOnce()
	}
	if h.Waits {
		core.WaitToBegin()
	}
	if h.Network != nil {
		if err := core.Connect(h.Network); err != nil {
			return nil, err
		}
	}
	for _, m := range h.Machines {
		if _, err := core.AddMachineOf(m.Class, m.Site, m.Slots); err != nil {
			return nil, err
		}
	}
	if h.Segment != nil {
		return core, nil
	}
	if _, err := core.Submit(&h.Job); err != nil {
		return nil, err
	}
	return core, nil
}

// firstCore builds the core of a journal as it was before the first batch, from the state of a segment if it has one.
func firstCore(h *trace.JournalHeader, state [][]byte, policies Policies) (*sched.Core, error) {
	p, err := policies(h)
	if err != nil {
		return nil, err
	}
	if h.Segment != nil && sched.Paces(p) {
		return nil, ErrPaces
	}
	if len(state) == 0 {
		return newCore(h, p)
	}
	var s sched.Snapshot
	if err := json.Unmarshal(state[0], &s); err != nil {
		return nil, fmt.Errorf("the snapshot of the segment: %w: %w", err, trace.ErrCorrupt)
	}
	core, err := sched.Restore(&s, p, h.Limits)
	if err != nil {
		return nil, fmt.Errorf("the snapshot of the segment: %w: %w", err, trace.ErrCorrupt)
	}
	for _, m := range h.Machines[min(len(s.Machines), len(h.Machines)):] {
		if _, err := core.AddMachineOf(m.Class, m.Site, m.Slots); err != nil {
			return nil, err
		}
	}
	return core, nil
}

// DivergedError says where a fresh core decided otherwise than the journal has it.
type DivergedError struct {
	Batch     int // position in the journal, from 1
	At        sched.Time
	Want, Got []sched.Decision
}

// Error names the first decision that differs.
func (e *DivergedError) Error() string {
	i := 0
	for i < len(e.Want) && i < len(e.Got) && e.Want[i] == e.Got[i] {
		i++
	}
	at := func(ds []sched.Decision) string {
		if i >= len(ds) {
			return "nothing"
		}
		d := ds[i]
		if d.Kind == sched.Pace {
			return fmt.Sprintf("%s %v", d.Kind, d.Speed)
		}
		return fmt.Sprintf("%s task %d attempt %d on machine %d (%s)", d.Kind, d.Task, d.Number, d.Machine, d.Reason)
	}
	return fmt.Sprintf("batch %d at %s, decision %d: the journal has %s, the replay %s", e.Batch, e.At, i+1, at(e.Want), at(e.Got))
}

// ErrMany is the error of a journal of many jobs where that of a run is asked for.
var ErrMany = errors.New("the journal is of a server with many jobs; name the output folder of one of them")

// Lives replays the journal of a run and returns every attempt's life, in the order of their starts. visit and the
// error are those of Replay.
func Lives(r *trace.JournalReader, policies Policies, visit func(*sched.Core, *trace.Batch)) ([]Record, error) {
	x, err := All(r, policies, visit)
	if x == nil {
		return nil, err
	}
	return x.Records, err
}

// All is Lives with the outputs that the journal has.
func All(r *trace.JournalReader, policies Policies, visit func(*sched.Core, *trace.Batch)) (*Lived, error) {
	if len(r.Header.Stages) == 0 {
		return nil, ErrMany
	}
	h, err := pastOf(r)
	if err != nil || h.jobs[job] == nil {
		return nil, cmp.Or(err, ErrMany)
	}
	_, err = Replay(r, policies, func(c *sched.Core, b *trace.Batch) {
		h.add(c.View(), b, nil)
		if visit != nil {
			visit(c, b)
		}
	})
	return h.jobs[job].lived(), err
}

// JobsOf replays a journal, of a run or one segment of many jobs, and returns all jobs that it has known at some time,
// and the instant of its end.
func JobsOf(r *trace.JournalReader, policies Policies) (map[sched.JobID]Known, sched.Time, error) {
	h, err := pastOf(r)
	if err != nil {
		return nil, 0, err
	}
	all := &Chronicle{h: h, known: map[sched.JobID]Known{}}
	core, err := Replay(r, policies, func(c *sched.Core, b *trace.Batch) { all.Add(c.View(), b) })
	if err != nil {
		return nil, 0, err
	}
	return all.Jobs(core.View()), core.View().Now(), nil
}

// JobsOfAll is JobsOf for segments that follow each other, with the header of the last: of all jobs that they know,
// which are those that were not over when the first begins.
func JobsOfAll(paths []string, policies Policies) (h *trace.JournalHeader, all map[sched.JobID]Known, until sched.Time, err error) {
	all = map[sched.JobID]Known{}
	for _, path := range paths {
		r, err := trace.OpenJournalReader(path)
		if err != nil {
			return nil, nil, 0, err
		}
		jobs, end, err := JobsOf(r, policies)
		if err != nil {
			return nil, nil, 0, fmt.Errorf("%s: %w", path, err)
		}
		maps.Copy(all, jobs) // a later segment knows more
		h, until = &r.Header, max(until, end)
	}
	return h, all, until, nil
}

// Replay feeds the facts of a journal to a fresh core and compares every decision. It returns the core as it was after
// the last batch; the reader's header is then that of the settings that came last. visit, if not nil, sees every batch
// after the core has. The error is a *DivergedError where a decision differs.
func Replay(r *trace.JournalReader, policies Policies, visit func(*sched.Core, *trace.Batch)) (*sched.Core, error) {
	return replay(r, policies, nil, visit)
}

// follow is Replay with a policy that decides what the journal says.
func follow(r *trace.JournalReader, visit func(*sched.Core, *trace.Batch)) (*sched.Core, error) {
	s := &script{}
	return replay(r, func(*trace.JournalHeader) (sched.Policy, error) { return s, nil }, func(b *trace.Batch) { s.next = b.Decisions }, visit)
}

// replay is Replay; before, if not nil, sees every batch before the core does.
func replay(r *trace.JournalReader, policies Policies, before func(*trace.Batch), visit func(*sched.Core, *trace.Batch)) (*sched.Core, error) {
	core, err := firstCore(&r.Header, r.State, policies)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		b, err := r.Next()
		if err == io.EOF {
			return core, nil
		}
		if err != nil {
			return nil, err
		}
		if b.Settings != nil {
			if err := give(core, &r.Header, b.Settings, policies); err != nil {
				return nil, fmt.Errorf("batch %d: settings: %w", n, err)
			}
		}
		for _, j := range b.Jobs {
			if id, err := core.Submit(&j.Spec); err != nil || id != j.ID {
				return nil, fmt.Errorf("batch %d: job %d: it gets id %d, %v", n, j.ID, id, err)
			}
		}
		if before != nil {
			before(b)
		}
		got, err := core.Advance(b.Now, b.Facts)
		if err != nil {
			return nil, fmt.Errorf("batch %d: %w", n, err)
		}
		if !slices.Equal(got, b.Decisions) {
			return nil, &DivergedError{Batch: n, At: b.Now, Want: slices.Clone(b.Decisions), Got: slices.Clone(got)}
		}
		if visit != nil {
			visit(core, b)
		}
	}
}
