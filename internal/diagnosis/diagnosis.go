// Package diagnosis ranks the stages of a log by the time that clones of stragglers would save, and gives the reason
// where clones would not help: too few tasks, too little to save, data skew, or a slow machine.
package diagnosis

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/tailcut/tailcut/internal/advice"
	"github.com/tailcut/tailcut/internal/durations"
	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/plan"
)

// Request asks what clones would do for the stages of a log. [Defaults] returns what is usual.
type Request struct {
	Log         string // what to call the log
	Application string // "" if it does not say
	Stages      []*history.StageRecord
	Hosts       []string      // on which their attempts ran, by [history.Observation].Host
	Again       *replay.Rerun // what the log tells, to be played again; nil if it does not say when anything started
	Seed        uint64
	System      string // whose rules to consider, of [Systems]; "" for the log's own
	MaxClones   int    // most clones of a task to consider, at least 1
	Thresholds  Thresholds
	Recurring   map[*history.StageRecord]map[int32]Recurring // what other nights tell of tasks that are slow in most
	// Watch is told what is being done, and of how many tasks, and returns what is called with the tasks that are done
	// meanwhile, by several goroutines at once, and at the end; nil if nobody watches.
	Watch func(doing string, tasks int) (tick func(tasks int), stop func())
}

// watch is Watch, if anybody does.
func (r *Request) watch(doing string, tasks int) (tick func(int), stop func()) {
	if r.Watch == nil {
		return nil, func() {}
	}
	return r.Watch(doing, tasks)
}

// tasks returns how many there are in all stages.
func (r *Request) tasks() (n int) {
	for _, st := range r.Stages {
		n += st.Tasks
	}
	return n
}

// Thresholds are what has to hold for replication to be worth it. docs/howto/past-jobs.md says the usual ones.
type Thresholds struct {
	Tasks     int     // that succeeded: fewer say too little about a tail
	Saving    float64 // share of the latency: clones that save less are not worth it
	R2        float64 // share of the variance that the bytes read explain: more is data skew, ...
	Spread    float64 // ... if some task read so many times the median
	Slow      float64 // times the median is slow
	SlowTasks int     // so many slow tasks at least, ...
	OnHost    float64 // ... and this share of them on one host, make it the host's fault ...
	OfHost    float64 // ... unless it ran more than this share of all tasks
}

// slowHost tells whether slow tasks are the fault of the machine that ran most of them. Where machines are few, chance
// often puts some slow tasks on one: for this machine it may do so in one stage of a hundred.
func (t *Thresholds) slowHost(h history.SlowHost) bool {
	return h.Slow >= t.SlowTasks && float64(h.Slow) >= t.OnHost*float64(h.Of) && h.Share() <= t.OfHost &&
		laws.DrawnAtLeast(h.Slow, h.Of, h.Ran, h.All) <= byChance
}

// skewed tells whether slow tasks are the fault of the data.
func (t *Thresholds) skewed(k history.Skew) bool { return k.R2 >= t.R2 && k.Spread >= t.Spread }

// Defaults returns a request that lacks only the log.
func Defaults() Request {
	return Request{MaxClones: 4, Thresholds: Thresholds{
		Tasks: 10, Saving: 0.05, R2: 0.5, Spread: 1.5, Slow: 2, SlowTasks: 3, OnHost: 0.8, OfHost: 0.5,
	}}
}

// A stage is planned with its durations rounded to roundedTo values and at most mostTasks tasks, so that its cost is
// bounded. Of one that is replayed the plan only proposes: proposedTo values will do in a log of more than largeTasks.
const (
	roundedTo  = 250
	proposedTo = 60
	largeTasks = 10_000
	mostTasks  = 5000
)

// moreTime is the machine time, as a multiple of today's, within which a stage that clones help too little at today's
// machine time is planned again, so that its reason names what the next step would buy.
const moreTime = 1.25

// Verdict is what the diagnosis of a stage comes to.
type Verdict string

// What is the matter with a stage.
const (
	Replicate Verdict = "replicate"  // clones are worth it
	FewTasks  Verdict = "few-tasks"  // fewer than tell a tail
	LightTail Verdict = "light-tail" // clones save too little
	DataSkew  Verdict = "skew"       // long tasks had more to read
	SlowHost  Verdict = "host"       // long tasks ran on one machine
)

