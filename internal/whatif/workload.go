package whatif

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Nights are jobs that are over, ready to be simulated.
type Nights struct {
	Jobs    []*past.JobRecord // by submission; those that can be simulated
	LeftOut map[string]int    // how many others there are, by the reason
}

// Choose sorts out which jobs can be simulated.
func Choose(jobs []*past.JobRecord) *Nights {
	n := &Nights{LeftOut: map[string]int{}}
	for _, j := range jobs {
		if why := unfit(j); why != "" {
			n.LeftOut[why]++
			continue
		}
		n.Jobs = append(n.Jobs, j)
	}
	slices.SortStableFunc(n.Jobs, func(a, b *past.JobRecord) int {
		return cmp.Or(a.Submitted.Compare(b.Submitted), cmp.Compare(a.Run, b.Run))
	})
	return n
}

// unfit tells why a job cannot be simulated, "" if it can.
func unfit(j *past.JobRecord) string {
	switch {
	case j.State != past.Succeeded:
		return "did not succeed"
	case j.Submitted.IsZero() || j.Spec == nil || len(j.Spec.Stages) != len(j.Stages):
		return "ran before there was a database"
	}
	for i := range j.Stages {
		if j.Spec.Stages[i].Tasks > 0 && len(j.Stages[i].Durations) == 0 {
			return "have a stage without known durations"
		}
	}
	return ""
}

// Slots are the most slots that the jobs had.
func (n *Nights) Slots() (most int) {
	for _, j := range n.Jobs {
		most = max(most, j.Slots)
	}
	return most
}

// SlotsOfEach are the slots that so many machines have each if there are as many as the jobs had, as
// 'tailcut simulate --slots-per-machine' takes them: of each class as the latest job had them.
func (n *Nights) SlotsOfEach(machines int) string {
	if n.classes() != nil {
		for _, j := range slices.Backward(n.Jobs) {
			if j.ClassSlots != "" && machines == 1 {
				return j.ClassSlots
			}
		}
	}
	return strconv.Itoa(max(1, n.Slots()/machines))
}

// Policy is the policy that all the jobs ended under; "" if there were several.
func (n *Nights) Policy() string {
	for _, j := range n.Jobs {
		if j.Policy != n.Jobs[0].Policy {
			return ""
		}
	}
	return n.Jobs[0].Policy
}

// Recorded is what the jobs took.
type Recorded struct {
	From         time.Time `json:"from"` // submission of the first
	To           time.Time `json:"to"`   // and of the last
	Policy       string    `json:"policy,omitempty"`
	Slots        int       `json:"slots"`
	MeanFlow     float64   `json:"mean_flow_seconds"`
	Deadlines    int       `json:"deadlines"`
	DeadlinesMet int       `json:"deadlines_met"`
}

// Recorded sums up what the jobs took. There is at least one.
func (n *Nights) Recorded() Recorded {
	r := Recorded{From: n.Jobs[0].Submitted, To: n.Jobs[len(n.Jobs)-1].Submitted, Policy: n.Policy(), Slots: n.Slots()}
	for _, j := range n.Jobs {
		r.MeanFlow += j.Flow().Seconds() / float64(len(n.Jobs))
		if !j.Deadline.IsZero() {
			r.Deadlines++
			if !j.Ended.After(j.Deadline) {
				r.DeadlinesMet++
			}
		}
	}
	return r
}

