package plan

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan/rule"
)

// Original says what happens to the running attempt of a straggler at the fork.
type Original uint8

// The two modes of a fork: π_keep(p, r) and π_kill(p, r) of Definition 1.
const (
	Keep Original = iota // it runs on beside r clones
	Kill                 // it is killed, and r+1 attempts start afresh
)

// String returns keep or kill.
func (o Original) String() string {
	if o == Kill {
		return "kill"
	}
	return "keep"
}

// Policy is a single-fork policy (Definition 1) of a job whose number of tasks n is known.
// The zero value is the baseline: no fork.
type Policy struct {
	Stragglers int // s, 0..n: the fork happens when n-s tasks are done; 0 is no fork, n a fork at the start
	Clones     int // r >= 0
	Original   Original
}

// SingleFork returns the policy that a fork, whose stragglers are a fraction, is for a job of so many tasks.
func SingleFork(r rule.Fork, tasks int) Policy {
	p := Policy{Stragglers: tasks - r.At(tasks), Clones: r.R}
	if r.Kill {
		p.Original = Kill
	}
	return p
}

// Baseline says whether the policy changes nothing: no stragglers, or no clones beside kept originals.
func (p Policy) Baseline() bool {
	return p.Stragglers == 0 || p.Clones == 0 && p.Original == Keep
}

// Validate returns an error unless the policy is one of a job with that many tasks.
func (p Policy) Validate(tasks int) error {
	switch {
	case p.Stragglers < 0 || p.Stragglers > tasks:
		return fmt.Errorf("stragglers must be from 0 to the %d tasks, got %d", tasks, p.Stragglers)
	case p.Clones < 0:
		return fmt.Errorf("clones must not be negative, got %d", p.Clones)
	case p.Original > Kill:
		return fmt.Errorf("original must be keep or kill, got %d", p.Original)
	}
	return nil
}

// play forks once.
func (p Policy) play(j *playing) {
	if !p.Baseline() {
		j.fork(j.doneAt(len(j.end)-p.Stragglers), p.Clones, p.Original)
	}
}

// before is the order of ties: smaller s, then smaller r, then keep.
func (p Policy) before(q Policy) bool {
	switch {
	case p.Stragglers != q.Stragglers:
		return p.Stragglers < q.Stragglers
	case p.Clones != q.Clones:
		return p.Clones < q.Clones
	}
	return p.Original < q.Original
}

// Outcome is what a policy does to a job. A mean that diverges is +Inf.
type Outcome struct {
	Latency float64 // E[T], seconds: (2)
	Cost    float64 // E[C], machine seconds per task: (4), the killed original's time included
	// LatencyError and CostError are standard errors of Monte-Carlo methods, in the same units; 0 otherwise.
	LatencyError, CostError float64
}

// check is what every constructor demands of its job: durations that are not negative, of at least one task.
func check(l laws.Law, tasks int) error {
	if tasks < 1 || tasks > math.MaxInt32 {
		return fmt.Errorf("a job has at least one task and fewer than 2^31, got %d", tasks)
	}
	if lowest := l.Quantile(0); !(lowest >= 0) {
		return fmt.Errorf("a duration is not negative, %s starts at %g", l, lowest)
	}
	return nil
}
