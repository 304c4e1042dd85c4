package sim

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// restless starts whatever waits and sets the speed at given instants.
type restless struct {
	greedy
	changes []change
	look    func(*sched.View) // before it decides; may be nil
}

type change struct {
	at    sched.Time
	speed float64
}

func (*restless) Paces() bool { return true }

func (p *restless) Decide(v *sched.View, act *sched.Actions) {
	if p.look != nil {
		p.look(v)
	}
	p.greedy.Decide(v, act)
	for len(p.changes) > 0 && p.changes[0].at <= v.Now() {
		if err := act.Pace(p.changes[0].speed); err != nil {
			panic(err)
		}
		p.changes = p.changes[1:]
	}
	if len(p.changes) > 0 {
		act.WakeAt(p.changes[0].at)
	}
}

// workUntil integrates the speed between two instants, exactly.
func workUntil(changes []change, from, to sched.Time) *big.Rat {
	sum, speed := new(big.Rat), 1.0
	add := func(until sched.Time) {
		if until = min(until, to); until > from {
			part := new(big.Rat).SetFloat64(speed)
			sum.Add(sum, part.Mul(part, new(big.Rat).SetInt64(int64(until-from))))
			from = until
		}
	}
	for _, c := range changes {
		add(c.at)
		speed = c.speed
	}
	add(to)
	return sum
}

// TestPaceEnds: each attempt ends at the nanosecond that is nearest to the instant at which the integral of the speed, in rational numbers, is its work,
// however often the speed changes meanwhile. What is reported on the way is the part of the work that is done, and what is forecast is the end that
// holds if nothing changes.
func TestPaceEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text strings.Builder
		n := rapid.IntRange(1, 6).Draw(t, "jobs")
		arrival := 0
		for range n {
			arrival += rapid.IntRange(0, 4).Draw(t, "gap")
			fmt.Fprintf(&text, "%d 1 1 1\n", arrival)
		}
		w, err := trace.Read(strings.NewReader(text.String()), "drawn", 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range w.Durations {
			w.Durations[i] = sched.Time(rapid.Int64Range(0, 30e9).Draw(t, "work"))
		}
		var changes []change
		at := sched.Time(0)
		for range rapid.IntRange(1, 40).Draw(t, "changes") {
			at += sched.Time(rapid.Int64Range(0, 2e9).Draw(t, "passed"))
			changes = append(changes, change{at, rapid.SampledFrom([]float64{0.1, 1. / 3, 1, 1.7, math.Pi, 10}).Draw(t, "speed")})
		}
		exact := rapid.Bool().Draw(t, "exact")
		p := &restless{changes: slices.Clone(changes)}
		p.look = func(v *sched.View) {
			for task := range sched.TaskID(v.Rows().Tasks()) {
				id, ok := v.FirstAttempt(task)
				if !ok {
					continue
				}
				a := v.Attempt(id)
				work, _ := workUntil(changes, a.Started, v.Now()).Float64()
				share := work / float64(w.Durations[task])
				if got := a.ProgressAtTime(v.Now()); exact && math.Abs(got-share) > 1e-9+5.1/float64(w.Durations[task]) { // half a nanosecond at the highest speed
					t.Fatalf("task %d at %v has done %v, and is thought to have done %v", task, v.Now(), share, got)
				}
				if reported, _ := workUntil(changes, a.Started, a.ProgressAt).Float64(); !exact && math.Abs(a.Progress*float64(w.Durations[task])-reported) > 1 {
					t.Fatalf("task %d reported %v of %v at %v, and had done %v", task, a.Progress, w.Durations[task], a.ProgressAt, reported)
				}
			}
		}
		o := Options{Machines: n, Check: true, Limits: sched.NoLimits(), Progress: Progress{Every: sched.Second}}
		if exact {
			o.Progress = Progress{Exact: true}
		}
		res, err := Run(t.Context(), w, p, o)
		if err != nil {
			t.Fatal(err)
		}
		for i := range res.Jobs {
			j := &res.Jobs[i]
			work, _ := new(big.Rat).Sub(workUntil(changes, j.Arrival, j.Completion), new(big.Rat).SetInt64(int64(w.Durations[i]))).Float64()
			before, _ := workUntil(changes, max(j.Arrival, j.Completion-1), j.Completion).Float64() // in a nanosecond
			after := 1.0
			for _, c := range changes {
				if c.at <= j.Completion {
					after = c.speed
				}
			}
			speed := max(before, after)
			if math.Abs(work) > 0.501*speed {
				t.Fatalf("job %d of %v arrives at %v, ends at %v: %v ns of work too much, at speed %v", i, w.Durations[i], j.Arrival, j.Completion, work, speed)
			}
		}
	})
}

