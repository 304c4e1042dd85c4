package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestCompetitiveBound checks Theorem 2 as an inequality on small instances: with slots 1+eps times as fast and u < 1/2 at all times, GeoClone's flow times are at most (1+u)/(eps (1-2u)) times the
// optimum's in expectation. The optimum is no less than the tasks' intrinsic times, for no slowdown is below 1, so the inequality is checked against these. Slots are few, so that copies=4 keeps u below 1/2.
// That the check can fail shows a policy for which the theorem is not made: one attempt per task breaks the bound.
func TestCompetitiveBound(t *testing.T) {
	for _, x := range []struct {
		slots, tasks int
		every        sched.Time
	}{{9, 1, 97}, {12, 1, 97}, {20, 1, 97}, {80, 3, 13}, {200, 5, 13}} {
		flow, u := boundedRun(t, 4, x.slots, x.tasks, x.every*sched.Second)
		if u >= 0.5 || u < 0.1 {
			t.Fatalf("%+v: u = %v, the theorem needs less than 1/2", x, u)
		}
		if bound := competitiveBound(u); flow > bound {
			t.Errorf("%+v: mean flow time %v, bound %v", x, flow, bound)
		}
		if flow < boundIntrinsic/(1+boundEps) {
			t.Errorf("%+v: mean flow time %v is below the least that is possible", x, flow)
		}
	}
	if flow, u := boundedRun(t, 1, 20, 1, 97*sched.Second); flow <= competitiveBound(u) {
		t.Errorf("without clones: mean flow time %v keeps the bound %v, so this test shows nothing", flow, competitiveBound(u))
	}
}

const boundEps, boundIntrinsic = 0.8, 10.0

// competitiveBound is that of Theorem 2 times the least flow time that a job can have.
func competitiveBound(u float64) float64 { return (1 + u) / (boundEps * (1 - 2*u)) * boundIntrinsic }

// boundedRun returns the mean flow time of 200 jobs under GeoClone, in seconds, and the largest share of slots in use.
func boundedRun(t *testing.T, copies, slots, tasks int, every sched.Time) (flow, busiest float64) {
	const jobs = 200
	w := on(t, fmt.Sprintf("geoclone:stop=best,epsilon=%g,copies=%d", boundEps, copies), sched.NoLimits())
	for range slots {
		w.Machine(0, 1)
	}
	for j := range jobs {
		w.Submit(sched.Time(j)*every, tasksOf(tasks))
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		u := rand.New(rand.NewPCG(uint64(d.Task), uint64(d.Number))).Float64()
		i := 0
		for i < len(gardner.Tail)-1 && 1-u <= gardner.Tail[i] {
			i++
		}
		return policytest.Fate{Lasts: sched.FromSeconds(boundIntrinsic * gardner.Value[i] / (1 + boundEps))}
	}
	v := w.Core.View()
	w.Seen = func(sched.Time, []sched.Decision) {
		busiest = max(busiest, float64(v.Cluster().Live())/float64(v.Slots()))
	}
	w.Run()
	for j := range jobs {
		job := v.Job(sched.JobID(j))
		flow += (job.Closed - job.Arrived).Seconds() / jobs
	}
	return flow, busiest
}
