package reproduce

import (
	"context"
	"fmt"

	"github.com/tailcut/tailcut/internal/report"
)

// srewJobs is Table 3 with other numbers of jobs.
type srewJobs struct {
	jobs   []int
	tables []*series // by jobs
}

func newSREWJobs(sc *srewScale, o *Options) *srewJobs {
	x := &srewJobs{jobs: sc.others}
	for _, jobs := range sc.others {
		x.tables = append(x.tables, newSeries(o.Seed, sc.cluster, sc.other, 1, specsOfRows(srewRows[:printedRows]), sc.surrogateOf(jobs)))
	}
	return x
}

func (x *srewJobs) steps() (steps []func(context.Context) error) {
	for _, s := range x.tables {
		steps = append(steps, s.steps()...)
	}
	return steps
}

func (x *srewJobs) sections() []report.Section {
	if len(x.jobs) == 0 {
		return nil
	}
	sec := report.Section{Title: "Table 3 with more or fewer jobs", Text: []string{"The paper does not print how many jobs its extract has. A load of 0.55 was chosen because its curve over M bends " +
		"between 7,000 and 10,000 machines."}}
	for k, s := range x.tables {
		sec.Tables = append(sec.Tables, flowTable(fmt.Sprintf("jobs%d", x.jobs[k]), fmt.Sprintf("%d jobs", x.jobs[k]), s, srewRows[:printedRows]))
		for _, c := range reductionClaims(s, fmt.Sprintf("%d jobs: ", x.jobs[k])) {
			c.Verdict = report.Reported
			sec.Claims = append(sec.Claims, c)
		}
	}
	return []report.Section{sec}
}
