package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

const waveSlots = 20

// waveCase is a job on waveSlots slots: some waves of maps, and of reduces if there are any.
type waveCase struct {
	law           string // of an attempt, with a mean of 10 s
	maps, reduces int
	u             float64 // the chance without clones that its deadline leaves
}

func (c *waveCase) stages(t *testing.T) (l laws.Law, w plan.Work) {
	l, err := laws.Parse(c.law)
	if err != nil {
		t.Fatal(err)
	}
	w = plan.Work{Tasks: c.maps, Law: l, Deadline: 1}
	if c.reduces > 0 {
		w.Tasks += c.reduces
		w.Stages = []plan.Phase{{Tasks: c.maps, Law: l}, {Tasks: c.reduces, Law: l, After: []int{0}}}
	}
	lo, hi := 0.0, 1e4
	for hi-lo > 0.01 {
		if w.Deadline = (lo + hi) / 2; w.Waves(0, waveSlots, 400).P < c.u {
			lo = w.Deadline
		} else {
			hi = w.Deadline
		}
	}
	return l, w
}

// run plays the job under a policy, and returns whether it was in time and the tasks that began at once, with the
// attempts of each.
func (c *waveCase) run(t *testing.T, spec string, l laws.Law, deadline float64, seed uint64) (met bool, atOnce, attempts int) {
	w := &trace.Workload{Name: "waves", Names: []string{""}}
	stages := []int{c.maps}
	if c.reduces > 0 {
		stages = append(stages, c.reduces)
		w.Edges = []trace.Edge{{From: 0, To: 1}}
	}
	w.Jobs = []trace.JobRow{{Deadline: sched.FromSeconds(deadline), Stages: uint32(len(stages)), Edges: uint32(len(w.Edges))}}
	for _, n := range stages {
		w.Stages = append(w.Stages, trace.StageRow{FirstTask: uint32(len(w.Durations)), Tasks: uint32(n), Law: -1})
		for range n {
			w.Durations = append(w.Durations, sched.Second)
		}
	}
	first := map[sched.TaskID]int{}
	res, err := sim.Run(t.Context(), w, newShedOf(t, spec), sim.Options{
		Machines: waveSlots, Model: sim.SizeTimesSlowdown(l), Seed: seed, Limits: sched.Limits{Attempts: 5, Clones: sched.CloneBudget{Floor: sched.Unlimited}},
		Watch: func(v *sched.View, _ []sched.Event, decisions []sched.Decision) {
			for i := range decisions {
				if d := &decisions[i]; v.Now() == 0 && d.Kind == sched.Launch {
					first[d.Task]++
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range first {
		attempts = max(attempts, n)
	}
	return res.Jobs[0].Won > 0, len(first), attempts
}

func newShedOf(t *testing.T, spec string) sched.Policy {
	p, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var waveLaws = []string{"pareto:alpha=1.5,xm=3.3333333", "lognormal:mean=10,sd=10", "exp:mean=10"}

// TestShedWaves: the share of jobs in time is the chance of the division, for one, three and a half and ten waves,
// and no smaller than that without clones; so it is for maps in waves before reduces. TestShedWavesOften, of the long
// tests, does so with more runs, laws and waves.
func TestShedWaves(t *testing.T) {
	t.Parallel()
	shedWavesHold(t, waveLaws[:2], []float64{1, 3.5, 10}, 16, []float64{0.3})
}

func shedWavesHold(t *testing.T, of []string, waves []float64, runs int, chances []float64) {
	for _, law := range of {
		for _, n := range waves {
			for _, reduces := range []int{0, waveSlots / 2} {
				for _, u := range chances {
					c := waveCase{law: law, maps: int(n * waveSlots), reduces: reduces, u: u}
					t.Run(fmt.Sprintf("%s/waves=%v,reduces=%d,chance=%v", law, n, reduces, u), func(t *testing.T) { c.hold(t, runs) })
				}
			}
		}
	}
}

func (c *waveCase) hold(t *testing.T, runs int) {
	l, w := c.stages(t)
	with, without, won, lost, atOnce, attempts := 0, 0, 0, 0, 0, 0
	for seed := range uint64(runs) {
		var met, plain bool
		met, atOnce, attempts = c.run(t, "shed:master_slots=0,law=("+c.law+")", l, w.Deadline, seed)
		plain, _, _ = c.run(t, "shed:master_slots=0,max_attempts=1,law=("+c.law+")", l, w.Deadline, seed)
		with, without = with+count(met), without+count(plain)
		won, lost = won+count(met && !plain), lost+count(plain && !met)
	}
	p := w.Waves(attempts-1, atOnce, 10_000)
	if c.reduces > 0 {
		p = c.chained(l, w.Deadline, atOnce, attempts)
	}
	share := float64(with) / float64(runs)
	t.Logf("%d at once, %d attempts each, deadline %.1f s: foreseen %.3f, %.3f in time, %.3f without clones", atOnce, attempts, w.Deadline, p.P, share, float64(without)/float64(runs))
	if sd := math.Sqrt(max(p.P*(1-p.P), 1/float64(runs)) / float64(runs)); share < p.Low-3*sd || share > p.High+3*sd {
		t.Errorf("%.3f ± %.3f in time, foreseen %.3f [%.3f, %.3f]", share, 2*sd, p.P, p.Low, p.High)
	}
	if float64(lost-won) > 3*math.Sqrt(float64(lost+won)) {
		t.Errorf("in time only without clones: %d jobs, only with: %d", lost, won)
	}
}

// chained is the chance of maps with so many at once, and of reduces that then have as many clones as there are slots
// for.
func (c *waveCase) chained(l laws.Law, deadline float64, atOnce, attempts int) (p plan.Chance) {
	const plays = 4000
	g := rand.New(rand.NewPCG(1, 2))
	of := min(5, waveSlots/c.reduces)
	sum, squares := 0.0, 0.0
	for range plays {
		free := make([]float64, atOnce)
		for range c.maps {
			least := math.Inf(1)
			for range attempts {
				least = min(least, l.Quantile(g.Float64()))
			}
			next := slices.Index(free, slices.Min(free))
			free[next] += least
		}
		x := 0.0
		if left := deadline - slices.Max(free); left > 0 {
			x = math.Pow(1-math.Pow(l.Survival(left), float64(of)), float64(c.reduces))
		}
		sum, squares = sum+x, squares+x*x
	}
	p.P = sum / plays
	half := 1.96 * math.Sqrt(max(0, squares/plays-p.P*p.P)/plays)
	p.Low, p.High = p.P-half, p.P+half
	return p
}

func count(x bool) int {
	if x {
		return 1
	}
	return 0
}
