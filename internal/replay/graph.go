package replay

import (
	"slices"
	"strings"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/sched"
)

// link finds what each piece waited for, and for how long after that the driver kept it. Pieces are in order of
// submission. A piece waits for the parents that the log names, or else for the pieces of the jobs before its own.
// Where a log names neither, and is of one application, it waits for whatever had ended when it was submitted. It
// returns when each job was submitted.
func link(pieces []*piece, course *history.Course, began sched.Time) map[string]sched.Time {
	named := map[[2]string][]string{}
	for i := range course.Stages {
		st := &course.Stages[i]
		named[[2]string{st.Job, st.Stage}] = st.Parents
	}
	one := oneDriver(course.System)
	jobs := jobsOf(pieces, course)
	for i, p := range pieces {
		parents, known := named[[2]string{p.record.Job, p.record.Stage}]
		for _, name := range parents {
			for k, q := range pieces[:i] {
				if base(q.record.Stage) == name && (one || q.record.Job == p.record.Job) && (!p.told || q.ended <= p.submitted) {
					p.parents = append(p.parents, k)
				}
			}
		}
		job := jobs[p.record.Job]
		switch {
		case len(p.parents) > 0 || !one:
		case known || strings.Contains(p.record.Stage, "."):
			for _, other := range before(jobs, job) {
				p.parents = append(p.parents, other.pieces...)
			}
		default:
			p.parents = latest(pieces[:i], p.submitted)
		}
		slices.Sort(p.parents)
		p.parents = slices.Compact(p.parents)
		p.gap = p.keptBy(pieces, began)
	}
	submitted := map[string]sched.Time{}
	for name, j := range jobs {
		submitted[name] = j.submitted
	}
	return submitted
}

// keptBy returns how long the driver kept a piece back. Where the log does not say when a stage was submitted, what is
// seen of its start is how long it waited for slots, too, which is the simulator's to say.
func (p *piece) keptBy(pieces []*piece, began sched.Time) sched.Time {
	if len(p.parents) == 0 {
		return max(0, p.submitted-began)
	}
	if !p.told {
		return 0
	}
	for _, k := range p.parents {
		began = max(began, pieces[k].ended)
	}
	return max(0, p.submitted-began)
}

// base is the id of a stage of Spark without the number of its retry.
func base(stage string) string {
	id, _, _ := strings.Cut(stage, ".")
	return id
}

// times is what a replay knows of a job.
type times struct {
	submitted, ended sched.Time
	pieces           []int
}

// jobsOf returns the jobs that have pieces.
func jobsOf(pieces []*piece, course *history.Course) map[string]*times {
	jobs := map[string]*times{}
	for i, p := range pieces {
		j := jobs[p.record.Job]
		if j == nil {
			j = &times{submitted: p.submitted}
			jobs[p.record.Job] = j
		}
		j.submitted, j.ended = min(j.submitted, p.submitted), max(j.ended, p.ended)
		j.pieces = append(j.pieces, i)
	}
	for _, told := range course.Jobs {
		if j := jobs[told.Job]; j != nil && told.Submitted > 0 {
			j.submitted = min(j.submitted, told.Submitted)
		}
	}
	return jobs
}

// before returns the jobs that had ended when one was submitted, without those that others of them had waited for.
func before(jobs map[string]*times, of *times) (all []*times) {
	last := sched.Time(0)
	for _, j := range jobs {
		if j.ended <= of.submitted {
			last = max(last, j.submitted)
		}
	}
	for _, j := range jobs {
		if j.ended <= of.submitted && j.ended > last {
			all = append(all, j)
		}
	}
	return all
}

// latest returns the pieces that had ended at an instant, without those that others of them had waited for.
func latest(pieces []*piece, at sched.Time) (all []int) {
	last := sched.Time(0)
	for _, q := range pieces {
		if q.ended <= at {
			last = max(last, q.submitted)
		}
	}
	for k, q := range pieces {
		if q.ended <= at && q.ended > last {
			all = append(all, k)
		}
	}
	return all
}
