package sched

import (
	"fmt"
	"math"
	"slices"
)

// JobSpec describes a job to [Core.Submit]. The zero value of a field is its ordinary default.
type JobSpec struct {
	Priority int32   // higher goes first where a policy looks at it
	Weight   float64 // share of the job where a policy shares; 0 means 1
	MinShare int     // slots below which a fair policy treats the job as needy
	Deadline Time    // instant by which the job should be done; 0 for none
	Value    float64 `json:",omitempty"` // what it is worth by then; 0 for its weight
	Late     Late    `json:",omitzero"`  // what becomes of it later
	Retries  int     // failures of one task that are forgiven where its stage says nothing
	// A task that fails once more than that has failed for good. MaxFailed is how many tasks may do so before the
	// job fails at once. Up to so many, the others go on, and the job fails when nothing is left to run. 0 fails it
	// with the first, Unlimited never.
	MaxFailed int `json:",omitempty"`
	// attempts of the job that may run at once, and of each of its tasks where the limits allow more; 0 for no bound
	MaxLive     int `json:",omitempty"` // see share.go
	MaxAttempts int `json:",omitempty"`
	// data of the job that may be at some sites only; see residency.go for what follows for its tasks
	Datasets []Dataset `json:",omitempty"`
	Stages   []StageSpec
	Edges    []Edge
}

// StageSpec describes a stage: tasks of one kind.
type StageSpec struct {
	Tasks    int   // number of tasks; 0 is done as soon as it may start
	Need     int   // tasks that must finish for the stage to be done; 0 means all
	Class    Class // of the slots that its tasks need
	Mean, SD Time  // E and sigma of one attempt's duration if known beforehand, else 0
	// durations that stand for the law of an attempt's, of which Mean and SD are the moments, if the law is known
	// beforehand, else nil. They are in any order. The core keeps the slice, which nobody changes.
	Sample    []Time `json:",omitempty"`
	Resumable bool   // attempts can go on from a fraction of the work (From)
	Waits     bool   `json:",omitempty"` // launched attempts wait until AttemptBegan says that they have begun
	Retries   *int   `json:",omitempty"` // failures of one task that are forgiven; nil for those of the job

	// Done lists the tasks, from 0, whose results are there already: what an earlier job has done of the same work. Not
	// of stages that others read over a network.
	Done []int `json:",omitempty"`

	// Inputs say what tasks read that is there before the job: one list of sources for each task, or a single one of
	// what every task reads, or none.
	Inputs [][]Source

	// Datasets are those of JobSpec.Datasets, by index, that tasks read: one list for each task, or a single one of
	// what every task reads, or none.
	Datasets [][]uint32 `json:",omitempty"`
	// Releases are datasets that may not be everywhere although what is made of them here may: totals, for example.
	Releases []uint32 `json:",omitempty"`
}

// EdgeKind says which tasks of the later stage wait for which of the earlier.
type EdgeKind uint8

// Kinds of edges.
const (
	Barrier   EdgeKind = iota // every task waits until the earlier stage is done
	Pointwise                 // task i waits for task i; both stages have as many tasks
	PerTask                   // Pairs lists who waits for whom
)

// Edge makes tasks of stage To wait for tasks of stage From; both are indexes into JobSpec.Stages.
type Edge struct {
	From, To int
	Kind     EdgeKind
	Pairs    [][2]uint32 // PerTask: task indexes (of From, of To)

	// Bytes are what each task of To that waits for a task of From reads of its result, which is at the site where it
	// was made: one number for each task of From, or pair of a PerTask edge, or a single one for all, or none if tasks
	// only wait.
	Bytes []int64

	// Measured says that this is not known beforehand: the fact AttemptDone tells how many bytes each reads of the
	// result. Bytes are not given then.
	Measured bool
}

// carries tells whether tasks of the later stage read results of the earlier one.
func (e *Edge) carries() bool { return len(e.Bytes) > 0 || e.Measured }

// Bounds of a job, so that nothing in its rows can overflow silently.
const (
	maxTasks  = math.MaxInt32      // of all stages
	maxStages = math.MaxUint16 + 1 // Stage.Index

	// MaxRetries bounds the retries of jobs and stages: Task.Failures counts one more.
	MaxRetries = math.MaxUint16 - 1
)

// retriesOf returns how many failures of one task of a stage are forgiven.
func (s *JobSpec) retriesOf(stage int) int {
	if own := s.Stages[stage].Retries; own != nil {
		return *own
	}
	return s.Retries
}

