package replay

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Workload is what logs tell as the jobs of one cluster, to be played under any policy. An application of Spark and a
// run of Tailcut are a job each, with the stages of all that was asked of it; of other logs each job is one. Jobs
// arrive as they did. A task lasts as long as all its attempts, but for clones. What a driver took between stages are
// stages of class [trace.Driver].
func Workload(name string, logs []*Rerun) *trace.Workload {
	w := &trace.Workload{Name: name, Names: []string{""}, Classes: []string{"", trace.Driver}}
	for _, r := range logs {
		if r.single() {
			r.named(w, cmp.Or(r.application, r.name), r.all(), r.began, r.ended)
			continue
		}
		var jobs []string // in the order in which they were submitted
		pieces := map[string][]int{}
		for i, p := range r.pieces {
			if pieces[p.record.Job] == nil {
				jobs = append(jobs, p.record.Job)
			}
			pieces[p.record.Job] = append(pieces[p.record.Job], i)
		}
		for _, job := range jobs {
			r.named(w, job, pieces[job], r.submitted[job], 0)
		}
	}
	return settled(w)
}

// named appends a job with the names of its stages, and what they read.
func (r *Rerun) named(w *trace.Workload, name string, pieces []int, began, ended sched.Time) {
	row := trace.JobRow{Arrival: began, Number: uint32(len(w.Jobs)), Name: nameIn(w, name)}
	r.job(w, row, pieces, began, ended, func(i int) {
		p := r.pieces[i]
		stage(w, 0, p.durations()...)
		st := &w.Stages[len(w.Stages)-1]
		st.Name, st.Silent = nameIn(w, strings.TrimSpace(p.record.Stage+" "+p.record.StageName)), p.silent
		if len(p.parents) == 0 {
			for _, o := range p.record.Succeeded {
				st.InputBytes += o.Bytes
			}
		}
	})
}

func nameIn(w *trace.Workload, name string) uint32 {
	if name == "" {
		return 0
	}
	w.Names = append(w.Names, name)
	return uint32(len(w.Names) - 1)
}

// settled has the workload's clock begin with its first job, and leaves out the class of drivers if there are none.
func settled(w *trace.Workload) *trace.Workload {
	slices.SortStableFunc(w.Jobs, func(a, b trace.JobRow) int { return cmp.Compare(a.Arrival, b.Arrival) })
	for j := len(w.Jobs) - 1; j >= 0; j-- {
		w.Jobs[j].Arrival -= w.Jobs[0].Arrival
	}
	if !slices.ContainsFunc(w.Stages, func(st trace.StageRow) bool { return st.Class == driver }) {
		w.Classes = nil
	}
	return w
}

// single tells whether the log is of one application, whose driver asks for one stage after the other.
func (r *Rerun) single() bool { return oneDriver(r.system) }

// oneDriver tells of which systems a log is of one application.
func oneDriver(system string) bool { return system == "spark" || system == "tailcut" }

// Readable tells whether logs of a format, as package history calls it, say enough to be played.
func Readable(format string) bool {
	return slices.Contains([]string{"Spark event log", "Hadoop job history", "Hadoop 0.20 job log", "journal of Tailcut"}, format)
}
