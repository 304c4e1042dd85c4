package sched

import "testing"

// greedy is the least policy that finishes jobs: the first waiting task goes to the first free machine.
type greedy struct{}

func (greedy) Observe(*View, *Event) {}
func (greedy) Decide(v *View, act *Actions) {
	for {
		m, ok := v.FreeMachine(0)
		s, waiting := v.WaitingStage(0)
		if !ok || !waiting {
			break
		}
		t, _ := v.PendingTask(s, 0)
		if _, err := act.Launch(t, m, 0, Original); err != nil {
			panic(err)
		}
	}
}

func TestTwoStagesInOrder(t *testing.T) {
	c := New(greedy{}, DefaultLimits())
	m, err := c.AddMachine(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	j, err := c.Submit(&JobSpec{Stages: []StageSpec{{Tasks: 3}, {Tasks: 1}}, Edges: []Edge{{From: 0, To: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	now := Time(0)
	d, err := c.Advance(now, []Event{{Kind: JobArrived, Job: j}, {Kind: MachineJoined, Machine: m}})
	for steps := 0; c.View().Job(j).State == JobActive; steps++ {
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		if steps > 10 {
			t.Fatal("the job does not end")
		}
		now += Second
		var facts []Event
		for row := range c.view.attempts {
			if a := &c.view.attempts[row]; a.running {
				facts = append(facts, Event{At: now, Kind: AttemptDone, Attempt: attemptID(int32(row), a.gen)})
			}
		}
		d, err = c.Advance(now, facts)
	}
	if now != 3*Second {
		t.Errorf("job ended at %v, want 3s: two waves of maps, one reduce", now)
	}
	if last := d[len(d)-1]; last.Kind != Close || c.View().Job(j).Fruitful != 4*Second {
		t.Errorf("last decision %+v, fruitful %v", last, c.View().Job(j).Fruitful)
	}
}
