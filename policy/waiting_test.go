package policy

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// TestBatteryOfWaits is the battery where attempts wait before they begin, some for longer than any lasts; of some nobody tells that they have begun.
func TestBatteryOfWaits(t *testing.T) {
	worlds := 30
	if testing.Short() {
		worlds = 8
	}
	for _, spec := range append(specs(), "patience:after=1s") {
		entry := &patienceEntry
		if !strings.HasPrefix(spec, "patience") {
			entry, _ = Find(spec)
		}
		t.Run(spec, func(t *testing.T) {
			inspect := func(seed uint64) []sched.Decision {
				p, err := newWithPatience(spec)
				if err != nil {
					t.Fatal(err)
				}
				l := limits[seed%uint64(len(limits))]
				w := messy(t, p, l, seed)
				w.again = int(seed % 3)
				w.core.WaitToBegin()
				w.waits = func(d *sched.Decision) sched.Time {
					r := rand.New(rand.NewPCG(seed, uint64(d.Task)<<20|uint64(d.Number)|1<<60))
					return []sched.Time{0, -1, sched.Second, sched.Time(r.IntN(60)) * sched.Second, sched.Time(r.IntN(1800)) * sched.Second}[r.IntN(5)]
				}
				return inspectIn(t, entry, w, l, seed)
			}
			for seed := range uint64(worlds) {
				first := inspect(seed)
				if seed%4 > 0 {
					continue
				}
				if diff := cmp.Diff(first, inspect(seed)); diff != "" {
					t.Fatalf("seed %d: the same world twice, not the same decisions (-first +second):\n%s", seed, diff)
				}
			}
		})
	}
}

// newWithPatience is New, and knows the policy of docs/new-policy.md as well.
func newWithPatience(spec string) (sched.Policy, error) {
	if spec == "patience:after=1s" {
		return built(&patienceEntry, "after=1s"), nil
	}
	return New(spec, 1)
}

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
