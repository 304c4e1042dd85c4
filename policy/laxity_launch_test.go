package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestLaunches: laxity learns from the first reports of attempts how long their launch takes, also if reports are wrong. Where launch says it,
// that counts.
func TestLaunches(t *testing.T) {
	const s = sched.Second
	w, err := trace.Synthesize("synth:jobs=5;tasks=50;law=uniform:lo=20,hi=60;arrivals=poisson:rate=0.02;deadline=500s", 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec     string
		launch   sched.Time
		progress sim.Progress
		from, to sched.Time // what is learned
	}{
		{"laxity", 0, sim.Progress{Every: s}, 0, s / 1000},
		{"laxity", 5 * s, sim.Progress{Every: s}, 5*s - s/1000, 5*s + s/1000},
		{"laxity", 5 * s, sim.Progress{Every: 10 * s}, 5*s - s/1000, 5*s + s/1000},
		{"laxity", 5 * s, sim.Progress{Every: s, Noise: 0.2}, 4 * s, 6 * s},
		{"laxity", 0, sim.Progress{Every: s, Noise: 0.2}, 0, s},
		{"laxity", 5 * s, sim.Progress{Every: s, Noise: 0.2, Persists: true}, 4 * s, 6 * s},
		{"laxity", 0, sim.Progress{Every: s, Noise: 0.2, Persists: true}, 0, s},
		{"laxity:launch=2s", 5 * s, sim.Progress{Every: s}, 2 * s, 2 * s},
	} {
		p, err := New(c.spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sim.Run(t.Context(), w, p, sim.Options{Machines: 50, Slots: 1, Limits: sched.DefaultLimits(), Model: sim.StatedLaw, Seed: 1, Progress: c.progress, LaunchDelay: c.launch}); err != nil {
			t.Fatal(err)
		}
		if got := p.(*laxity).Launch; got < c.from || got > c.to {
			t.Errorf("%s, launches of %v, reports %+v: %v", c.spec, c.launch, c.progress, got)
		}
	}
}
