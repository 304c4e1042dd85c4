package live

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

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
}

// PastStage is a stage of a run.
type PastStage struct {
	Name      string    `json:"name"`
	Durations []float64 `json:"durations_seconds"` // of winners, ascending
}

// PastFile is the name of the JSON form among the data of a cluster's object.
const PastFile = "history.json"

const (
	pastSchema = "tailcut.history/v1"
	pastRuns   = 10   // kept
	pastTasks  = 1000 // durations kept of a stage in a run, at even ranks
)

// ParsePast reads the JSON form. The error names the field and what was expected.
func ParsePast(data []byte) (*Past, error) {
	p := new(Past)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("not a history of a job: %w", err)
	}
	if p.Schema != pastSchema {
		return nil, fmt.Errorf("field schema: expected %q, not %q", pastSchema, p.Schema)
	}
	for i, r := range p.Runs {
		for j, st := range r.Stages {
			for k, d := range st.Durations {
				if !(d >= 0 && d <= 1e9) {
					return nil, fmt.Errorf("field runs[%d].stages[%d].durations_seconds[%d]: expected seconds, not %v", i, j, k, d)
				}
			}
		}
	}
	return p, nil
}

// Estimate returns the mean and the standard deviation of the durations that are known of a stage; 0 if none are.
func (p *Past) Estimate(stage string) (mean, sd sched.Time) {
	n, m, sum := 0.0, 0.0, 0.0 // Welford
	for _, r := range p.Runs {
		for _, st := range r.Stages {
			if st.Name != stage {
				continue
			}
			for _, x := range st.Durations {
				n++
				d := x - m
				m += d / n
				sum += d * (x - m)
			}
		}
	}
	if n > 1 {
		sd = sched.Time(math.Round(math.Sqrt(sum/(n-1)) * 1e9))
	}
	return sched.Time(math.Round(m * 1e9)), sd
}

// Add takes in a run of a job: the durations of each stage's winners, which it keeps no hold of. A run whose id is
// there already is left out.
func (p *Past) Add(job, id string, stages []string, durations [][]sched.Time) {
	if id != "" && slices.ContainsFunc(p.Runs, func(r PastRun) bool { return r.ID == id }) {
		return
	}
	p.Schema, p.Job = pastSchema, job
	run := PastRun{ID: id}
	for i, name := range stages {
		sorted := slices.Sorted(slices.Values(durations[i]))
		kept := min(len(sorted), pastTasks)
		st := PastStage{Name: name, Durations: make([]float64, kept)}
		for k := range kept {
			st.Durations[k] = sorted[(2*k+1)*len(sorted)/(2*kept)].Seconds()
		}
		run.Stages = append(run.Stages, st)
	}
	p.Runs = append(p.Runs, run)
	p.Runs = p.Runs[max(0, len(p.Runs)-pastRuns):]
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
// those whose names are alike but for numbers at the end. It has the form of a DNS subdomain, as names in clusters must
// have.
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
