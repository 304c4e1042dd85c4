package advice

import (
	"context"
	"fmt"
	"io"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
)

// twoForks is the best policy of two forks that was found. All of its figures are simulated, with other random numbers
// than those by which it was chosen.
type twoForks struct {
	forks plan.Forks
	plan.Assessment
	than plan.Outcome // latency and cost minus those of the recommended policy on the same jobs
}

// sooner tells whether the whole interval of 95 % of the difference says that two forks beat one.
func (t *twoForks) sooner() bool { return t.than.Latency+1.96*t.than.LatencyError < 0 }

// searchForks finds the two forks that are done soonest and need no more machine time than what is done now.
func (a *Advice) searchForks(ctx context.Context) error {
	found, err := plan.TwoForks(ctx.Err, a.law, a.Tasks, a.MaxClones, a.now.Cost)
	if err != nil {
		return err
	}
	best, err := a.simulate.Soonest(found, a.now.rule)
	if err != nil || best == nil {
		return err
	}
	fresh, err := plan.NewSimulate(a.law, a.Tasks, simulatedJobs(a.Tasks), a.Seed+1)
	if err != nil {
		return err
	}
	t := &twoForks{forks: best}
	if t.Assessment, err = fresh.Assess(best, 0); err != nil {
		return err
	}
	if t.than, err = fresh.Versus(best, a.best[0].Policy); err != nil {
		return err
	}
	a.twice = t
	return nil
}

// writeForks says whether a second fork is worth it.
func (a *Advice) writeForks(out io.Writer) {
	if a.Forks < 2 {
		return
	}
	one := "one"
	if a.best[0].Baseline() {
		one = "no clones"
	}
	t := a.twice
	switch {
	case t == nil:
		fmt.Fprintf(out, "No two forks were found that are sooner and need no more machine time.\n\n")
	case t.sooner():
		fmt.Fprintf(out, "Two forks are done %s sooner than %s, with %s of the machine time:\ntailcut --policy %s\n\n",
			show.Margin(-t.than.Latency, 1.96*t.than.LatencyError), one, show.Percent(t.Cost/(t.Cost-t.than.Cost)), SpecOfTwo(t.forks, a.Tasks))
	default:
		fmt.Fprintf(out, "No two forks were found that are sooner than %s by more than the error of the simulation.\n\n", one)
	}
}
