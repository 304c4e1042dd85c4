package policytest

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Steady is a driver without any luxury, for counting allocations and time: a heap of attempts' ends, durations by
// hash, one report halfway through an attempt if the policy looks at progress. Jobs of two stages keep all slots
// busy.
type Steady struct {
	Core    *sched.Core
	ends    endHeap
	facts   []sched.Event
	wake    sched.Time
	reports bool
	Events  int
	Clones  int
}

// NewSteady returns one on machines of a slot each. If there are sites, machines are there in turn, tasks of first
// stages read there, and those of second ones what the first have made.
func NewSteady(tb testing.TB, p sched.Policy, reports bool, machines, jobs, tasks, sites int) *Steady {
	s := &Steady{Core: sched.New(p, sched.DefaultLimits()), wake: sched.Never, reports: reports}
	s.ends.items = make([]end, 0, 4*machines+16)
	s.facts = make([]sched.Event, 0, 2*machines+jobs)
	w := World{tb: tb, Core: s.Core}
	if sites > 0 {
		w.Connect(sites)
	}
	for i := range machines {
		m, err := s.Core.AddMachine(sched.SiteID(i*sites/machines), 1)
		if err != nil {
			tb.Fatal(err)
		}
		s.facts = append(s.facts, sched.Event{Kind: sched.MachineJoined, Machine: m})
	}
	for range jobs {
		job := sched.JobSpec{
			Stages: []sched.StageSpec{{Tasks: tasks - tasks/4, Mean: 25 * sched.Second}, {Tasks: tasks / 4, Mean: 25 * sched.Second}},
			Edges:  []sched.Edge{{From: 0, To: 1}},
		}
		if sites > 0 {
			w.scatter(&job)
		}
		j, err := s.Core.Submit(&job)
		if err != nil {
			tb.Fatal(err)
		}
		s.facts = append(s.facts, sched.Event{Kind: sched.JobArrived, Job: j})
	}
	return s
}

// Step advances to the next instant at which something happens; false at the end.
func (s *Steady) Step() bool {
	now := s.wake
	if len(s.ends.items) > 0 {
		now = min(now, s.ends.items[0].at)
	}
	if s.Events == 0 {
		now = 0
	}
	if now == sched.Never {
		return false
	}
	for len(s.ends.items) > 0 && s.ends.items[0].at <= now {
		e := s.ends.pop()
		f := sched.Event{At: e.at, Kind: sched.AttemptDone, Attempt: e.attempt}
		if e.half > 0 {
			f.Kind, f.Progress = sched.AttemptProgress, 0.5
			s.ends.push(end{at: e.at + e.half, attempt: e.attempt})
		}
		s.facts = append(s.facts, f)
	}
	if s.wake <= now {
		s.wake = sched.Never
		s.Events++
	}
	s.Events += len(s.facts)
	orders, err := s.Core.Advance(now, s.facts)
	if err != nil {
		panic(err)
	}
	s.facts = s.facts[:0]
	for i := range orders {
		switch d := &orders[i]; d.Kind {
		case sched.Wake:
			s.wake = d.At
		case sched.Launch:
			if s.Core.View().Attempt(d.Attempt).Clone {
				s.Clones++
			}
			e := end{at: now + lasting(d), attempt: d.Attempt}
			if s.reports {
				e.half = (e.at - now) / 2
				e.at -= e.half
			}
			s.ends.push(e)
		}
	}
	return true
}

// lasting draws a duration by hash (splitmix64): exponential of mean 20 s, one in twenty eight times as long.
func lasting(d *sched.Decision) sched.Time {
	x := (uint64(d.Task)<<8 + uint64(d.Number) + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	s := -20 * math.Log((float64(x>>11)+0.5)/(1<<53))
	if x%20 == 0 {
		s *= 8
	}
	return sched.FromSeconds(s)
}

type end struct {
	at      sched.Time
	half    sched.Time // time to the end if this is the report halfway
	attempt sched.AttemptID
}

type endHeap struct{ items []end }

func (h *endHeap) push(e end) {
	h.items = append(h.items, e)
	i := len(h.items) - 1
	for i > 0 && e.at < h.items[(i-1)/2].at {
		h.items[i] = h.items[(i-1)/2]
		i = (i - 1) / 2
	}
	h.items[i] = e
}

func (h *endHeap) pop() end {
	top, last := h.items[0], len(h.items)-1
	e, i := h.items[last], 0
	h.items = h.items[:last]
	for last > 0 {
		c := 2*i + 1
		if c >= last {
			break
		}
		if c+1 < last && h.items[c+1].at < h.items[c].at {
			c++
		}
		if e.at <= h.items[c].at {
			break
		}
		h.items[i] = h.items[c]
		i = c
	}
	if last > 0 {
		h.items[i] = e
	}
	return top
}
