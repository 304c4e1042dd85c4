package replay

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// Rerun is a log that can be played again.
type Rerun struct {
	Slots  int    // the most that there were at once
	Source Source // of the slots
	Rule   string // the policy that the log's attempts followed, as far as it says
	// Arranged says that the starts are not the log's, but of [Arrange].
	Arranged bool

	kept         map[*history.StageRecord]kept
	oneHost      bool
	name         string
	system       string
	began, ended sched.Time // of the application; ended is 0 if the log does not say
	pieces       []*piece
	application  string
	rank         map[string]int        // of jobs, in the order in which they are served
	submitted    map[string]sched.Time // likewise
	steps        []history.SlotsFrom
}

// New makes a rerun of the stages of a log; nil if the log does not tell when anything started. slots are those that
// somebody asks for, 0 for those of the log.
func New(name string, stages []*history.StageRecord, course *history.Course, slots int) *Rerun {
	r := &Rerun{name: name, application: course.Application, system: course.System, began: course.Began, ended: course.Ended, rank: map[string]int{}}
	for _, st := range stages {
		var told *history.StageCourse
		for i := range course.Stages {
			if course.Stages[i].Job == st.Job && course.Stages[i].Stage == st.Stage {
				told = &course.Stages[i]
			}
		}
		if p := pieceOf(st, told); p != nil {
			r.pieces = append(r.pieces, p)
		}
	}
	if len(r.pieces) == 0 {
		return nil
	}
	slices.SortStableFunc(r.pieces, func(a, b *piece) int { return cmp.Compare(a.submitted, b.submitted) })
	if r.began == 0 || r.began > r.pieces[0].submitted {
		r.began = r.pieces[0].submitted
	}
	for i, j := range course.Jobs {
		r.rank[j.Job] = i
	}
	r.submitted = link(r.pieces, course, r.began)
	r.steps, r.Source = slotsOf(stages, course, slots)
	for _, s := range r.steps {
		r.Slots = max(r.Slots, s.Slots)
	}
	r.oneHost = oneHost(stages)
	r.Rule = ruleOf(course, slices.ContainsFunc(r.pieces, func(p *piece) bool { return p.cloned }))
	if r.system == "spark" && r.oneHost {
		r.Rule = Without
	}
	return r
}

// System is whose rules the log's attempts followed; tailcut for those that have none.
func (r *Rerun) System() string { return cmp.Or(r.system, "tailcut") }

// Began is when the application began, since 1970 where the log says so.
func (r *Rerun) Began() sched.Time { return r.began }

// Wall is what the log says that all of it took, in seconds.
func (r *Rerun) Wall() float64 { return (cmp.Or(r.ended, r.lastEnd()) - r.began).Seconds() }

// Holds returns how the tasks of a stage hold their slots, in the order in which they were launched; none if it is not
// played.
func (r *Rerun) Holds(st *history.StageRecord) []Hold {
	if p := r.piece(st); p != nil {
		return p.tasks
	}
	return nil
}

// Keep says, by task as in [Rerun.Holds], how many seconds of its time each further attempt takes as well. The rest is
// drawn, and where the system runs no clone on the host of the original, for tasks on a slow host from those of others;
// slow is -1 if none is.
func (r *Rerun) Keep(st *history.StageRecord, seconds []float64, slow int32) {
	if r.kept == nil {
		r.kept = map[*history.StageRecord]kept{}
	}
	k := kept{make([]sched.Time, len(seconds)), slow}
	for i, s := range seconds {
		k.seconds[i] = sched.FromSeconds(s)
	}
	r.kept[st] = k
}

// kept is what [Rerun.Keep] was told of a stage.
type kept struct {
	seconds []sched.Time
	slow    int32
}

// OneHost tells whether all attempts ran on one host, as far as the log names their executors. Spark never runs a clone
// on the host of the original (TaskSetManager.dequeueTaskFromList), so it had no clones there and can have none.
func (r *Rerun) OneHost() bool { return r.oneHost }

// oneHost tells whether all attempts that name an executor ran on one host; false if none does.
func oneHost(stages []*history.StageRecord) bool {
	host, known := int32(0), false
	for _, st := range stages {
		for i := range st.Attempts {
			switch a := &st.Attempts[i]; {
			case a.Executor == 0 || known && a.Host != host:
				return false
			default:
				host, known = a.Host, true
			}
		}
	}
	return known
}

func (r *Rerun) piece(st *history.StageRecord) *piece {
	for _, p := range r.pieces {
		if p.record == st {
			return p
		}
	}
	return nil
}

// Walls is what the log says that a stage took, in seconds, on how many slots at most; ok is false if it is not played.
func (r *Rerun) Walls(st *history.StageRecord) (seconds float64, slots int, ok bool) {
	p := r.piece(st)
	if p == nil {
		return 0, 0, false
	}
	c := history.Course{Slots: r.steps}
	return p.wall().Seconds(), c.MostSlots(p.submitted, p.ended), true
}

// Span is when a stage was submitted and had ended; ok is false if it is not played.
func (r *Rerun) Span(st *history.StageRecord) (submitted, ended sched.Time, ok bool) {
	p := r.piece(st)
	if p == nil {
		return 0, 0, false
	}
	return p.submitted, p.ended, true
}

// Range is what something takes in seconds, over plays that differ in the random draws of clones: the mean, and what
// at least 95 % of them are between. The mean is there, too, however rare what makes it.
type Range struct{ Mean, Low, High float64 }

// Taken is what something takes, and the machine time of all its attempts in seconds, on average. A driver's time is
// none.
type Taken struct {
	Range
	Machine float64
}

