package replay

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
)

// Source says where slots are known from.
type Source string

// The sources.
const (
	Asked Source = "asked"       // somebody said so
	Told  Source = "log"         // the log tells of machines
	Seen  Source = "concurrency" // the most attempts that ran at the same time, no more than that
)

// slotsOf returns the slots over time.
func slotsOf(stages []*history.StageRecord, course *history.Course, asked int) ([]history.SlotsFrom, Source) {
	switch {
	case asked > 0:
		return []history.SlotsFrom{{Slots: asked}}, Asked
	case course.MostSlots(0, sched.Never) > 0:
		return course.Slots, Told
	}
	return []history.SlotsFrom{{Slots: concurrency(stages)}}, Seen
}

// concurrency returns the most attempts that ran at the same time. One that ends when another starts leaves its slot to
// it.
func concurrency(stages []*history.StageRecord) (most int) {
	type change struct {
		at   sched.Time
		more int
	}
	var all []change
	for _, st := range stages {
		for _, a := range st.Attempts {
			if a.Duration > 0 {
				all = append(all, change{a.Start, 1}, change{a.Start + a.Duration, -1})
			}
		}
	}
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.more, b.more)) })
	now := 0
	for _, c := range all {
		now += c.more
		most = max(most, now)
	}
	return max(1, most)
}

// present is the slots as machines of one slot each on the workload's clock. Those that there were when the last task
// ended stay.
func present(slots []history.SlotsFrom, began, last sched.Time) (all []sim.Present) {
	for _, s := range slots {
		if s.At > last {
			break
		}
		p := sim.Present{At: max(0, s.At-began), Machines: s.Slots}
		if n := len(all); n > 0 && all[n-1].At == p.At {
			all[n-1] = p
		} else {
			all = append(all, p)
		}
	}
	for len(all) > 0 && all[len(all)-1].Machines == 0 {
		all = all[:len(all)-1]
	}
	return all
}

// Waited returns the most slots that a stage held at once, and of the slots that it did not hold while it had tasks to
// launch, the share that was idle, and the share that other stages held. The rest was not there at that time.
func (r *Rerun) Waited(st *history.StageRecord) (held int, idle, others float64) {
	p := r.piece(st)
	if p == nil {
		return 0, 0, 0
	}
	course := history.Course{Slots: r.steps}
	most := course.MostSlots(p.submitted, p.ended)
	held = min(most, concurrency([]*history.StageRecord{st}))
	launched := p.submitted
	for _, a := range st.Attempts {
		launched = max(launched, a.Start)
	}
	if launched == p.submitted {
		return held, 1, 0
	}
	own, all := 0.0, 0.0
	for _, q := range r.pieces {
		if q.submitted >= launched || q.ended <= p.submitted {
			continue
		}
		for _, a := range q.record.Attempts {
			busy := max(0, min(a.Start+a.Duration, launched)-max(a.Start, p.submitted)).Seconds()
			all += busy
			if q == p {
				own += busy
			}
		}
	}
	left := float64(most)*(launched-p.submitted).Seconds() - own
	if !(left > 0) {
		return held, 0, 0
	}
	idle = min(1, max(0, r.slotTime(p.submitted, launched)-all)/left)
	return held, idle, min(1-idle, (all-own)/left)
}

// slotTime is how many seconds of slots there were between two instants.
func (r *Rerun) slotTime(from, to sched.Time) (seconds float64) {
	for i, s := range r.steps {
		until := to
		if i+1 < len(r.steps) {
			until = min(until, r.steps[i+1].At)
		}
		seconds += float64(s.Slots) * max(0, until-max(s.At, from)).Seconds()
	}
	return seconds
}
