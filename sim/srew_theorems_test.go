package sim_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// The theorems of the paper on SREW (Xu et al., IEEE TPDS 2017, Section 3) about SEW, on the machines that they are
// about.

// batch is a set of jobs that all arrive at 0, a job being maps and reduces of equal work each, in slots of a second.
// What policies are told of them is what the machines make of the work: E = p + (1+sigma²)/2, because the last slot
// is not used up, and (p + 1/2) sigma².
type batch struct {
	jobs     []sim.BatchJob // with the work p for the mean
	sd       [][2]float64   // sigma_j of maps and reduces
	workload *trace.Workload
}

func newBatch(t *testing.T, jobs int, variance float64, seed uint64) *batch {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	b := &batch{}
	var text strings.Builder
	phase := func(name string, tasks int, p, sd float64) string {
		list := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("%g,", p), tasks), ",")
		return fmt.Sprintf(`{"name":%q,"durations_seconds":[%s],"mean_seconds":%g,"sd_seconds":%g`, name, list, p+(1+variance)/2, sd)
	}
	for range jobs {
		j := sim.BatchJob{Maps: 1 + rng.IntN(30), Reduces: 1 + rng.IntN(10), MapMean: float64(10 + rng.IntN(90)), ReduceMean: float64(10 + rng.IntN(90))}
		sd := [2]float64{math.Sqrt((j.MapMean + 0.5) * variance), math.Sqrt((j.ReduceMean + 0.5) * variance)}
		fmt.Fprintf(&text, "{\"stages\":[%s},%s,\"after\":[\"map\"]}]}\n",
			phase("map", j.Maps, j.MapMean, sd[0]), phase("reduce", j.Reduces, j.ReduceMean, sd[1]))
		b.jobs, b.sd = append(b.jobs, j), append(b.sd, sd)
	}
	var err error
	if b.workload, err = trace.Read(strings.NewReader(text.String()), "batch", 1); err != nil {
		t.Fatal(err)
	}
	return b
}

// run runs SEW and shows the flow times of each run.
func (b *batch) run(t *testing.T, c *sim.Capacity, machines, runs int, lambda float64, done func(flows []float64)) {
	t.Helper()
	spec := fmt.Sprintf("sew:lambda=%g", lambda)
	e := sim.Experiment{
		Workload: b.workload, Runs: runs, Options: sim.Options{Machines: machines, Limits: sched.NoLimits(), Model: c.Model, Seed: 7},
		Policies: []sim.Candidate{{Name: spec, New: func(seed uint64) (sched.Policy, error) { return policy.New(spec, seed) }}},
		Done: func(_ *sim.Cell, jobs []sim.JobResult) error {
			flows := make([]float64, len(jobs))
			for i := range jobs {
				flows[i] = (jobs[i].Completion - jobs[i].Arrival).Seconds()
			}
			done(flows)
			return nil
		},
	}
	if _, err := e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// laws of a machine's speed: little variance, some, and one slot in five at five times the mean.
var speeds = []string{"law=(uniform:lo=0.8,hi=1.2),slot=1s", "law=(uniform:lo=0,hi=2),slot=1s", "law=(twopoint:lo=0,hi=5,p=0.2),slot=1s"}

func capacityOf(t *testing.T, spec string) *sim.Capacity {
	t.Helper()
	c, err := sim.ParseCapacity(spec)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestTheorem2: with probability at least lambda^8/(1+lambda²)^4 a job's flow time is at most E^m + E^r + lambda
// (sigma^m + sigma^r) + 2 A_j/M, where A_j is the effective workload of the jobs that are no larger. The proof has
// gaps (it takes two events for independent, and the last task to finish for a typical one), so this is an
// experiment: the lowest frequency over jobs is compared, less three standard errors.
func TestTheorem2(t *testing.T) {
	const machines, runs = 20, 40
	for _, spec := range speeds {
		c := capacityOf(t, spec)
		b := newBatch(t, 12, c.Variance(), 3)
		extra := (1 + c.Variance()) / 2
		for _, lambda := range []float64{0.5, 1, 2, 3} {
			effective := make([]float64, len(b.jobs))
			for i, j := range b.jobs {
				effective[i] = float64(j.Maps)*(j.MapMean+extra+lambda*b.sd[i][0]) + float64(j.Reduces)*(j.ReduceMean+extra+lambda*b.sd[i][1])
			}
			within := make([]int, len(b.jobs))
			b.run(t, c, machines, runs, lambda, func(flows []float64) {
				for i, j := range b.jobs {
					limit := j.MapMean + j.ReduceMean + 2*extra + lambda*(b.sd[i][0]+b.sd[i][1])
					for _, other := range effective {
						if other <= effective[i] {
							limit += 2 * other / machines
						}
					}
					if flows[i] <= limit {
						within[i]++
					}
				}
			})
			promised := math.Pow(lambda*lambda/(1+lambda*lambda), 4)
			least := 1.0
			for _, n := range within {
				least = min(least, float64(n)/runs)
			}
			t.Logf("%s lambda=%g: %.4f promised, %.3f reached", spec, lambda, promised, least)
			if least < promised-3*math.Sqrt(promised*(1-promised)/runs) {
				t.Errorf("%s lambda=%g: a job is within its bound in %v of the runs, want %v", spec, lambda, least, promised)
			}
		}
	}
}

// TestTheorem3: with lambda = 0 the sum of flow times is at most Delta + 2 times the larger of the two lower bounds,
// (18), in the mean. Few machines make the work the bound, many the paths.
func TestTheorem3(t *testing.T) {
	for _, spec := range speeds {
		c := capacityOf(t, spec)
		for _, machines := range []int{2, 20, 400} {
			worst := 0.0
			for seed := range uint64(3) {
				b := newBatch(t, 12, c.Variance(), seed)
				const runs = 5
				sum := 0.0
				b.run(t, c, machines, runs, 0, func(flows []float64) {
					for _, f := range flows {
						sum += f / runs
					}
				})
				bound := sim.BatchBound(b.jobs, machines, c.Peak())
				mean, err := sim.LowerBound(b.workload, sim.Options{Machines: machines, Model: c.Model})
				if err != nil {
					t.Fatal(err)
				}
				if n := float64(len(b.jobs)); math.Abs(n*mean-bound) > 1e-6*bound {
					t.Errorf("%s, %d machines: LowerBound says %v, (18) is %v", spec, machines, n*mean, bound)
				}
				if sum < bound {
					t.Errorf("%s, %d machines: %v is below the lower bound %v", spec, machines, sum, bound)
				}
				worst = max(worst, sum/bound)
			}
			t.Logf("%s, %d machines: ratio %.2f, Delta+2 = %.2f", spec, machines, worst, c.Peak()+2)
			if worst > c.Peak()+2 {
				t.Errorf("%s, %d machines: ratio %v to the lower bound, want at most %v", spec, machines, worst, c.Peak()+2)
			}
		}
	}
}
