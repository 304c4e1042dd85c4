package reproduce

import (
	"fmt"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// savedRows are the forms of SREW where preempted tasks keep their work, as the theory has it.
var savedRows = []srewRow{
	{policy: "SREW+C(0.7)", reading: "without line 7", spec: srewSpec},
	{policy: "SREW+C(0.7)", reading: "line 7 as printed", spec: "srew:beta=0.7,lambda=1,slot=5s,preempt=true"},
	{policy: "SREW+C(0.7)", reading: "line 7 for clones only", spec: "srew:beta=0.7,lambda=1,slot=5s,preempt=clones"},
	{policy: "SREW+C(1)", reading: "without line 7", spec: "srew:beta=1,lambda=1,slot=5s"},
	{policy: "SREW+C(1)", reading: "line 7 as printed", spec: "srew:beta=1,lambda=1,slot=5s,preempt=true"},
	{policy: "SREW+C(1)", reading: "line 7 for clones only", spec: "srew:beta=1,lambda=1,slot=5s,preempt=clones"},
}

// resumable lets all stages of the workloads go on from checkpoints.
func resumable(draw func(seed uint64) (*trace.Workload, error)) func(seed uint64) (*trace.Workload, error) {
	return func(seed uint64) (*trace.Workload, error) {
		w, err := draw(seed)
		if err != nil {
			return nil, err
		}
		for i := range w.Stages {
			w.Stages[i].Resumable = true
		}
		return w, nil
	}
}

// srewSaved compares the forms of Algorithm 2 where what was preempted goes on from its checkpoint.
type srewSaved struct{ *series }

func newSREWSaved(sc *srewScale, o *Options) *srewSaved {
	return &srewSaved{newSeries(o.Seed, sc.cluster, sc.sweep, 1, specsOfRows(savedRows), resumable(sc.surrogateOf(sc.jobs)))}
}

func (s *srewSaved) sections() []report.Section {
	sec := report.Section{
		Title: "Line 7 with checkpoints",
		Text: []string{fmt.Sprintf("Algorithm 2 as printed takes attempts of jobs above their share away (line 7) and lets them go on later from where they were. The paper analyses this form and evaluates the one "+
			"without line 7. Here all tasks can resume, and clones go on from the most advanced attempt. %d workloads.", s.Runs)},
	}
	table := report.Table{Name: "checkpoints", Columns: []string{"policy", "reading", "mean flow (s)", "±", "less than the first (%)", "±", "fruitless (%)"}}
	for i, r := range savedRows {
		flow := s.Mean(i, sim.MeanFlow)
		row := []any{r.policy, r.reading, flow.Mean, flow.Half, nil, nil, 100 * s.Mean(i, fruitlessShare).Mean}
		if i > 0 {
			v := s.Versus(i)
			row[4], row[5] = -100*v.Difference.Mean/v.First, 100*v.Difference.Half/v.First
		}
		table.Add(row...)
	}
	sec.Tables = []report.Table{table}
	return []report.Section{sec}
}
