package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// TestHadoopRule has hand-worked examples of digest section 12. Tasks 0 to 3 last 100 s. Until then the average is ahead of task 4,
// which lasts d, by 0.8 t (1/100 - 1/d).
func TestHadoopRule(t *testing.T) {
	s := sched.Second
	five := []*sched.JobSpec{tasks(5)}
	tellAll(t, []story{
		// d = 1000: 0.0072 t >= 0.2 from 27.8 s on, but it is not 60 s old before 60 s
		{name: "lag", policy: "hadoop", machines: 6, jobs: five, lasts: repeat(100*s, 4, 1000*s), again: 10 * s, reports: 3 * s,
			want: []string{"1m0s t4 #1 m5"}},
		{name: "gap, by reports", policy: "hadoop:lag=10s", machines: 6, jobs: five, lasts: repeat(100*s, 4, 1000*s), again: 10 * s, reports: 3 * s,
			want: []string{"30s t4 #1 m5"}},
		{name: "gap, by rates", policy: "hadoop:lag=10s", machines: 6, jobs: five, lasts: repeat(100*s, 4, 1000*s), again: 10 * s, rate: true,
			want: []string{"30s t4 #1 m5"}},
		{name: "gap, by rates and a quicker heart", policy: "hadoop:lag=10s,heartbeat=1s", machines: 6, jobs: five, lasts: repeat(100*s, 4, 1000*s),
			again: 10 * s, rate: true, want: []string{"28s t4 #1 m5"}},
		{name: "no slot before 100 s", policy: "hadoop", machines: 5, jobs: five, lasts: repeat(100*s, 4, 1000*s), again: 10 * s, reports: 3 * s,
			want: []string{"1m40s t4 #1 m0"}},
		// d = 140: 0.8 t (1/100 - 1/140) >= 0.2 from 87.5 s on
		{name: "in time", policy: "hadoop", machines: 6, jobs: five, lasts: repeat(100*s, 4, 140*s), again: 10 * s, reports: 3 * s,
			want: []string{"1m30s t4 #1 m5"}},
		// d = 130: 0.185 behind at 100 s, when the others are done, and never more
		{name: "too far to qualify", policy: "hadoop", machines: 6, jobs: five, lasts: repeat(100*s, 4, 130*s), again: 10 * s, reports: 3 * s},
		// task 9 starts at 1000 s; tasks 5 to 8, which start at 100 s, never have anyone far ahead: what waits counts 0
		{name: "waiting tasks count 0", policy: "hadoop", machines: 5, jobs: []*sched.JobSpec{tasks(10)},
			lasts: repeat(100*s, 4, 1000*s), again: 10 * s, reports: 3 * s, want: []string{"18m20s t9 #1 m0"}},
		{name: "equally slow, in order; two attempts at most", policy: "hadoop:lag=10s", machines: 8,
			jobs: []*sched.JobSpec{tasks(6)}, lasts: repeat(100*s, 4, 1000*s), again: 500 * s, reports: 10 * s,
			// two of six: the average is ahead by 4/6 t (1/100 - 1/1000) = 0.006 t: told at 40 s, seen at the next heartbeat
			want: []string{"42s t4 #1 m6", "42s t5 #1 m7"}},
	})
}
