package policytest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

// bad is a policy in order of arrival, made worse by decide, which is called before the order gives slots away; if it answers false that is left out.
type bad struct {
	arrivals
	decide func(v *sched.View, act *sched.Actions) bool
}

func (p *bad) Decide(v *sched.View, act *sched.Actions) {
	if p.decide(v, act) {
		p.arrivals.Decide(v, act)
	}
}

// verdict stands in for a test that may fail.
type verdict struct {
	testing.TB
	said string
}

func (v *verdict) Helper()                           {}
func (v *verdict) Errorf(format string, args ...any) { v.said += fmt.Sprintf(format, args...) + "\n" }
func (v *verdict) Fatal(args ...any)                 { v.said += fmt.Sprint(args...); runtime.Goexit() }
func (v *verdict) Fatalf(format string, args ...any) { v.Errorf(format, args...); runtime.Goexit() }

// TestBatteryFindsWhatIsWrong: each check fails for a policy that breaks what it is about, and says so.
func TestBatteryFindsWhatIsWrong(t *testing.T) {
	calls, sink := 0, []byte(nil)
	nothing := func(*sched.View, *sched.Actions) bool { return true }
	for _, c := range []struct {
		name   string
		check  func(t testing.TB, s *Subject)
		decide func(v *sched.View, act *sched.Actions) bool
		want   string // "" for nothing wrong
	}{
		{"in order", worlds, nothing, ""},
		{"idle", worlds, func(*sched.View, *sched.Actions) bool { return false }, "has a free slot, and a task of stage"},
		{"one at a time", worlds, func(v *sched.View, _ *sched.Actions) bool { return v.Cluster().Live() == 0 }, "has a free slot, and a task of stage"},
		{"clones without asking", worlds, func(v *sched.View, act *sched.Actions) bool {
			if m, ok := v.FreeMachine(0); ok {
				for s := range sched.StageID(v.Rows().Stages()) {
					if task, ok := v.RunningTask(s, 0); ok {
						kit.Launch(act, task, m, 0, sched.Cloning)
						return true
					}
				}
			}
			return true
		}, "panic"},
		{"other decisions the second time", worlds, func(v *sched.View, act *sched.Actions) bool {
			calls++
			act.WakeAt(v.Now() + sched.Time(1000+calls))
			return v.Cluster().Unfinished() > 0
		}, "not the same decisions"},
		{"allocates", AllocatesNothing, func(*sched.View, *sched.Actions) bool { sink = make([]byte, 100); return true }, "allocations per step"},
		{"does not", AllocatesNothing, nothing, ""},
		{"claims to need progress", func(t testing.TB, s *Subject) { s.Progress = true; Reports(t, s) }, nothing, "decides by progress: true"},
		{"finds no straggler", Stragglers, nothing, "the straggler is not cloned"},
		{"takes nothing over", func(t testing.TB, s *Subject) { HandOver(t, inOrder, s.New) }, func(*sched.View, *sched.Actions) bool { return false }, "the job is in state"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.want == "allocations per step" && !allocationsCount {
				t.Skip("others allocate, too")
			}
			v, done := &verdict{TB: t}, make(chan bool)
			go func() {
				defer close(done)
				c.check(v, &Subject{Name: c.name, WorkConserving: true, New: func() sched.Policy { return &bad{arrivals{kit.OrderOf(kit.ByArrival)}, c.decide} }})
			}()
			<-done
			if (c.want == "") != (v.said == "") || !strings.Contains(v.said, c.want) {
				t.Errorf("found %q, want %q", v.said, c.want)
			}
		})
	}
	_ = sink
}

func worlds(t testing.TB, s *Subject) {
	n := 20
	if testing.Short() { // which goes through a quarter of them
		n *= 4
	}
	Worlds(t, s, n)
}
