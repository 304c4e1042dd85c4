package reproduce

import (
	"fmt"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/overlap/study"
	"github.com/tailcut/tailcut/internal/report"
)

// crowd is the number of jobs from which on a bucket of Figure 9 counts.
const crowd = 1000

// slowdownSection is Figure 9.
func (l *largeJobs) slowdownSection() report.Section {
	s := report.Section{
		Title: "Figure 9: what happens to large jobs?",
		Text: []string{fmt.Sprintf("Mean slowdown, response time over L = max(x, y), of jobs of like size, in 400 buckets on [0, 100]. Claims are about the "+
			"buckets with %d jobs or more unless they say all; the plots have those with 100 or more.", crowd)},
	}
	sizes := &l.runs[0].sizes
	s.Claims = append(s.Claims,
		report.Check(sizes.At(0.9) < 3, "L of 90 % of the jobs", "< 3", fmt.Sprintf("%.3g", sizes.At(0.9))),
		report.Claim{What: "L of 99 % of the jobs (the lognormals as printed give 19.5)", Published: "< 19", Measured: fmt.Sprintf("%.3g", sizes.At(0.99)), Verdict: report.Reported},
	)
	table := report.Table{Name: "figure9", Caption: "Mean slowdown by size", Columns: []string{"load", "policy", "L < 0.25", "1 to 2", "9 to 11", "35 to 45", "80 to 100"}}
	for i, load := range largeLoads {
		var names []string
		var fair []*overlap.Fairness
		for _, r := range l.at(i) {
			names, fair = append(names, r.policy.Kind.String()), append(fair, &r.fair)
			table.Add(load, r.policy.Kind.String(), between(&r.fair, 0, 0.25), between(&r.fair, 1, 2), between(&r.fair, 9, 11), between(&r.fair, 35, 45), between(&r.fair, 80, 100))
		}
		s.Plots = append(s.Plots, study.SlowdownPlot(fmt.Sprintf("figure9_%02.0f", 100*load), fmt.Sprintf("Figure 9(%c): load %.2f", 'a'+i, load), names, fair, 100))
		s.Claims = append(s.Claims, slowdownClaims(load, fair[0], fair[1], fair[2])...)
	}
	s.Tables = []report.Table{table}
	return s
}

func slowdownClaims(load float64, klps, most, parts *overlap.Fairness) []report.Claim {
	var counted, worse, all, worseOfAll int
	var jobs, half [2]int64
	for b := range overlap.FairnessBuckets {
		n, fair := klps.Bucket(b)
		if n == 0 {
			continue
		}
		all++
		if worseIn(b, fair, most, parts) {
			worseOfAll++
		}
		if n < crowd {
			continue
		}
		counted++
		bad := worseIn(b, fair, most, parts)
		for i, f := range []*overlap.Fairness{most, parts} {
			n, slowdown := f.Bucket(b)
			jobs[i] += n
			if slowdown < fair/2 {
				half[i] += n
			}
		}
		if bad {
			worse++
		}
	}
	share := func(i int) float64 { return float64(half[i]) / float64(max(1, jobs[i])) }
	small := [2]float64{between(most, 0, 1), between(parts, 0, 1)}
	big := [2]float64{between(most, 30, 100), between(parts, 30, 100)}
	at := fmt.Sprintf("at load %.2f ", load)
	return []report.Claim{
		report.Check(counted > 0 && worse == 0, at+fmt.Sprintf("all sizes are better off under both SRPTs than under k-LPS, in buckets with %d jobs or more", crowd), "all",
			fmt.Sprintf("%d of %d buckets", counted-worse, counted)),
		report.Claim{What: at + "the same in all buckets that are not empty", Published: "all", Measured: fmt.Sprintf("%d of %d buckets", all-worseOfAll, all), Verdict: report.Reported},
		report.Check(share(0) > 0.5 && share(1) > 0.5, at+fmt.Sprintf("most jobs are in buckets with less than half the slowdown of k-LPS, of buckets with %d jobs or more", crowd), "most",
			fmt.Sprintf("%.0f %%, %.0f %%", 100*share(0), 100*share(1))),
		report.Check(small[1] > small[0] && big[1] < big[0], at+"SplitSRPT slows small jobs (L < 1) more than MaxSRPT, large ones (L > 30) less", "yes",
			fmt.Sprintf("%.3g > %.3g, %.3g < %.3g", small[1], small[0], big[1], big[0])),
	}
}

// worseIn says whether a bucket is no better off under either SRPT.
func worseIn(bucket int, fair float64, most, parts *overlap.Fairness) bool {
	_, a := most.Bucket(bucket)
	_, b := parts.Bucket(bucket)
	return max(a, b) >= fair
}

// between is the mean slowdown of the jobs with a size in [low, high).
func between(f *overlap.Fairness, low, high float64) float64 {
	var jobs int64
	sum := 0.0
	for b := int(low / overlap.FairnessWidth); b < int(high/overlap.FairnessWidth); b++ {
		n, slowdown := f.Bucket(b)
		jobs += n
		sum += float64(n) * slowdown
	}
	return sum / float64(max(1, jobs))
}
