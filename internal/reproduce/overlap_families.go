package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/laws"
)

// family is a random stream of jobs for FillSRPT to be measured on.
type family struct {
	name, about string
	unseen      bool // was not looked at when FillSRPT was made
	size        func(r *rand.Rand) (x, y float64)
	burst       int // jobs that arrive together
	shape       float64
}

// The families and loads were written down before FillSRPT's rule was settled, on the families that are not unseen, at
// loads 0.5, 0.75, 0.9 and 0.97 with seeds 1 to 5. A first look at other seeds, loads 0.6, 0.8 and 0.95 and the unseen
// families changed what counts as a gain. Reported are seeds and loads that nobody had looked at then.
var (
	heldOutLoads = [...]float64{0.65, 0.85, 0.93}
	families     = []family{
		{name: "exponential", about: "x and y exponential", size: func(r *rand.Rand) (x, y float64) { return r.ExpFloat64(), r.ExpFloat64() }},
		{name: "uniform", about: "x and y uniform", size: func(r *rand.Rand) (x, y float64) { return r.Float64(), r.Float64() }},
		{name: "opposed", about: "lognormal; half have y = x/4, half y = 4x", size: func(r *rand.Rand) (x, y float64) {
			x = math.Exp(r.NormFloat64())
			if r.IntN(2) == 0 {
				return x, x / 4
			}
			return x / 4, x
		}},
		{name: "Pareto", about: "x Pareto 1.5, y/x lognormal", size: func(r *rand.Rand) (x, y float64) { return ratioed(r, math.Pow(1-r.Float64(), -1/1.5), 1.5) }},
		{name: "balanced", about: "lognormal, y near x", size: func(r *rand.Rand) (x, y float64) { return ratioed(r, math.Exp(1.5*r.NormFloat64()), 0.3) }},
		{name: "lognormal", about: "as in Section 5.3", size: func(r *rand.Rand) (x, y float64) { return ratioed(r, math.Exp(1.6*r.NormFloat64()), 1.57) }},
		{name: "two sizes", about: "19 of 20 are (1, 1/2), one is (20, 30)", size: func(r *rand.Rand) (x, y float64) {
			if r.IntN(20) > 0 {
				return 1, 0.5
			}
			return 20, 30
		}},
		{name: "batches", about: "lognormal, 30 arrive together", burst: 30, size: func(r *rand.Rand) (x, y float64) { return ratioed(r, math.Exp(r.NormFloat64()), 1) }},
		{name: "Weibull", about: "x and y Weibull of shape 1/2", unseen: true, size: func(r *rand.Rand) (x, y float64) {
			return math.Pow(r.ExpFloat64(), 2), math.Pow(r.ExpFloat64(), 2)
		}},
		{name: "heavy", about: "x Pareto 1.2, y near x", unseen: true, size: func(r *rand.Rand) (x, y float64) {
			return ratioed(r, math.Pow(1-r.Float64(), -1/1.2), 0.5)
		}},
		{name: "bursts", about: "exponential, gaps Weibull of shape 0.3", unseen: true, shape: 0.3, size: func(r *rand.Rand) (x, y float64) {
			return r.ExpFloat64(), r.ExpFloat64()
		}},
	}
)

// ratioed gives a map size and a shuffle size whose ratio is lognormal.
func ratioed(r *rand.Rand, x, deviation float64) (float64, float64) {
	return x, x * math.Exp(deviation*r.NormFloat64())
}

// jobs draws a stream at a load.
func (f *family) jobs(n int, load float64, seed uint64) ([]overlap.Demand, error) {
	r := rand.New(rand.NewPCG(seed, 0x66616d696c79)) // "family"
	jobs := make([]overlap.Demand, n)
	clock := 0.0
	for i := range jobs {
		if f.burst == 0 || i%f.burst == 0 {
			gap := r.ExpFloat64()
			if f.shape > 0 {
				gap = math.Pow(gap, 1/f.shape)
			}
			clock += gap
		}
		jobs[i].Arrival = clock
		jobs[i].Map, jobs[i].Shuffle = f.size(r)
	}
	return jobs, overlap.ScaleToLoad(jobs, load)
}

