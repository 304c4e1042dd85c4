package reproduce

import (
	"context"
	"fmt"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/plan"
)

// Single-fork replication: Wang, Joshi, Wornell. The mathematics is package plan's; what it corrects of the print is
// said there.
var forkPaper = Experiment{
	Name:  "fork",
	Paper: "Wang, Joshi, Wornell: Efficient Straggler Replication in Large-Scale Parallel Computing, ACM TOMPECS 2019",
	Run:   runFork,
}

// mostClones is the paper's r_max in Table 1, to be seen from its answers.
const mostClones = 4

func runFork(ctx context.Context, o Options) (*report.Page, error) {
	laws := newForkLaws(&o)
	jobs, notes, err := forkJobs(&o)
	if err != nil {
		return nil, err
	}
	steps := laws.steps()
	for _, j := range jobs {
		steps = append(steps, j.evaluate)
	}
	if err := o.each(ctx, steps); err != nil {
		return nil, err
	}
	var beyond []*forkBeyond
	steps = nil
	for _, j := range jobs {
		b, err := j.beyond(&o)
		if err != nil {
			return nil, err
		}
		beyond, steps = append(beyond, b), append(steps, b.run)
	}
	if err := o.each(ctx, steps); err != nil {
		return nil, err
	}
	page := &report.Page{
		Name: "fork", Title: "Straggler replication with a single fork",
		Intro: []string{
			"Wang, Joshi and Wornell replicate the stragglers of a job of n tasks once: when the share 1-p of the tasks is done, each of the others gets r " +
				"clones (keep), or is killed and started r+1 times (kill). Latency T is when the last task is done; cost C is machine time per task.",
			"Figures here are exact for finite n unless they say otherwise: sums and quadrature instead of Algorithm 1's sampling, which is shown beside " +
				"them. Where the print has slips, the corrected formula is used.",
		},
	}
	if o.Quick {
		page.Intro = append(page.Intro, fmt.Sprintf("A quick run: %d simulated jobs a point instead of %d.", laws[0].rounds, forkRounds))
	}
	for _, l := range laws {
		page.Sections = append(page.Sections, l.section())
	}
	page.Sections = append(page.Sections, tableSection(jobs, notes))
	for _, j := range jobs {
		page.Sections = append(page.Sections, j.section())
	}
	page.Sections = append(page.Sections, beyondSection(beyond))
	return page, nil
}

// name is a kind of policy in the paper's words.
func kindName(r int, o plan.Original) string { return fmt.Sprintf("%s, r = %d", o, r) }
