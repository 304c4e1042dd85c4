package portfolio

import (
	"context"

	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
)

// Pilot steers a simulation by a portfolio. It knows of durations what the core was told: attempts of earlier jobs,
// and those of a job's own. Where jobs say how long their tasks take, what is known of others is by the mean that they
// say.
type Pilot struct {
	Portfolio
	Limits sched.Limits
	Seed   uint64
	Done   func(p *Portfolio) // is told after each verdict; may be nil

	ended  int // attempts since the last verdict
	asked  uint64
	own    map[sched.StageID]*promise.Run
	recent []ran // ring of what attempts took
	next   int
}

// ran is what an attempt took, in seconds and in means of its stage if it says one, else 0.
type ran struct{ seconds, means float64 }

const (
	mostRecent = 400
	leastEnded = 10 // attempts before there is a verdict: so many, one a slot, and an eighth of the tasks that are left
)

// Steer sees a step of a simulation, and returns the policy that is to go on if it is another one.
func (p *Pilot) Steer(c *sched.Core, facts []sched.Event) (sched.Policy, error) {
	v := c.View()
	for i := range facts {
		if f := &facts[i]; f.Kind == sched.AttemptDone {
			p.learn(v, f)
		}
	}
	if p.ended < max(leastEnded, v.Slots(), int(v.Cluster().Unfinished())/8) {
		return nil, nil
	}
	p.ended = 0
	p.asked++
	state := &promise.State{Snapshot: c.Snapshot(), Limits: p.Limits, Seed: p.Seed ^ p.asked}
	state.Known = p.known(state.Snapshot)
	verdict, err := p.Judge(context.Background(), state)
	if err != nil {
		return nil, err
	}
	changed := p.Take(verdict)
	if p.Done != nil {
		p.Done(&p.Portfolio)
	}
	if !changed {
		return nil, nil
	}
	return p.Members[p.Now].New(p.Seed + p.asked)
}

// learn takes in what a winner took. Its row may be gone, but in the step in which it ended it is there.
func (p *Pilot) learn(v *sched.View, f *sched.Event) {
	a := v.Attempt(f.Attempt)
	took, ok := sched.Whole(f.At-a.Started, a.From)
	if !ok {
		return
	}
	p.ended++
	s := v.Task(a.Task).Stage
	if p.own == nil {
		p.own = map[sched.StageID]*promise.Run{}
	}
	if p.own[s] == nil {
		p.own[s] = &promise.Run{}
	}
	p.own[s].Ended = append(p.own[s].Ended, took)
	x := ran{seconds: took}
	if mean := v.Stage(s).Mean; mean > 0 {
		x.means = took / mean.Seconds()
	}
	if len(p.recent) < mostRecent {
		p.recent = append(p.recent, x)
		return
	}
	p.recent[p.next] = x
	p.next = (p.next + 1) % mostRecent
}

// known returns what is known of the stages of a snapshot's jobs, and forgets those of others.
func (p *Pilot) known(s *sched.Snapshot) func(sched.JobID, int) *promise.Durations {
	jobs := map[sched.JobID]*sched.SavedJob{}
	own := map[sched.StageID]*promise.Run{}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		jobs[j.ID] = j
		for k := range j.Spec.Stages {
			if r := p.own[j.Stage+sched.StageID(k)]; r != nil {
				own[j.Stage+sched.StageID(k)] = r
			}
		}
	}
	p.own = own
	pools := map[sched.Time]*promise.Durations{}
	return func(id sched.JobID, stage int) *promise.Durations {
		j := jobs[id]
		mean := j.Spec.Stages[stage].Mean
		pool, there := pools[mean]
		if !there {
			pool = p.pool(mean)
			pools[mean] = pool
		}
		r := own[j.Stage+sched.StageID(stage)]
		switch {
		case r == nil:
			return pool
		case pool == nil:
			return &promise.Durations{Own: *r}
		}
		return &promise.Durations{Own: *r, Past: pool.Past}
	}
}

// pool returns what attempts of all jobs took lately, for a stage that says its mean or does not; nil for nothing.
func (p *Pilot) pool(mean sched.Time) *promise.Durations {
	var all promise.Run
	for _, x := range p.recent {
		switch {
		case mean == 0:
			all.Ended = append(all.Ended, x.seconds)
		case x.means > 0:
			all.Ended = append(all.Ended, x.means*mean.Seconds())
		}
	}
	if len(all.Ended) == 0 {
		return nil
	}
	return &promise.Durations{Past: []promise.Run{all}}
}
