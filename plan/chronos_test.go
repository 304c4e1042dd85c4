package plan

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/laws"
)

var strategies = []Strategy{ChronosClone, ChronosRestart, ChronosResume}

// .854, .763 and .981 at N=10, tmin=1, β=1.5, D=4, τ_est=1.2, r=1, φ=.3.
func TestChronosGolden(t *testing.T) {
	c := Chronos{Tasks: 10, Law: laws.Pareto{Alpha: 1.5, Xm: 1}, Deadline: 4, Detect: 1.2, Kill: 2, Progress: 0.3}
	for s, want := range map[Strategy]string{ChronosClone: "0.854", ChronosRestart: "0.763", ChronosResume: "0.981"} {
		if got := fmt.Sprintf("%.3f", c.PoCD(s, 1)); got != want {
			t.Errorf("%v: PoCD %s, want %s", s, got, want)
		}
	}
}

// The closed forms for Pareto, where there are some.
func TestChronosClosedForms(t *testing.T) {
	const beta, tmin, phi = 1.7, 2.0, 0.3
	c := Chronos{Tasks: 10, Law: laws.Pareto{Alpha: beta, Xm: tmin}, Deadline: 9, Detect: 3, Kill: 5, Progress: phi}
	late := math.Pow(tmin/9, beta)
	other := beta * math.Pow(tmin, beta) * (math.Pow(tmin, 1-beta) - math.Pow(9, 1-beta)) / ((beta - 1) * (1 - late))
	for r := range 4 {
		least := tmin * beta * float64(r+1) / (beta*float64(r+1) - 1)
		if got, want := c.MachineTime(ChronosClone, r), 10*(float64(r)*5+least); !near(got, want, 1e-12) {
			t.Errorf("clone, r=%d: %g s, want %g", r, got, want)
		}
		straggler := 3 + float64(r)*2 + (1-phi)*least
		if got, want := c.MachineTime(ChronosResume, r), 10*((1-late)*other+late*straggler); !near(got, want, 1e-9) {
			t.Errorf("resume, r=%d: %g s, want %g", r, got, want)
		}
	}
	// Without clones a straggler just goes on: the mean of N attempts.
	if got, want := c.MachineTime(ChronosRestart, 0), 10*c.Law.Mean(); !near(got, want, 1e-9) {
		t.Errorf("restart without clones: %g s, want %g", got, want)
	}
	heavy := c
	heavy.Law = laws.Pareto{Alpha: 0.6, Xm: tmin}
	for _, s := range strategies {
		if got := heavy.MachineTime(s, 0); !math.IsInf(got, 1) {
			t.Errorf("%v: %g s of a law without a mean", s, got)
		}
		if got := heavy.MachineTime(s, 1); math.IsInf(got, 1) || math.IsNaN(got) {
			t.Errorf("%v: %g s of two attempts whose minimum has a mean", s, got)
		}
	}
}

// Isolated jobs, 100,000 of each kind.
func TestChronosAgainstSimulation(t *testing.T) {
	sample, err := laws.NewEmpirical([]float64{10, 12, 13, 15, 20, 30, 48, 90})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []Chronos{
		{Tasks: 8, Law: laws.Pareto{Alpha: 2.5, Xm: 1}, Deadline: 4, Detect: 1.2, Kill: 2, Progress: 0.3},
		{Tasks: 4, Law: sample, Deadline: 40, Detect: 15, Kill: 20, Progress: 0.2},
		{Tasks: 3, Law: laws.Uniform{Lo: 1, Hi: 5}, Deadline: 4, Detect: 1, Kill: 1.5, Progress: 0.2},
	} {
		for _, s := range strategies {
			for _, r := range []int{0, 2} {
				met, mean, deviation := simulateChronos(c, s, r, 100_000, uint64(i))
				if got := c.PoCD(s, r); math.Abs(got-met) > 0.01 {
					t.Errorf("case %d, %v, r=%d: PoCD %.4f, simulated %.4f", i, s, r, got, met)
				}
				if got := c.MachineTime(s, r); math.Abs(got-mean) > 4.5*deviation+1e-9 {
					t.Errorf("case %d, %v, r=%d: %.4f s, simulated %.4f ± %.4f", i, s, r, got, mean, deviation)
				}
			}
		}
	}
}

// simulateChronos plays jobs, and returns the share that met the deadline and the mean machine time with its standard
// error.
func simulateChronos(c Chronos, s Strategy, clones, jobs int, seed uint64) (met, mean, deviation float64) {
	rng := rand.New(rand.NewPCG(seed, uint64(s)))
	draw := func() float64 { return laws.Sample(c.Law, rng.Float64()) }
	least := func(n int) float64 {
		x := math.Inf(1)
		for range n {
			x = min(x, draw())
		}
		return x
	}
	var sum, squares float64
	for range jobs {
		var end, cost float64
		for range c.Tasks {
			done := draw()
			switch {
			case s == ChronosClone:
				done = min(done, least(clones))
				cost += float64(clones)*c.Kill + done
			case done <= c.Deadline:
				cost += done
			default:
				rest := min(done-c.Detect, least(clones))
				if s == ChronosResume {
					rest = (1 - c.Progress) * least(clones+1)
				}
				done = c.Detect + rest
				cost += c.Detect + float64(clones)*(c.Kill-c.Detect) + rest
			}
			end = max(end, done)
		}
		if end <= c.Deadline {
			met++
		}
		sum += cost
		squares += cost * cost
	}
	n := float64(jobs)
	mean = sum / n
	return met / n, mean, math.Sqrt((squares/n - mean*mean) / n)
}

func TestChronosBest(t *testing.T) {
	c := Chronos{Tasks: 10, Law: laws.Pareto{Alpha: 1.5, Xm: 1}, Deadline: 4, Detect: 1.2, Kill: 2, Progress: 0.3}
	for _, s := range strategies {
		if r, _ := c.Best(s, 6, 0, 0); r != 6 {
			t.Errorf("%v: %d clones where machine time is free", s, r)
		}
		// Where machine time is dear, of a law with a heavy tail, a straggler's clone may still save some.
		dear, _ := c.Best(s, 6, 0, 1e6)
		for r := range 7 {
			if c.MachineTime(s, r) < c.MachineTime(s, dear) {
				t.Errorf("%v: where machine time is dear %d clones cost %g s, and %d cost %g s", s,
					dear, c.MachineTime(s, dear), r, c.MachineTime(s, r))
			}
		}
		r, u := c.Best(s, 6, 0.2, 0.005)
		for other := range 7 {
			if v := c.NetUtility(s, other, 0.2, 0.005); v > u {
				t.Errorf("%v: %d clones are worth %g, best is said to be %d with %g", s, other, v, r, u)
			}
		}
	}
	if r, u := c.Best(ChronosClone, 2, 0.999, 1); r != 0 || !math.IsInf(u, -1) {
		t.Errorf("a floor out of reach: %d clones, utility %g", r, u)
	}
}

func TestChronosRefuses(t *testing.T) {
	good := Chronos{Tasks: 1, Law: laws.Exponential{Mu: 1}, Deadline: 2, Detect: 1, Kill: 1}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Chronos){
		"task":     func(c *Chronos) { c.Tasks = 0 },
		"law":      func(c *Chronos) { c.Law = nil },
		"deadline": func(c *Chronos) { c.Deadline = math.Inf(1) },
		"detected": func(c *Chronos) { c.Detect = 2 },
		"killed":   func(c *Chronos) { c.Kill = 0.5 },
		"progress": func(c *Chronos) { c.Progress = 1 },
	} {
		c := good
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %s", err, want)
		}
	}
}