// Saves returns the share of the time of others that this saves; 0 if they take none.
func (t Taken) Saves(others Taken) float64 {
	if others.Mean <= 0 {
		return 0
	}
	return 1 - t.Mean/others.Mean
}

// Rules are policies of a system, under which a log is played. All meet the same draws.
type Rules struct {
	System string
	Specs  []string
	Runs   int // of each, but of one without clones, which draws nothing
	Seed   uint64
	Tick   func(tasks int) // called with tasks that have been played; nil if nobody watches
}

// Tasks returns how many tasks the log is played with.
func (r *Rerun) Tasks() (n int) {
	for _, p := range r.pieces {
		n += len(p.tasks)
	}
	return n
}

// Without is the policy that makes no clones.
const Without = "fifo"

// Whole plays the application as one job, and returns by policy what it takes.
func (r *Rerun) Whole(ctx context.Context, q Rules) ([]Taken, error) {
	w := r.whole()
	all, err := r.play(ctx, w, q)
	if err != nil {
		return nil, err
	}
	_, _, driven := w.Driven()
	out := make([]Taken, len(all))
	for k := range all {
		out[k] = all[k][0]
		out[k].Machine -= driven
	}
	return out, nil
}

// Apart plays each stage as a job that arrives when the stage was submitted, and returns by policy what it takes.
func (r *Rerun) Apart(ctx context.Context, q Rules) (map[*history.StageRecord][]Taken, error) {
	all, err := r.play(ctx, r.apart(), q)
	if err != nil {
		return nil, err
	}
	out := map[*history.StageRecord][]Taken{}
	for k := range all {
		for i, p := range r.pieces {
			out[p.record] = append(out[p.record], all[k][i])
		}
	}
	return out, nil
}

// play returns what each job takes, by policy and job.
func (r *Rerun) play(ctx context.Context, w *trace.Workload, q Rules) ([][]Taken, error) {
	all := make([][]Taken, len(q.Specs))
	var once, often []int
	for k, spec := range q.Specs {
		if spec == Without {
			once = append(once, k)
		} else {
			often = append(often, k)
		}
	}
	if err := r.experiment(ctx, w, q, once, 1, all); err != nil {
		return nil, err
	}
	return all, r.experiment(ctx, w, q, often, q.Runs, all)
}

// experiment plays some of the policies.
func (r *Rerun) experiment(ctx context.Context, w *trace.Workload, q Rules, some []int, runs int, all [][]Taken) error {
	if len(some) == 0 {
		return nil
	}
	e := sim.Experiment{Workload: w, Runs: runs, Options: r.options(w, q.System, q.Seed)}
	flows := make([][][]float64, len(some))
	for i, k := range some {
		flows[i], all[k] = make([][]float64, len(w.Jobs)), make([]Taken, len(w.Jobs))
		c, err := candidate(w, q.Specs[k])
		if err != nil {
			return err
		}
		e.Policies = append(e.Policies, c)
	}
	tasks := r.Tasks()
	e.Done = func(c *sim.Cell, jobs []sim.JobResult) error {
		if q.Tick != nil {
			q.Tick(tasks)
		}
		for j := range jobs {
			if jobs[j].Failed {
				return errors.New("a job failed in its replay")
			}
			flows[c.Policy][j] = append(flows[c.Policy][j], (jobs[j].Completion - jobs[j].Arrival).Seconds())
			all[some[c.Policy]][j].Machine += (jobs[j].Fruitful + jobs[j].Fruitless).Seconds() / float64(runs)
		}
		return nil
	}
	if _, err := e.Run(ctx); err != nil {
		return err
	}
	for i, k := range some {
		for j := range all[k] {
			all[k][j].Range = rangeOf(flows[i][j])
		}
	}
	return nil
}

// candidate is a policy of an experiment, under which drivers have no clones.
func candidate(w *trace.Workload, spec string) (sim.Candidate, error) {
	spec += "/fifo"
	c := sim.Candidate{Name: spec, New: func(seed uint64) (sched.Policy, error) { return policy.NewPerClass(spec, seed, 2) }}
	progress, err := policy.ProgressPerClass(spec, 2)
	if err == nil && progress {
		const reports = 20 // in a task of the mean duration, as simulate has them by default
		c.Every = max(sched.Millisecond, sched.FromSeconds(w.WorkSeconds()/float64(max(1, w.Tasks()))/reports))
	}
	return c, err
}

func (r *Rerun) options(w *trace.Workload, system string, seed uint64) sim.Options {
	gaps := 0
	for i := range w.Stages {
		if w.Stages[i].Class == driver {
			gaps++
		}
	}
	o := sim.Options{Machines: r.Slots, Slots: 1, More: []int{gaps/r.Slots + 1}, Model: r.model(w, system), Seed: seed, Limits: sched.NoLimits()}
	o.Present = present(r.steps, r.began, r.lastEnd())
	if system == "tailcut" || system == "kubernetes" { // the rules of others are their own limits
		o.Limits = sched.DefaultLimits()
	}
	return o
}

// rangeOf sums up plays.
func rangeOf(all []float64) (r Range) {
	slices.Sort(all)
	for _, x := range all {
		r.Mean += x
	}
	r.Mean /= float64(len(all))
	low, high := len(all)/40, len(all)-1-len(all)/40
	for low > 0 && all[low] > r.Mean {
		low--
	}
	for high < len(all)-1 && all[high] < r.Mean {
		high++
	}
	r.Low, r.High = all[low], all[high]
	return r
}
