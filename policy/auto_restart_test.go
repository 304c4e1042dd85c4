package policy

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// TestAutoRedrawsInOverload: where more jobs come than slots can serve as tasks last, and a second attempt draws a new duration
// of a heavy tail, auto redraws what lasts long: it takes far less machine time than without, and jobs wait less.
func TestAutoRedrawsInOverload(t *testing.T) {
	t.Parallel()
	w, err := trace.Synthesize("synth:jobs=100;tasks=uniform:lo=5,hi=40;law=pareto:alpha=1.7,xm=60;arrivals=poisson:rate=0.0167", 5)
	if err != nil {
		t.Fatal(err)
	}
	var flow, machine [2]float64
	for run := range 3 {
		for i, spec := range []string{"srpt", "auto"} {
			res := resultOf(t, w, spec, sim.Options{Machines: 30, Slots: 1, Limits: sched.DefaultLimits(), Model: sim.StatedLaw, Seed: uint64(run), Progress: sim.Progress{Every: 7 * sched.Second}})
			for j := range res.Jobs {
				flow[i] += (res.Jobs[j].Completion - res.Jobs[j].Arrival).Seconds()
				machine[i] += (res.Jobs[j].Fruitful + res.Jobs[j].Fruitless).Seconds()
			}
		}
	}
	t.Logf("flow time %.3f, machine time %.3f of srpt's", flow[1]/flow[0], machine[1]/machine[0])
	if flow[1] > 0.37*flow[0] || machine[1] > 0.75*machine[0] {
		t.Errorf("flow time %.3f, machine time %.3f of srpt's", flow[1]/flow[0], machine[1]/machine[0])
	}
}

// TestPerSuccess compares with all ages at which an attempt may be given up.
func TestPerSuccess(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for range 500 {
		var l timeLeft
		n := 1 + r.IntN(6)
		for i := range n {
			l.put(float64(i)+r.Float64(), 1/float64(n))
		}
		least := math.Inf(1)
		for _, at := range l.x {
			sum, done := 0.0, 0.0
			for i, x := range l.x {
				sum += min(x, at) * l.w[i]
				if x <= at {
					done += l.w[i]
				}
			}
			least = min(least, sum/done)
		}
		if got := l.perSuccess(); math.Abs(got-least) > 1e-9 {
			t.Fatalf("%+v: %v, want %v", l, got, least)
		}
	}
}

// TestAutoBeginsAnew: where no slot is free and new attempts are quick, stragglers end without a clone beside them. Where
// the machine is what is slow, they do so a few times only, as what they have said speaks against the machine. Jobs are
// done no later than under fifo then, and take no more machine time than what is idle at the end.
func TestAutoBeginsAnew(t *testing.T) {
	s := sched.Second
	for _, slow := range []string{"attempt", "machine"} {
		machine, end, anew := map[string]float64{}, map[string]float64{}, 0
		for _, spec := range []string{"fifo", "auto"} {
			w := on(t, spec, sched.DefaultLimits())
			w.Machines(8)
			for range 30 {
				w.Submit(0, policytest.Tasks(25))
			}
			w.Fate = func(d *sched.Decision) policytest.Fate {
				if slow == "attempt" && d.Task%8 == 3 && d.Number == 0 || slow == "machine" && d.Machine == 0 {
					return policytest.Fate{Lasts: 60 * s, Reports: s}
				}
				return policytest.Fate{Lasts: 10 * s, Reports: s}
			}
			w.Run()
			v := w.Core.View()
			end[spec] = v.Now().Seconds()
			for j := range sched.JobID(30) {
				machine[spec] += (v.Job(j).Fruitful + v.Job(j).Fruitless).Seconds()
			}
			for i := range w.Orders {
				if d := &w.Orders[i]; d.Kind == sched.Launch && d.Number > 0 && d.Reason == sched.Retry {
					anew++
				}
			}
		}
		t.Logf("slow %s: machine time %.3f of fifo's, %d tasks begun anew", slow, machine["auto"]/machine["fifo"], anew)
		if slow == "attempt" && (anew < 20 || machine["auto"] > 0.7*machine["fifo"]) ||
			slow == "machine" && (anew > 50 || end["auto"] > end["fifo"] || machine["auto"] > 1.03*machine["fifo"]) {
			t.Errorf("slow %s: machine time %.3f of fifo's, %d tasks begun anew, done after %v s (fifo %v s)",
				slow, machine["auto"]/machine["fifo"], anew, end["auto"], end["fifo"])
		}
	}
}

// TestBegunAnewLearns: attempts that take as long as the ones that were ended before them lower the chance of a new
// duration, also if nobody ends them. Those that are quicker as often as winners are do not.
func TestBegunAnewLearns(t *testing.T) {
	past := &sample{}
	past.reset()
	for i := range 99 {
		past.add(float64(1 + i))
	}
	clones := &redraws{wins: 1e6}
	for _, c := range []struct {
		name       string
		took       func(i int) float64 // of the next attempt, where the one before would have taken 60 s
		low, high  float64
		endedAgain bool
	}{
		{"same again", func(int) float64 { return 60 }, 0, 0.2, false},
		{"same again, ended again", func(int) float64 { return 60 }, 0, 0.2, true},
		{"drawn anew", func(i int) float64 { return float64(1 + i*37%99) }, 0.9, 1, false},
	} {
		var b begunAnew
		for i := range sched.TaskID(99) {
			b.wins(past, 1000+i, &sched.Attempt{}, 1)
			b.again(past, i, 60)
			if took := c.took(int(i)); c.endedAgain {
				b.again(past, i, took)
			} else {
				b.wins(past, i, &sched.Attempt{Number: 1}, took)
			}
		}
		if got := b.chance(clones, &autoStage{}, 1); got < c.low || got > c.high {
			t.Errorf("%s: a chance of %.3f, want %v to %v", c.name, got, c.low, c.high)
		}
	}
}
