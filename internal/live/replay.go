package live

import (
	"fmt"
	"io"
	"slices"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// newCore builds the core of a run with its machines and its job, which is job 0, before the first fact.
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
	if _, err := core.Submit(&h.Job); err != nil {
		return nil, err
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

// Lives replays a journal and returns every attempt's life, in the order of their starts. visit and the error are those
// of Replay.
func Lives(r *trace.JournalReader, policies Policies, visit func(*sched.Core, *trace.Batch)) ([]Record, error) {
	h := pastOf(&r.Header)
	_, err := Replay(r, policies, func(c *sched.Core, b *trace.Batch) {
		h.add(c.View(), b, nil)
		if visit != nil {
			visit(c, b)
		}
	})
	return h.jobs[job].records, err
}

// Replay feeds the facts of a journal to a fresh core and compares every decision. It returns the core as it was after
// the last batch; the reader's header is then that of the settings that came last. visit, if not nil, sees every batch
// after the core has. The error is a *DivergedError where a decision differs.
func Replay(r *trace.JournalReader, policies Policies, visit func(*sched.Core, *trace.Batch)) (*sched.Core, error) {
	p, err := policies(&r.Header)
	if err != nil {
		return nil, err
	}
	core, err := newCore(&r.Header, p)
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
