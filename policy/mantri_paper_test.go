package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// TestMantri has hand-worked examples of digest section 16, with Delta = 10 s. Tasks last 10 s but for task 3, so at 10 s three have won: E[t_new] = 10 s, and so is
// every quantile. Drivers tell rates.
func TestMantri(t *testing.T) {
	s := sched.Second
	four, eight := []*sched.JobSpec{tasks(4)}, []*sched.JobSpec{tasks(8)}
	slow := func(d sched.Time) []sched.Time { return []sched.Time{10 * s, 10 * s, 10 * s, d, 10 * s} }
	tellAll(t, []story{
		// tasks wait: t_rem > E[t_new] + Delta = 20 s
		{name: "restart", policy: "mantri", machines: 4, jobs: eight, lasts: slow(100 * s), again: 10 * s, rate: true, want: []string{"10s t3 #1 m0"}},
		{name: "restart, just not", policy: "mantri:delta=1", machines: 4, jobs: eight, lasts: slow(30 * s), again: 10 * s, rate: true},
		{name: "restart, just", policy: "mantri:delta=1", machines: 4, jobs: eight, lasts: slow(31 * s), again: 10 * s, rate: true,
			want: []string{"10s t3 #1 m0"}},
		// tasks wait: more than a quarter of t_new is below t_rem/2, so t_rem > 20 s
		{name: "duplicate", policy: "mantri:restart=false", machines: 4, jobs: eight, lasts: slow(31 * s), again: 10 * s, rate: true,
			want: []string{"10s t3 #1 m0"}},
		{name: "duplicate, just not", policy: "mantri:restart=false", machines: 4, jobs: eight, lasts: slow(30 * s), again: 10 * s, rate: true},
		{name: "duplicate by reports", policy: "mantri:restart=false", machines: 4, jobs: eight, lasts: slow(31 * s), again: 10 * s, reports: 3 * s,
			want: []string{"10s t3 #1 m0"}},
		// no report: from 10 s on, the mean, t_rem is the age, looked at every 10 s and, when nothing ends any more, at 55 s; nothing waits from 20 s on
		{name: "silence", policy: "mantri", machines: 4, jobs: eight, lasts: slow(100 * s), again: 10 * s, want: []string{"55s t3 #1 m0"}},
		// nothing waits: t_rem - t_new > 3 Delta, so t_rem > 40 s
		{name: "idle slot", policy: "mantri", machines: 4, jobs: four, lasts: slow(51 * s), again: 10 * s, rate: true, want: []string{"10s t3 #1 m0"}},
		{name: "idle slot, just not", policy: "mantri", machines: 4, jobs: four, lasts: slow(50 * s), again: 10 * s, rate: true},
		{name: "idle slot, the rule with delta", policy: "mantri-dup", machines: 4, jobs: four, lasts: slow(31 * s), again: 10 * s, rate: true,
			want: []string{"10s t3 #1 m0"}},
		{name: "idle slot, the rule with delta, just not", policy: "mantri-dup", machines: 4, jobs: four, lasts: slow(30 * s), again: 10 * s, rate: true},
		// attempts end at 100 s, 95 s; then one a period, the slowest of three, is killed in favour of another as long as 95 s - now > 40 s
		{name: "at most three, two of them for long", policy: "mantri", machines: 5, jobs: four, lasts: slow(100 * s), again: 85 * s, rate: true,
			want: []string{"10s t3 #1 m0", "20s t3 #2 m1", "30s t3 #3 m1", "40s t3 #4 m1", "50s t3 #5 m1"}},
		{name: "at most two", policy: "mantri:copies=2", machines: 5, jobs: four, lasts: slow(100 * s), again: 85 * s, rate: true,
			want: []string{"10s t3 #1 m0"}},
		// restarted at 10 s and at 20 s, when it would end at 120 s; then it is duplicated: 120 s - 30 s > 20 s
		{name: "restarts are numbered", policy: "mantri:restarts=2,rho=1e6", machines: 4, jobs: []*sched.JobSpec{tasks(12)}, lasts: slow(100 * s), again: 100 * s,
			rate: true, want: []string{"10s t3 #1 m0", "20s t3 #2 m1", "30s t3 #3 m0"}},
	})
}
