package run

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/hindsight"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/past"
	"github.com/tailcut/tailcut/internal/show"
)

// AdviceTime is how long advice may take to find, unless the user says. Who waits for the prompt does not notice it.
const AdviceTime = time.Second

// advised are the policies that advice chooses from.
var advised = []string{
	"auto", "fifo", "spark", "spark:quantile=0.5", "fork:p=0.05", "fork:p=0.1", "fork:p=0.2",
}

// describe adds to what is kept of a run what advice is founded on.
func (p *Prepared) describe(file *live.Past, c *course) {
	kept := &file.Runs[len(file.Runs)-1]
	if kept.ID != p.Header.Run || c.Recovered > 0 || c.Crashed > 0 || c.Retries > 0 {
		return
	}
	kept.Seconds, kept.Policy = c.Flow.Seconds(), p.Header.Policy
	for _, m := range p.Header.Machines {
		kept.Slots += m.Slots
	}
	for i, tasks := range c.slowest(past.Slowest) {
		kept.Stages[i].Tasks, kept.Stages[i].Slowest = p.Header.Job.Stages[i].Tasks, tasks
	}
	for i, bytes := range past.Shuffled(&p.Header.Job, c.records) {
		kept.Stages[i].Bytes = bytes
		kept.Stages[i].Reports = new(slices.ContainsFunc(c.records, func(r live.Record) bool { return r.Stage == i && r.Reported }))
	}
	kept.Stages[0].Bytes = p.work().InputBytes()
}

// Advice returns a line that says which policy would have made the last runs of the job's name faster, "" if there is
// nothing to say, or none is found within the limit. It is meant for after a run that has succeeded.
func (e *Engine) Advice(ctx context.Context, res *Result, limit time.Duration) string {
	if e.history == "" || e.sites != nil || e.cloud != nil || len(e.Classes) > 0 || res == nil || res.Summary.State != "succeeded" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	past, err := past.ReadFile(ctx, e.history)
	if err != nil || len(past.Runs) < hindsight.LeastRuns || past.Runs[len(past.Runs)-1].ID != res.Header.Run {
		return ""
	}
	q := hindsight.Question{
		Spec: res.Header.Job, Stages: res.Header.Stages, Past: past, Limits: res.Header.Limits, Policy: res.Header.Policy,
		Slots: past.Runs[len(past.Runs)-1].Slots, Seed: res.Header.Seed,
	}
	for _, spec := range advised {
		with := *e
		with.o.Policy = spec
		if err := with.settlePolicy(); err != nil {
			return ""
		}
		q.Others = append(q.Others, with.Policy)
	}
	a, err := q.Ask(ctx)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("with --policy %s, runs of %s would take about %s instead of %s, for %s (simulated from the last %d runs; TAILCUT_ADVICE=off silences this)",
		advised[a.Other], show.OneLine(e.Job.Name), rounded(a.Would), rounded(a.Was), moreOrLess(a.MachineTime), a.Runs)
}

// rounded is a number of seconds as far as a person wants to know them.
func rounded(seconds float64) string {
	if seconds < 120 {
		return fmt.Sprintf("%.0f s", seconds)
	}
	return show.Seconds(math.Round(seconds))
}

func moreOrLess(ratio float64) string {
	switch percent := math.Round(100 * (ratio - 1)); {
	case percent > 0:
		return fmt.Sprintf("%.0f %% more machine time", percent)
	case percent < 0:
		return fmt.Sprintf("%.0f %% less machine time", -percent)
	}
	return "the same machine time"
}
