package kube

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
)

// forecast is how likely the Jobs of a core are to meet their deadlines, as the rest of all of them was played last.
type forecast struct {
	chances map[sched.JobID]promise.Promise      // of all Jobs there were, some without a chance
	playing chan map[sched.JobID]promise.Promise // what is being played; nil for nothing
	next    time.Time                            // before which nothing is played again for a Job that has a chance
}

// hear takes in what was played, if it is over.
func (f *forecast) hear() {
	select {
	case f.chances = <-f.playing:
		f.playing = nil
	default:
	}
}

// playGate keeps what is played to a share of one processor, for all Jobs of the controller: one play at a time, and a
// rest after each.
type playGate struct {
	mu   sync.Mutex
	busy bool
	next time.Time // by the wall clock
}

const (
	playShare = 20                    // plays take no more than one part of the time in so many
	playLong  = 50 * time.Millisecond // for which more plays are made than the fewest
)

// enter tells whether something may be played now. Who enters has to play.
func (g *playGate) enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.busy || time.Now().Before(g.next) {
		return false
	}
	g.busy = true
	return true
}

// play plays the rest and leaves the gate. What cannot be played says nothing.
func (g *playGate) play(s *promise.State, to chan<- map[sched.JobID]promise.Promise) {
	began := time.Now()
	chances := map[sched.JobID]promise.Promise{}
	all, _ := s.Foresee(context.Background(), playLong)
	for i := range s.Snapshot.Jobs {
		id := s.Snapshot.Jobs[i].ID
		chances[id] = all[id]
	}
	g.leave(began)
	to <- chances
}

// leave is for who has entered and played since then.
func (g *playGate) leave(began time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.busy, g.next = false, time.Now().Add(playShare*time.Since(began))
}

// state returns what there is to play the rest of all Jobs from.
func (r *run) state() *promise.State {
	newPolicy, decides, known := r.newPolicy, r.decides, map[sched.JobID]*promise.Durations{}
	for id, m := range r.members {
		known[id] = m.known()
	}
	return &promise.State{
		Snapshot: r.core.Snapshot(), Came: r.arrivals(), Limits: r.limits, Epoch: r.start, Seed: uint64(r.now()),
		Policy: func(uint64) (sched.Policy, error) { return newPolicy(decides) },
		Known:  func(id sched.JobID, _ int) *promise.Durations { return known[id] },
	}
}

// known returns what is known of how long a Job's pods run: what its law says or earlier Jobs took, and what its own
// have taken. Pods that went on from others' work do not tell how long a whole task takes.
func (m *member) known() *promise.Durations {
	d := &promise.Durations{Past: earlierRuns(m.law, m.past)}
	for _, s := range m.sights {
		if s.phase == succeeded && !s.resumed && !s.begun.IsZero() && !s.ended.Before(s.begun) {
			d.Own.Ended = append(d.Own.Ended, s.ended.Sub(s.begun).Seconds())
		}
	}
	slices.Sort(d.Own.Ended) // so that equal sights are the same to all who look
	for _, x := range m.cut {
		if x.ran > 0 {
			d.Own.Cut = append(d.Own.Cut, x.ran.Seconds())
		}
	}
	return d
}

// earlierRuns returns what a law says of a Job, or what earlier ones took.
func earlierRuns(law string, past *live.Past) (runs []promise.Run) {
	if law != "" {
		runs, _ = promise.Stated(law) // the policy has read it
	} else if past != nil {
		for _, st := range past.DurationsFor(pastStage, 0, 0) {
			runs = append(runs, promise.Run{Ended: st.Durations, Cut: st.Cut})
		}
	}
	return runs
}
