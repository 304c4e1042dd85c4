package policy

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// byAge are policies that judge attempts by how long they run, or by what they report, tuned to judge soon. (Hadoop's original rule takes what began last for slow
// until it is of age.)
var byAge = []string{
	"spark", "spark3", "spark:quantile=0.1,multiplier=1.5", "late:min_age=0s", "late:min_age=0s,estimate=progress", "late:min_age=5s", "flink:lower_bound=1s", "hadoop:lag=10s",
	"hadoop2", "hadoop2:estimator=simple-exponential,skip=1", "mantri:period=1s", "mantri-dup", "ese:slot=1s", "grass", "grass:mode=gs", "hopper", "laxity", "chronos-restart", "chronos-resume",
	"patience:after=15s",
}

// Sixty tasks that last 8 s each wait differently before they begin: those that only wait get no clones, and one that lasts a thousand times as long does.
func TestNobodyClonesWhatWaits(t *testing.T) {
	for _, spec := range byAge {
		for _, reports := range []sched.Time{0, sched.Second} {
			for _, straggles := range []bool{false, true} {
				entry, err := Find(spec)
				if strings.HasPrefix(spec, "patience") {
					entry, err = &patienceEntry, nil
				}
				if err != nil {
					t.Fatal(err)
				}
				var p sched.Policy
				if entry == &patienceEntry {
					p = built(&patienceEntry, "after=15s")
				} else if p, err = New(spec, 1); err != nil {
					t.Fatal(err)
				}
				w := newWorld(t, p, sched.NoLimits())
				w.core.WaitToBegin()
				w.machine(0, 60)
				w.machine(0, 60)
				w.submit(0, &sched.JobSpec{Deadline: 4000 * sched.Second, Stages: []sched.StageSpec{{Tasks: 60, Mean: 10 * sched.Second, SD: 10 * sched.Second}}})
				w.waits = func(d *sched.Decision) sched.Time { return sched.Time(d.Task*d.Task) * sched.Second } // up to an hour
				w.fate = func(d *sched.Decision) fate {
					f := fate{lasts: 8 * sched.Second, reports: reports}
					if straggles && d.Task == 20 && d.Number == 0 {
						f.lasts *= 1000
					}
					return f
				}
				steps := 0
				w.seen = func(sched.Time, []sched.Decision) { steps++ }
				w.run()
				clones, elsewhere := 0, 0
				for i := range w.orders {
					if d := &w.orders[i]; d.Kind == sched.Launch && d.Number > 0 {
						if clones++; d.Task != 20 {
							elsewhere++
						}
					}
				}
				if elsewhere > 0 || clones > 0 && !straggles {
					t.Errorf("%s, reports every %v: %d clones of what waits", spec, reports, clones)
				}
				if straggles && clones == 0 && (reports > 0 || !entry.Progress) {
					t.Errorf("%s, reports every %v: the straggler is not cloned", spec, reports)
				}
				if steps > 20_000 {
					t.Errorf("%s, reports every %v: %d calls of the core", spec, reports, steps)
				}
			}
		}
	}
}
