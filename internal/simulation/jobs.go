package simulation

import (
	"strconv"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sim"
)

// jobsFile is what became of each job, as CSV.
type jobsFile struct {
	out show.CSV
	of  *question
}

func newJobsFile(q *question) *jobsFile {
	f := &jobsFile{show.NewCSV(q.Jobs), q}
	columns := []string{
		"policy", "run", "job", "arrival_seconds", "completion_seconds", "tasks", "attempts", "fruitful_seconds", "fruitless_seconds", "state", "progress",
	}
	if f.measured() {
		columns = append(columns, "class", "measured")
	}
	_ = f.out.Write(columns) // add or flush tells of errors
	return f
}

// measured tells whether not all jobs are measured alike.
func (f *jobsFile) measured() bool {
	return f.of.by != nil || f.of.cut.asked != "" && f.of.cut.asked != "none"
}

// add writes the jobs of a run.
func (f *jobsFile) add(c *sim.Cell, jobs []sim.JobResult) error {
	for k := range jobs {
		j := &jobs[k]
		state := "succeeded"
		if j.Failed {
			state = "failed"
		}
		row := []string{
			f.of.policies[c.Policy].Name, strconv.Itoa(c.Run), strconv.FormatUint(uint64(j.Number), 10), show.Plain(j.Arrival.Seconds()), show.Plain(j.Completion.Seconds()),
			strconv.FormatUint(uint64(j.Tasks), 10), strconv.FormatUint(uint64(j.Attempts), 10), show.Plain(j.Fruitful.Seconds()), show.Plain(j.Fruitless.Seconds()),
			state, f.of.told[c.Policy],
		}
		if f.measured() {
			class := ""
			if f.of.by != nil && j.Class >= 0 {
				class = f.of.by.labels[j.Class]
			}
			row = append(row, class, strconv.FormatBool(j.Class != sim.Unmeasured))
		}
		if err := f.out.Write(row); err != nil {
			return err
		}
	}
	return nil
}

func (f *jobsFile) flush() error {
	f.out.Flush()
	return f.out.Error()
}
