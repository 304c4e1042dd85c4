package sched

import "testing"

// Another policy goes on with what is left, on other slots, and with failures forgiven.
func TestHandOver(t *testing.T) {
	first := &script{}
	c := New(first, NoLimits())
	m, err := c.AddMachine(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	j, err := c.Submit(&JobSpec{Retries: 0, Stages: []StageSpec{{Tasks: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	advance := func(now Time, facts ...Event) []Decision {
		t.Helper()
		for i := range facts {
			facts[i].At = now
		}
		got, err := c.Advance(now, facts)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Check(); err != nil {
			t.Fatal(err)
		}
		return got
	}
	launch := func(task TaskID) func(*View, *Actions) {
		return func(v *View, a *Actions) {
			if _, err := a.Launch(task, m, 0, 0); err != nil {
				t.Error(err)
			}
		}
	}
	first.decide = launch(0)
	id := advance(1, Event{Kind: MachineJoined, Machine: m}, Event{Kind: JobArrived, Job: j})[0].Attempt
	first.decide = launch(1)
	advance(2, Event{Kind: AttemptDone, Attempt: id})
	if err := c.HandOver(&HandOver{Policy: &script{}}); err == nil {
		t.Error("handed over while the machine is up")
	}
	first.decide = nil
	advance(3, Event{Kind: MachineLost, Machine: m})

	second := &script{}
	for name, h := range map[string]HandOver{
		"retries": {Policy: second, Retries: -1}, "slots": {Policy: second, Slots: []int{0}}, "machines": {Policy: second, Slots: []int{1, 1}},
		"retries of a stage": {Policy: second, Stages: []*int{new(-1)}},
		"deadline":           {Policy: second, Deadline: -1},
	} {
		if err := c.HandOver(&h); err == nil {
			t.Errorf("%s out of range are taken", name)
		}
	}
	if err := c.HandOver(&HandOver{Policy: second, Limits: NoLimits(), Retries: 2, Stages: []*int{new(1)}, Deadline: 9, Slots: []int{2}}); err != nil {
		t.Fatal(err)
	}
	if len(second.seen) != 2 || second.seen[0].Kind != JobArrived || second.seen[1].Kind != StageReady {
		t.Errorf("the second policy is told %+v", second.seen)
	}
	if job := c.View().Job(j); job.Retries != 2 || job.Deadline != 9 || job.Unfinished != 2 {
		t.Errorf("job: %+v", job)
	}
	if st := c.View().Stage(0); st.Retries != 1 {
		t.Errorf("stage: %+v", st)
	}
	second.decide = func(v *View, a *Actions) {
		launch(1)(v, a)
		launch(2)(v, a)
	}
	got := advance(5, Event{Kind: MachineJoined, Machine: m})
	if len(got) != 2 || got[0].Number != 1 || got[1].Number != 0 {
		t.Errorf("decisions after it: %+v", got)
	}
	second.decide = nil
	advance(6, Event{Kind: AttemptDone, Attempt: got[0].Attempt}, Event{Kind: AttemptDone, Attempt: got[1].Attempt})
	if s := c.View().Job(j).State; s != JobSucceeded {
		t.Errorf("state %v", s)
	}
}

// script does at each call of Decide what it is told, and keeps what it observes.
type script struct {
	seen   []Event
	decide func(*View, *Actions)
}

func (s *script) Observe(_ *View, ev *Event) { s.seen = append(s.seen, *ev) }
func (s *script) Decide(v *View, a *Actions) {
	if s.decide != nil {
		s.decide(v, a)
	}
}
