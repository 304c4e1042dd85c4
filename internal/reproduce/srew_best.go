package reproduce

import (
	"fmt"
	"math"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/sim"
)

// specsOfRows returns the rows' specifications.
func specsOfRows(rows []srewRow) (specs []string) {
	for _, r := range rows {
		specs = append(specs, r.spec)
	}
	return specs
}

// baselines are the policies that the paper compares with.
var baselines = []string{"SCA", "Dolly", "Grass", "Mantri"}

// bestReading returns the row of a policy with the smallest mean flow time.
func (t *table3) bestReading(policy string) (best int) {
	least := math.Inf(1)
	for i, r := range srewRows {
		if flow := t.main.Mean(i, sim.MeanFlow).Mean; r.policy == policy && flow < least {
			best, least = i, flow
		}
	}
	return best
}

// bestSREW returns the row of SREW, in any form, with the smallest mean flow time.
func (t *table3) bestSREW() int {
	best := rowSREW
	for i, r := range srewRows {
		if strings.HasPrefix(r.policy, "SREW") && t.main.Mean(i, sim.MeanFlow).Mean < t.main.Mean(best, sim.MeanFlow).Mean {
			best = i
		}
	}
	return best
}

// best puts each baseline at its best beside how the authors seem to have run it.
func (t *table3) best() report.Section {
	s := t.main
	sec := report.Section{
		Title: "Each baseline at its best",
		Text: []string{
			"The reading of each baseline with the smallest mean of all its rows above, chosen after the fact. The comparison is as strict as these rows allow: the choice favours the baseline a little.",
		},
	}
	table := report.Table{Name: "best", Columns: []string{
		"baseline", "as the authors seem to have run it", "mean flow (s)", "SREW less by (%)", "±", "at its best", "mean flow (s)", "SREW less by (%)", "±",
	}}
	worst, rival := sim.Estimate{Mean: math.Inf(1)}, 0
	for k, name := range baselines {
		seems, best := rowSCA+k, t.bestReading(name)
		a, b := s.reduction(seems), s.reduction(best)
		table.Add(name, srewRows[seems].reading, s.Mean(seems, sim.MeanFlow).Mean, 100*a.Mean, 100*a.Half,
			srewRows[best].reading, s.Mean(best, sim.MeanFlow).Mean, 100*b.Mean, 100*b.Half)
		if b.Mean < worst.Mean {
			worst, rival = b, best
		}
	}
	sec.Tables = []report.Table{table}
	sec.Claims = []report.Claim{judge(worst, 0, math.Inf(1), "SREW has the smallest mean flow time with every baseline at its best", "8.5 % less than the best",
		fmt.Sprintf("%s than %s", lessOrMore(worst), srewRows[rival].name()))}
	return sec
}
