package run

import (
	"context"
	"time"

	"github.com/tailcut/tailcut/internal/outlook"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/sched"
)

// foresight reckons how likely a job is to meet its deadline, every now and then. The rest of the job is played,
// beside the loop, under the policy and on the slots that it has (package promise). Until enough is known to play, a
// formula that looks at the job alone says something (package outlook).
type foresight struct {
	outlook *outlook.Outlook
	state   func() *promise.State // to play from, asked on the loop; nil if the rest is not played here
	played  *float64              // as it was played last, here or by a server; nil for never
	playing chan play             // what is being played; nil for nothing
	looked  time.Time
	next    time.Time // before which nothing is played again
	chance  *float64  // as it was reckoned last; nil while it is not known
	first   *float64  // as it was first known
	warned  bool      // the deadline has been at risk
}

// play is what was played, and what it took.
type play struct {
	chance *float64 // nil for nothing
	took   time.Duration
}

const (
	lookEvery = time.Second // between two reckonings of the chance to meet the deadline, at least
	playShare = 100         // plays take no more than one part of the time in so many
	lookLong  = 10 * time.Millisecond
)

func newForesight(law string) (f foresight, err error) {
	f.outlook, err = outlook.New(law)
	return f, err
}

// look reckons the chance of a job. It tells, once, that the deadline is at risk.
func (f *foresight) look(v *sched.View, id sched.JobID) (atRisk bool) {
	row := v.Job(id)
	if row.Deadline == sched.Never || row.State != sched.JobActive {
		return false
	}
	if heard := f.hear(); !heard && time.Since(f.looked) < lookEvery {
		return false
	} else if !heard {
		f.looked = time.Now()
		f.begin(id)
		if f.first == nil && f.playing != nil {
			return false // it is known soon
		}
	}
	p, ok := f.outlook.PoCD(v, id)
	switch {
	case row.Deadline <= v.Now():
		p, ok = 0, true
	case f.played != nil:
		p, ok = *f.played, true
	}
	if !ok {
		return false
	}
	if f.chance = &p; f.first == nil {
		f.first = &p
	}
	if f.warned || p >= plan.AtRisk {
		return false
	}
	f.warned = true
	return true
}

// firstKnown returns the chance as it was first known, nil if it never was. A job that is over sooner than the first
// play of its rest waits for that.
func (f *foresight) firstKnown() *float64 {
	if f.first == nil && f.playing != nil {
		select {
		case p := <-f.playing:
			f.playing, f.first = nil, p.chance
		case <-time.After(lookEvery):
		}
	}
	return f.first
}

// hear takes in what was played, and tells whether there was something.
func (f *foresight) hear() bool {
	select {
	case p := <-f.playing:
		f.playing, f.next = nil, time.Now().Add(playShare*p.took)
		if p.chance != nil {
			f.played = p.chance
		}
		return true
	default:
		return false
	}
}

// begin begins to play the rest of a job.
func (f *foresight) begin(id sched.JobID) {
	if f.state == nil || f.playing != nil || time.Now().Before(f.next) {
		return
	}
	began := time.Now()
	s := f.state()
	done := make(chan play, 1)
	f.playing = done
	go func() {
		all, err := s.Foresee(context.Background(), lookLong)
		if p, ok := all[id]; ok && err == nil {
			done <- play{p.Chance, time.Since(began)}
			return
		}
		done <- play{nil, time.Since(began)}
	}()
}
