package live

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

// Past is what is kept of the last runs of the jobs of one name, so that the next one can be planned for before its
// first task is done: of each stage some of its durations.
type Past struct {
	Schema string    `json:"schema"`
	Job    string    `json:"job"`
	Runs   []PastRun `json:"runs"` // the latest last
}

// PastRun is a run that succeeded.
type PastRun struct {
	ID     string      `json:"id,omitempty"` // by which it is not taken in twice; "" for none
	Stages []PastStage `json:"stages"`

	// Of a run that went from its beginning to its end in one go: how long it took, under which policy and on how many
	// slots. Else Seconds is 0.
	Seconds float64 `json:"seconds,omitempty"`
	Policy  string  `json:"policy,omitempty"`
	Slots   int     `json:"slots,omitempty"`
}

// PastStage is a stage of a run.
type PastStage struct {
	Name      string    `json:"name"`
	Durations []float64 `json:"durations_seconds"` // of winners, ascending
	// For how long attempts ran that were ended because another one won, ascending: what they would have taken is
	// longer. Without them the stragglers that clones cut off would not be in the history at all.
	Cut []float64 `json:"cut_seconds,omitempty"`
	// How many tasks there were, and which of them took longest, the slowest first; 0 and none if it is not known.
	Tasks   int   `json:"tasks,omitempty"`
	Slowest []int `json:"slowest_tasks,omitempty"`
	// What its tasks read, the first stage of the input, others of earlier stages; 0 if it is not known.
	Bytes int64 `json:"bytes,omitempty"`
	// Whether attempts reported progress; nil if it is not known.
	Reports *bool `json:"reports,omitempty"`
}

// PastFile is the name of the JSON form among the data of a cluster's object.
const PastFile = "history.json"

// PastSchema names the JSON form.
const PastSchema = "tailcut.history/v1"

// PastRuns is how many runs are kept of a name, and used for estimates.
const PastRuns = 10

const (
	pastTasks = 1000 // durations kept of a stage in a run, at even ranks; of what was cut off the same share
)

// ParsePast reads the JSON form. The error names the field and what was expected.
func ParsePast(data []byte) (*Past, error) {
	p := new(Past)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("not a history of a job: %w", err)
	}
	if p.Schema != PastSchema {
		return nil, fmt.Errorf("field schema: expected %q, not %q", PastSchema, p.Schema)
	}
	for i, r := range p.Runs {
		if !(r.Seconds >= 0 && r.Seconds <= 1e9) {
			return nil, fmt.Errorf("field runs[%d].seconds: expected seconds, not %v", i, r.Seconds)
		}
		for j, st := range r.Stages {
			if st.Bytes < 0 || st.Tasks < 0 {
				return nil, fmt.Errorf("field runs[%d].stages[%d]: expected no fewer than 0 tasks and bytes, not %d and %d", i, j, st.Tasks, st.Bytes)
			}
			for k, d := range slices.Concat(st.Durations, st.Cut) {
				field := "durations_seconds"
				if k >= len(st.Durations) {
					field, k = "cut_seconds", k-len(st.Durations)
				}
				if !(d >= 0 && d <= 1e9) {
					return nil, fmt.Errorf("field runs[%d].stages[%d].%s[%d]: expected seconds, not %v", i, j, field, k, d)
				}
			}
		}
	}
	return p, nil
}

// Estimate returns the mean and the standard deviation of the durations that are known of a stage; 0 if none are. If
// some were cut off, they are those of the completed estimate of Kaplan and Meier.
func (p *Past) Estimate(stage string) (mean, sd sched.Time) { return p.EstimateFor(stage, 0, 0) }

// EstimateFor is Estimate for a job that reads so many bytes of input, and has so many tasks in the stage: of
// DurationsFor it.
func (p *Past) EstimateFor(stage string, tasks int, input int64) (mean, sd sched.Time) {
	var all []laws.Observation
	cut := false
	for _, st := range p.DurationsFor(stage, tasks, input) {
		for _, x := range st.Durations {
			all = append(all, laws.Observation{Value: x})
		}
		for _, x := range st.Cut {
			all, cut = append(all, laws.Observation{Value: x, Censored: true}), true
		}
	}
	if cut {
		if law, err := laws.Learn(all); err == nil {
			return sched.FromSeconds(law.Mean()), sched.FromSeconds(math.Sqrt(law.Variance()))
		}
	}
	n, m, sum := 0.0, 0.0, 0.0 // Welford
	for _, x := range all {
		n++
		d := x.Value - m
		m += d / n
		sum += d * (x.Value - m)
	}
	if n > 1 {
		sd = sched.FromSeconds(math.Sqrt(sum / (n - 1)))
	}
	return sched.FromSeconds(m), sd
}

