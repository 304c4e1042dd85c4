package whatif

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/internal/simulation"
	"github.com/tailcut/tailcut/sim"
)

// Question is what would have been.
type Question struct {
	Name     string   `json:"name"`               // of the jobs, or a pattern such as nightly-*
	Last     string   `json:"last,omitempty"`     // how far back: 30d, 12h; "" for all that is kept
	Policies []string `json:"policies,omitempty"` // to compare; none is the one that they had
	Slots    []string `json:"slots,omitempty"`    // numbers, or map=4,shuffle=2; none is as many as they had
	Deadline string   `json:"deadline,omitempty"` // of each job, after its submission; "" for their own
	Runs     int      `json:"runs,omitempty"`     // repetitions; 0 is as many as fit into a few seconds, at least three
	Seed     uint64   `json:"seed,omitempty"`
}

// Answer is what would have been.
type Answer struct {
	Schema   string         `json:"schema"` // tailcut.whatif/v1
	Question Question       `json:"question"`
	Jobs     int            `json:"jobs"`
	Tasks    int            `json:"tasks"`
	LeftOut  map[string]int `json:"left_out,omitempty"` // jobs, by the reason
	Recorded Recorded       `json:"recorded"`           // what they took
	Runs     int            `json:"runs"`
	Cases    []Case         `json:"cases"` // the first is what the others are compared with
}

// Case is a policy on some slots. An interval is the half of its width, of 95 %; nil where nothing can be said.
type Case struct {
	Policy       string   `json:"policy"`
	Slots        string   `json:"slots"`
	MeanFlow     *float64 `json:"mean_flow_seconds"`
	MeanFlowCI   *float64 `json:"mean_flow_ci95_seconds"`
	Difference   *float64 `json:"difference_seconds"` // to the first case, from runs that met the same draws
	DifferenceCI *float64 `json:"difference_ci95_seconds"`
	P90Flow      *float64 `json:"p90_flow_seconds"`
	MaxFlow      *float64 `json:"max_flow_seconds"`
	MachineTime  float64  `json:"machine_seconds"`
	Fruitless    float64  `json:"fruitless_seconds"`
	Clones       float64  `json:"clones"`
	DeadlinesMet *float64 `json:"deadlines_met_ratio"` // nil if no job has one
}

const (
	answerSchema = "tailcut.whatif/v1"

	leastRuns = 3
	mostRuns  = 1000
	mostCases = 64
	// simulated tasks of all runs and cases together that are a few seconds' work
	fewSeconds = 2_000_000
	mostTasks  = 50_000_000
)

func wrong(field, format string, args ...any) error {
	return grammar.Wrong(field, fmt.Errorf(format, args...))
}

// Query is the question to the history that finds the jobs. The error is a [grammar.FieldError].
func (q *Question) Query(now time.Time) (*past.Query, error) {
	if q.Name == "" {
		return nil, wrong("name", "expected the name of a job, or a pattern such as nightly-*")
	}
	query := &past.Query{Name: q.Name, State: past.Succeeded}
	if q.Last != "" {
		span, err := ParseSpan(q.Last)
		if err != nil {
			return nil, grammar.Wrong("last", err)
		}
		query.Since = now.Add(-span)
	}
	return query, nil
}

// ParseSpan reads a span such as 30d, 12h or 1h30m.
func ParseSpan(text string) (time.Duration, error) {
	var span time.Duration
	var err error
	if days, isDays := cutDays(text); isDays {
		span = time.Duration(days * 24 * float64(time.Hour))
	} else if span, err = time.ParseDuration(text); err != nil {
		span = 0
	}
	if span <= 0 {
		return 0, fmt.Errorf("expected a span such as 30d, 12h or 90m, not %q", text)
	}
	return span, nil
}

func cutDays(text string) (float64, bool) {
	if len(text) < 2 || text[len(text)-1] != 'd' {
		return 0, false
	}
	days, err := strconv.ParseFloat(text[:len(text)-1], 64)
	return days, err == nil && days > 0 && days < 1e5
}

// ErrNothing tells that there are no jobs to simulate.
var ErrNothing = errors.New("no jobs that can be simulated")

