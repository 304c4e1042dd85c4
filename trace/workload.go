package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// Workload is a list of jobs with the recorded duration of each of their tasks. Readers may share it; nobody changes it
// once it is loaded.
type Workload struct {
	Name      string       // where it comes from, for messages
	Jobs      []JobRow     // by arrival; jobs that arrive together keep the order of their numbers
	Stages    []StageRow   // those of a job are neighbours
	Edges     []Edge       // likewise
	Pairs     [][2]uint32  // of the edges of kind sched.PerTask
	Durations []sched.Time // of every task; those of a stage, and of a job, are neighbours
	Laws      []laws.Law   // that stages name, in seconds
	Names     []string     // Names[0] is ""
	Classes   []string     // names of the classes of slots that stages need; empty if none names one
	Inputs    []Input      // of stages; those of a stage are neighbours
	Sources   []Source     // of inputs, likewise
	Sites     []string     // that sources name; Sites[0] is "", where the workload does not say
	Bytes     []int64      // that edges carry
	Rules     []Rules      // of jobs whose data may not be everywhere, by FirstStage
	Notes     []string     // what was done to the input that a user may want to know, one line each
}

// JobRow is the row of a job.
type JobRow struct {
	Arrival    sched.Time // on the workload's own clock, at least 0
	Deadline   sched.Time // span after arrival, 0 for none
	Weight     float64    // 0 means 1
	Value      float64    // of being done by the deadline; 0 means the weight
	Late       sched.Late // what becomes of it after the deadline
	Number     uint32     // of its line in the file, or in the generator's output, from 0
	Name       uint32     // index in Workload.Names
	Priority   int32      // higher goes first
	MinShare   uint32     // slots
	MaxLive    uint32     // attempts at once; 0 for no bound
	Retries    uint32     // failures of one task that are forgiven
	FirstStage uint32     // its stages are Stages[FirstStage : FirstStage+Stages]
	Stages     uint32
	FirstEdge  uint32 // its edges are Edges[FirstEdge : FirstEdge+Edges]
	Edges      uint32
}

// StageRow is the row of a stage.
type StageRow struct {
	FirstTask  uint32      // its durations are Durations[FirstTask : FirstTask+Tasks]; other stages may have the same
	Tasks      uint32      // may be 0
	Need       uint32      // tasks that must finish; 0 means all
	Law        int32       // index in Workload.Laws of the law that durations follow, -1 if none is stated
	Name       uint32      // index in Workload.Names
	Resumable  bool        // attempts can go on from a fraction of the work
	Silent     bool        // attempts report no progress, as far as a simulation leaves that open
	Class      sched.Class // index in Workload.Classes, 0 if that is empty
	Mean, SD   sched.Time  // of an attempt's duration as far as a scheduler is told beforehand, else 0
	InputBytes int64       // of all tasks together, 0 if not stated
	FirstInput uint32      // what its tasks read is Inputs[FirstInput : FirstInput+Inputs], see InputsOf
	Inputs     uint32
}

// Edge makes tasks of stage To wait for tasks of stage From. Both count from the first stage of the job, and From is
// less than To: the stages of a job are in an order in which they can be run.
type Edge struct {
	From, To  uint32
	Kind      sched.EdgeKind
	FirstPair uint32 // of a PerTask edge: its pairs are Pairs[FirstPair : FirstPair+Pairs]
	Pairs     uint32

	FirstBytes uint32 // what its tasks read is Bytes[FirstBytes : FirstBytes+Bytes], see BytesOf
	Bytes      uint32
}

// Tasks returns the number of tasks of all jobs.
func (w *Workload) Tasks() int {
	n := 0
	for j := range w.Jobs {
		n += w.TasksOf(j)
	}
	return n
}

// WorkSeconds returns the sum of the recorded durations of all jobs.
func (w *Workload) WorkSeconds() float64 {
	var sum float64
	for j := range w.Jobs {
		for _, st := range w.StagesOf(j) {
			for _, d := range w.DurationsOf(&st) {
				sum += d.Seconds()
			}
		}
	}
	return sum
}

