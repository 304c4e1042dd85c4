package policytest

import (
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Bounds is Worlds where most jobs may have so many attempts at once, or of each task, and where in half of the worlds
// policies kill nothing that would be lost. Some jobs are paused, and now and then a fresh policy takes over.
func Bounds(t testing.TB, s *Subject, worlds int) {
	t.Helper()
	through(t, worlds, s.WorkConserving, func(seed uint64, l sched.Limits) *World {
		l.Gentle = seed%2 == 1
		if seed%5 == 4 {
			l.MaxWait = 20 * sched.Second
		}
		w := NewWorld(t, s.New(), l)
		if s.AtSites {
			w.Connect(2 + int(seed%3))
		}
		r := rand.New(rand.NewPCG(seed, 3))
		w.Bound = func(spec *sched.JobSpec) { spec.MaxLive, spec.MaxAttempts = r.IntN(6), r.IntN(4) }
		w.mess(1, seed)
		if l.MaxWait > 0 {
			w.Lag = 0
		}
		if seed%3 == 2 {
			w.disturb(seed)
		}
		if seed%4 == 3 && !sched.Paces(w.Policy) {
			w.Between = func() {
				if r := rand.New(rand.NewPCG(seed, uint64(w.Now))); r.IntN(9) == 0 {
					w.TakeUp(s.New(), l)
				}
			}
		}
		return w
	})
}
