package reproduce

import (
	"context"
	"fmt"
	"slices"

	"github.com/tailcut/tailcut/internal/overlap"
	"github.com/tailcut/tailcut/internal/report"
)

// Overlapping phases: Lin, Zhang, Wierman, Tan. The fluid model of package overlap is the paper's; its readings are
// said there.
var overlapPaper = Experiment{
	Name:  "overlap",
	Paper: "Lin, Zhang, Wierman, Tan: Joint Optimization of Overlapping Phases in MapReduce, IFIP Performance 2013",
	Run:   runOverlap,
}

func runOverlap(ctx context.Context, o Options) (*report.Page, error) {
	large := newLargeJobs(&o)
	days, notes, err := overlapDays(&o)
	if err != nil {
		return nil, err
	}
	tasks, sizes, random, bytes := &taskRuns{}, newSizeRuns(&o), newFamilyRuns(&o), newBytesRuns(&o, days)
	steps := slices.Concat(large.steps(), tasks.steps(), sizes.steps(), random.steps(), bytes.steps())
	for _, d := range days {
		steps = append(steps, d.steps()...)
	}
	if err := o.each(ctx, steps); err != nil {
		return nil, err
	}
	page := &report.Page{
		Name: "overlap", Title: "Overlapping phases in MapReduce",
		Intro: []string{
			"Lin, Zhang, Wierman and Tan (IFIP Performance 2013) schedule jobs whose shuffle phase overlaps their map phase, to keep the mean response " +
				"time small. Their model is a fluid: a job is (x, y), its map and its shuffle work, both stations have rate 1, and of no job a larger " +
				"fraction is shuffled than mapped. It is simulated here from event to event, without time steps.",
			"MaxSRPT and SplitSRPT are work-conserving, as the paper's text asks for; the algorithms as boxed there are unstable at load 0.75.",
		},
		Sections: []report.Section{progressSection(), hadoopSection()},
	}
	if o.Quick {
		page.Intro = append(page.Intro, fmt.Sprintf("A quick run: %.0e jobs in Section 5.3 instead of 5e+07, k up to 32 in "+
			"Theorem 2, a fifth of the instances of Theorems 3 and 5, and %d jobs of tasks instead of 3,000.", float64(large.n), sizes.jobs))
	}
	for _, d := range days {
		page.Sections = append(page.Sections, d.section())
	}
	if len(notes) > 0 {
		page.Sections[len(page.Sections)-1].Text = append(page.Sections[len(page.Sections)-1].Text, notes...)
	}
	page.Sections = append(page.Sections, large.meansSection(), large.slowdownSection(), worstCaseSection(), hardSection(), theorem2Section(o.Quick),
		adversarySection(), random.section(), speedSection(o.Seed, o.Quick), tasks.section(), sizes.section(), bytes.section())
	return page, nil
}

// fluidRun gives the completions of all jobs, in order of arrival.
func fluidRun(p overlap.Discipline, jobs []overlap.Demand) []float64 {
	done := make([]float64, len(jobs))
	overlap.Run(p, slices.Values(jobs), func(c overlap.Completion) { done[c.Index] = c.Time })
	return done
}

func totalFlow(p overlap.Discipline, jobs []overlap.Demand) (sum float64) {
	for i, t := range fluidRun(p, jobs) {
		sum += t - jobs[i].Arrival
	}
	return sum
}

func lowerBound(jobs []overlap.Demand) float64 {
	b := overlap.NewBound(0)
	for _, j := range jobs {
		b.Arrive(j)
	}
	b.Drain()
	return b.Mean()
}