// DurationsFor returns what each run has of a stage, for a job that reads so many bytes of input, and has so many tasks
// in the stage. Where it is known what a run has read, its durations count in proportion to what a task reads now: the
// same share of the input as in the runs together, divided among the tasks. With no tasks or no input they count as
// they are.
func (p *Past) DurationsFor(stage string, tasks int, input int64) (all []PastStage) {
	share := p.share(stage)
	for _, r := range p.Runs {
		for _, st := range r.Stages {
			if st.Name != stage {
				continue
			}
			if share > 0 && tasks > 0 && input > 0 && st.Bytes > 0 && st.Tasks > 0 {
				scale := share * float64(input) / float64(tasks) / (float64(st.Bytes) / float64(st.Tasks))
				st.Durations, st.Cut = scaled(st.Durations, scale), scaled(st.Cut, scale)
			}
			all = append(all, st)
		}
	}
	return all
}

func scaled(values []float64, by float64) []float64 {
	all := make([]float64, len(values))
	for i, x := range values {
		all[i] = by * x
	}
	return all
}

// share returns the bytes that a stage has read for each byte of input, in all runs of which both are known; 0 if none
// is.
func (p *Past) share(stage string) float64 {
	read, input := 0.0, 0.0
	for _, r := range p.Runs {
		for _, st := range r.Stages {
			if st.Name == stage && st.Bytes > 0 && r.Stages[0].Bytes > 0 {
				read += float64(st.Bytes)
				input += float64(r.Stages[0].Bytes)
			}
		}
	}
	if input == 0 {
		return 0
	}
	return read / input
}

// Add takes in a run of a job: of each stage how long the winners took, and how long attempts ran that were cut off.
// It keeps no hold of them. A run whose id is there already is left out.
func (p *Past) Add(job, id string, stages []string, won, cut [][]sched.Time) {
	run := PastRun{ID: id}
	for i, name := range stages {
		run.Stages = append(run.Stages, Sample(name, won[i], cut[i]))
	}
	p.AddRun(job, run)
}

// AddRun takes in a run of a job. One whose id is there already is left out.
func (p *Past) AddRun(job string, run PastRun) {
	if run.ID != "" && slices.ContainsFunc(p.Runs, func(r PastRun) bool { return r.ID == run.ID }) {
		return
	}
	p.Schema, p.Job = PastSchema, job
	p.Runs = append(p.Runs, run)
	p.Runs = p.Runs[max(0, len(p.Runs)-PastRuns):]
}

// Sample returns what is kept of a stage in which winners took so long, and attempts that were cut off ran so long. It
// keeps no hold of them.
func Sample(name string, won, cut []sched.Time) PastStage {
	st := PastStage{Name: name, Durations: []float64{}}
	kept := min(len(won), pastTasks)
	st.Durations = evenly(st.Durations, won, kept)
	if n := len(cut); n > 0 { // at least one: it is of the tail that little is known
		st.Cut = evenly(nil, cut, min(n, pastTasks, max(1, (n*kept+len(won)-1)/max(1, len(won)))))
	}
	return st
}

// evenly appends as many of the durations as are kept, in seconds, ascending, at even ranks.
func evenly(to []float64, from []sched.Time, kept int) []float64 {
	sorted := slices.Sorted(slices.Values(from))
	for k := range kept {
		to = append(to, sorted[(2*k+1)*len(sorted)/(2*kept)].Seconds())
	}
	return to
}

// Named is what an object of a cluster is known by.
type Named struct {
	Namespace, Name      string
	GenerateName         string // that its name was made from; "" if it was not
	OwnerKind, OwnerName string // its controlling owner; "" if it has none
}

// counter is what names of jobs end in that are runs of the same: dates and numbers.
var counter = regexp.MustCompile(`([-.]\d+)+$`)

// PastKey names the past of a cluster's jobs: those of one owner; without owner, those of one generated name; else
// those whose names are alike but for numbers at the end. It has the form of a DNS subdomain, as names in clusters
// must have.
func PastKey(n Named) string {
	kind, name := "job", counter.ReplaceAllString(n.Name, "")
	switch {
	case n.OwnerName != "":
		kind, name = strings.ToLower(n.OwnerKind), n.OwnerName
	case n.GenerateName != "":
		name = strings.TrimRight(n.GenerateName, "-.")
	}
	key := "history." + n.Namespace + "." + kind + "." + name
	return strings.TrimRight(key[:min(len(key), 253)], "-.")
}
