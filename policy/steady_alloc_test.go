//go:build !race && !invariants

package policy

import "testing"

// TestSteadyStateAllocatesNothing runs jobs that come and go until all tables have their size, then counts.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, spec := range specs() {
		t.Run(spec, func(t *testing.T) { allocatesNothing(t, newSteady(t, spec, 200, 40, 1000)) })
	}
	for _, spec := range []string{"geoclone", "geoclone:tasks=unfinished,slot=1s", "flutter", "iridium", "spark-geo", "spark-geo+late", "flutter+mantri", "flutter+dolly"} {
		t.Run("sites/"+spec, func(t *testing.T) { allocatesNothing(t, newSteadySites(t, spec, 200, 40, 1000, 8)) })
	}
}

func allocatesNothing(t *testing.T, s *steady) {
	for s.events < 30_000 && s.step() {
	}
	before := s.events
	if n := testing.AllocsPerRun(4000, func() { s.step() }); n > 0 {
		t.Errorf("%v allocations per step", n)
	}
	if s.events-before < 2000 {
		t.Errorf("only %d events were measured", s.events-before)
	}
}
