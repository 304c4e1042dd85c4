package sim

import (
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// flows returns the flow times of a run's jobs in seconds.
func flows(t *testing.T, r *Result) (all []float64) {
	t.Helper()
	for _, j := range r.Jobs {
		all = append(all, (j.Completion - j.Arrival).Seconds())
	}
	return all
}

const two = `{"arrival_seconds":1,"stages":[{"durations_seconds":[10]}]}
{"arrival_seconds":4.5,"stages":[{"durations_seconds":[10]}]}`

// TestInterval: what happens between two decisions is known at the second.
func TestInterval(t *testing.T) {
	r := simulate(t, load(t, two), greedy{}, Options{Machines: 2, Overheads: Overheads{Interval: 3 * sched.Second}, Check: true})
	// The first job begins at its arrival, 1 s, and its end at 11 s is known at 13 s; the second begins at 7 s instead of 4.5 s, and ends at 17 s,
	// which is known at 19 s.
	if got := flows(t, r); got[0] != 12 || got[1] != 14.5 {
		t.Errorf("flow times %v, want 12 and 14.5", got)
	}
}

// TestHeartbeat: an attempt begins and ends with a heartbeat of its machine, so that it lasts whole numbers of them.
func TestHeartbeat(t *testing.T) {
	sum := 0.0
	for seed := range uint64(200) {
		r := simulate(t, load(t, two), greedy{}, Options{Machines: 2, Overheads: Overheads{Heartbeat: 3 * sched.Second}, Seed: seed, Check: true})
		for _, flow := range flows(t, r) {
			if flow < 12 || flow >= 15 {
				t.Fatalf("a flow time of %v, want 4 heartbeats and part of one", flow)
			}
			sum += flow / 400
		}
	}
	if sum < 13.3 || sum > 13.7 {
		t.Errorf("mean flow time %v, want about 13.5", sum)
	}
}

// TestKillDelay: the slot of an attempt that is killed serves the next one later, others do at once.
func TestKillDelay(t *testing.T) {
	o := Options{Machines: 1, Overheads: Overheads{Kill: 2 * sched.Second}, Check: true}
	p := &startsAnew{at: 4 * sched.Second}
	if r := simulate(t, load(t, `{"stages":[{"durations_seconds":[10]}]}`), p, o); r.End != 16*sched.Second {
		t.Errorf("one slot: over at %v, want 4 s + 2 s + 10 s", r.End)
	}
	o.Slots = 2
	p = &startsAnew{at: 4 * sched.Second}
	if r := simulate(t, load(t, `{"stages":[{"durations_seconds":[10]}]}`), p, o); r.End != 14*sched.Second {
		t.Errorf("two slots: over at %v, want 4 s + 10 s", r.End)
	}
}

// startsAnew launches the first task, kills its attempt at an instant, and launches another.
type startsAnew struct {
	at   sched.Time
	done bool
}

func (*startsAnew) Observe(*sched.View, *sched.Event) {}

func (p *startsAnew) Decide(v *sched.View, act *sched.Actions) {
	if a, ok := v.FirstAttempt(0); ok && v.Now() >= p.at && !p.done {
		p.done = true
		if err := act.Kill(a, sched.Replaced); err != nil {
			panic(err)
		}
	}
	if v.Task(0).State == sched.TaskPending {
		must(act.Launch(0, 0, 0, sched.Retry))
	}
	act.WakeAt(p.at)
}

// TestWarmUp: only the first attempt of a job on a machine takes longer, and each job has a first.
func TestWarmUp(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[10,10]}]}`+"\n"+`{"stages":[{"durations_seconds":[10]}]}`)
	r := simulate(t, w, greedy{}, Options{Machines: 1, Overheads: Overheads{WarmUp: 3 * sched.Second}, Check: true})
	if got := flows(t, r); got[0] != 23 || got[1] != 36 {
		t.Errorf("flow times %v, want 23 and 36", got)
	}
}

// TestPauses: a pause each 4 s of work adds a quarter of itself for each second of it, on average.
func TestPauses(t *testing.T) {
	sum := 0.0
	for seed := range uint64(400) {
		o := Options{Machines: 1, Overheads: Overheads{Pause: sched.Second, PauseEvery: 4 * sched.Second}, Seed: seed, Check: true}
		flow := flows(t, simulate(t, load(t, `{"stages":[{"durations_seconds":[10]}]}`), greedy{}, o))[0]
		if flow != 12 && flow != 13 {
			t.Fatalf("a flow time of %v, want 2 or 3 pauses", flow)
		}
		sum += flow / 400
	}
	if sum < 12.4 || sum > 12.6 {
		t.Errorf("mean flow time %v, want about 12.5", sum)
	}
}

func TestParseOverheads(t *testing.T) {
	want := Overheads{
		Interval: sched.Second, Heartbeat: 3 * sched.Second, Kill: sched.Second / 2, WarmUp: 5 * sched.Second,
		Pause: sched.Second / 5, PauseEvery: 20 * sched.Second,
	}
	if x, err := ParseOverheads(OverheadsUsage); err != nil || x != want {
		t.Errorf("%v, %v", x, err)
	}
	for _, spec := range []string{"heartbeat", "heartbeat=0s", "heartbeat=1s,heartbeat=1s", "pause=1s", "pause=1s/x", "warmup=1s", ","} {
		if _, err := ParseOverheads(spec); err == nil || !strings.Contains(err.Error(), "expected ") {
			t.Errorf("%q: %v", spec, err)
		}
	}
}
