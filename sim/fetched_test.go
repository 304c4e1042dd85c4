package sim

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

// fetchSpy is greedy and keeps what it is told of fetches. With clones, each task gets an attempt on every machine.
type fetchSpy struct {
	greedy
	told   []sched.Event
	clones bool
}

func (p *fetchSpy) Observe(v *sched.View, ev *sched.Event) {
	if ev.Kind == sched.DataFetched {
		x := *ev
		x.Attempt = 0
		p.told = append(p.told, x)
	}
}

func (p *fetchSpy) Decide(v *sched.View, act *sched.Actions) {
	p.greedy.Decide(v, act)
	for t := sched.TaskID(0); p.clones && int(t) < v.Rows().Tasks(); t++ {
		for m, ok := v.FreeMachine(0); ok && v.Task(t).State == sched.TaskRunning; m, ok = v.FreeMachine(m + 1) {
			if _, err := act.Launch(t, m, 0, sched.Cloning); err != nil {
				panic(err)
			}
		}
	}
}

// What attempts fetch is told: 1000 bytes from a to b, 3 s + 10 s, when the attempt ends, or if it was killed, with the next thing that happens; where links are shared, when the
// last byte leaves. An attempt that was killed before it had all tells nothing.
func TestFetchesAreTold(t *testing.T) {
	const (
		short = `{"stages":[{"durations_seconds":[4],"inputs":[[{"site":"a","bytes":1000}]]},{"durations_seconds":[1],"after":[{"stage":"0"}]}]}`
		long  = `{"stages":[{"durations_seconds":[40],"inputs":[[{"site":"a","bytes":1000}]]},{"durations_seconds":[1],"after":[{"stage":"0"}]}]}`
		both  = `{"stages":[{"durations_seconds":[40,40],"inputs":[[{"site":"a","bytes":1000}]]}]}`
	)
	fetch := func(at sched.Time, task sched.TaskID) sched.Event {
		return sched.Event{At: at * sched.Second, Kind: sched.DataFetched, Machine: 1, Site: 0, Bytes: 1000, Span: 13 * sched.Second, Task: task}
	}
	for _, c := range []struct {
		name, jobs     string
		clones, shared bool
		want           []sched.Event
	}{
		{"done", both, false, false, []sched.Event{fetch(53, 1)}},
		{"lost", long, true, false, []sched.Event{fetch(20, 0)}}, // done at a after 20 s; told just after, when the attempt is gone
		{"lost while it fetches", short, true, false, nil},
		{"shared", both, false, true, []sched.Event{fetch(10, 1)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := twoSites()
			cluster.Network.Shared = c.shared
			p := &fetchSpy{clones: c.clones}
			if _, err := new(Simulator).Run(t.Context(), load(t, c.jobs), p, Options{Cluster: cluster, Limits: sched.NoLimits()}); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, p.told); d != "" {
				t.Error(d)
			}
		})
	}
}
