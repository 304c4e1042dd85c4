package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestBackup has hand-worked examples of digest section 11: the preset backup, the single fork keep(0.05, 1).
func TestBackup(t *testing.T) {
	s := sched.Second
	tellAll(t, []policytest.Story{
		// two of forty are left at 10 s
		{Name: "once, all that are left", Policy: "backup", Machines: 40, Jobs: []*sched.JobSpec{policytest.Tasks(40)}, Lasts: policytest.Repeat(10*s, 38, 100*s), Again: 50 * s,
			Want: []string{"10s t38 #1 m0", "10s t39 #1 m1"}},
		{Name: "not before", Policy: "backup", Machines: 40, Jobs: []*sched.JobSpec{policytest.Tasks(40)}, Lasts: policytest.Repeat(10*s, 37, 100*s, 100*s, 100*s), Again: 50 * s},
		// 40 tasks on 39 machines: when 38 are done at 10 s, task 39 starts, with a backup of its own; task 38 gets its first
		{Name: "what waits starts first", Policy: "backup", Machines: 39, Jobs: []*sched.JobSpec{policytest.Tasks(40)}, Lasts: policytest.Repeat(10*s, 38, 100*s), Again: 50 * s,
			Want: []string{"10s t38 #1 m1", "10s t39 #1 m2"}},
		{Name: "in each phase", Policy: "backup", Machines: 20, Jobs: []*sched.JobSpec{mapReduce(20, 20, 10*s)},
			Lasts: append(policytest.Repeat(10*s, 19, 40*s), policytest.Repeat(10*s, 19, 90*s)...), Again: 20 * s,
			Want: []string{"10s t19 #1 m0", "40s t39 #1 m0"}},
		{Name: "a job too small for 5 %", Policy: "backup", Machines: 9, Jobs: []*sched.JobSpec{policytest.Tasks(9)}, Lasts: policytest.Repeat(10*s, 8, 100*s), Again: s},
	})
}
