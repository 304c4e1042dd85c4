package history

import (
	"strconv"

	"github.com/tailcut/tailcut/trace"
)

// workload reads what package trace reads, .tr and JSON lines, as a log: every task of every job once, succeeded. Job
// is the number of the job from 0; a job of a .tr file is one stage without a name.
type workload struct{ a Record }

func (w *workload) read(in *lines, emit emit) error {
	all, err := trace.Read(in.in, in.name, 0)
	if err != nil {
		return err
	}
	for j := range all.Jobs {
		stages := all.StagesOf(j)
		for i := range stages {
			w.a = Record{Job: strconv.Itoa(int(all.Jobs[j].Number))}
			if len(stages) > 1 {
				w.a.Stage = strconv.Itoa(i)
			}
			w.a.StageName = all.Names[stages[i].Name]
			for t, d := range all.DurationsOf(&stages[i]) {
				w.a.Task, w.a.Duration = t, d
				if err := emit(&w.a); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *workload) finish(emit) error { return nil }