// Workload returns the jobs for the simulator: as they arrived, with a law for each stage. A deadline, if it is not 0,
// replaces those of all jobs: so long after the submission.
func (n *Nights) Workload(name string, deadline time.Duration) (*trace.Workload, error) {
	w := &trace.Workload{Name: name, Names: []string{""}, Classes: n.classes()}
	if len(n.Jobs) == 0 {
		return nil, fmt.Errorf("%s: no job that can be simulated", name)
	}
	first := n.Jobs[0].Submitted
	told := map[string]*estimate{}
	for number, j := range n.Jobs {
		row := trace.JobRow{
			Arrival: sched.Time(j.Submitted.Sub(first)), Weight: j.Spec.Weight, Number: uint32(number), Name: uint32(len(w.Names)), Priority: j.Spec.Priority,
			MinShare: uint32(j.Spec.MinShare), MaxLive: uint32(j.Spec.MaxLive), Retries: uint32(j.Spec.Retries), FirstStage: uint32(len(w.Stages)), Stages: uint32(len(j.Stages)), FirstEdge: uint32(len(w.Edges)),
		}
		w.Names = append(w.Names, j.Name)
		if deadline > 0 {
			row.Deadline = sched.Time(deadline)
		} else if !j.Deadline.IsZero() {
			row.Deadline = sched.Time(max(1, j.Deadline.Sub(j.Submitted)))
		}
		for i := range j.Stages {
			if err := addStage(w, j, i, told); err != nil {
				return nil, fmt.Errorf("run %s: stage %s: %w", j.Run, j.Stages[i].Name, err)
			}
		}
		addEdges(w, j.Spec)
		row.Edges = uint32(len(w.Edges)) - row.FirstEdge
		w.Jobs = append(w.Jobs, row)
	}
	return w, nil
}

// classes returns the names of the classes of slots, none if no stage names one.
func (n *Nights) classes() (all []string) {
	named := false
	for _, j := range n.Jobs {
		for _, st := range j.Stages {
			named = named || st.Class != ""
			if !slices.Contains(all, st.Class) {
				all = append(all, st.Class)
			}
		}
	}
	if !named {
		return nil
	}
	return all
}

// estimate is what earlier jobs of a name tell about a stage, as a scheduler would have known it.
type estimate struct{ n, mean, squares float64 }

func (e *estimate) add(x float64) { // Welford
	e.n++
	d := x - e.mean
	e.mean += d / e.n
	e.squares += d * (x - e.mean)
}

func addStage(w *trace.Workload, j *past.JobRecord, i int, told map[string]*estimate) error {
	spec, st := &j.Spec.Stages[i], &j.Stages[i]
	row := trace.StageRow{
		FirstTask: uint32(len(w.Durations)), Tasks: uint32(spec.Tasks), Need: uint32(spec.Need), Law: -1, Resumable: spec.Resumable,
		Class: sched.Class(max(0, slices.Index(w.Classes, st.Class))), Mean: spec.Mean, SD: spec.SD, Silent: st.Reports != nil && !*st.Reports,
	}
	e := told[j.Name+"\x00"+st.Name]
	if e == nil {
		e = &estimate{}
		told[j.Name+"\x00"+st.Name] = e
	}
	if row.Mean == 0 && e.n > 0 {
		row.Mean, row.SD = sched.FromSeconds(e.mean), sched.FromSeconds(math.Sqrt(e.squares/max(1, e.n-1)))
	}
	if spec.Tasks > 0 {
		law, err := laws.Learn(laws.Observe(st.Durations, st.Cut))
		if err != nil {
			return err
		}
		row.Law = int32(len(w.Laws))
		w.Laws = append(w.Laws, law)
	}
	for k := range spec.Tasks { // for what is computed of durations besides: at even ranks, as many as there are tasks
		w.Durations = append(w.Durations, sched.FromSeconds(st.Durations[(2*k+1)*len(st.Durations)/(2*spec.Tasks)]))
	}
	for _, x := range st.Durations {
		e.add(x)
	}
	w.Stages = append(w.Stages, row)
	return nil
}

func addEdges(w *trace.Workload, spec *sched.JobSpec) {
	for _, e := range spec.Edges {
		w.Edges = append(w.Edges, trace.Edge{From: uint32(e.From), To: uint32(e.To), Kind: e.Kind, FirstPair: uint32(len(w.Pairs)), Pairs: uint32(len(e.Pairs))})
		w.Pairs = append(w.Pairs, e.Pairs...)
	}
}