// Diagnosis is what [Explain] found.
type Diagnosis struct {
	Schema       string        `json:"schema"`
	Log          string        `json:"log"`
	Application  string        `json:"application"`
	Slots        int           `json:"slots"` // the most that there were at once; 0 if nothing was replayed
	Source       replay.Source `json:"slots_source,omitempty"`
	Wall         float64       `json:"wall_seconds"`
	Arranged     bool          `json:"arranged,omitempty"`       // no start times: Wall is that of the log's order
	Replay       *float64      `json:"replay_seconds,omitempty"` // of what happened; nil if nothing was replayed
	Clones       *Recorded     `json:"clones,omitempty"`         // of the log; nil if it has none
	Settings     *Setting      `json:"settings,omitempty"`       // for all stages together; nil if none is faster
	Engine       *Setting      `json:"engine,omitempty"`         // of Tailcut's own; nil if not faster than Settings
	Saved        float64       `json:"latency_saved_seconds"`    // of all stages that are worth it
	SavedMachine float64       `json:"machine_saved_seconds"`
	Stages       []*Finding    `json:"stages"` // best first

	own     *played
	oneHost bool // on which Spark has no clones
}

// Finding is the diagnosis of a stage.
type Finding struct {
	Job       string            `json:"job"`
	Stage     string            `json:"stage"`
	Name      string            `json:"name"`
	Tasks     int               `json:"tasks"`
	Succeeded int               `json:"attempts_succeeded"`
	Failed    int               `json:"attempts_failed"`
	Censored  int               `json:"attempts_censored"`  // killed, or still running at the end of the log
	TimedOut  int               `json:"attempts_timed_out"` // left out
	Cancelled int               `json:"attempts_cancelled"` // left out
	Median    float64           `json:"median_seconds"`     // 0 if nothing succeeded
	Longest   float64           `json:"longest_seconds"`
	Beyond    *durations.Beyond `json:"beyond,omitempty"` // what is assumed of the longest, if nobody saw it end
	Verdict   Verdict           `json:"verdict"`
	Reason    string            `json:"reason"` // in words; "" where replication is worth it
	// without clones; this and the rest only where the stage was planned
	Latency      *float64    `json:"latency_seconds,omitempty"`
	Saved        *float64    `json:"latency_saved_seconds,omitempty"`
	SavedMachine *float64    `json:"machine_saved_seconds,omitempty"`
	Policy       string      `json:"policy,omitempty"`         // the best
	Off          *advice.Off `json:"error_bound,omitempty"`    // of the policy's figures, if durations were rounded
	R2           *float64    `json:"input_r2_ratio,omitempty"` // only where the log tells the bytes
	Rank         *float64    `json:"input_rank_correlation_ratio,omitempty"`

	Wall   *float64   `json:"wall_seconds,omitempty"` // this to Best only where the log says when tasks started
	Slots  int        `json:"slots,omitempty"`        // the most that there were while it ran
	Replay *float64   `json:"replay_seconds,omitempty"`
	Best   *StageBest `json:"best,omitempty"`           // nil if no setting is faster
	Excess *float64   `json:"excess_seconds,omitempty"` // what Causes have shares of
	Causes []Cause    `json:"causes"`
	Clones *Recorded  `json:"clones,omitempty"` // of the log; nil if the stage has none

	title string
	doing string       // the best setting in words
	extra float64      // machine time in seconds that it needs more
	best  plan.Policy  // in numbers of the stage's own tasks
	more  plan.Outcome // shares of latency saved and machine time added by the fastest within moreTime; 0 if none
}

// Explain plans each stage from its own durations, on all cores, and ranks the stages: first what is worth replicating,
// by the time saved, then the rest by the longest task, where a cure of another kind may help most. The error is the
// context's if that ends first.
func Explain(ctx context.Context, r Request) (*Diagnosis, error) {
	d := &Diagnosis{Schema: "tailcut.plan.explain/v2", Log: r.Log, Application: r.Application, Stages: make([]*Finding, len(r.Stages))}
	if err := d.planStages(ctx, &r); err != nil {
		return nil, err
	}
	if r.Again != nil {
		if err := d.replayStages(ctx, &r); err != nil {
			return nil, err
		}
	}
	for _, s := range d.Stages {
		if s.Causes == nil {
			s.Causes = s.causesOfVerdict()
		}
	}
	slices.SortStableFunc(d.Stages, byWorth)
	for _, s := range d.Stages[:d.worth()] {
		d.Saved += *s.Saved
		d.SavedMachine += *s.SavedMachine
	}
	return d, nil
}

