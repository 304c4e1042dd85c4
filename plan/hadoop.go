package plan

import (
	"fmt"
	"math"
	"slices"
)

// Hadoop is what Apache Hadoop's DefaultSpeculator does with its default estimator (mapreduce.job.speculative.*): every
// Retry seconds, and only after Rest where a scan has cloned, it clones the one task that would be done latest, if a
// clone is expected earlier and the number of cloned tasks is below a limit. A clone is expected to last as the mean of
// the tasks done. Progress is linear here, so the estimate of a task's end is right, from the first scan on.
type Hadoop struct {
	Retry, Rest          float64 // seconds, > 0
	MinAllowed           int     // cloned tasks that are always allowed
	TotalCap, RunningCap float64 // the same as a share of the tasks, and of those that run
}

// HadoopDefaults returns the defaults of Hadoop 2 and 3.
func HadoopDefaults() Hadoop {
	return Hadoop{Retry: 1, Rest: 15, MinAllowed: 10, TotalCap: 0.01, RunningCap: 0.1}
}

// Validate returns an error unless the settings are in Hadoop's range.
func (r Hadoop) Validate(int) error {
	switch {
	case !(r.Retry > 0 && r.Rest > 0):
		return fmt.Errorf("the times between scans of Hadoop are positive, got %g and %g", r.Retry, r.Rest)
	case r.MinAllowed < 0 || !(r.TotalCap >= 0 && r.RunningCap >= 0):
		return fmt.Errorf("the limits of Hadoop are at least 0, got %d, %g and %g", r.MinAllowed, r.TotalCap, r.RunningCap)
	}
	return nil
}

// hadoopGate is the share of the tasks that must be done.
const hadoopGate = 0.05

// scanning is the state of Hadoop's scans of a job.
type scanning struct {
	lo, hi int     // the tasks [lo, hi) have one attempt, and run
	cloned []twins // the running tasks with two
	done   int
	sum    float64 // of the durations of the attempts that won
}

// twins are a task with two attempts: when it is done, and the duration of the attempt that will win.
type twins struct{ end, lasts float64 }

func (r Hadoop) play(j *job) {
	n := len(j.sorted)
	s := scanning{hi: n}
	for now := r.Retry; ; {
		s.advance(j, now)
		if s.lo == s.hi {
			return
		}
		if r.clones(&s, now, j.sorted[s.hi-1], n) {
			s.hi--
			end, fresh := j.sorted[s.hi], j.draw(1, s.hi)
			won := twins{end, end}
			if now+fresh < end {
				won = twins{now + fresh, fresh}
			}
			s.cloned = append(s.cloned, won)
			j.end[s.hi] = won.end
			j.sum += won.end - now // of the clone; the rest is that of any task
			now += r.Rest
			continue
		}
		// The gain only falls until a task is done.
		next := j.sorted[s.lo]
		for _, c := range s.cloned {
			next = min(next, c.end)
		}
		now += r.Retry * max(1, math.Ceil((next-now)/r.Retry))
	}
}

// advance takes note of what is done at now.
func (s *scanning) advance(j *job, now float64) {
	for ; s.lo < s.hi && j.sorted[s.lo] <= now; s.lo++ {
		s.done++
		s.sum += j.sorted[s.lo]
	}
	s.cloned = slices.DeleteFunc(s.cloned, func(c twins) bool {
		if c.end > now {
			return false
		}
		s.done++
		s.sum += c.lasts
		return true
	})
}

// clones says whether a scan at now clones the task that would be done last, at end, of n.
func (r Hadoop) clones(s *scanning, now, end float64, n int) bool {
	if s.done == 0 || float64(s.done) < hadoopGate*float64(n) {
		return false
	}
	running := float64(s.hi - s.lo + len(s.cloned))
	allowed := max(float64(r.MinAllowed), r.TotalCap*float64(n), r.RunningCap*running)
	return float64(len(s.cloned)) < allowed && now+s.sum/float64(s.done) < end
}
