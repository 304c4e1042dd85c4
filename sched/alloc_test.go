package sched

import "testing"

// A core that has grown to its workload allocates nothing, whatever the policy: one attempt ends, another begins.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	if checking {
		t.Skip("Check allocates")
	}
	const machines, tasks = 8, 3000
	c := New(greedy{}, NoLimits())
	facts := make([]Event, 0, machines+1)
	for range machines {
		m, err := c.AddMachine(0, 1)
		if err != nil {
			t.Fatal(err)
		}
		facts = append(facts, Event{Kind: MachineJoined, Machine: m})
	}
	j, err := c.Submit(&JobSpec{Stages: []StageSpec{{Tasks: tasks}}})
	if err != nil {
		t.Fatal(err)
	}
	facts = append(facts, Event{Kind: JobArrived, Job: j})
	now, task := Time(0), TaskID(0)
	step := func() {
		out, err := c.Advance(now, facts)
		if err != nil || len(out) == 0 {
			t.Fatal("nothing was decided:", err)
		}
		a, _ := c.View().FirstAttempt(task)
		now++
		task++
		facts = append(facts[:0], Event{At: now, Kind: AttemptDone, Attempt: a})
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Errorf("%v allocations per call of Advance", n)
	}
}