// TestWLAPSE: Fox, Im and Moseley, SODA 2013: one machine, jobs of one task, the speed such that its power is the weight of the jobs there are. By hand:
//
//	weights 1 and 3, power s²: the first does 1 s of its 4 s at speed 1; then the weight is 4 and the speed 2, and the other 3 s take 1.5 s; then the
//	weight is 3, and the 3 s of the second job take 3/sqrt(3) = sqrt(3) s
//	weights 1 and 7, power s³: likewise with speed 2 from 1 s to 2.5 s, then 7^(1/3)
func TestWLAPSE(t *testing.T) {
	for _, c := range []struct {
		energy, weight int
		second         float64 // speed of the second job alone
	}{{2, 3, math.Sqrt(3)}, {3, 7, math.Cbrt(7)}} {
		w := load(t, fmt.Sprintf(`{"stages":[{"durations_seconds":[4]}]}
{"arrival_seconds":1,"weight":%d,"stages":[{"durations_seconds":[3]}]}`, c.weight))
		for _, machines := range []int{1, 2} {
			p, err := policy.New(fmt.Sprintf("wlaps:power=1,slot=0s,energy=%d", c.energy), 1)
			if err != nil {
				t.Fatal(err)
			}
			res := simulate(t, w, p, Options{Machines: machines, Check: true, Progress: Progress{Every: sched.Second}})
			want := []sched.Time{2500 * sched.Millisecond, sched.FromSeconds(2.5 + 3/c.second)}
			if machines == 2 { // of half the speed each: the first has done 0.5 s at 1 s and 3.5 s at 4 s, when the second is through, and the rest takes 1 s
				want = []sched.Time{5 * sched.Second, 4 * sched.Second}
			}
			if got := completions(res); math.Abs((got[0]-want[0]).Seconds()) > 1e-9 || math.Abs((got[1]-want[1]).Seconds()) > 1e-9 {
				t.Errorf("energy %d, %d machines: done at %v, want %v", c.energy, machines, got, want)
			}
		}
	}
}

// TestPaceRefused: what has no clear meaning under a policy that sets the speed is refused, in one line.
func TestPaceRefused(t *testing.T) {
	w := load(t, "0 1 1 1")
	for want, o := range map[string]Options{
		"with the service machine":  {Model: model(t, "machine")},
		"with the service capacity": {Model: model(t, "capacity:law=det:value=1")},
		"where there are classes":   {More: []int{1}},
		"with a launch delay":       {LaunchDelay: 1},
		"with a launch":             {Wait: laws.Deterministic{Value: 1}},
	} {
		o.Machines, o.Limits = 1, sched.DefaultLimits()
		_, err := Run(t.Context(), w, &restless{}, o)
		if err == nil || !strings.HasPrefix(err.Error(), "a policy that sets the speed of the machines cannot run "+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// TestPaceNeverEnds: an attempt too slow to end before the clock does ends when the speed allows it again, and one that never ends never does.
func TestPaceNeverEnds(t *testing.T) {
	w := load(t, "0 1 10 10")
	p := &restless{changes: []change{{0, 1e-300}, {sched.Second, 1e300}}}
	if got := simulate(t, w, p, Options{Machines: 1}).Jobs[0].Completion; got != sched.Second {
		t.Errorf("done at %v, want 1 s", got)
	}
	endless := func(*trace.Workload, int, uint64) (Service, error) { return never{}, nil }
	p = &restless{changes: []change{{sched.Second, 1e300}}}
	if _, err := Run(t.Context(), w, p, Options{Machines: 1, Model: endless, Limits: sched.NoLimits()}); !errors.Is(err, ErrStuck) {
		t.Errorf("got %v", err)
	}
}

type never struct{}

func (never) Duration(*Attempt) sched.Time { return sched.Never }
