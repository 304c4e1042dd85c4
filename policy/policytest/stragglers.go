package policytest

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// Stragglers is for policies that judge attempts by how long they run or by what they report. Sixty tasks that last 8 s
// each wait differently before they begin: those that only wait must get no clones, and one that lasts a thousand times
// as long must get one. The parameters have to be such that 8 s are not long and 8,000 s are.
func Stragglers(t testing.TB, s *Subject) {
	t.Helper()
	for _, reports := range []sched.Time{0, sched.Second} {
		for _, straggles := range []bool{false, true} {
			waiting(t, s, reports, straggles)
		}
	}
}

func waiting(t testing.TB, s *Subject, reports sched.Time, straggles bool) {
	t.Helper()
	p := s.New()
	w := NewWorld(t, p, sched.NoLimits())
	w.Core.WaitToBegin()
	w.Machine(0, 60)
	w.Machine(0, 60)
	w.Submit(0, &sched.JobSpec{Deadline: 4000 * sched.Second, Stages: []sched.StageSpec{{Tasks: 60, Mean: 10 * sched.Second, SD: 10 * sched.Second}}})
	w.Waits = func(d *sched.Decision) sched.Time { return sched.Time(d.Task*d.Task) * sched.Second } // up to an hour
	w.Fate = func(d *sched.Decision) Fate {
		f := Fate{Lasts: 8 * sched.Second, Reports: reports}
		if straggles && d.Task == 20 && d.Number == 0 {
			f.Lasts *= 1000
		}
		return f
	}
	steps := 0
	w.Seen = func(sched.Time, []sched.Decision) { steps++ }
	w.Run()
	clones, elsewhere := 0, 0
	for i := range w.Orders {
		if d := &w.Orders[i]; d.Kind == sched.Launch && d.Number > 0 {
			if clones++; d.Task != 20 {
				elsewhere++
			}
		}
	}
	if elsewhere > 0 || clones > 0 && !straggles {
		t.Errorf("reports every %v: %d clones of what waits", reports, clones)
	}
	if straggles && clones == 0 && (reports > 0 || !s.Progress) {
		t.Errorf("reports every %v: the straggler is not cloned", reports)
	}
	if steps > 20_000 {
		t.Errorf("reports every %v: %d calls of the core", reports, steps)
	}
}
