package simulation

import (
	"io"
	"strconv"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sim"
)

// jobsFile is what became of each job, as CSV.
type jobsFile struct{ out show.CSV }

func newJobsFile(w io.Writer) *jobsFile {
	f := &jobsFile{show.NewCSV(w)}
	_ = f.out.Write([]string{ // add or flush tells of errors
		"policy", "run", "job", "arrival_seconds", "completion_seconds", "tasks", "attempts", "fruitful_seconds", "fruitless_seconds", "state", "progress",
	})
	return f
}

// add writes the jobs of a run.
func (f *jobsFile) add(policy, progress string, run int, jobs []sim.JobResult) error {
	for k := range jobs {
		j := &jobs[k]
		state := "succeeded"
		if j.Failed {
			state = "failed"
		}
		err := f.out.Write([]string{
			policy, strconv.Itoa(run), strconv.FormatUint(uint64(j.Number), 10), show.Plain(j.Arrival.Seconds()), show.Plain(j.Completion.Seconds()),
			strconv.FormatUint(uint64(j.Tasks), 10), strconv.FormatUint(uint64(j.Attempts), 10), show.Plain(j.Fruitful.Seconds()), show.Plain(j.Fruitless.Seconds()),
			state, progress,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *jobsFile) flush() error {
	f.out.Flush()
	return f.out.Error()
}