// Ask answers the question for jobs that the history has found. Errors of the question are a [grammar.FieldError].
func (q *Question) Ask(ctx context.Context, jobs []*past.JobRecord) (*Answer, error) {
	n := Choose(jobs)
	if len(n.Jobs) == 0 {
		return nil, ErrNothing
	}
	var deadline time.Duration
	if q.Deadline != "" {
		var err error
		if deadline, err = ParseSpan(q.Deadline); err != nil {
			return nil, grammar.Wrong("deadline", err)
		}
	}
	a := &Answer{Schema: answerSchema, Question: *q, Jobs: len(n.Jobs), LeftOut: n.LeftOut, Recorded: n.Recorded()}
	policies, slots, err := q.cases(n)
	if err != nil {
		return nil, err
	}
	w, err := n.Workload(q.Name, deadline)
	if err != nil {
		return nil, err
	}
	a.Tasks = w.Tasks()
	if a.Runs = q.Runs; a.Runs == 0 {
		a.Runs = min(100, max(leastRuns, fewSeconds/max(1, a.Tasks*len(policies)*len(slots))))
	}
	if total := float64(a.Tasks) * float64(a.Runs) * float64(len(policies)*len(slots)); total > mostTasks {
		return nil, wrong("name", "the simulation would have %s tasks, more than %s; ask for fewer policies, slots or runs, or a shorter time",
			show.Number(total), show.Number(mostTasks))
	}
	var first *simulation.Result
	for _, each := range slots {
		if w, err = n.Workload(q.Name, deadline); err != nil { // a run numbers its classes
			return nil, err
		}
		r := simulation.Request{Workload: w, Policies: policies, Runs: a.Runs, Seed: q.Seed, Machines: 1, Slots: each, Service: "law", Live: true}
		res, err := r.Run(ctx)
		if err != nil {
			return nil, ours(err)
		}
		if first == nil {
			first = res
		}
		for k := range policies {
			a.Cases = append(a.Cases, caseOf(res, k, each, first))
		}
	}
	return a, nil
}

// ours names a field of the simulation's request as the question has it.
func ours(err error) error {
	names := map[string]string{"policy": "policies", "slots-per-machine": "slots"}
	var field *grammar.FieldError
	if errors.As(err, &field) && names[field.Field] != "" {
		return grammar.Wrong(names[field.Field], field.Problem)
	}
	return err
}

// cases returns the policies and slots to compare.
func (q *Question) cases(n *Nights) (policies, slots []string, err error) {
	policies, slots = q.Policies, q.Slots
	if len(policies) == 0 {
		if policies = []string{n.Policy()}; policies[0] == "" {
			return nil, nil, wrong("policies", "expected at least one: the jobs ran under several")
		}
	}
	if len(slots) == 0 {
		if n.Slots() == 0 {
			return nil, nil, wrong("slots", "expected a number: how many there were is not known")
		}
		slots = []string{n.SlotsOfEach(1)}
	}
	if len(policies)*len(slots) > mostCases {
		return nil, nil, wrong("policies", "expected at most %d policies times slots, not %d", mostCases, len(policies)*len(slots))
	}
	if q.Runs < 0 || q.Runs > mostRuns {
		return nil, nil, wrong("runs", "expected a number from 1 to %d, not %d", mostRuns, q.Runs)
	}
	return policies, slots, nil
}

func caseOf(res *simulation.Result, k int, slots string, first *simulation.Result) Case {
	mean := func(of func(*sim.Cell) float64) float64 { return res.Mean(k, of).Mean }
	flow := res.Mean(k, sim.MeanFlow)
	c := Case{
		Policy: res.Policies[k], Slots: slots, MeanFlow: show.Finite(flow.Mean), MeanFlowCI: show.Finite(flow.Half),
		P90Flow:     show.Finite(mean(func(c *sim.Cell) float64 { return c.P90Flow })),
		MaxFlow:     show.Finite(mean(func(c *sim.Cell) float64 { return c.MaxFlow })),
		MachineTime: mean(func(c *sim.Cell) float64 { return c.Fruitful + c.Fruitless }),
		Fruitless:   mean(func(c *sim.Cell) float64 { return c.Fruitless }),
		Clones:      mean(func(c *sim.Cell) float64 { return float64(c.Clones) }),
	}
	if met := mean(func(c *sim.Cell) float64 { return float64(c.DeadlinesMet) / float64(c.Deadlines) }); !math.IsNaN(met) {
		c.DeadlinesMet = &met
	}
	if res == first && k == 0 {
		return c
	}
	differ := make([]float64, res.Runs)
	for i := range differ {
		differ[i] = res.Of(k)[i].MeanFlow - first.Of(0)[i].MeanFlow
	}
	d := sim.EstimateOf(differ)
	c.Difference, c.DifferenceCI = show.Finite(d.Mean), show.Finite(d.Half)
	return c
}
