package run

import (
	"context"
	"math/rand/v2"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/promise"
	"github.com/tailcut/tailcut/sched"
)

const (
	mostPlayed = 20_000 // tasks of a job whose rest is played
	mostOwn    = 1000   // attempts of a stage that say how long the next ones take
)

// foretell has the chance of a run's job be played.
func (p *Prepared) foretell(ctx context.Context, run *live.Run) error {
	if p.Header.Job.Deadline == 0 || tasksOf(&p.Header.Job) > mostPlayed || p.sites != nil {
		return nil
	}
	known, err := p.earlier(ctx)
	if err != nil {
		return err
	}
	p.foresight.state = func() *promise.State {
		own := OwnRuns(run.Records(), len(p.Header.Stages))
		return &promise.State{
			Snapshot: run.Snapshot(), Limits: p.Header.Limits, Epoch: p.Header.Started, Seed: rand.Uint64(),
			Policy: func(seed uint64) (sched.Policy, error) {
				h := *p.Header
				h.Seed = seed
				return policyOf(&h)
			},
			Known: func(_ sched.JobID, stage int) *promise.Durations {
				return &promise.Durations{Past: known[stage], Own: own[stage]}
			},
		}
	}
	return nil
}

// earlier returns what is known beforehand of each stage's attempts: what a law says, or what earlier jobs of the name
// took.
func (p *Prepared) earlier(ctx context.Context) ([][]promise.Run, error) {
	known := make([][]promise.Run, len(p.Header.Stages))
	if p.Law != "" {
		stated, err := promise.Stated(p.Law)
		if err != nil {
			return nil, err
		}
		for i := range known {
			known[i] = stated
		}
		return known, nil
	}
	if p.history == "" {
		return known, nil
	}
	ctx, cancel := context.WithTimeout(ctx, past.Soon)
	defer cancel()
	kept, err := past.ReadFile(ctx, p.history)
	if err != nil {
		return nil, err
	}
	for i, name := range p.Header.Stages {
		for _, st := range kept.DurationsFor(name, p.Header.Job.Stages[i].Tasks, p.work().InputBytes()) {
			known[i] = append(known[i], promise.Run{Ended: st.Durations, Cut: st.Cut})
		}
	}
	return known, nil
}

// OwnRuns returns what attempts have taken so far in each stage, the latest of them.
func OwnRuns(records []live.Record, stages int) []promise.Run {
	own := make([]promise.Run, stages)
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		to := &own[r.Stage]
		whole, ok := sched.Whole(r.Stop-r.Start, r.From)
		switch {
		case !ok || len(to.Ended)+len(to.Cut) == mostOwn:
		case r.End == live.Won:
			to.Ended = append(to.Ended, whole)
		case r.End == live.Lost && whole > 0:
			to.Cut = append(to.Cut, whole)
		}
	}
	return own
}

// Played takes in the chance of meeting the deadline that a server has played; nil for none.
func (p *Prepared) Played(chance *float64) {
	if chance != nil {
		p.foresight.played = chance
	}
}