// familyRuns is FillSRPT beside MaxSRPT and SplitSRPT on all families.
type familyRuns struct {
	n, seeds int
	ratios   [][len(heldOutLoads)][][3]float64 // of family, load and seed: mean flow times over the lower bound
}

func newFamilyRuns(o *Options) *familyRuns {
	f := &familyRuns{n: 20_000, seeds: 10, ratios: make([][len(heldOutLoads)][][3]float64, len(families))}
	if o.Quick {
		f.n, f.seeds = 5_000, 4
	}
	return f
}

func (f *familyRuns) steps() (steps []func(context.Context) error) {
	for i := range families {
		for l := range heldOutLoads {
			f.ratios[i][l] = make([][3]float64, f.seeds)
			for seed := range f.seeds {
				steps = append(steps, func(context.Context) error { return f.run(i, l, seed) })
			}
		}
	}
	return steps
}

func (f *familyRuns) run(i, load, seed int) error {
	jobs, err := families[i].jobs(f.n, heldOutLoads[load], 201+uint64(seed))
	if err != nil {
		return err
	}
	bound := lowerBound(jobs) * float64(len(jobs))
	for p, policy := range []overlap.Discipline{maxSRPT, split, fillSRPT} {
		f.ratios[i][load][seed][p] = totalFlow(policy, jobs) / bound
	}
	return nil
}

// over is how much worse FillSRPT is than the better of the other two.
func over(ratios [3]float64) float64 { return ratios[2]/min(ratios[0], ratios[1]) - 1 }

func (f *familyRuns) section() report.Section {
	table := report.Table{Name: "families", Caption: fmt.Sprintf("Times the lower bound, means of %d seeds", f.seeds), Columns: []string{
		"family", "jobs", "load", "MaxSRPT", "SplitSRPT", "FillSRPT", "over the better (%)", "95 % ±", "largest (%)",
	}}
	s := report.Section{
		Title: "FillSRPT on random jobs",
		Text: []string{fmt.Sprintf("%d jobs a stream, Poisson arrivals unless the family says otherwise, sizes scaled so that both stations have the load. FillSRPT's "+
			"rule was settled on other seeds and other loads; the families marked unseen were looked at once before. Over the better: than the better of "+
			"MaxSRPT and SplitSRPT on the same jobs, seed by seed.", f.n)},
	}
	all := report.Claim{Verdict: report.Holds}
	worst := math.Inf(-1)
	for i, fam := range families {
		for l, load := range heldOutLoads {
			var means [3]float64
			var overs []float64
			largest := math.Inf(-1)
			for _, r := range f.ratios[i][l] {
				for p := range means {
					means[p] += r[p] / float64(f.seeds)
				}
				overs = append(overs, over(r))
				largest = max(largest, over(r))
			}
			mean, half := laws.MeanInterval(overs, 0.95)
			name := fam.name
			if fam.unseen {
				name += ", unseen"
			}
			table.Add(name, fam.about, load, means[0], means[1], means[2], 100*mean, 100*half, 100*largest)
			worst = max(worst, mean)
			switch v := report.Judge(mean, half, f.seeds, math.Inf(-1), 0.02, "", "", "").Verdict; {
			case v == report.Fails, v == report.Undecided && all.Verdict == report.Holds:
				all.Verdict = v
			}
		}
	}
	all.What, all.Measured = "FillSRPT is nowhere more than 2 % worse than the better of MaxSRPT and SplitSRPT; largest mean", fmt.Sprintf("%+.1f %%", 100*worst)
	s.Tables, s.Claims = []report.Table{table}, []report.Claim{all}
	return s
}
