//go:build long

package promise

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/sched"
)

// sharedSizes are the tasks of twenty jobs.
var sharedSizes = [...]int{1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 8, 8, 10, 12, 15, 20, 24, 30, 40, 60}

// sharedLaws have a mean of 1.
var sharedLaws = [...]string{"exp:mean=1", "lognormal:mean=1,sd=1", "uniform:lo=0.7,hi=1.3", "mixture:w1=0.95,of1=(uniform:lo=0.6,hi=0.9),w2=0.05,of2=(uniform:lo=4,hi=7)"}

const sharedSlots = 8

// servedChances are chances that servers have told, and what became of the jobs; internal/contest writes them.
const servedChances = "../../docs/data/chances-serve.json"

// sharedJobs draws twenty jobs of a shared cluster: of heavy-tailed sizes, half of them maps and reduces, of four laws and
// means of their own, with deadlines of which about half can be met. They come within 40 s. Of one in four nothing is
// known beforehand.
func sharedJobs(t *testing.T, rng *rand.Rand) (specs []sched.JobSpec, at []sched.Time, law []laws.Law, past []*Durations) {
	type coming struct {
		at   sched.Time
		spec sched.JobSpec
		law  laws.Law
		past *Durations
	}
	var all []coming
	for i, n := range sharedSizes {
		mean := 0.9 * math.Exp(rng.NormFloat64()/2)
		l, err := laws.NewAffine(mustParse(t, sharedLaws[rng.IntN(len(sharedLaws))]), mean, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := coming{law: l, at: sched.FromSeconds(40 * rng.Float64()), past: runs(rng, l, 10, max(4, n))}
		c.spec.Stages = []sched.StageSpec{{Tasks: n}}
		if i%2 == 1 && n > 2 {
			c.spec.Stages = append(c.spec.Stages, sched.StageSpec{Tasks: 1 + n/4})
			c.spec.Edges = []sched.Edge{{From: 0, To: 1}}
		}
		if i%4 == 3 {
			c.past = &Durations{}
		}
		alone := mean * (float64(n)/sharedSlots + 2*float64(len(c.spec.Stages)))
		c.spec.Deadline = c.at + sched.FromSeconds(alone*math.Exp(0.5+0.6*rng.NormFloat64()))
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b coming) int { return int(a.at - b.at) })
	for _, c := range all {
		specs, at, law, past = append(specs, c.spec), append(at, c.at), append(law, c.law), append(past, c.past)
	}
	return specs, at, law, past
}

// sharedWorld returns the chances that jobs of a cluster are given at one instant under a policy, and what became of them.
func sharedWorld(t *testing.T, policy string, k uint64) (all []said) {
	rng := rand.New(rand.NewPCG(k, 77))
	specs, at, law, past := sharedJobs(t, rng)
	w := newWorld(t, k, policy, sharedSlots, nil, law)
	ask := sched.FromSeconds(5 + 40*rng.Float64())
	next := 0
	come := func(until sched.Time) {
		for ; next < len(specs) && at[next] <= until; next++ {
			w.until(at[next])
			w.submit(specs[next : next+1])
		}
	}
	come(ask)
	w.until(ask)
	promises, err := w.state(policy, past).Foresee(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	come(sched.Never)
	w.until(sched.Never)
	for id := range sched.JobID(next) {
		if p, ok := promises[id]; ok && p.Chance != nil {
			all = append(all, said{*p.Chance, w.ended[id] <= specs[id].Deadline})
		}
	}
	return all
}

// TestReliabilityOfSharedClusters: twenty mixed jobs share eight slots. At a random instant all that are there are given a
// chance. Those that come later are not foreseen. The chances of a world are not independent, so intervals are of
// worlds drawn again.
func TestReliabilityOfSharedClusters(t *testing.T) {
	var all [][]said
	for _, policy := range []string{"fifo", "srpt", "laxity", "auto", "shed:master_slots=0"} {
		var own [][]said
		for k := range uint64(240) {
			own = append(own, sharedWorld(t, policy, k))
		}
		t.Logf("%-7s %s", policy, judged(own))
		all = append(all, own...)
	}
	t.Logf("all     %s", judged(all))
	flat := slices.Concat(all...)
	if _, _, high := bootstrapped(all, wrongOf); len(flat) < 1000 || high > 0.05 {
		t.Errorf("%d chances, error of calibration up to %.3f", len(flat), high)
	}
	served := readServed(t)
	t.Logf("serve   %s", judged(served))
	if !*rewrite {
		return
	}
	a, b := sumUp(flat), sumUp(slices.Concat(served...))
	if err := os.WriteFile("../../docs/pictures/chance-shared.svg", []byte(drawReliability(&a, &b, "simulated", "real, in serve")), 0o666); err != nil {
		t.Fatal(err)
	}
}

// judged words what was said of worlds' jobs, each figure with its interval of 95 %.
func judged(worlds [][]said) string {
	flat := slices.Concat(worlds...)
	r := sumUp(flat)
	wrong, low, high := bootstrapped(worlds, wrongOf)
	alarm, least, most := bootstrapped(worlds, falseAlarms)
	return fmt.Sprintf("%4d chances in %d worlds: error %.3f [%.3f, %.3f], perfect chances %.3f; %d at risk, in time %.3f [%.3f, %.3f]; bins %v, in time %v",
		len(flat), len(worlds), wrong, low, high, perfect(flat), alarms(flat), alarm, least, most, r.n, r.met)
}

func wrongOf(all []said) float64 {
	r := sumUp(all)
	return r.wrong()
}

func alarms(all []said) (n int) {
	for _, s := range all {
		if s.chance < plan.AtRisk {
			n++
		}
	}
	return n
}

// falseAlarms is the share of jobs in time among those that were said to be at risk.
func falseAlarms(all []said) float64 {
	met := 0
	for _, s := range all {
		if s.chance < plan.AtRisk && s.met {
			met++
		}
	}
	return float64(met) / float64(max(1, alarms(all)))
}

// perfect is the error of calibration that chances have on average that come true as said.
func perfect(all []said) (sum float64) {
	const draws = 200
	rng := rand.New(rand.NewPCG(3, 4))
	for range draws {
		var r reliability
		for _, s := range all {
			r.add(said{s.chance, rng.Float64() < s.chance})
		}
		sum += r.wrong() / draws
	}
	return sum
}

// bootstrapped returns a figure of worlds and its interval of 95 %: that of worlds drawn again, around the figure.
func bootstrapped(worlds [][]said, figure func([]said) float64) (value, low, high float64) {
	const draws = 400
	rng := rand.New(rand.NewPCG(5, 6))
	var all []float64
	for range draws {
		var again []said
		for range worlds {
			again = append(again, worlds[rng.IntN(len(worlds))]...)
		}
		all = append(all, figure(again))
	}
	slices.Sort(all)
	return figure(slices.Concat(worlds...)), all[draws/40], all[draws-1-draws/40]
}

// readServed returns the chances that servers have told, by server and draw.
func readServed(t *testing.T) (draws [][]said) {
	text, err := os.ReadFile(servedChances)
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Draw   int
		Chance float64 `json:"pocd"`
		Met    bool    `json:"deadline_met"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	for i, row := range rows {
		if i == 0 || row.Draw != rows[i-1].Draw {
			draws = append(draws, nil)
		}
		last := &draws[len(draws)-1]
		*last = append(*last, said{row.Chance, row.Met})
	}
	return draws
}
