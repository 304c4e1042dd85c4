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

	kept         map[*history.StageRecord][]sched.Time
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
	r.Rule = ruleOf(course, slices.ContainsFunc(r.pieces, func(p *piece) bool { return p.cloned }))
	return r
}

// System is whose rules the log's attempts followed; tailcut for those that have none.
func (r *Rerun) System() string { return cmp.Or(r.system, "tailcut") }

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
// drawn.
func (r *Rerun) Keep(st *history.StageRecord, seconds []float64) {
	if r.kept == nil {
		r.kept = map[*history.StageRecord][]sched.Time{}
	}
	kept := make([]sched.Time, len(seconds))
	for i, s := range seconds {
		kept[i] = sched.FromSeconds(s)
	}
	r.kept[st] = kept
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

// Range is what something takes in seconds, over plays that differ in the random draws of clones: the mean, and what
// 95 % of them are between.
type Range struct{ Mean, Low, High float64 }

// Played is what came of a rerun, by policy.
type Played struct {
	Whole  []Range
	Stages map[*history.StageRecord][]Range
	// machine time of all attempts of the stage, in seconds, on average
	Machine map[*history.StageRecord][]float64
}

// Add puts what came of further policies behind the others.
func (p *Played) Add(more *Played) {
	p.Whole = append(p.Whole, more.Whole...)
	for st := range more.Stages {
		p.Stages[st] = append(p.Stages[st], more.Stages[st]...)
		p.Machine[st] = append(p.Machine[st], more.Machine[st]...)
	}
}

// Play plays the log under policies of a system, each as often as asked for. All meet the same draws.
func (r *Rerun) Play(ctx context.Context, system string, specs []string, runs int, seed uint64) (*Played, error) {
	whole, _, err := r.play(ctx, r.whole(), system, specs, runs, seed)
	if err != nil {
		return nil, err
	}
	apart, machine, err := r.play(ctx, r.apart(), system, specs, runs, seed)
	if err != nil {
		return nil, err
	}
	p := &Played{Stages: map[*history.StageRecord][]Range{}, Machine: map[*history.StageRecord][]float64{}}
	for k := range specs {
		p.Whole = append(p.Whole, rangeOf(whole[k][0]))
		for i, piece := range r.pieces {
			p.Stages[piece.record] = append(p.Stages[piece.record], rangeOf(apart[k][i]))
			p.Machine[piece.record] = append(p.Machine[piece.record], machine[k][i])
		}
	}
	return p, nil
}

// play returns the flow times in seconds by policy, job and run, and the mean machine time by policy and job.
func (r *Rerun) play(ctx context.Context, w *trace.Workload, system string, specs []string, runs int, seed uint64) (flows [][][]float64, machine [][]float64, err error) {
	flows, machine = make([][][]float64, len(specs)), make([][]float64, len(specs))
	e := sim.Experiment{Workload: w, Runs: runs, Options: r.options(w, system, seed)}
	for k, spec := range specs {
		flows[k], machine[k] = make([][]float64, len(w.Jobs)), make([]float64, len(w.Jobs))
		spec += "/fifo" // drivers have no clones
		c := sim.Candidate{Name: spec, New: func(seed uint64) (sched.Policy, error) { return policy.NewPerClass(spec, seed, 2) }}
		progress, err := policy.ProgressPerClass(spec, 2)
		if err != nil {
			return nil, nil, err
		}
		if progress {
			const reports = 20 // in a task of the mean duration, as simulate has them by default
			c.Every = max(sched.Millisecond, sched.FromSeconds(w.WorkSeconds()/float64(max(1, w.Tasks()))/reports))
		}
		e.Policies = append(e.Policies, c)
	}
	e.Done = func(c *sim.Cell, jobs []sim.JobResult) error {
		for j := range jobs {
			if jobs[j].Failed {
				return errors.New("a job failed in its replay")
			}
			flows[c.Policy][j] = append(flows[c.Policy][j], (jobs[j].Completion - jobs[j].Arrival).Seconds())
			machine[c.Policy][j] += (jobs[j].Fruitful + jobs[j].Fruitless).Seconds() / float64(runs)
		}
		return nil
	}
	_, err = e.Run(ctx)
	return flows, machine, err
}

func (r *Rerun) options(w *trace.Workload, system string, seed uint64) sim.Options {
	gaps := 0
	for i := range w.Stages {
		if w.Stages[i].Class == driver {
			gaps++
		}
	}
	o := sim.Options{Machines: r.Slots, Slots: 1, More: []int{gaps/r.Slots + 1}, Model: r.model(w), Seed: seed, Limits: sched.NoLimits()}
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
	out := len(all) / 40
	r.Low, r.High = all[out], all[len(all)-1-out]
	return r
}
