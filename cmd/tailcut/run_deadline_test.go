package main

import (
	"math"
	"testing"
	"time"

	"github.com/tailcut/tailcut/dist"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// The chance of a job by hand: P(exp(1) <= t) = 1-exp(-t) for each task that is alone on its slot.
func TestOutlook(t *testing.T) {
	second := sched.Time(1e9)
	for _, c := range []struct {
		name   string
		tasks  []int
		slots  int
		now    sched.Time
		want   float64
		within float64
	}{
		{"one task", []int{1}, 1, 0, 1 - math.Exp(-3), 1e-12},
		{"three tasks", []int{3}, 3, 0, math.Pow(1-math.Exp(-3), 3), 1e-12},
		{"a second later", []int{3}, 3, second, math.Pow(1-math.Exp(-2), 3), 1e-12},
		{"a stage after it", []int{1, 1}, 1, 0, 1 - math.Exp(-3)*(1+3), 1e-3}, // Erlang's law of two stages
		{"three beyond two slots", []int{5}, 2, 0, math.Pow(1-math.Exp(-1.5), 2), 1e-12},
		{"over", []int{1}, 1, 3 * second, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := policy.New("fifo", 1)
			if err != nil {
				t.Fatal(err)
			}
			core := sched.New(p, sched.DefaultLimits())
			if _, err := core.AddMachine(0, c.slots); err != nil {
				t.Fatal(err)
			}
			spec := sched.JobSpec{Deadline: 3 * second}
			for i, n := range c.tasks {
				spec.Stages = append(spec.Stages, sched.StageSpec{Tasks: n})
				if i > 0 {
					spec.Edges = append(spec.Edges, sched.Edge{From: i - 1, To: i})
				}
			}
			if _, err := core.Submit(&spec); err != nil {
				t.Fatal(err)
			}
			if _, err := core.Advance(0, []sched.Event{{Kind: sched.MachineJoined}, {Kind: sched.JobArrived}}); err != nil {
				t.Fatal(err)
			}
			if _, err := core.Advance(c.now, nil); err != nil {
				t.Fatal(err)
			}
			law, err := dist.Parse("exp:mean=1")
			if err != nil {
				t.Fatal(err)
			}
			o := &outlook{deadline: spec.Deadline, law: law}
			if got, ok := o.pocd(core.View()); !ok || math.Abs(got-c.want) > c.within {
				t.Errorf("%v, %v; want %v", got, ok, c.want)
			}
			if _, ok := (&outlook{deadline: spec.Deadline}).pocd(core.View()); ok {
				t.Error("a chance although nothing is known of the durations")
			}
		})
	}
}

// What is fitted to mean and standard deviation has them.
func TestOutlookFits(t *testing.T) {
	law := (&outlook{}).lawOf(&sched.Stage{Mean: 20e9, SD: 10e9})
	if mean, sd := law.Mean(), dist.StdDev(law); math.Abs(mean-20) > 1e-9 || math.Abs(sd-10) > 1e-9 {
		t.Errorf("mean %v, standard deviation %v", mean, sd)
	}
}

func TestDeadlineAt(t *testing.T) {
	start := time.Date(2026, 11, 30, 17, 50, 0, 0, time.UTC)
	for _, c := range []struct {
		text string
		want sched.Time // 0 for a mistake
	}{
		{"10m", sched.Time(10 * time.Minute)},
		{"1ns", 1},
		{"2026-11-30T18:00:00Z", sched.Time(10 * time.Minute)},
		{"2026-11-30T19:00:00+01:00", sched.Time(10 * time.Minute)},
		{"2026-11-30T17:50:00Z", 0}, {"2026-11-30T17:00:00Z", 0}, {"0s", 0}, {"-10m", 0}, {"10", 0}, {"", 0}, {"18:00", 0}, {"3000000h", 0},
	} {
		got, err := deadlineAt(c.text, start)
		if (err == nil) != (c.want > 0) || got != c.want {
			t.Errorf("%q: %d, %v; want %d", c.text, got, err, c.want)
		}
	}
}

// A deadline is after the start, whatever is given and whenever that is.
func FuzzDeadlineAt(f *testing.F) {
	for _, s := range []string{"10m", "1h2m3.5s", "-1s", "2026-11-30T18:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59", "9223372036.854775807s"} {
		f.Add(s, int64(1_800_000_000))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		start := time.Unix(seconds%(1<<36), 0)
		if at, err := deadlineAt(text, start); (err == nil) != (at > 0) {
			t.Errorf("%q from %v: %d, %v", text, start, at, err)
		}
	})
}
