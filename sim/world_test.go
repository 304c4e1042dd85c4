package sim

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// greedy is a policy for tests: first come, first served. With clones it uses idle slots for second attempts, lowest
// task first.
type greedy struct{ clones bool }

func (greedy) Observe(*sched.View, *sched.Event) {}

func (g greedy) Decide(v *sched.View, act *sched.Actions) {
	for {
		m, free := v.FreeMachine(0)
		s, waiting := v.WaitingStage(0)
		if !free || !waiting {
			break
		}
		t, _ := v.PendingTask(s, 0)
		must(act.Launch(t, m, 0, sched.Original))
	}
	if g.clones {
		g.clone(v, act)
	}
}

func (greedy) clone(v *sched.View, act *sched.Actions) {
	for s := range sched.StageID(v.Rows().Stages()) {
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			m, free := v.FreeMachine(0)
			if !free || v.CloneRoom() == 0 {
				return
			}
			if v.AttemptRoom(t) > 0 && v.Task(t).Live == 1 {
				must(act.Launch(t, m, 0, sched.Cloning))
			}
		}
	}
}

func must(_ sched.AttemptID, err error) {
	if err != nil {
		panic(err)
	}
}

func load(t testing.TB, text string) *trace.Workload {
	t.Helper()
	w, err := trace.Read(strings.NewReader(text), "test", 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func synth(t testing.TB, spec string) *trace.Workload {
	t.Helper()
	w, err := trace.Synthesize(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func model(t testing.TB, spec string) Model {
	t.Helper()
	m, err := ParseService(spec)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func simulate(t testing.TB, w *trace.Workload, p sched.Policy, o Options) *Result {
	t.Helper()
	if o.Limits == (sched.Limits{}) {
		o.Limits = sched.DefaultLimits()
	}
	r, err := Run(context.Background(), w, p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// drawWorkload makes small messy workloads: several stages, every kind of edge, durations of zero, ties in arrivals
// and durations.
func drawWorkload(t *rapid.T) *trace.Workload {
	var text bytes.Buffer
	arrival := 0
	for range rapid.IntRange(1, 8).Draw(t, "jobs") {
		arrival += rapid.IntRange(0, 3).Draw(t, "gap")
		fmt.Fprintf(&text, `{"arrival_seconds":%d,"deadline_seconds":6,"stages":[`, arrival)
		n := rapid.IntRange(1, 4).Draw(t, "tasks")
		for s := range rapid.IntRange(1, 3).Draw(t, "stages") {
			tasks := rapid.SliceOfN(rapid.IntRange(0, 4), n, n).Draw(t, "durations")
			list := strings.ReplaceAll(fmt.Sprint(tasks), " ", ",")
			edge := ""
			if s > 0 {
				from := rapid.IntRange(0, s-1).Draw(t, "from")
				edge = []string{
					"", fmt.Sprintf(`,"after":["%d"]`, from), fmt.Sprintf(`,"after_each":["%d"]`, from),
					fmt.Sprintf(`,"after_tasks":[{"stage":"%d","pairs":[[0,%d]]}]`, from, n-1),
				}[rapid.IntRange(0, 3).Draw(t, "edge")]
				fmt.Fprint(&text, ",")
			}
			fmt.Fprintf(&text, `{"durations_seconds":%s,"need":%d,"resumable":true%s}`, list, rapid.IntRange(0, n).Draw(t, "need"), edge)
		}
		fmt.Fprintln(&text, "]}")
	}
	w, err := trace.Read(&text, "drawn", 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// drawOptions makes a cluster with every kind of service, progress and faults, and the core's invariants checked
// after each step.
func drawOptions(t *rapid.T) Options {
	const shared = "capacity:law=(twopoint:lo=0.2,hi=2,p=0.5),slot=500ms,checkpoint=true"
	spec := rapid.SampledFrom([]string{
		"resample", "sx", "machine:keep=1s", "det:value=0", "exp:mean=2", "capacity:law=(uniform:lo=0,hi=2),slot=1s", shared,
	}).Draw(t, "service")
	m, err := ParseService(spec)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Machines: rapid.IntRange(1, 4).Draw(t, "machines"), Slots: rapid.IntRange(1, 2).Draw(t, "slots"), Model: m, Check: true,
		Limits: sched.DefaultLimits(), Seed: rapid.Uint64().Draw(t, "seed"),
		Speed: rapid.SampledFrom([]float64{1, 2}).Draw(t, "speed"), LaunchDelay: rapid.SampledFrom([]sched.Time{0, sched.Second}).Draw(t, "delay"),
	}
	if spec == shared {
		o.LaunchDelay = 0
	} else if o.LaunchDelay == 0 {
		o.Wait = rapid.SampledFrom([]laws.Law{nil, laws.Deterministic{}, laws.TwoPoint{Lo: 0, Hi: 3, P: 0.5}}).Draw(t, "wait")
	}
	if rapid.Bool().Draw(t, "sizes") {
		o.Sizes = rapid.SliceOfN(rapid.IntRange(1, 3), o.Machines, o.Machines).Draw(t, "size")
	}
	if rapid.Bool().Draw(t, "faults") {
		o.Faults = Faults{MTBF: 20 * sched.Second, MTTR: 2 * sched.Second}
	}
	if spec != shared && rapid.Bool().Draw(t, "overheads") {
		o.Overheads = Overheads{
			Interval:  rapid.SampledFrom([]sched.Time{0, sched.Second, 700 * sched.Second / 1000}).Draw(t, "interval"),
			Heartbeat: rapid.SampledFrom([]sched.Time{0, sched.Second}).Draw(t, "heartbeat"),
			Kill:      rapid.SampledFrom([]sched.Time{0, sched.Second / 3}).Draw(t, "kill"),
			WarmUp:    rapid.SampledFrom([]sched.Time{0, sched.Second}).Draw(t, "warm-up"),
		}
		if !strings.HasPrefix(spec, "machine") && !strings.HasPrefix(spec, "capacity") {
			o.Overheads.Pause, o.Overheads.PauseEvery = sched.Second/5, sched.Second
		}
	}
	o.Progress = rapid.SampledFrom([]Progress{{}, {Exact: true, Noise: 0.3}, {Every: sched.Second / 2, Noise: 0.3}}).Draw(t, "progress")
	return o
}

func TestEverythingCompletes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, err := Run(context.Background(), drawWorkload(t), greedy{clones: rapid.Bool().Draw(t, "clones")}, drawOptions(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range r.Jobs {
			if j.Failed || j.Completion < j.Arrival {
				t.Fatalf("job %+v", j)
			}
		}
	})
}

// TestSimulatorForgets: a run in the memory of other runs, one of them broken off, is the run that it is in fresh
// memory.
func TestSimulatorForgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Simulator
		for range rapid.IntRange(1, 3).Draw(t, "runs before") {
			ctx, cancel := context.WithCancel(context.Background())
			o := drawOptions(t)
			if rapid.Bool().Draw(t, "broken off") {
				o.Tick = func(int) { cancel() }
			}
			_, err := s.Run(ctx, drawWorkload(t), greedy{clones: true}, o)
			if err != nil && ctx.Err() == nil {
				t.Fatal(err)
			}
			cancel()
		}
		w, o := drawWorkload(t), drawOptions(t)
		again, err := s.Run(context.Background(), w, greedy{clones: true}, o)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := Run(context.Background(), w, greedy{clones: true}, o)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(fresh, again); d != "" {
			t.Fatal(d)
		}
	})
}

func TestStuckRunIsAnError(t *testing.T) {
	for name, p := range map[string]sched.Policy{"lazy": lazy{}, "busy": lazy{wake: true}} {
		_, err := Run(context.Background(), load(t, "0 1 1 1\n"), p, Options{Machines: 1})
		if err == nil || !strings.HasPrefix(err.Error(), "the run is stuck at") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// lazy gives no order.
type lazy struct{ wake bool }

func (lazy) Observe(*sched.View, *sched.Event) {}

func (l lazy) Decide(v *sched.View, act *sched.Actions) {
	if l.wake {
		act.WakeAt(v.Now() + 1)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Run(ctx, synth(t, "synth:jobs=1000"), greedy{}, Options{Machines: 10, Limits: sched.DefaultLimits()})
	if err != context.Canceled {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}
