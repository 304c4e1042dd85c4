package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// TestBackup has hand-worked examples of digest section 11: the preset backup, the single fork keep(0.05, 1).
func TestBackup(t *testing.T) {
	s := sched.Second
	tellAll(t, []story{
		// two of forty are left at 10 s
		{name: "once, all that are left", policy: "backup", machines: 40, jobs: []*sched.JobSpec{tasks(40)}, lasts: repeat(10*s, 38, 100*s), again: 50 * s,
			want: []string{"10s t38 #1 m0", "10s t39 #1 m1"}},
		{name: "not before", policy: "backup", machines: 40, jobs: []*sched.JobSpec{tasks(40)}, lasts: repeat(10*s, 37, 100*s, 100*s, 100*s), again: 50 * s},
		// 40 tasks on 39 machines: when 38 are done at 10 s, task 39 starts, with a backup of its own; task 38 gets its first
		{name: "what waits starts first", policy: "backup", machines: 39, jobs: []*sched.JobSpec{tasks(40)}, lasts: repeat(10*s, 38, 100*s), again: 50 * s,
			want: []string{"10s t38 #1 m1", "10s t39 #1 m2"}},
		{name: "in each phase", policy: "backup", machines: 20, jobs: []*sched.JobSpec{mapReduce(20, 20, 10*s)},
			lasts: append(repeat(10*s, 19, 40*s), repeat(10*s, 19, 90*s)...), again: 20 * s,
			want: []string{"10s t19 #1 m0", "40s t39 #1 m0"}},
		{name: "a job too small for 5 %", policy: "backup", machines: 9, jobs: []*sched.JobSpec{tasks(9)}, lasts: repeat(10*s, 8, 100*s), again: s},
	})
}
