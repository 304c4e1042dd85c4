package sim

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

func capacity(t testing.TB, spec string) *machineCapacity {
	t.Helper()
	c, err := ParseCapacity(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &machineCapacity{Capacity: c, seed: 11}
}

// TestCapacityMoments: Section 2.1 of the paper. The mean time is p by (3); in truth the last slot does more than is
// left, which adds (1+sigma²)/2 on average where sums can take any value (the mean overshoot of renewal theory),
// nothing where they hit p, and makes it e^(p/2) for U(0, 2) and p <= 2. The variance is (p + 1/2) sigma² + O(1).
func TestCapacityMoments(t *testing.T) {
	const n = 8_000
	for _, c := range []struct {
		law            string
		p              int // slots
		mean, variance float64
	}{
		{"uniform:lo=0,hi=2", 1, math.Exp(0.5), 0},
		{"uniform:lo=0,hi=2", 2, math.E, 0},
		{"uniform:lo=0,hi=2", 200, 200 + (1+1./3)/2, 200.5 / 3},
		{"twopoint:lo=0,hi=2,p=0.5", 200, 200, 200.5},
		{"uniform:lo=0,hi=50", 200, 200 + (1+1./3)/2, 200.5 / 3}, // divided by its mean
		{"truncated:lo=0,hi=4,of=(exp:mean=1)", 150, 0, 0},       // moments from the law
	} {
		s := capacity(t, "law=("+c.law+"),slot=1s")
		if c.mean == 0 {
			c.mean, c.variance = 150+(1+s.Variance())/2, 150.5*s.Variance()
		}
		recorded := []sched.Time{sched.Time(c.p) * sched.Second}
		var sum, squares float64
		for m := range sched.MachineID(n) {
			d := s.Duration(&Attempt{Machine: m, Recorded: recorded, Share: 1}).Seconds()
			if d != math.Trunc(d) {
				t.Fatalf("%s: an attempt takes %v slots", c.law, d)
			}
			sum += d
			squares += d * d
		}
		mean := sum / n
		variance := squares/n - mean*mean
		if se := math.Sqrt(variance / n); math.Abs(mean-c.mean) > 4*se+0.01 {
			t.Errorf("%s, p=%d: mean %v, want %v within %v", c.law, c.p, mean, c.mean, 4*se)
		}
		if c.variance > 0 && math.Abs(variance/c.variance-1) > 4*math.Sqrt(2./n)+2/c.variance { // O(1): up to 2
			t.Errorf("%s, p=%d: variance %v, want %v", c.law, c.p, variance, c.variance)
		}
	}
}

// TestCapacityIsTheMachines: what a machine does in a slot is neither the attempt's doing nor that of other machines
// and attempts; one that begins later finds the slots that are left, one that begins inside of a slot the rest of it.
func TestCapacityIsTheMachines(t *testing.T) {
	s := capacity(t, "law=(uniform:lo=0,hi=2),slot=10s")
	recorded := []sched.Time{100 * sched.Second}
	one := Attempt{Machine: 3, Recorded: recorded, Share: 1, At: 25 * sched.Second}
	two := Attempt{Machine: 3, Recorded: recorded, Share: 1, At: 25 * sched.Second, Job: 8, Task: 5, Number: 2, Seed: 4}
	if s.Duration(&one) != s.Duration(&two) {
		t.Error("two attempts at one time on one machine differ")
	}
	two.Machine = 4
	if s.Duration(&one) == s.Duration(&two) {
		t.Error("two machines are alike")
	}
	left := 100 - 5*s.speed([]sched.MachineID{3}, 2)
	end := sched.Time(30)
	for k := sched.Time(3); left > 0; k++ {
		left -= 10 * s.speed([]sched.MachineID{3}, k)
		end += 10
	}
	if got := s.Duration(&one); got != (end-25)*sched.Second {
		t.Errorf("lasts %v, want %d s", got, end-25)
	}
	steady := capacity(t, "law=det:value=7,slot=10s") // values count by their ratio to the mean
	for share, want := range map[float64]sched.Time{1: 105, 0.5: 55, 1 / 2.5: 45, 0: 0} {
		a := Attempt{Recorded: recorded, Share: share, At: 25 * sched.Second}
		if got := steady.Duration(&a); got != want*sched.Second {
			t.Errorf("share %v: %v, want %d s", share, got, want)
		}
	}
}

// TestOmega: the closed forms of omega(d) = E[max of d draws], (26), and its shape.
func TestOmega(t *testing.T) {
	for spec, want := range map[string]func(d float64) float64{
		"uniform:lo=0,hi=2":                   func(d float64) float64 { return 2 * d / (d + 1) },
		"twopoint:lo=0,hi=5,p=0.2":            func(d float64) float64 { return 5 * (1 - math.Pow(0.8, d)) },
		"det:value=3":                         func(d float64) float64 { return min(d, 1) },
		"truncated:lo=0,hi=9,of=(exp:mean=3)": nil, // no closed form
	} {
		c := capacity(t, "law=("+spec+")")
		last, step := 0.0, math.Inf(1)
		for d := range 40 {
			got := c.Omega(d)
			if want != nil && math.Abs(got-want(float64(d))) > 1e-9 {
				t.Errorf("%s: omega(%d) = %v, want %v", spec, d, got, want(float64(d)))
			}
			if got-last > step+1e-9 || got > c.Peak()+1e-9 || d > 0 && got < last-1e-9 {
				t.Errorf("%s: omega(%d) = %v after %v: not increasing, concave and below %v", spec, d, got, last, c.Peak())
			}
			if d > 0 {
				step = got - last
			}
			last = got
		}
		if one := c.Omega(1); math.Abs(one-1) > 1e-12 {
			t.Errorf("%s: omega(1) = %v", spec, one)
		}
	}
}

func TestCapacityErrors(t *testing.T) {
	for spec, want := range map[string]string{
		"":                              "expected law=LAW",
		"law=exp:mean=1":                "a capacity is at least 0, has a peak and a positive mean; exp:mu=1 is between 0 and +Inf",
		"law=(uniform:lo=-1,hi=3)":      "a capacity is at least 0",
		"law=det:value=0":               "a capacity is at least 0",
		"law=(uniform:lo=0,hi=2),slot=": "slot: expected a duration of at least 1ms",
		"law=det:value=1,checkpoint=5":  "checkpoint: expected true or false",
		"law=nope":                      "law: expected a law in parentheses: unknown law",
		"size=3":                        `unknown parameter "size"`,
	} {
		if _, err := ParseCapacity(spec); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", spec, err, want)
		}
	}
	if _, err := NewCapacity(laws.Deterministic{Value: 1}, 0, false); err == nil {
		t.Error("a slot of no length is accepted")
	}
	m := model(t, "capacity:law=det:value=1,checkpoint=true")
	if _, err := Run(t.Context(), load(t, "0 1 1 1"), greedy{}, Options{Machines: 1, Model: m, LaunchDelay: 1}); err == nil {
		t.Error("a launch delay is accepted under checkpointing")
	}
}

