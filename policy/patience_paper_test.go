package policy

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestPatience: what runs for 60 s gets a clone. What a story wants is every clone: when, of which task, number and machine.
func TestPatience(t *testing.T) {
	s := sched.Second
	policytest.Tell(t, func(params string) (sched.Policy, error) { return built(&patienceEntry, params), nil }, []policytest.Story{
		{Name: "a straggler", Machines: 4, Jobs: []*sched.JobSpec{policytest.Tasks(3)},
			Lasts: []sched.Time{10 * s, 60 * s, 100 * s}, Again: 10 * s, Want: []string{"1m0s t2 #1 m0"}},
		{Name: "no slot for it before 80 s", Machines: 2, Jobs: []*sched.JobSpec{policytest.Tasks(2)},
			Lasts: []sched.Time{80 * s, 200 * s}, Again: 10 * s, Want: []string{"1m20s t1 #1 m0"}},
	})
}