// Validate reports the first thing about the job that makes no sense, naming the field.
func (s *JobSpec) Validate() error {
	if len(s.Stages) == 0 {
		return fmt.Errorf("stages: a job needs at least one")
	}
	if len(s.Stages) > maxStages {
		return fmt.Errorf("stages: %d are more than %d", len(s.Stages), maxStages)
	}
	if !validWeight(s.Weight) {
		return fmt.Errorf("weight: %v is not a finite number of at least 0", s.Weight)
	}
	if s.MinShare < 0 || s.MinShare > maxTasks {
		return fmt.Errorf("min_share: %d is not between 0 and %d", s.MinShare, maxTasks)
	}
	if s.Retries < 0 || s.Retries > MaxRetries {
		return fmt.Errorf("retries: %d is not between 0 and %d", s.Retries, MaxRetries)
	}
	if err := validateMaxFailed(s.MaxFailed); err != nil {
		return err
	}
	if s.MaxLive < 0 || s.MaxLive > maxTasks {
		return fmt.Errorf("max_live: %d is not between 0 and %d", s.MaxLive, maxTasks)
	}
	if s.MaxAttempts < 0 || s.MaxAttempts > maxLive {
		return fmt.Errorf("max_attempts: %d is not between 0 and %d", s.MaxAttempts, maxLive)
	}
	if s.Deadline < 0 {
		return fmt.Errorf("deadline: %v is before the run begins", s.Deadline)
	}
	if !validWeight(s.Value) {
		return fmt.Errorf("value: %v is not a finite number of at least 0", s.Value)
	}
	if err := s.Late.validate(); err != nil {
		return err
	}
	total := 0
	for i := range s.Stages {
		st := &s.Stages[i]
		if st.Tasks < 0 || st.Tasks > maxTasks-total {
			return fmt.Errorf("stages[%d].tasks: %d is not between 0 and %d in all", i, st.Tasks, maxTasks)
		}
		total += st.Tasks
		if st.Need < 0 || st.Need > st.Tasks {
			return fmt.Errorf("stages[%d].need: %d is not between 0 and the %d tasks", i, st.Need, st.Tasks)
		}
		if st.Class >= Classes {
			return fmt.Errorf("stages[%d].class: %d is not between 0 and %d", i, st.Class, Classes-1)
		}
		if st.Retries != nil && (*st.Retries < 0 || *st.Retries > MaxRetries) {
			return fmt.Errorf("stages[%d].retries: %d is not between 0 and %d", i, *st.Retries, MaxRetries)
		}
		if st.Mean < 0 || st.SD < 0 {
			return fmt.Errorf("stages[%d]: mean and sd must not be negative", i)
		}
		if len(st.Sample) > 0 && slices.Min(st.Sample) < 0 {
			return fmt.Errorf("stages[%d].sample: durations must not be negative", i)
		}
		if err := s.validateInputs(i); err != nil {
			return err
		}
		for k, t := range st.Done {
			if t < 0 || t >= st.Tasks || k > 0 && t <= st.Done[k-1] {
				return fmt.Errorf("stages[%d].done[%d]: %d is none of the %d tasks, or not above the one before it", i, k, t, st.Tasks)
			}
		}
	}
	for i := range s.Edges {
		e := &s.Edges[i]
		if err := s.validateEdge(e); err != nil {
			return fmt.Errorf("edges[%d]: %w", i, err)
		}
		if e.carries() && len(s.Stages[e.From].Done) > 0 {
			return fmt.Errorf("edges[%d]: some of stage %d is done, and it is not known where its results are", i, e.From)
		}
	}
	if err := s.validateAcyclic(); err != nil {
		return err
	}
	return s.validateDatasets()
}

func validWeight(w float64) bool { return w >= 0 && !math.IsInf(w, 1) }

func validateMaxFailed(n int) error {
	if n < Unlimited || n > maxTasks {
		return fmt.Errorf("max_failed: %d is not between 0 and %d, nor %d for no limit", n, maxTasks, Unlimited)
	}
	return nil
}

func (s *JobSpec) validateEdge(e *Edge) error {
	n := len(s.Stages)
	if e.From < 0 || e.From >= n || e.To < 0 || e.To >= n {
		return fmt.Errorf("%d -> %d: stages are numbered 0 to %d", e.From, e.To, n-1)
	}
	from, to := s.Stages[e.From].Tasks, s.Stages[e.To].Tasks
	switch e.Kind {
	case Barrier:
	case Pointwise:
		if from != to {
			return fmt.Errorf("%d -> %d: a pointwise edge joins stages of equal size, not %d and %d tasks", e.From, e.To, from, to)
		}
	case PerTask:
		for _, p := range e.Pairs {
			if int64(p[0]) >= int64(from) || int64(p[1]) >= int64(to) {
				return fmt.Errorf("%d -> %d: pair %v is outside %d and %d tasks", e.From, e.To, p, from, to)
			}
		}
	default:
		return fmt.Errorf("%d -> %d: unknown kind %d", e.From, e.To, e.Kind)
	}
	return e.validateBytes(from)
}

// validateAcyclic peels off stages without waiting inputs (Kahn 1962). Edges between stages are enough: a task-level
// edge inside one stage, or back to an earlier one, is refused even where the tasks themselves would make no cycle.
func (s *JobSpec) validateAcyclic() error {
	if len(s.Edges) == 0 {
		return nil // most jobs of a large workload, and for them nothing is allocated
	}
	waits := make([]int, len(s.Stages))
	for i := range s.Edges {
		waits[s.Edges[i].To]++
	}
	var ready []int
	for i, w := range waits {
		if w == 0 {
			ready = append(ready, i)
		}
	}
	for n := 0; n < len(ready); n++ {
		for i := range s.Edges {
			if e := &s.Edges[i]; e.From == ready[n] {
				if waits[e.To]--; waits[e.To] == 0 {
					ready = append(ready, e.To)
				}
			}
		}
	}
	if len(ready) != len(s.Stages) {
		for i, w := range waits {
			if w > 0 {
				return fmt.Errorf("edges: stage %d waits for itself", i)
			}
		}
	}
	return nil
}