// script is a policy with one task: at given slots of a second it launches attempts on the next machines, or kills
// the oldest.
type script struct {
	t      *testing.T
	orders map[int]int // by second: attempts to launch, -1 to kill one, -2 to kill all
	next   sched.MachineID
	end    int
}

func (*script) Observe(*sched.View, *sched.Event) {}

func (p *script) Decide(v *sched.View, act *sched.Actions) {
	now := int(v.Now() / sched.Second)
	n := p.orders[now]
	delete(p.orders, now)
	for ; n < 0; n++ {
		if a, ok := v.FirstAttempt(0); ok {
			if err := act.Kill(a, sched.Share); err != nil {
				p.t.Fatal(err)
			}
		}
	}
	for range n {
		must(act.Launch(0, p.next, v.Task(0).Saved, sched.Original))
		p.next++
	}
	if now < p.end {
		act.WakeAt(sched.Time(now+1) * sched.Second)
	}
}

// TestCheckpointing compares with (6) and (7) written out: in each slot the task advances by the maximum over the
// machines that work on it, also when attempts join, leave, and when all are preempted for a while.
func TestCheckpointing(t *testing.T) {
	w := load(t, `{"stages":[{"durations_seconds":[40],"resumable":true}]}`)
	rapid.Check(t, func(r *rapid.T) {
		orders := map[int]int{0: rapid.IntRange(1, 3).Draw(r, "first")}
		for range rapid.IntRange(0, 4).Draw(r, "changes") {
			orders[rapid.IntRange(1, 12).Draw(r, "slot")] = rapid.SampledFrom([]int{-3, -1, 1, 2}).Draw(r, "what")
		}
		orders[13] = 1 // somebody finishes
		const end = 13
		c, err := ParseCapacity("law=(uniform:lo=0,hi=2),slot=1s,checkpoint=true")
		if err != nil {
			r.Fatal(err)
		}
		seed := rapid.Uint64().Draw(r, "seed")
		speed := rapid.SampledFrom([]float64{1, 1.5}).Draw(r, "speed")

		naive := &machineCapacity{Capacity: c, seed: seed}
		var crew []sched.MachineID // in order of launch
		done, next, slot := 0.0, sched.MachineID(0), 0
		for ; done < 40/speed; slot++ {
			n := orders[slot]
			for ; n < 0 && len(crew) > 0; n++ {
				crew = crew[:len(crew)-1] // the core lists the youngest first
			}
			for ; n > 0; n-- {
				crew = append(crew, next)
				next++
			}
			done += naive.speed(crew, sched.Time(slot))
		}

		p := &script{t: t, orders: orders, end: end}
		o := Options{
			Machines: 12, Model: c.Model, Seed: seed, Speed: speed, Limits: sched.NoLimits(), Check: true,
			Progress: Progress{Every: sched.Second, Exact: rapid.Bool().Draw(r, "exact")},
		}
		res, err := Run(t.Context(), w, p, o)
		if err != nil {
			r.Fatal(err)
		}
		if got := res.Jobs[0].Completion; got != sched.Time(slot)*sched.Second {
			r.Fatalf("orders %v: done at %v, want %d s", orders, got, slot)
		}
	})
}

// TestCheckpointedTaskAdvancesByOmega: with d attempts all the time, a long task takes p/omega(d) slots.
func TestCheckpointedTaskAdvancesByOmega(t *testing.T) {
	c, err := ParseCapacity("law=(twopoint:lo=0.5,hi=3,p=0.2),slot=1s,checkpoint=true")
	if err != nil {
		t.Fatal(err)
	}
	w := load(t, "0 1 20000 20000\n")
	for _, d := range []int{1, 2, 5} {
		p := &script{t: t, orders: map[int]int{0: d}}
		res := simulate(t, w, p, Options{Machines: d, Model: c.Model, Seed: 3, Limits: sched.NoLimits()})
		if got, want := res.Jobs[0].Completion.Seconds(), 20000/c.Omega(d); math.Abs(got/want-1) > 0.02 { // 2.5 standard deviations at d = 1
			t.Errorf("%d attempts: %v s, want about %v", d, got, want)
		}
	}
}
