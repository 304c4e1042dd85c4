package reproduce

import (
	"context"
	"fmt"
	"math"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// largeJobs is Section 5.3, "What happens to large jobs?": means in the text and Figure 9.
type largeJobs struct {
	n      int64
	seed   uint64
	runs   []*largeRun
	bounds [len(largeLoads)]float64
	tight  [len(largeLoads)]float64
}

var largeLoads = [...]float64{0.75, 0.90}

// batches is the number of parts of a run whose means tell its sampling error.
const batches = 20

// largeRun is one policy at one load. The first tenth of the jobs is warm-up.
type largeRun struct {
	policy    overlap.Discipline
	load      float64
	published float64
	fair      overlap.Fairness
	summary   overlap.Summary
	batch     [batches]struct { // in order of arrival
		jobs int64
		flow float64
	}
	sizes overlap.Quantiles // of max(x, y)
}

func newLargeJobs(o *Options) *largeJobs {
	l := &largeJobs{n: 50_000_000, seed: o.Seed}
	if o.Quick {
		l.n = 1_000_000
	}
	for _, r := range []largeRun{
		{policy: overlap.Discipline{Kind: overlap.KLPS, K: 100}, load: 0.75, published: 6.50},
		{policy: maxSRPT, load: 0.75, published: 3.32},
		{policy: split, load: 0.75, published: 3.55},
		{policy: overlap.Discipline{Kind: overlap.KLPS, K: 100}, load: 0.90, published: 16.28},
		{policy: maxSRPT, load: 0.90, published: 5.58},
		{policy: split, load: 0.90, published: 5.66},
	} {
		l.runs = append(l.runs, &r)
	}
	return l
}

// at returns the runs of a load: k-LPS, MaxSRPT, SplitSRPT.
func (l *largeJobs) at(i int) []*largeRun { return l.runs[3*i : 3*i+3] }

func (l *largeJobs) steps() (steps []func(context.Context) error) {
	for _, r := range l.runs {
		steps = append(steps, func(ctx context.Context) error { return l.run(ctx, r) })
	}
	for i, load := range largeLoads {
		steps = append(steps, func(ctx context.Context) error {
			b, tight := overlap.NewBound(l.n/10), overlap.NewTight(l.n/10)
			err := l.stream(ctx, load, func(j overlap.Demand) {
				b.Arrive(j)
				tight.Arrive(j)
			})
			b.Drain()
			tight.Drain()
			l.bounds[i], l.tight[i] = b.Mean(), tight.Mean()
			return err
		})
	}
	return steps
}

// stream hands over the drawn jobs; it is the same for all policies of a load.
func (l *largeJobs) stream(ctx context.Context, load float64, arrive func(overlap.Demand)) error {
	n := 0
	for j := range overlap.Synthetic(l.n, load, l.seed) {
		if n++; n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		arrive(j)
	}
	return nil
}

func (l *largeJobs) run(ctx context.Context, r *largeRun) error {
	skip := l.n / 10
	size := (l.n - skip + batches - 1) / batches
	s := overlap.New(r.policy, func(c overlap.Completion) {
		if c.Index < skip {
			return
		}
		r.summary.Add(c)
		r.fair.Add(c, c.Job.Alone())
		r.sizes.Add(c.Job.Alone())
		b := &r.batch[(c.Index-skip)/size]
		b.jobs++
		b.flow += c.Flow()
	})
	err := l.stream(ctx, r.load, s.Arrive)
	s.Drain()
	return err
}

// interval is half the width of the 95 % interval of the mean flow time, from the batches' means. Flow times are
// heavy-tailed: it is a hint.
func (r *largeRun) interval() float64 {
	mean, square := r.summary.MeanFlow(), 0.0
	for _, b := range r.batch {
		d := b.flow/float64(b.jobs) - mean
		square += d * d
	}
	return 2.093 * math.Sqrt(square/(batches-1)/batches) // Student's t, 19 degrees of freedom
}

func (l *largeJobs) meansSection() report.Section {
	table := report.Table{Name: "means", Caption: "Mean response times (s)", Columns: []string{
		"load", "policy", "published", "measured", "95 % ±", "difference (%)", "of lower bound", "of tight bound", "mean slowdown",
	}}
	s := report.Section{
		Title: "Section 5.3: mean response times",
		Text: []string{fmt.Sprintf("%.0e jobs arrive in a Poisson process. Map sizes are lognormal with mean 1 and standard deviation 3.65, shuffle sizes "+
			"are map sizes times a lognormal ratio with mean 1 and standard deviation 3.28. The first tenth does not count. The lower bound is that of "+
			"Section 5.1; the paper does not print it for this workload. The tight bound is ours: the optimum is between it and the best policy. Sizes are heavy-tailed, so that the intervals, from the means of %d batches, "+
			"are hints.", float64(l.n), batches)},
	}
	for i, load := range largeLoads {
		for _, r := range l.at(i) {
			mean := r.summary.MeanFlow()
			off := mean/r.published - 1
			table.Add(load, r.policy.Kind.String(), r.published, mean, r.interval(), 100*off, mean/l.bounds[i], mean/l.tight[i], r.summary.MeanSlowdown())
			s.Claims = append(s.Claims, l.claim(load, r))
		}
		table.Add(load, "lower bound", nil, l.bounds[i], nil, nil, 1.0, l.bounds[i]/l.tight[i], nil)
		table.Add(load, "tight bound", nil, l.tight[i], nil, nil, l.tight[i]/l.bounds[i], 1.0, nil)
		s.Claims = append(s.Claims, l.order(i))
	}
	s.Tables = []report.Table{table}
	return s
}

// claim is that a policy's mean is the published one, within what 5e7 jobs with such sizes allow, or fewer.
func (l *largeJobs) claim(load float64, r *largeRun) report.Claim {
	tolerance := 0.03
	if l.n < 10_000_000 {
		tolerance = 0.10
	}
	const one = 1 // repetition: there are no --runs to ask for
	mean, half := r.summary.MeanFlow(), r.interval()
	return report.Judge(mean, half, one, r.published*(1-tolerance), r.published*(1+tolerance),
		fmt.Sprintf("mean response time of %v at load %v, within %.0f %%", r.policy.Kind, load, 100*tolerance),
		fmt.Sprintf("%.2f", r.published), fmt.Sprintf("%.2f ± %.2f", mean, half))
}

// order is the claim that MaxSRPT is better than SplitSRPT and both than k-LPS. In a quick run the first two are too
// close to tell.
func (l *largeJobs) order(i int) report.Claim {
	runs := l.at(i)
	klps, most, parts := runs[0].summary.MeanFlow(), runs[1].summary.MeanFlow(), runs[2].summary.MeanFlow()
	measured := fmt.Sprintf("%.2f, %.2f, %.2f", most, parts, klps)
	if l.n < 10_000_000 {
		return report.Check(max(most, parts) < klps && l.bounds[i] < min(most, parts), fmt.Sprintf("at load %v both SRPTs are between the lower bound and k-LPS",
			largeLoads[i]), "lower", measured)
	}
	return report.Check(l.bounds[i] < most && most < parts && parts < klps, fmt.Sprintf("at load %v: lower bound < MaxSRPT < SplitSRPT < k-LPS",
		largeLoads[i]), "in this order", measured)
}
