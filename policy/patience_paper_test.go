package policy

import (
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// TestPatience: what runs for 60 s gets a clone. What a story wants is every clone: when, of which task, number and machine.
func TestPatience(t *testing.T) {
	s := sched.Second
	tell(t, func(params string) (sched.Policy, error) { return built(&patienceEntry, params), nil }, []story{
		{name: "a straggler", machines: 4, jobs: []*sched.JobSpec{tasks(3)},
			lasts: []sched.Time{10 * s, 60 * s, 100 * s}, again: 10 * s, want: []string{"1m0s t2 #1 m0"}},
		{name: "no slot for it before 80 s", machines: 2, jobs: []*sched.JobSpec{tasks(2)},
			lasts: []sched.Time{80 * s, 200 * s}, again: 10 * s, want: []string{"1m20s t1 #1 m0"}},
	})
}
