package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

// What has to hold for replication to be worth it. docs/history.md says these numbers.
const (
	explainTasks   = 10   // fewer say too little about a tail
	explainSaving  = 0.05 // share of the latency: less is a light tail
	explainR2      = 0.5  // more is data skew, ...
	explainSpread  = 1.5  // if some task read so many times the median
	explainSlow    = 2.0  // times the median is slow
	explainSlowMin = 3    // so many slow tasks at least, ...
	explainOnHost  = 0.8  // ... and this share of them on one host, make it the host's fault ...
	explainOfHost  = 0.5  // ... unless it ran more than this share of all tasks
)

// A stage is planned with its durations rounded to explainValues values and at most explainMost tasks, so that its cost
// is bounded.
const (
	explainValues = 250
	explainMost   = 5000
)

// explainFlags are the flags of 'tailcut plan explain'.
type explainFlags struct {
	from      durationsFrom
	maxClones int
	top       int
	format    *choice
}

func newPlanExplain() *cobra.Command {
	f := &explainFlags{}
	cmd := &cobra.Command{
		Use: "explain LOG", Short: "Rank the stages of a log by what clones of stragglers would save", Args: cobra.ExactArgs(1),
		Long: "Go over a whole log, plan each stage from its own tasks as 'tailcut plan fork' does, and rank the stages by the time that clones\n" +
			"would save for no more machine time. Of the others it says why clones would not help: too few tasks, a light tail, long tasks\n" +
			"that had more data to read, or one slow machine.",
		Example: "  tailcut plan explain application_1472176676028_407508_1.zstd\n" +
			"  tailcut plan explain eventlog_v2_application_1472176676028_407508 --format csv\n" +
			"  sacct --parsable2 --format=JobID,JobName,State,Elapsed,NodeList | tailcut plan explain -",
	}
	f.from.addFlags(cmd, "LOG")
	wholeVar(cmd.Flags(), &f.maxClones, "max-clones", 4, "most clones of a task to consider")
	wholeVar(cmd.Flags(), &f.top, "top", 20, "stages to show in the table, 0 for all; csv and json have all")
	f.format = addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case f.maxClones < 1 || f.maxClones > maxPlanClones:
			return fmt.Errorf("--max-clones: expected a number from 1 to %d, got %d", maxPlanClones, f.maxClones)
		case f.top < 0:
			return fmt.Errorf("--top: expected a number of at least 0, got %d", f.top)
		}
		f.from.path = args[0]
		return f.run(cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

func (f *explainFlags) run(stdin io.Reader, out, notes io.Writer) error {
	stages, hosts, said, err := f.from.stages(stdin)
	if err != nil {
		return err
	}
	printNotes(notes, said)
	f.from.leftOut(stages, notes)
	f.from.noteCut(stages, notes)
	if len(stages) == 0 {
		_, err := f.from.choose(nil)
		return err
	}
	all := make([]*explained, len(stages))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, st := range stages {
		group.Go(func() (err error) {
			all[i], err = explain(st, hosts, f.maxClones)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("%s: %w", f.from.name(), err)
	}
	slices.SortStableFunc(all, byWorth)
	switch f.format.value {
	case "json":
		return printExplainedJSON(out, f.from.name(), all)
	case "csv":
		return printExplainedCSV(out, all)
	}
	return f.printTable(out, all)
}

// explained is what is known of a stage.
type explained struct {
	*history.Stage
	median, longest float64  // seconds; 0 if nothing succeeded
	cut             *cutTail // nil if the longest was seen to end
	verdict         verdict
	why             string // in words, of what speaks against replication

	planned bool // the rest is known
	now     plan.Choice
	best    plan.Choice
	off     *forkOff // by how much they may be off, nil if nothing was rounded
	skew    history.Skew
	hasSkew bool
}

// verdict is what an explanation comes to.
type verdict string

const (
	worthIt   verdict = "replicate"
	tooFew    verdict = "few-tasks"
	lightTail verdict = "light-tail"
	dataSkew  verdict = "skew"
	slowHost  verdict = "host"
)

// explain plans one stage and looks for what else makes its tasks slow.
func explain(st *history.Stage, hosts []string, maxClones int) (*explained, error) {
	e := &explained{Stage: st, verdict: worthIt}
	if len(st.Succeeded) == 0 {
		e.verdict, e.why = tooFew, "no attempt succeeded"
		return e, nil
	}
	sample, cut, err := lawOf(st)
	if err != nil {
		return nil, err
	}
	if e.median, e.longest, e.cut = sample.Quantile(0.5), sample.Quantile(1), cut; cut != nil {
		e.longest = cut.Last
	}
	if n := len(st.Succeeded); n < explainTasks {
		e.verdict, e.why = tooFew, fmt.Sprintf("too few tasks: %d succeeded, and %d are needed to tell a tail", n, explainTasks)
		return e, nil
	}
	if err := e.plan(sample, maxClones); err != nil {
		return nil, err
	}
	e.skew, e.hasSkew = st.Skew()
	host, slow := st.SlowHost(explainSlow * e.median)
	switch saved := e.saved() / e.now.Latency; {
	case e.saved() > 0 && e.saved() < st.Resolution:
		e.verdict, e.why = lightTail, fmt.Sprintf("clones save less than %s, the resolution of the log", show.Seconds(st.Resolution))
	case slow && host.Slow >= explainSlowMin && float64(host.Slow) >= explainOnHost*float64(host.Of) && host.Share <= explainOfHost:
		e.verdict, e.why = slowHost, fmt.Sprintf("%d of %d slow tasks ran on %s: avoid that machine", host.Slow, host.Of, hosts[host.Host])
	case slow && e.hasSkew && e.skew.R2 >= explainR2 && e.skew.Spread >= explainSpread:
		e.verdict, e.why = dataSkew, fmt.Sprintf("data skew: bytes read explain %.0f %% of the variance, rank correlation %.2f", 100*e.skew.R2, e.skew.Rank)
	case !(saved >= explainSaving):
		e.verdict, e.why = lightTail, fmt.Sprintf("light tail: %.3g times the median; clones save %.1f %% for no more machine time",
			e.longest/e.median, 100*max(0, saved))
	}
	return e, nil
}

// plan finds the policy of least latency that needs no more machine time than none.
func (e *explained) plan(sample *laws.Empirical, maxClones int) error {
	tasks := min(e.Tasks, explainMost)
	e.planned = true
	if sample.Distinct() > explainValues {
		return e.planRounded(sample, tasks, maxClones)
	}
	exact, err := plan.NewExact(sample, tasks)
	if err != nil {
		return err
	}
	advice := plan.Optimise(plan.EvaluateAll(exact.Grid(maxClones), plan.Policies(tasks, maxClones)), tasks, 0)
	e.now, e.best = advice.Baseline, advice.LatencySensitive
	return nil
}

// planRounded searches the durations rounded, with the budget and a little less since the cost is rounded too, and
// evaluates what it finds between bounds.
func (e *explained) planRounded(sample *laws.Empirical, tasks, maxClones int) error {
	near, err := plan.NewNear(plan.Rounded(sample, explainValues), tasks)
	if err != nil {
		return err
	}
	bracket, err := plan.NewBracket(sample, tasks, 2*explainValues)
	if err != nil {
		return err
	}
	choices := plan.EvaluateAll(near.Grid(maxClones), plan.Policies(tasks, maxClones))
	found := []plan.Policy{{}}
	for _, share := range []float64{1, 1 - 3e-3, 1 - 1e-2} {
		budget := choices[0].Outcome
		budget.Cost *= share
		for _, c := range plan.Best(choices, budget, 1) {
			found = append(found, c.Policy)
		}
	}
	advice := plan.Optimise(plan.EvaluateAll(bracket, slices.Values(found)), tasks, 0)
	e.now, e.best = advice.Baseline, advice.LatencySensitive
	low, high, err := bracket.Bounds(e.best.Policy)
	off := offBetween(low, high)
	e.off = &off
	return err
}

// saved returns the time that the best policy saves, in seconds.
func (e *explained) saved() float64 { return e.now.Latency - e.best.Latency }

// policy returns the best policy, in numbers of the stage's own tasks.
func (e *explained) policy() plan.Policy {
	p := e.best.Policy
	if e.Tasks > explainMost {
		p.Stragglers = int(int64(p.Stragglers) * int64(e.Tasks) / explainMost)
	}
	return p
}

// savedMachine returns the machine time that it saves, in seconds, of all tasks.
func (e *explained) savedMachine() float64 {
	return max(0, e.now.Cost-e.best.Cost) * float64(e.Tasks)
}

// byWorth puts first what is worth replicating, by the time saved, then the rest by the longest task: where a cure of
// another kind may help most.
func byWorth(a, b *explained) int {
	worth := func(e *explained) (int, float64) {
		if e.verdict == worthIt {
			return 0, e.saved()
		}
		return 1, e.longest
	}
	groupA, sizeA := worth(a)
	groupB, sizeB := worth(b)
	return cmp.Or(cmp.Compare(groupA, groupB), cmp.Compare(sizeB, sizeA))
}
