//go:build long

package promise

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/outlook"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/sched"
)

var rewrite = flag.Bool("rewrite", false, "draw the picture of docs/explain/chance.md anew")

// said is a chance that was told, and whether the job was done in time.
type said struct {
	chance float64
	met    bool
}

// reliability sums up what was said in ten bins of equal width.
type reliability struct {
	n, met [10]int
	sum    [10]float64
}

func (r *reliability) add(x said) {
	b := min(int(10*x.chance), 9)
	r.n[b]++
	r.sum[b] += x.chance
	if x.met {
		r.met[b]++
	}
}

// wrong is the error of calibration: by how much the share of jobs in time differs from what was said, over all bins.
func (r *reliability) wrong() (sum float64) {
	all := 0
	for b, n := range r.n {
		all += n
		sum += math.Abs(r.sum[b] - float64(r.met[b]))
	}
	return sum / float64(all)
}

// setting is a policy, the law of attempts, and whether they report their progress and can be resumed.
type setting struct {
	policy, law string
	reports     bool
}

const fewSlow = "mixture:w1=0.95,of1=(uniform:lo=8,hi=12),w2=0.05,of2=(uniform:lo=60,hi=90)"

// TestReliability: attempts report nothing, so nothing but their ages is known.
func TestReliability(t *testing.T) {
	a, b := reliable(t, 400, []setting{
		{"fifo", "exp:mean=20", false}, {"srpt", "lognormal:mean=20,sd=20", false}, {"edf", "uniform:lo=5,hi=15", false}, {"laxity", fewSlow, false},
	})
	if *rewrite {
		if err := os.WriteFile("../../docs/pictures/chance.svg", []byte(drawReliability(&a, &b, "played", "of the job alone")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReliabilityOfReports: attempts report a twentieth of their mean apart and can be resumed, also under policies that
// judge them by that.
func TestReliabilityOfReports(t *testing.T) {
	reliable(t, 300, []setting{
		{"laxity", fewSlow, true}, {"laxity", "pareto:alpha=1.5,xm=5", true}, {"fifo", "exp:mean=20", true}, {"chronos-resume", fewSlow, true},
	})
}

// reliable: six jobs with deadlines share four slots, so many times in each setting. At a random instant each job that runs
// or waits is given a chance by playing the rest, and by the formula that looks at the job alone. One job of each world
// counts, so that they are independent.
func reliable(t *testing.T, worlds int, settings []setting) (a, b reliability) {
	const jobs = 6
	var played, formula []said
	for _, c := range settings {
		l := mustParse(t, c.law)
		mean := sched.FromSeconds(l.Mean())
		for k := range uint64(worlds) {
			rng := rand.New(rand.NewPCG(k, 7))
			specs, law, past := make([]sched.JobSpec, jobs), make([]laws.Law, jobs), make([]*Durations, jobs)
			for i := range specs {
				specs[i] = sched.JobSpec{
					Deadline: sched.FromSeconds(l.Mean() * (1 + 20*rng.Float64())),
					Stages:   []sched.StageSpec{{Tasks: 1 + rng.IntN(20), Mean: mean, SD: min(3*mean, sched.FromSeconds(laws.StdDev(l))), Resumable: c.reports}},
				}
				law[i], past[i] = l, runs(rng, l, 10, 40)
			}
			w := newWorld(t, k, c.policy, 4, nil, law)
			if c.reports {
				w.every = mean / 20
			}
			w.submit(specs)
			w.until(sched.FromSeconds(rng.Float64() * 2 * l.Mean()))
			promises, err := w.state(c.policy, past).Foresee(t.Context(), 2e8)
			if err != nil {
				t.Fatal(err)
			}
			chosen := sched.JobID(rng.IntN(jobs))
			p, ok := promises[chosen]
			if !ok || p.Chance == nil {
				continue
			}
			alone, known := (&outlook.Outlook{Law: l}).PoCD(w.core.View(), chosen)
			w.until(sched.Never)
			met := w.ended[chosen] <= specs[chosen].Deadline
			played = append(played, said{*p.Chance, met})
			if known {
				formula = append(formula, said{alone, met})
			}
		}
	}
	a, b = sumUp(played), sumUp(formula)
	for _, x := range []struct {
		name string
		all  []said
		r    *reliability
	}{{"played", played, &a}, {"formula", formula, &b}} {
		alarms, false1 := 0, 0
		for _, s := range x.all {
			if s.chance < plan.AtRisk {
				if alarms++; s.met {
					false1++
				}
			}
		}
		t.Logf("%s: %d chances, error of calibration %.3f; at risk %d, of which in time %.3f; bins %v, in time %v", x.name, len(x.all), x.r.wrong(), alarms, float64(false1)/float64(alarms), x.r.n, x.r.met)
	}
	if len(played) < 1000 || a.wrong() > 0.05 {
		t.Errorf("%d chances, error of calibration %.3f", len(played), a.wrong())
	}
	return a, b
}

func sumUp(all []said) (r reliability) {
	for _, x := range all {
		r.add(x)
	}
	return r
}

// drawReliability draws the share of jobs in time over the chance that was said, with 95 % intervals.
func drawReliability(one, other *reliability, nameOne, nameOther string) string {
	const left, top, side = 60.0, 20.0, 300.0
	x := func(v float64) float64 { return left + v*side }
	y := func(v float64) float64 { return top + (1-v)*side }
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="520" height="370" font-family="Liberation Sans,Arial,Helvetica,sans-serif" font-size="12">`+"\n")
	fmt.Fprintf(&s, `<rect width="520" height="370" fill="#fff"/><rect x="%g" y="%g" width="%g" height="%g" fill="none" stroke="#888"/>`+"\n", left, top, side, side)
	fmt.Fprintf(&s, `<path d="M%g %gL%g %g" stroke="#888" stroke-dasharray="4 4"/>`+"\n", x(0), y(0), x(1), y(1))
	for _, v := range []float64{0, 0.2, 0.4, 0.6, 0.8, 1} {
		fmt.Fprintf(&s, `<text x="%g" y="%g" text-anchor="middle">%g</text><text x="%g" y="%g" text-anchor="end">%g</text>`+"\n", x(v), y(0)+16, v, x(0)-6, y(v)+4, v)
	}
	for k, of := range []struct {
		r           *reliability
		color, name string
	}{{one, "#1b6ca8", nameOne}, {other, "#d1495b", nameOther}} {
		for b, n := range of.r.n {
			if n < 5 {
				continue
			}
			at, ci := x(of.r.sum[b]/float64(n))+float64(3*k), wilson(of.r.met[b], n)
			fmt.Fprintf(&s, `<path d="M%.1f %.1fV%.1f" stroke="%s"/><circle cx="%.1f" cy="%.1f" r="4" fill="%s"/>`+"\n", at, y(ci[0]), y(ci[1]), of.color, at, y(float64(of.r.met[b])/float64(n)), of.color)
		}
		fmt.Fprintf(&s, `<circle cx="380" cy="%d" r="4" fill="%s"/><text x="390" y="%d">%s</text>`+"\n", 40+20*k, of.color, 44+20*k, of.name)
	}
	fmt.Fprintf(&s, `<text x="%g" y="360" text-anchor="middle">chance that was said</text><text transform="translate(18 %g) rotate(-90)" text-anchor="middle">share of jobs in time</text>`+"\n</svg>\n", x(0.5), y(0.5))
	return s.String()
}
