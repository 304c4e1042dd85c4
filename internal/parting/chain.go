package parting

import (
	"slices"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// life is what became of a job.
type life struct {
	row   *timeline.JobRow
	tasks map[key]*course
	order []*course // by first launch
	named []string  // stages, but for those of drivers, in the order of the table
}

// key is a task of a job.
type key struct {
	stage string
	task  uint32
}

// course has the attempts of a task, in the order of their launches.
type course struct {
	key
	driver bool // what an application's driver does between stages
	rows   []timeline.Row
	won    *timeline.Row // nil if none has
}

// lives returns what became of each job.
func lives(t *timeline.Timeline) []*life {
	all := make([]*life, len(t.Jobs))
	for i := range all {
		all[i] = &life{row: &t.Jobs[i], tasks: map[key]*course{}}
	}
	for i := range t.Stages {
		if s := &t.Stages[i]; s.Class != trace.Driver {
			all[s.Job].named = append(all[s.Job].named, s.Name)
		}
	}
	for i := range t.Attempts.Len() {
		r := t.Attempts.Row(i)
		k := key{t.Stages[r.Stage].Name, r.Task}
		x := all[r.Job].tasks[k]
		if x == nil {
			x = &course{key: k, driver: t.Stages[r.Stage].Class == trace.Driver}
			all[r.Job].tasks[k] = x
			all[r.Job].order = append(all[r.Job].order, x)
		}
		x.rows = append(x.rows, r)
		if r.End == live.Won {
			x.won = &r
		}
	}
	return all
}

// callAs gives the stages of a job the names that another has at the same places, if they have other names.
func (l *life) callAs(other *life) {
	if len(l.named) != len(other.named) {
		return
	}
	as := map[string]string{}
	for i, name := range l.named {
		if slices.Contains(other.named, name) {
			return
		}
		as[name] = other.named[i]
	}
	clear(l.tasks)
	for _, t := range l.order {
		if name, ok := as[t.stage]; ok && !t.driver {
			t.stage = name
		}
		l.tasks[t.key] = t
	}
}

func (l *life) succeeded() bool { return l.row.State == "succeeded" && l.row.Ended > 0 }

// flow is the flow time in seconds.
func (l *life) flow() float64 { return seconds(sched.Time(l.row.Ended - l.row.Submitted)) }

// alone tells whether the first attempt won.
func (t *course) alone() bool { return t.won != nil && t.won.Number == t.rows[0].Number }

// took is how many seconds the attempt that won ran.
func (t *course) took() float64 { return seconds(t.won.Stop - t.won.Start) }

// chain follows a job back from its end: the task that was done last, then the task of another stage that was done last
// before that one's first launch, and so on. It returns these tasks and the parts of the flow time.
func (l *life) chain() (all []*course, p Parts) {
	end := sched.Time(l.row.Ended)
	t := l.last(end, "")
	if t != nil {
		p.Finishing = seconds(end - t.won.Stop)
	}
	for t != nil {
		all = append(all, t)
		p = t.split(p)
		began := t.rows[0].Launched
		before := l.last(began, t.stage)
		ready := sched.Time(l.row.Submitted)
		if before != nil && !slices.Contains(all, before) {
			ready = max(ready, before.won.Stop)
		} else {
			before = nil
		}
		p.Waiting += seconds(began - ready)
		t = before
	}
	return all, p
}

// last returns the task that was done last until an instant, of any stage but one; nil if none was.
func (l *life) last(until sched.Time, not string) (found *course) {
	for _, t := range l.order {
		if t.won == nil || t.stage == not || t.won.Stop > until {
			continue
		}
		if found == nil || t.won.Stop > found.won.Stop || t.won.Stop == found.won.Stop && before(t.key, found.key) {
			found = t
		}
	}
	return found
}

// before orders tasks that were done at one instant.
func before(a, b key) bool { return a.stage < b.stage || a.stage == b.stage && a.task < b.task }

// split adds the time between a task's first launch and its end to the parts.
func (t *course) split(p Parts) Parts {
	first, won := &t.rows[0], t.won
	if t.driver {
		p.Finishing += seconds(won.Stop - first.Launched)
		return p
	}
	p.LaunchDelay += seconds(min(first.Start, won.Stop) - first.Launched)
	if won.Clone {
		p.Clones += seconds(won.Stop - min(first.Start, won.Stop))
		return p
	}
	if won.Number != first.Number {
		p.Failures += seconds(won.Launched - first.Start)
		p.LaunchDelay += seconds(won.Start - won.Launched)
	}
	p.Durations += t.took()
	return p
}
