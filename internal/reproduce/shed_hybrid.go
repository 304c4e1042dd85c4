package reproduce

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
)

// shedHybrid is Figure 4: 50 jobs of 5 tasks, 30 of 10 and 20 of 20, in random order, with deadlines of 460, 500 and
// 560 s.
type shedHybrid struct {
	models []shedModel
	seed   uint64
	met    [][][len(shedPolicies)][]float64 // by model and repetition, then policy and class
	lost   [][][len(shedPolicies)][]float64 // likewise, the share of jobs that it gave up
}

var (
	hybridJobs      = [...]int{50, 30, 20}
	hybridDeadlines = [...]float64{460, 500, 560}
)

func newShedHybrid(seed uint64, repeats int) *shedHybrid {
	h := &shedHybrid{models: []shedModel{pureModel(1.5), contendedModel(1.5)}, seed: seed}
	for range h.models {
		h.met = append(h.met, make([][len(shedPolicies)][]float64, repeats))
		h.lost = append(h.lost, make([][len(shedPolicies)][]float64, repeats))
	}
	return h
}

func (h *shedHybrid) steps() (steps []func(context.Context) error) {
	for m := range h.models {
		for k := range h.met[m] {
			steps = append(steps, func(ctx context.Context) error { return h.run(ctx, m, k) })
		}
	}
	return steps
}

func (h *shedHybrid) run(ctx context.Context, m, k int) error {
	seed := repetition(h.seed, k)
	var jobs []shedJob
	for c, n := range hybridJobs {
		jobs = append(jobs, alike(n, shedClasses[c], hybridDeadlines[c])...)
	}
	rand.New(rand.NewPCG(seed, 0x41b)).Shuffle(len(jobs), func(i, j int) { jobs[i], jobs[j] = jobs[j], jobs[i] })
	r := shedRun{model: h.models[m], slots: shedSlots, seed: seed, launch: shedLaunch, progress: exactly, workload: shedArrivals(jobs, shedGap, seed)}
	return r.each(ctx, shedPolicies[:], nil, func(i int, res *sim.Result) {
		of := make([][]sim.JobResult, len(shedClasses))
		for j := range res.Jobs {
			for c, tasks := range shedClasses {
				if jobs[j].tasks == tasks {
					of[c] = append(of[c], res.Jobs[j])
				}
			}
		}
		for c := range of {
			h.met[m][k][i] = append(h.met[m][k][i], ratioMet(of[c]))
			h.lost[m][k][i] = append(h.lost[m][k][i], ratioLost(of[c]))
		}
	})
}

func (h *shedHybrid) section() report.Section {
	s := report.Section{Title: "Figure 4: a mix of jobs", Text: []string{
		"50 jobs of 5 tasks with a deadline of 460 s, 30 of 10 with 500 s and 20 of 20 with 560 s, in random order. The paper compares Shed with Hadoop.",
		gaveUpText,
	}}
	t := report.Table{Name: "figure4", Columns: []string{"model", "tasks", "deadline (s)", "Shed", "±", "Dolly", "±", "Dolly as printed", "±", "Hadoop", "±", "given up by Shed"}}
	for m, model := range h.models {
		least, lead := worst{}, worst{}
		for c, tasks := range shedClasses {
			row := []any{model.name, tasks, hybridDeadlines[c]}
			rows := make([][]float64, len(h.met[m])) // by repetition, then policy
			lost := 0.0
			for k := range rows {
				for p := range shedPolicies {
					rows[k] = append(rows[k], h.met[m][k][p][c])
				}
				lost += h.lost[m][k][0][c] / float64(len(rows))
			}
			for p := range shedPolicies {
				e := column(rows, p)
				row = append(row, e.Mean, e.Half)
			}
			t.Add(append(row, lost)...)
			where := fmt.Sprintf("%d tasks", tasks)
			least.add(column(rows, 0), where)
			lead.add(difference(rows, 0, rows, hadoopColumn), where)
		}
		s.Claims = append(s.Claims,
			least.atLeast(0.85, model.name+": Shed meets more than 0.85 of the deadlines of each class of the mix", "above 0.85"),
			lead.atLeast(-shedSlack, model.name+": Shed is no worse than Hadoop in any class of the mix, within 0.05", "much better"),
		)
	}
	s.Tables = append(s.Tables, t)
	return s
}
