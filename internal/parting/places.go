package parting

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// places is the order in which the tasks of two runs were launched first.
type places struct {
	run, sim []start // by launch
	at       map[where]int
	other    map[where]int // in sim
}

// where is a task, by the position of its job in the first run.
type where struct {
	job int
	key
}

type start struct {
	where
	name string // of the job
	at   sched.Time
}

func newPlaces(run, sim []*life, pairs [][2]int) *places {
	p := &places{at: map[where]int{}, other: map[where]int{}}
	for _, pair := range pairs {
		p.run = append(p.run, starts(run[pair[0]], pair[0])...)
		p.sim = append(p.sim, starts(sim[pair[1]], pair[0])...)
	}
	for _, side := range []struct {
		all []start
		at  map[where]int
	}{{p.run, p.at}, {p.sim, p.other}} {
		slices.SortFunc(side.all, func(a, b start) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.job, b.job), cmp.Compare(a.stage, b.stage), cmp.Compare(a.task, b.task))
		})
		for i := range side.all {
			side.at[side.all[i].where] = i
		}
	}
	return p
}

// starts lists when the tasks of a job were first launched.
func starts(l *life, job int) (all []start) {
	for _, t := range l.order {
		if !t.driver {
			all = append(all, start{where{job, t.key}, l.row.Name, t.rows[0].Launched})
		}
	}
	return all
}

// shift is by how many seconds later a task would have started in the second run, had that one started tasks in the
// order of the first at the instants at which it did start any.
func (p *places) shift(job int, t *course) float64 {
	i := p.at[where{job, t.key}]
	j, known := p.other[where{job, t.key}]
	if !known || i >= len(p.sim) {
		return 0
	}
	return seconds(p.sim[i].at - p.sim[j].at)
}

// compare says how many first attempts have the same place in both orders, and which is the first that has not.
func (p *places) compare(r *Result) {
	r.Starts = min(len(p.run), len(p.sim))
	for i := range r.Starts {
		a, b := &p.run[i], &p.sim[i]
		if a.where == b.where {
			r.SameRank++
		} else if r.Place == 0 {
			r.Place, r.RunStart, r.SimStart = i+1, a.public(), b.public()
		}
	}
}

func (s *start) public() *Start { return &Start{s.name, s.stage, s.task, seconds(s.at)} }