// planStages plans each stage for itself.
func (d *Diagnosis) planStages(ctx context.Context, r *Request) error {
	tick, stop := r.watch("planning", r.tasks())
	defer stop()
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, st := range r.Stages {
		group.Go(func() (err error) {
			if err := within.Err(); err != nil {
				return err
			}
			if d.Stages[i], err = r.explain(st); err != nil {
				return fmt.Errorf("%s: %w", r.Log, err)
			}
			if tick != nil {
				tick(st.Tasks)
			}
			return nil
		})
	}
	return group.Wait()
}

// worth is how many stages are worth replicating. They are the first ones.
func (d *Diagnosis) worth() (n int) {
	for n < len(d.Stages) && d.Stages[n].Verdict == Replicate {
		n++
	}
	return n
}

// explain plans one stage and looks for what else makes its tasks slow.
func (r *Request) explain(st *history.StageRecord) (*Finding, error) {
	s := &Finding{
		title: st.Title(), Job: st.Job, Stage: st.Stage, Name: st.StageName, Tasks: st.Tasks, Succeeded: len(st.Succeeded), Failed: st.Failed,
		Censored: len(st.Censored), TimedOut: st.TimedOut, Cancelled: st.Cancelled, Verdict: Replicate,
	}
	if s.Succeeded == 0 {
		s.Verdict, s.Reason = FewTasks, "no attempt succeeded"
		return s, nil
	}
	all := r.withRetries(st)
	sample, err := durations.Of(all)
	if err != nil {
		return nil, err
	}
	s.Median, s.Longest, s.Beyond = sample.Law.Quantile(0.5), sample.Longest(), sample.Beyond
	if len(all.Succeeded) < r.Thresholds.Tasks {
		s.Verdict = FewTasks
		s.Reason = fmt.Sprintf("too few tasks: %s succeeded, at least %d are needed", show.Count(s.Succeeded, "attempt"), r.Thresholds.Tasks)
		return s, nil
	}
	values := roundedTo
	if r.Again != nil && r.tasks() > largeTasks && len(r.Again.Holds(st)) > 0 {
		values = proposedTo
	}
	if err := s.plan(sample.Law, r.MaxClones, values); err != nil {
		return nil, err
	}
	s.judge(st, r)
	return s, nil
}

// withRetries returns a stage with the attempts of its other tries, such as 3.1 of 3: they are of the same law.
func (r *Request) withRetries(st *history.StageRecord) *history.StageRecord {
	if r.Again == nil || r.Again.System() != Spark {
		return st
	}
	name, _, _ := strings.Cut(st.Stage, ".")
	all := *st
	for _, o := range r.Stages {
		if other, _, _ := strings.Cut(o.Stage, "."); o != st && other == name {
			all.Succeeded = slices.Concat(all.Succeeded, o.Succeeded)
			all.Censored = slices.Concat(all.Censored, o.Censored)
		}
	}
	return &all
}

// judge sets the verdict on a stage that was planned.
func (s *Finding) judge(st *history.StageRecord, r *Request) {
	t := &r.Thresholds
	skew, hasSkew := st.Skew()
	if hasSkew {
		s.R2, s.Rank = &skew.R2, &skew.Rank
	}
	host, slow := st.SlowHost(t.Slow * s.Median)
	saved := 0.0 // of tasks that take no time there is nothing to save
	if *s.Latency > 0 {
		saved = *s.Saved / *s.Latency
	}
	switch {
	case *s.Saved > 0 && *s.Saved < st.Resolution:
		s.Verdict, s.Reason = LightTail, fmt.Sprintf("clones save less than %s, the resolution of the log's clock", show.Seconds(st.Resolution))
	case slow && t.slowHost(host):
		s.Verdict, s.Reason = SlowHost, fmt.Sprintf("avoid %s: %d of %d slow tasks ran there", r.Hosts[host.Host], host.Slow, host.Of)
	case slow && hasSkew && t.skewed(skew):
		s.Verdict, s.Reason = DataSkew, fmt.Sprintf("split the data evenly: bytes read explain %.0f %% of the variance (rank correlation %.2f)", 100*skew.R2, skew.Rank)
	case !(saved >= t.Saving):
		s.Verdict, s.Reason = LightTail, fmt.Sprintf("clones save only %.1f %% at today's machine time", 100*max(0, saved))
		if s.more.Latency >= t.Saving {
			s.Reason += fmt.Sprintf("; %.0f %% for %.0f %% more", 100*s.more.Latency, 100*s.more.Cost)
		}
	}
}

