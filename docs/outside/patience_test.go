package main

import (
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

func TestContract(t *testing.T) {
	policytest.Run(t, &entry, "after=5s", "after=0s,order=fair")
	policytest.Stragglers(t, policytest.Of(t, &entry, "after=15s"))
}

// What runs for 60 s gets a clone.
func TestStories(t *testing.T) {
	s, build := sched.Second, policytest.Build(&entry)
	policytest.Tell(t, build, []policytest.Story{
		{Name: "a straggler", Machines: 4, Jobs: []*sched.JobSpec{policytest.Tasks(3)},
			Lasts: []sched.Time{10 * s, 60 * s, 100 * s}, Again: 10 * s, Want: []string{"1m0s t2 #1 m0"}},
		{Name: "no free slot before 80 s", Machines: 2, Jobs: []*sched.JobSpec{policytest.Tasks(2)},
			Lasts: []sched.Time{80 * s, 200 * s}, Again: 10 * s, Want: []string{"1m20s t1 #1 m0"}},
	})
}