// Horizon returns the span from the first arrival to the last.
func (w *Workload) Horizon() sched.Time {
	if len(w.Jobs) == 0 {
		return 0
	}
	return w.Jobs[len(w.Jobs)-1].Arrival - w.Jobs[0].Arrival
}

// StagesOf returns the stages of job j, an index of Jobs.
func (w *Workload) StagesOf(j int) []StageRow {
	job := &w.Jobs[j]
	return w.Stages[job.FirstStage : job.FirstStage+job.Stages]
}

// EdgesOf returns the edges of job j, an index of Jobs.
func (w *Workload) EdgesOf(j int) []Edge {
	job := &w.Jobs[j]
	return w.Edges[job.FirstEdge : job.FirstEdge+job.Edges]
}

// DurationsOf returns the recorded durations of a stage's tasks.
func (w *Workload) DurationsOf(st *StageRow) []sched.Time {
	return w.Durations[st.FirstTask : st.FirstTask+st.Tasks]
}

// TasksOf returns the number of tasks of job j.
func (w *Workload) TasksOf(j int) int {
	n := 0
	for _, st := range w.StagesOf(j) {
		n += int(st.Tasks)
	}
	return n
}

// Spec describes job j to a core. It overwrites spec and reuses its slices; pairs of edges are shared with the
// workload.
func (w *Workload) Spec(j int, spec *sched.JobSpec) {
	job := &w.Jobs[j]
	stages, edges := spec.Stages[:0], spec.Edges[:0]
	for _, st := range w.StagesOf(j) {
		x := sched.StageSpec{
			Tasks: int(st.Tasks), Need: int(st.Need), Mean: st.Mean, SD: st.SD, Resumable: st.Resumable, Class: st.Class,
		}
		if st.Mean > 0 {
			x.Sample = w.DurationsOf(&st)
		}
		stages = append(stages, x)
	}
	for _, e := range w.EdgesOf(j) {
		edges = append(edges, sched.Edge{
			From: int(e.From), To: int(e.To), Kind: e.Kind, Pairs: w.Pairs[e.FirstPair : e.FirstPair+e.Pairs],
		})
	}
	*spec = sched.JobSpec{
		Priority: job.Priority, Weight: job.Weight, MinShare: int(job.MinShare), MaxLive: int(job.MaxLive), Retries: int(job.Retries), Stages: stages, Edges: edges,
		Value: job.Value, Late: job.Late,
	}
	if job.Deadline > 0 {
		spec.Deadline = job.Arrival + job.Deadline
	}
}

// names gives out indexes of Workload.Names, the same for equal names.
type names struct {
	w     *Workload
	index map[string]uint32
}

func newNames(w *Workload) *names {
	w.Names = append(w.Names[:0], "")
	return &names{w, map[string]uint32{"": 0}}
}

func (n *names) add(name string) uint32 {
	i, known := n.index[name]
	if !known {
		i = uint32(len(n.w.Names))
		n.w.Names = append(n.w.Names, name)
		n.index[name] = i
	}
	return i
}

// sortByArrival puts jobs into order and notes if they were not.
func (w *Workload) sortByArrival() {
	byArrival := func(a, b JobRow) int { return cmp.Compare(a.Arrival, b.Arrival) }
	if !slices.IsSortedFunc(w.Jobs, byArrival) {
		slices.SortStableFunc(w.Jobs, byArrival)
		w.Notes = append(w.Notes, fmt.Sprintf("%s: sorted the jobs by arrival", w.Name))
	}
}

// maxInstant bounds arrivals and durations, so that sums of a few of them do not overflow: 73 years.
const maxInstant = math.MaxInt64 / 4

// maxTasks bounds the tasks of a workload, because offsets have 32 bits.
const maxTasks = math.MaxInt32

// moments returns the mean of durations and their standard deviation as a law: divided by how many there are.
func moments(d []sched.Time) (mean, sd sched.Time) {
	if len(d) == 0 {
		return 0, 0
	}
	var sum, squares float64
	for _, x := range d {
		sum += float64(x)
	}
	m := sum / float64(len(d))
	for _, x := range d {
		squares += (float64(x) - m) * (float64(x) - m)
	}
	return sched.Time(math.Round(m)), sched.Time(math.Round(math.Sqrt(squares / float64(len(d)))))
}
