package plan

import (
	"fmt"
	"math"
)

// Forks is a multi-fork policy (Wang, "Computing with unreliable resources", MIT 2014, section 6.4): up to three single
// forks one after the other, with fewer and fewer stragglers. Each is applied to what then still runs: a task keeps all
// its attempts and gets so many clones, or all are killed and one more than so many start.
type Forks []Policy

// MaxForks is the most forks of a job.
const MaxForks = 3

// Validate returns an error unless there are 1 to MaxForks forks of the job, with decreasing stragglers.
func (f Forks) Validate(tasks int) error {
	if len(f) < 1 || len(f) > MaxForks {
		return fmt.Errorf("a job forks from 1 to %d times, got %d", MaxForks, len(f))
	}
	for i, p := range f {
		if err := p.Validate(tasks); err != nil {
			return err
		}
		if i > 0 && p.Stragglers >= f[i-1].Stragglers {
			return fmt.Errorf("stragglers must decrease from fork to fork, got %d after %d", p.Stragglers, f[i-1].Stragglers)
		}
	}
	return nil
}

func (f Forks) play(j *playing) {
	for _, p := range f {
		if p.Stragglers > 0 {
			j.fork(j.doneAt(len(j.end)-p.Stragglers), p.Clones, p.Original)
		}
	}
}

// limit is the limit of many tasks, which all survive a fork at the same time τ with P(not done at τ) = p: Theorem 1
// with several forks. With Y what is left at the last, the latency is τ + E[max of p n of Y].
func (f Forks) limit(e *Exact) Outcome {
	s := newSchedule(e.law)
	n := float64(e.tasks)
	var last, share float64
	for _, p := range f {
		if p.Stragglers == 0 {
			continue
		}
		last, share = 0, float64(p.Stragglers)/n
		if p.Stragglers < e.tasks {
			last = s.invert(share)
		}
		s.fork(last, p.Clones, p.Original)
		if p.Original == Kill { // of a sample with ties at the fork, some that are done are killed with the rest: (7)
			s.stages[len(s.stages)-1].reach = share
		}
	}
	if share == 0 {
		return e.baseline()
	}
	if s.infinite(1) {
		return Outcome{Latency: math.Inf(1), Cost: math.Inf(1)}
	}
	o := Outcome{Latency: last}
	s.steps(func(z, width, S, copies float64) {
		o.Cost += width * copies * S
		if z > last {
			o.Latency += width * largest(min(1, S/share), int(math.Round(share*n)))
		}
	})
	return o
}
