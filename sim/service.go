package sim

import (
	"fmt"
	"math"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Service says how long attempts last. What it answers is a function of the attempt, so that it does not matter which
// attempts were asked about before.
type Service interface {
	// Duration returns how long the attempt takes, sched.Never if it never ends. Where a policy sets the speed of the
	// machines, that is at their ordinary speed.
	Duration(a *Attempt) sched.Time
}

// Attempt is what a service may look at. None of it depends on what other attempts there are.
type Attempt struct {
	Seed     uint64
	Job      uint32 // the job's number in the workload
	Task     uint32 // the task's index in its job, over all stages
	Number   uint32 // attempts of the task launched before this one
	Machine  sched.MachineID
	At       sched.Time   // when its work begins, since the run began
	Asked    sched.Time   // the present, likewise: not after At, nor before that of the attempt asked about before
	Index    int          // the task's index in its stage
	Recorded []sched.Time // durations recorded for the stage's tasks
	Law      laws.Law     // that durations of the stage follow, nil if the workload does not say
	Share    float64      // of the whole task at speed 1: what is left to do, divided by the speed factor
}

// bits returns the random bits that decide over the attempt.
func (a *Attempt) bits() uint64 { return draw(a.Seed, forService, a.Job, a.Task, a.Number) }

// size returns the recorded duration of the attempt's task.
func (a *Attempt) size() sched.Time { return a.Recorded[a.Index] }

// A Model makes the service of one run from the workload and the number of machines. It fails if the workload lacks
// what the service needs.
type Model func(w *trace.Workload, machines int, seed uint64) (Service, error)

// Resample is the model of the paper on SREW: the first attempt of a task lasts as recorded, every further one as long
// as a task of the same stage that is drawn uniformly, with replacement.
func Resample(*trace.Workload, int, uint64) (Service, error) { return resample{}, nil }

type resample struct{}

func (resample) Duration(a *Attempt) sched.Time {
	if a.Number == 0 {
		return scaled(a.size(), a.Share)
	}
	return scaled(a.Recorded[below(a.bits(), len(a.Recorded))], a.Share)
}

// StatedLaw draws every attempt from the law that the workload states for its stage.
func StatedLaw(w *trace.Workload, _ int, _ uint64) (Service, error) {
	for j := range w.Jobs {
		for i, st := range w.StagesOf(j) {
			if st.Law < 0 {
				return nil, fmt.Errorf("service law: job %d states no law for stage %d; name one, such as --service exp:mean=10", w.Jobs[j].Number, i)
			}
		}
	}
	return statedLaw{}, nil
}

type statedLaw struct{}

func (statedLaw) Duration(a *Attempt) sched.Time {
	return seconds(laws.Sample(a.Law, uniform(a.bits())) * a.Share)
}

// OneLaw draws every attempt of every task from a law of seconds; the workload's durations do not matter.
func OneLaw(l laws.Law) Model {
	return func(*trace.Workload, int, uint64) (Service, error) { return oneLaw{l}, nil }
}

type oneLaw struct{ law laws.Law }

func (o oneLaw) Duration(a *Attempt) sched.Time {
	return seconds(laws.Sample(o.law, uniform(a.bits())) * a.Share)
}

// SizeTimesSlowdown is the S&X model (Gardner, Harchol-Balter, Scheller-Wolf and Van Houdt, IEEE/ACM ToN 2017): a task
// has a size, here its recorded duration, that all its attempts share, and each attempt, the first as well, meets a
// slowdown of its own.
func SizeTimesSlowdown(slowdown laws.Law) Model {
	return func(*trace.Workload, int, uint64) (Service, error) { return sizeTimesSlowdown{slowdown}, nil }
}

type sizeTimesSlowdown struct{ slowdown laws.Law }

func (s sizeTimesSlowdown) Duration(a *Attempt) sched.Time {
	return seconds(a.size().Seconds() * max(0, laws.Sample(s.slowdown, uniform(a.bits()))) * a.Share)
}

// scaled returns part of a span, rounded to nanoseconds.
func scaled(t sched.Time, share float64) sched.Time {
	if share == 1 {
		return t
	}
	return sched.FromSeconds(float64(t) * share / 1e9)
}

// seconds rounds to nanoseconds; what a law puts below 0 is 0, and what is no number never ends.
func seconds(s float64) sched.Time {
	if math.IsNaN(s) {
		return sched.Never
	}
	return sched.FromSeconds(max(0, s))
}
