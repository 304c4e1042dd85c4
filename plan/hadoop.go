package plan

import (
	"slices"

	"github.com/tailcut/tailcut/plan/rule"
)

// Hadoop is the rule of Apache Hadoop 3.4.1's DefaultSpeculator (rule.Hadoop has files and functions) with the default
// of DefaultSpeculator.getEstimator, LegacyTaskRuntimeEstimator, its times in seconds. A clone is expected to last as
// the mean of the tasks done. Progress is linear here, so the estimate of a task's end is right, from the first scan
// on.
type Hadoop rule.Hadoop[float64]

// HadoopDefaults returns the defaults of Hadoop 3.4.1: hadoop-mapreduce-client-core, MRJobConfig.java,
// DEFAULT_SPECULATIVE_*.
func HadoopDefaults() Hadoop {
	return Hadoop{Retry: 1, Rest: 15, MinAllowed: 10, TotalCap: 0.01, RunningCap: 0.1}
}

// Validate returns an error unless the settings are in Hadoop's range.
func (r Hadoop) Validate(int) error { return rule.Hadoop[float64](r).Validate() }

// scanning is the state of Hadoop's scans of a job.
type scanning struct {
	lo, hi int     // the tasks [lo, hi) have one attempt, and run
	cloned []twins // the running tasks with two
	done   int
	sum    float64 // of the durations of the attempts that won
}

// twins are a task with two attempts: when it is done, and the duration of the attempt that will win.
type twins struct{ end, lasts float64 }

func (r Hadoop) play(j *playing) {
	hadoop, n := rule.Hadoop[float64](r), len(j.sorted)
	s := scanning{hi: n}
	for now := r.Retry; ; {
		s.advance(j, now)
		if s.lo == s.hi {
			return
		}
		open := hadoop.Open(n, s.done, s.hi-s.lo+len(s.cloned), len(s.cloned))
		if open && hadoop.Gains(now+s.sum/float64(s.done), j.sorted[s.hi-1]) {
			s.hi--
			if j.cloned != nil {
				j.cloned(s.hi, now)
			}
			end, fresh := j.sorted[s.hi], j.draw(1, s.hi)
			won := twins{end, end}
			if now+fresh < end {
				won = twins{now + fresh, fresh}
			}
			s.cloned = append(s.cloned, won)
			j.end[s.hi] = won.end
			j.sum += won.end - now // of the clone; the rest is that of any task
			now = hadoop.Rested(now)
			continue
		}
		// The gain only falls until a task is done.
		next := j.sorted[s.lo]
		for _, c := range s.cloned {
			next = min(next, c.end)
		}
		now = hadoop.Scan(now, next)
	}
}

// advance takes note of what is done at now.
func (s *scanning) advance(j *playing, now float64) {
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
