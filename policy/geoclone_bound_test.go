package policy

import (
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// TestCompetitiveBound checks Theorem 2 as an inequality on small instances: with slots 1+eps times as fast and u < 1/2 at all times, GeoClone's flow times are at most (1+u)/(eps (1-2u)) times the
// optimum's in expectation. The optimum is no less than the tasks' intrinsic times, for no slowdown is below 1, so the inequality is checked against these.
func TestCompetitiveBound(t *testing.T) {
	const eps, intrinsic, jobs = 0.8, 10.0, 200
	for _, slots := range []int{9, 12, 20} {
		w := on(t, "geoclone:epsilon=0.8,copies=4", sched.NoLimits())
		for range slots {
			w.machine(0, 1)
		}
		for j := range jobs {
			w.submit(sched.Time(j)*97*sched.Second, tasksOf(1))
		}
		w.fate = func(d *sched.Decision) fate {
			u := rand.New(rand.NewPCG(uint64(d.Task), uint64(d.Number))).Float64()
			i := 0
			for i < len(gardner.tail)-1 && 1-u <= gardner.tail[i] {
				i++
			}
			return fate{lasts: sched.FromSeconds(intrinsic * gardner.value[i] / (1 + eps))}
		}
		v, busiest := w.core.View(), 0.0
		w.seen = func(sched.Time, []sched.Decision) { busiest = max(busiest, float64(v.Live())/float64(v.Slots())) }
		w.run()
		flow := 0.0
		for j := range jobs {
			job := v.Job(sched.JobID(j))
			flow += (job.Closed - job.Arrived).Seconds() / jobs
		}
		if busiest >= 0.5 || busiest < 0.1 {
			t.Fatalf("%d slots: u = %v, the theorem needs less than 1/2", slots, busiest)
		}
		if bound := (1 + busiest) / (eps * (1 - 2*busiest)) * intrinsic; flow > bound {
			t.Errorf("%d slots: mean flow time %v, bound %v", slots, flow, bound)
		}
		if flow < intrinsic/(1+eps) {
			t.Errorf("%d slots: mean flow time %v is below the least that is possible", slots, flow)
		}
	}
}
