//go:build long

package promise

import (
	"encoding/json"
	"flag"
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

const (
	sharedSlots  = 8
	sharedWorlds = uint64(240)
)

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

// sharedSetting is how jobs come to the cluster, and when they are asked about.
type sharedSetting struct {
	name    string
	windows int        // of 40 s in which jobs come; chances are told in the middle one
	old     sched.Time // how long before that they were played
}

// before has chances told as they were before plays foresaw jobs that come: as they were played, however old.
var before = flag.Bool("before", false, "TestReliabilityOfSharedClusters plays no jobs that come")

// sharedWorld returns the chances that jobs of a cluster are told at one instant under a policy, their promises, and what
// became of them.
func sharedWorld(t *testing.T, policy string, k uint64, set *sharedSetting) (all []said, ends []Outcome) {
	const window = 40 * sched.Second
	rng := rand.New(rand.NewPCG(k, 77))
	var specs []sched.JobSpec
	var at []sched.Time
	var law []laws.Law
	var past []*Durations
	for i := range sched.Time(set.windows) {
		some, when, l, p := sharedJobs(t, rng)
		for j := range some {
			some[j].Deadline += i * window
			when[j] += i * window
		}
		specs, at, law, past = append(specs, some...), append(at, when...), append(law, l...), append(past, p...)
	}
	w := newWorld(t, k, policy, sharedSlots, nil, law)
	ask := sched.FromSeconds(5+40*rng.Float64()) + sched.Time(set.windows/2)*window
	next := 0
	come := func(until sched.Time) {
		for ; next < len(specs) && at[next] <= until; next++ {
			w.until(at[next])
			w.submit(specs[next : next+1])
		}
		w.until(until)
	}
	come(ask - set.old)
	state := w.state(policy, past)
	for i := max(0, next-MostCame); !*before && i < next; i++ {
		c := Came{At: at[i], Spec: Shape(&specs[i])}
		c.Spec.Deadline -= at[i]
		for stage := range specs[i].Stages {
			c.Known = append(c.Known, state.Known(sched.JobID(i), stage))
		}
		state.Came = append(state.Came, c)
	}
	promises, err := state.Foresee(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	come(ask)
	told := map[sched.JobID]float64{}
	for id, p := range promises {
		if _, over := w.ended[id]; !over && p.Chance != nil {
			if told[id] = *p.Chance; !*before {
				told[id] = *p.ChanceAt(state.at(ask))
			}
		}
	}
	come(sched.Never)
	for id := range sched.JobID(next) {
		if chance, ok := told[id]; ok {
			all = append(all, said{chance, w.ended[id] <= specs[id].Deadline})
		}
		if p := promises[id]; p.Known() {
			ends = append(ends, Outcome{Promised: p, First: true, Ended: state.at(w.ended[id])})
		}
	}
	return all, ends
}

// TestReliabilityOfSharedClusters: twenty mixed jobs share eight slots. At a random instant all that are there are told a
// chance. The jobs come within one window, and no others after it, or twenty in each window. The chances of a world are
// not independent, so intervals are of worlds drawn again.
func TestReliabilityOfSharedClusters(t *testing.T) {
	var fresh []said
	for _, set := range []*sharedSetting{{"jobs come for 40 s", 1, 0}, {"jobs go on to come", 3, 0}, {"played 4 s ago", 3, 4 * sched.Second}} {
		var all [][]said
		for _, policy := range []string{"fifo", "srpt", "laxity", "auto", "shed:master_slots=0"} {
			var own [][]said
			var ends []Outcome
			for k := range sharedWorlds {
				chances, promised := sharedWorld(t, policy, k, set)
				own, ends = append(own, chances), append(ends, promised...)
			}
			r := Calibrate(ends).AtSubmission
			t.Logf("%s: %-7s %s; intervals of 80 %% hold %.3f of %d ends, late by %.3f", set.name, policy, judged(own), *r.Held, r.Promises, *r.Late)
			all = append(all, own...)
		}
		t.Logf("%s: all     %s", set.name, judged(all))
		flat := slices.Concat(all...)
		if _, _, high := bootstrapped(all, wrongOf); !*before && (len(flat) < 1000 || high > 0.05) {
			t.Errorf("%s: %d chances, error of calibration up to %.3f", set.name, len(flat), high)
		}
		if set.old == 0 {
			fresh = append(fresh, flat...)
		}
	}
	served := readServed(t)
	var live [][]said
	for _, policy := range []string{"fifo", "srpt", "laxity", "auto"} {
		t.Logf("serve: %-7s %s", policy, judged(served[policy]))
		live = append(live, served[policy]...)
	}
	t.Logf("serve: all     %s", judged(live))
	if !*rewrite {
		return
	}
	a, b := sumUp(fresh), sumUp(slices.Concat(live...))
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
	said, met := 0.0, 0
	for _, x := range flat {
		if said += x.chance; x.met {
			met++
		}
	}
	n := float64(len(flat))
	return fmt.Sprintf("%4d chances in %d worlds, %.3f said, %.3f in time: error %.3f [%.3f, %.3f], perfect chances %.3f; %d at risk, in time %.3f [%.3f, %.3f]; bins %v, in time %v",
		len(flat), len(worlds), said/n, float64(met)/n, wrong, low, high, perfect(flat), alarms(flat), alarm, least, most, r.n, r.met)
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

// readServed returns the chances that servers have told, by policy and draw.
func readServed(t *testing.T) map[string][][]said {
	text, err := os.ReadFile(servedChances)
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Policy string
		Draw   int
		Chance float64 `json:"pocd"`
		Met    bool    `json:"deadline_met"`
	}
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	all := map[string][][]said{}
	for i, row := range rows {
		draws := all[row.Policy]
		if i == 0 || row.Policy != rows[i-1].Policy || row.Draw != rows[i-1].Draw {
			draws = append(draws, nil)
		}
		last := &draws[len(draws)-1]
		*last = append(*last, said{row.Chance, row.Met})
		all[row.Policy] = draws
	}
	return all
}
