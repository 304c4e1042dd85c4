package sim

import (
	"math"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// Result is what became of a run.
type Result struct {
	Jobs   []JobResult // in the workload's order
	Begin  sched.Time  // the first arrival
	End    sched.Time  // the instant at which the last job was over
	Slots  int         // of the whole cluster
	Events int64       // facts told to the core, and wakes

	Withheld int // clones that the policy said it would have launched, had the limits allowed them
}

// JobResult is what became of a job.
type JobResult struct {
	Number     uint32 // in the workload
	Tasks      uint32
	Attempts   uint32
	Clones     uint32 // attempts launched while another of the same task was running
	Failed     bool
	Arrival    sched.Time
	Completion sched.Time
	Deadline   sched.Time // instant, sched.Never if there is none
	Value      float64    // that the job was worth by its deadline
	Won        float64    // of it: what it was worth when it was done
	Soft       bool       // what it was worth fell with time after the deadline
	Dropped    bool       // it failed because it was dropped at its deadline, or given up by the policy
	// what the job would have taken with a slot for every task, no clones, and durations as recorded, at the run's
	// speed
	Alone     sched.Time
	Fruitful  sched.Time // machine time of attempts whose work counted
	Fruitless sched.Time // machine time of the others
	Bill      Bill       // on a cluster of several sites

	Class int16 // see Measure; 0 outside an experiment
}

// conclude notes what became of a job that has ended. The core and the policy may forget it.
func (s *Simulator) conclude(j sched.JobID) {
	row := s.core.View().Job(j)
	s.jobs[j] = JobResult{
		Number: s.w.Jobs[j].Number, Tasks: row.Tasks, Attempts: row.Attempts, Clones: row.Clones, Failed: row.State != sched.JobSucceeded,
		Arrival: s.w.Jobs[j].Arrival, Completion: row.Closed, Deadline: row.Deadline, Alone: scaled(s.path.Alone(s.w, int(j)), 1/s.o.Speed),
		Fruitful: row.Fruitful, Fruitless: row.Fruitless,
		Value: row.Value, Soft: row.Late.Kind == sched.LateSoft, Dropped: row.State == sched.JobStopped && row.Deadline < sched.Never,
	}
	if row.State == sched.JobSucceeded {
		s.jobs[j].Won = row.Worth(row.Closed)
	}
	delete(s.warm, s.w.Jobs[j].Number)
	s.over = append(s.over, j)
}

// retire has the core told of the jobs that ended in the step before. What is kept of a run is then what is alive, and
// some numbers for each job.
func (s *Simulator) retire() {
	v := s.core.View()
	for _, j := range s.over {
		s.facts = append(s.facts, sched.Event{At: s.now, Kind: sched.JobRetired, Job: j})
		job := v.Job(j)
		s.stages.DropAll(job.FirstStage, job.Stages)
		if len(s.w.Bytes) > 0 {
			s.writes.DropAll(job.FirstStage, job.Stages)
		}
		first := v.Stage(job.FirstStage).First
		for t := first; len(s.reached)+len(s.crews) > 0 && t < first+sched.TaskID(job.Tasks); t++ {
			delete(s.reached, t)
			delete(s.crews, t)
		}
	}
	s.over = s.over[:0]
}

// result sums up a run all of whose jobs are over.
func (s *Simulator) result() *Result {
	res := &Result{Jobs: s.jobs, Begin: s.start, Slots: s.o.slots(), Events: s.events, Withheld: s.core.Withheld()}
	s.jobs = nil // they are the caller's
	if s.geo != nil {
		for j := range s.geo.bills {
			res.Jobs[j].Bill = s.geo.bills[j]
		}
	}
	for i := range res.Jobs {
		res.End = max(res.End, res.Jobs[i].Completion)
	}
	return res
}

// Stats are the numbers that sum a run up. Times are in seconds.
type Stats struct {
	Succeeded, Failed int // jobs; those that were given up or cancelled have failed

	// of jobs that succeeded; not a number if none did
	MeanFlow, MedianFlow, P90Flow, P99Flow, MaxFlow float64

	MeanSlowdown        float64 // likewise: flow time divided by JobResult.Alone, over jobs that take any time
	Makespan            float64 // from the first arrival to the end of the last job, of whatever class
	Attempts, Clones    int
	Withheld            int // see Result
	Fruitful, Fruitless float64
	Utilisation         float64 // machine time of all jobs divided by slots times makespan; idle under repair
	Deadlines           int     // jobs that have one
	DeadlinesMet        int

	// of jobs with a deadline
	Dropped       int     // by the policy, or at their deadlines
	ValuePossible float64 // if all were done in time
	ValueWon      float64
	TardinessCost float64 // value lost by jobs that were done late, where late is soft

	Bill Bill // of all jobs
}

// Stats sums a run up: the jobs that are measured, which outside an experiment are all.
func (r *Result) Stats() Stats {
	st := r.statsOf(func(class int16) bool { return class >= 0 })
	st.Withheld, st.Makespan = r.Withheld, (r.End - r.Begin).Seconds()
	var all sched.Time
	for i := range r.Jobs {
		all += r.Jobs[i].Fruitful + r.Jobs[i].Fruitless
	}
	st.Utilisation = r.used(all.Seconds())
	return st
}

// used is the share of all slots, from the first arrival to the last end, that so many seconds of machine time are.
func (r *Result) used(seconds float64) float64 {
	if span := (r.End - r.Begin).Seconds(); span > 0 {
		return seconds / (float64(r.Slots) * span)
	}
	return 0
}

// classStats sums up the jobs of a class: its makespan is from the run's first arrival to its own last end, its
// utilisation the share of the run's slots and time that it had.
func (r *Result) classStats(class int16) Stats {
	st := r.statsOf(func(of int16) bool { return of == class })
	for i := range r.Jobs {
		if j := &r.Jobs[i]; j.Class == class {
			st.Makespan = max(st.Makespan, (j.Completion - r.Begin).Seconds())
		}
	}
	st.Utilisation = r.used(st.Fruitful + st.Fruitless)
	return st
}

// statsOf sums up what jobs show each.
func (r *Result) statsOf(measured func(class int16) bool) (st Stats) {
	flows := make([]float64, 0, len(r.Jobs))
	slowed := 0
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if !measured(j.Class) {
			continue
		}
		if flow := (j.Completion - j.Arrival).Seconds(); j.Failed {
			st.Failed++
		} else {
			flows = append(flows, flow)
			st.MeanFlow += flow
			if j.Alone > 0 {
				st.MeanSlowdown += flow / j.Alone.Seconds()
				slowed++
			}
		}
		st.Bill.add(&j.Bill)
		st.Attempts += int(j.Attempts)
		st.Clones += int(j.Clones)
		st.Fruitful += j.Fruitful.Seconds()
		st.Fruitless += j.Fruitless.Seconds()
		if j.Deadline < sched.Never {
			st.Deadlines++
			if j.Completion <= j.Deadline && !j.Failed {
				st.DeadlinesMet++
			}
			st.ValuePossible += j.Value
			st.ValueWon += j.Won
			if j.Dropped {
				st.Dropped++
			}
			if j.Soft && !j.Failed {
				st.TardinessCost += j.Value - j.Won
			}
		}
	}
	if st.Succeeded = len(flows); st.Succeeded == 0 && len(r.Jobs) > 0 {
		flows, st.MeanFlow, st.MeanSlowdown = []float64{math.NaN()}, math.NaN(), math.NaN()
	}
	st.MeanFlow /= float64(max(1, len(flows)))
	st.MeanSlowdown /= float64(max(1, slowed))
	slices.Sort(flows)
	st.MedianFlow, st.P90Flow, st.P99Flow, st.MaxFlow = quantile(flows, 0.5), quantile(flows, 0.9), quantile(flows, 0.99), quantile(flows, 1)
	return st
}

// quantile interpolates linearly between the sorted values around (n-1)q, as NumPy and R (type 7) do; 0 if there are
// none.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	x := q * float64(len(sorted)-1)
	i := min(int(x), len(sorted)-1)
	below, above := sorted[i], sorted[min(i+1, len(sorted)-1)]
	return below + (x-float64(i))*(above-below)
}