// plan finds the policy of least latency that needs no more machine time than none, and what it saves. More durations
// than values are rounded.
func (s *Finding) plan(sample *laws.Empirical, maxClones, values int) error {
	tasks := min(s.Tasks, mostTasks)
	var found plan.Advice
	var off *advice.Off
	var err error
	if sample.Distinct() > values {
		found, off, err = rounded(sample, tasks, maxClones, values)
	} else {
		found, err = exactly(sample, tasks, maxClones)
	}
	if err != nil {
		return err
	}
	now, best := found.Baseline, found.LatencySensitive
	saved, machine := now.Latency-best.Latency, max(0, now.Cost-best.Cost)*float64(s.Tasks)
	s.Latency, s.Saved, s.SavedMachine, s.Off = &now.Latency, &saved, &machine, off
	s.best = best.Policy
	for _, c := range found.Frontier { // in order of cost, so the last within the budget is the fastest
		if c.Cost > now.Cost && c.Cost <= now.Cost*moreTime {
			s.more = plan.Outcome{Latency: 1 - c.Latency/now.Latency, Cost: c.Cost/now.Cost - 1}
		}
	}
	s.best.Stragglers = int(int64(s.best.Stragglers) * int64(s.Tasks) / int64(tasks))
	s.Policy = advice.Spec(s.best, s.Tasks)
	return nil
}

// exactly searches the policies of a job.
func exactly(sample *laws.Empirical, tasks, maxClones int) (plan.Advice, error) {
	exact, err := plan.NewExact(sample, tasks)
	if err != nil {
		return plan.Advice{}, err
	}
	return plan.Optimise(plan.EvaluateAll(exact.Grid(maxClones), plan.Policies(tasks, maxClones)), tasks, 0), nil
}

// rounded searches the durations rounded, with the budget and a little less since the cost is rounded too, and
// evaluates what it finds between bounds. It returns by how much the figures of the optimum may be off.
func rounded(sample *laws.Empirical, tasks, maxClones, values int) (found plan.Advice, off *advice.Off, err error) {
	near, err := plan.NewNear(plan.Rounded(sample, values), tasks)
	if err != nil {
		return found, nil, err
	}
	bracket, err := plan.NewBracket(sample, tasks, 2*values)
	if err != nil {
		return found, nil, err
	}
	choices := plan.EvaluateAll(near.Grid(maxClones), plan.Policies(tasks, maxClones))
	policies := []plan.Policy{{}}
	for _, share := range []float64{1, 1 - 3e-3, 1 - 1e-2, moreTime} {
		budget := choices[0].Outcome
		budget.Cost *= share
		for _, c := range plan.Best(choices, budget, 1) {
			policies = append(policies, c.Policy)
		}
	}
	found = plan.Optimise(plan.EvaluateAll(bracket, slices.Values(policies)), tasks, 0)
	low, high, err := bracket.Bounds(found.LatencySensitive.Policy)
	between := advice.OffBetween(low, high)
	return found, &between, err
}

// byWorth puts first what is worth replicating, by the time saved, then the rest by the longest task.
func byWorth(a, b *Finding) int {
	worth := func(s *Finding) (int, float64) {
		if s.Verdict == Replicate {
			return 0, *s.Saved
		}
		return 1, s.Longest
	}
	groupA, sizeA := worth(a)
	groupB, sizeB := worth(b)
	return cmp.Or(cmp.Compare(groupA, groupB), cmp.Compare(sizeB, sizeA))
}
