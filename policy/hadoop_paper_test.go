package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestHadoopRule has hand-worked examples of digest section 12. Tasks 0 to 3 last 100 s. Until then the average is ahead of task 4,
// which lasts d, by 0.8 t (1/100 - 1/d).
func TestHadoopRule(t *testing.T) {
	s := sched.Second
	five := []*sched.JobSpec{policytest.Tasks(5)}
	tellAll(t, []policytest.Story{
		// d = 1000: 0.0072 t >= 0.2 from 27.8 s on, but it is not 60 s old before 60 s
		{Name: "lag", Policy: "hadoop", Machines: 6, Jobs: five, Lasts: policytest.Repeat(100*s, 4, 1000*s), Again: 10 * s, Reports: 3 * s,
			Want: []string{"1m0s t4 #1 m5"}},
		{Name: "gap, by reports", Policy: "hadoop:lag=10s", Machines: 6, Jobs: five, Lasts: policytest.Repeat(100*s, 4, 1000*s), Again: 10 * s, Reports: 3 * s,
			Want: []string{"30s t4 #1 m5"}},
		{Name: "gap, by rates", Policy: "hadoop:lag=10s", Machines: 6, Jobs: five, Lasts: policytest.Repeat(100*s, 4, 1000*s), Again: 10 * s, Rate: true,
			Want: []string{"30s t4 #1 m5"}},
		{Name: "gap, by rates and a quicker heart", Policy: "hadoop:lag=10s,heartbeat=1s", Machines: 6, Jobs: five, Lasts: policytest.Repeat(100*s, 4, 1000*s),
			Again: 10 * s, Rate: true, Want: []string{"28s t4 #1 m5"}},
		{Name: "no slot before 100 s", Policy: "hadoop", Machines: 5, Jobs: five, Lasts: policytest.Repeat(100*s, 4, 1000*s), Again: 10 * s, Reports: 3 * s,
			Want: []string{"1m40s t4 #1 m0"}},
		// d = 140: 0.8 t (1/100 - 1/140) >= 0.2 from 87.5 s on
		{Name: "in time", Policy: "hadoop", Machines: 6, Jobs: five, Lasts: policytest.Repeat(100*s, 4, 140*s), Again: 10 * s, Reports: 3 * s,
			Want: []string{"1m30s t4 #1 m5"}},
		// d = 130: 0.185 behind at 100 s, when the others are done, and never more
		{Name: "too far to qualify", Policy: "hadoop", Machines: 6, Jobs: five, Lasts: policytest.Repeat(100*s, 4, 130*s), Again: 10 * s, Reports: 3 * s},
		// task 9 starts at 1000 s; tasks 5 to 8, which start at 100 s, never have anyone far ahead: what waits counts 0
		{Name: "waiting tasks count 0", Policy: "hadoop", Machines: 5, Jobs: []*sched.JobSpec{policytest.Tasks(10)},
			Lasts: policytest.Repeat(100*s, 4, 1000*s), Again: 10 * s, Reports: 3 * s, Want: []string{"18m20s t9 #1 m0"}},
		{Name: "equally slow, in order; two attempts at most", Policy: "hadoop:lag=10s", Machines: 8,
			Jobs: []*sched.JobSpec{policytest.Tasks(6)}, Lasts: policytest.Repeat(100*s, 4, 1000*s), Again: 500 * s, Reports: 10 * s,
			// two of six: the average is ahead by 4/6 t (1/100 - 1/1000) = 0.006 t: told at 40 s, seen at the next heartbeat
			Want: []string{"42s t4 #1 m6", "42s t5 #1 m7"}},
	})
}
