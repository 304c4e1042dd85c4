package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestMantri has hand-worked examples of digest section 16, with Delta = 10 s. Tasks last 10 s but for task 3, so at 10 s three have won: E[t_new] = 10 s, and so is
// every quantile. Drivers tell rates.
func TestMantri(t *testing.T) {
	s := sched.Second
	four, eight := []*sched.JobSpec{policytest.Tasks(4)}, []*sched.JobSpec{policytest.Tasks(8)}
	slow := func(d sched.Time) []sched.Time { return []sched.Time{10 * s, 10 * s, 10 * s, d, 10 * s} }
	tellAll(t, []policytest.Story{
		// tnew=all: with rates E[t_new] is (3 x 10 + 100)/4 = 32.5 s from the start, and t_rem = 100 s > E[t_new] + 30 s
		{Name: "all attempts", Policy: "mantri:copies=2", Machines: 5, Jobs: four, Lasts: slow(100 * s), Again: 85 * s, Rate: true, Want: []string{"0s t3 #1 m4"}},
		// more than a quarter of 10, 10, 10 and 21 s is below 21 s/2, and not below 20 s/2
		{Name: "all attempts, the rule with delta", Policy: "mantri-dup:copies=2", Machines: 5, Jobs: four, Lasts: slow(21 * s), Again: 10 * s, Rate: true,
			Want: []string{"0s t3 #1 m4"}},
		{Name: "all attempts, the rule with delta, just not", Policy: "mantri-dup:copies=2", Machines: 5, Jobs: four, Lasts: slow(20 * s), Again: 10 * s, Rate: true},
		// tasks wait: t_rem > E[t_new] + Delta = 20 s
		{Name: "restart", Policy: "mantri:tnew=finished", Machines: 4, Jobs: eight, Lasts: slow(100 * s), Again: 10 * s, Rate: true, Want: []string{"10s t3 #1 m0"}},
		{Name: "restart, just not", Policy: "mantri:tnew=finished,delta=1", Machines: 4, Jobs: eight, Lasts: slow(30 * s), Again: 10 * s, Rate: true},
		{Name: "restart, just", Policy: "mantri:tnew=finished,delta=1", Machines: 4, Jobs: eight, Lasts: slow(31 * s), Again: 10 * s, Rate: true,
			Want: []string{"10s t3 #1 m0"}},
		// tasks wait: more than a quarter of t_new is below t_rem/2, so t_rem > 20 s
		{Name: "duplicate", Policy: "mantri:tnew=finished,restart=false", Machines: 4, Jobs: eight, Lasts: slow(31 * s), Again: 10 * s, Rate: true,
			Want: []string{"10s t3 #1 m0"}},
		{Name: "duplicate, just not", Policy: "mantri:tnew=finished,restart=false", Machines: 4, Jobs: eight, Lasts: slow(30 * s), Again: 10 * s, Rate: true},
		{Name: "duplicate by reports", Policy: "mantri:tnew=finished,restart=false", Machines: 4, Jobs: eight, Lasts: slow(31 * s), Again: 10 * s, Reports: 3 * s,
			Want: []string{"10s t3 #1 m0"}},
		// no report: from 10 s on, the mean, t_rem is the age, looked at every 10 s and, when nothing ends any more, at 55 s; nothing waits from 20 s on
		{Name: "silence", Policy: "mantri:tnew=finished", Machines: 4, Jobs: eight, Lasts: slow(100 * s), Again: 10 * s, Want: []string{"55s t3 #1 m0"}},
		// nothing waits: t_rem - t_new > 3 Delta, so t_rem > 40 s
		{Name: "idle slot", Policy: "mantri:tnew=finished", Machines: 4, Jobs: four, Lasts: slow(51 * s), Again: 10 * s, Rate: true, Want: []string{"10s t3 #1 m0"}},
		{Name: "idle slot, just not", Policy: "mantri:tnew=finished", Machines: 4, Jobs: four, Lasts: slow(50 * s), Again: 10 * s, Rate: true},
		{Name: "idle slot, the rule with delta", Policy: "mantri-dup:tnew=finished", Machines: 4, Jobs: four, Lasts: slow(31 * s), Again: 10 * s, Rate: true,
			Want: []string{"10s t3 #1 m0"}},
		{Name: "idle slot, the rule with delta, just not", Policy: "mantri-dup:tnew=finished", Machines: 4, Jobs: four, Lasts: slow(30 * s), Again: 10 * s, Rate: true},
		// attempts end at 100 s, 95 s; then one a period, the slowest of three, is killed in favour of another as long as 95 s - now > 40 s
		{Name: "at most three, two of them for long", Policy: "mantri:tnew=finished", Machines: 5, Jobs: four, Lasts: slow(100 * s), Again: 85 * s, Rate: true,
			Want: []string{"10s t3 #1 m0", "20s t3 #2 m1", "30s t3 #3 m1", "40s t3 #4 m1", "50s t3 #5 m1"}},
		{Name: "at most two", Policy: "mantri:tnew=finished,copies=2", Machines: 5, Jobs: four, Lasts: slow(100 * s), Again: 85 * s, Rate: true,
			Want: []string{"10s t3 #1 m0"}},
		// restarted at 10 s and at 20 s, when it would end at 120 s; then it is duplicated: 120 s - 30 s > 20 s
		{Name: "restarts are numbered", Policy: "mantri:tnew=finished,restarts=2,rho=1e6", Machines: 4, Jobs: []*sched.JobSpec{policytest.Tasks(12)}, Lasts: slow(100 * s), Again: 100 * s,
			Rate: true, Want: []string{"10s t3 #1 m0", "20s t3 #2 m1", "30s t3 #3 m0"}},
	})
}
