package live

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// fickle does at random whatever a policy may do.
type fickle struct{ draw *rand.Rand }

func (p *fickle) Observe(*sched.View, *sched.Event) {}

func (p *fickle) Decide(v *sched.View, act *sched.Actions) {
	for range p.draw.IntN(6) {
		s, ok := v.WaitingStage(sched.StageID(p.draw.IntN(4)))
		m, free := v.FreeMachine(sched.MachineID(p.draw.IntN(2)))
		if !ok || !free {
			break
		}
		if t, ok := v.PendingTask(s, 0); ok {
			_, _ = act.Launch(t, m, 0, sched.Original)
		}
	}
	for s := range sched.StageID(6) {
		t, ok := v.RunningTask(s, 0)
		if !ok {
			continue
		}
		a, _ := v.FirstAttempt(t)
		switch m, free := v.FreeMachine(0); p.draw.IntN(8) {
		case 0:
			_ = act.Kill(a, sched.Share)
		case 1:
			if free {
				_, _ = act.Launch(t, m, 0, sched.Cloning)
			}
		}
	}
	if j, ok := v.ActiveJob(0); ok && p.draw.IntN(25) == 0 {
		_ = act.Cancel(j)
	}
	if p.draw.IntN(3) == 0 {
		act.WakeAt(v.Now() + sched.Time(p.draw.IntN(50)))
	}
}

// Whatever was decided, the script has the same decided again.
func TestScript(t *testing.T) {
	kinds := map[sched.DecisionKind]int{}
	for seed := range uint64(200) {
		draw := rand.New(rand.NewPCG(seed, 7))
		s := &script{}
		limits := sched.DefaultLimits()
		first, second := sched.New(&fickle{draw: draw}, limits), sched.New(s, limits)
		facts := []sched.Event{}
		for _, c := range []*sched.Core{first, second} {
			for range 2 {
				if _, err := c.AddMachine(0, 2); err != nil {
					t.Fatal(err)
				}
			}
			for range 3 {
				if _, err := c.Submit(&sched.JobSpec{Retries: 2, Stages: []sched.StageSpec{{Tasks: 3}, {Tasks: 2}}, Edges: []sched.Edge{{To: 1}}}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for j := range sched.JobID(3) {
			facts = append(facts, sched.Event{Kind: sched.JobArrived, Job: j})
		}
		facts = append(facts, sched.Event{Kind: sched.MachineJoined}, sched.Event{Kind: sched.MachineJoined, Machine: 1})
		now := sched.Time(0)
		for range 60 {
			want, err := first.Advance(now, slices.Clone(facts))
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				kinds[want[i].Kind]++
			}
			s.next = slices.Clone(want)
			got, err := second.Advance(now, slices.Clone(facts))
			if err != nil || !slices.Equal(want, got) || len(s.next) > 0 {
				t.Fatalf("seed %d at %v: %+v decided again as %+v, %v; left %+v", seed, now, want, got, err, s.next)
			}
			now += sched.Time(1 + draw.IntN(30))
			facts = facts[:0]
			for task := range sched.TaskID(15) {
				a, ok := first.View().FirstAttempt(task)
				switch {
				case !ok || draw.IntN(3) > 0:
				case draw.IntN(4) == 0:
					facts = append(facts, sched.Event{At: now, Kind: sched.AttemptFailed, Attempt: a})
				default:
					facts = append(facts, sched.Event{At: now, Kind: sched.AttemptDone, Attempt: a})
				}
			}
			if draw.IntN(20) == 0 {
				m := sched.MachineID(draw.IntN(2))
				facts = append(facts, sched.Event{At: now - 1, Kind: sched.MachineLost, Machine: m}, sched.Event{At: now, Kind: sched.MachineJoined, Machine: m})
			}
			if draw.IntN(30) == 0 {
				facts = append(facts, sched.Event{At: now, Kind: sched.JobPaused, Job: 1}, sched.Event{At: now, Kind: sched.JobRetried, Job: 0})
			}
			if draw.IntN(30) == 0 {
				facts = append(facts, sched.Event{At: now, Kind: sched.JobContinued, Job: 1})
			}
		}
	}
	for k := sched.Launch; k <= sched.Wake; k++ {
		if kinds[k] < 200 {
			t.Errorf("%d times %v", kinds[k], k)
		}
	}
}

// A journal that a killed engine has left can be taken up by one whose policy of the same name decides otherwise.
func TestEngineOfAnotherVersion(t *testing.T) {
	old, young := newFarm(t, 3), newFarm(t, 3)
	old.patience, young.patience = 20*ms, 5*ms
	slow := func(_ *Job, a Attempt) fate { return fate{takes: 50 * ms} }
	old.fate, young.fate = slow, slow
	tale(t, old, func(t *testing.T) {
		young.t = t
		ctx, cancel := context.WithCancel(t.Context())
		s := old.start(ctx)
		s.submit(t, jobOf("one", 4))
		time.Sleep(120 * ms)
		data, err := os.ReadFile(trace.SegmentPath(old.folder, 1))
		if err == nil {
			err = os.MkdirAll(young.folder, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(young.folder, "000001"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		s.stop(t)
		if _, err := Chain([]string{trace.SegmentPath(young.folder, 1)}, young.policies, nil); err == nil {
			t.Error("the policies decide alike, and this test shows nothing")
		}
		young.disks = old.disks
		young.disk("one").started = map[place]bool{} // what the first engine did after it was copied
		ctx, cancel = context.WithCancel(t.Context())
		s = young.start(ctx)
		time.Sleep(time.Second)
		if got := s.states(t)["one"]; got != "succeeded" {
			t.Error(got)
		}
		cancel()
		s.stop(t)
	})
}
