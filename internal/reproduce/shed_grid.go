package reproduce

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/tailcut/tailcut/internal/report"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// shedGrid is no figure of the paper: deadlines outside its world.
type shedGrid struct {
	laws  []gridLaw
	cells []gridCell
	seed  uint64
	met   [][][]float64 // by cell and repetition: the share of deadlines met by policy, and the two bounds last
}

// gridLaw is how long attempts last: the task's size, which all its attempts share, times the attempt's slowdown.
type gridLaw struct {
	name     string
	law      laws.Law // of an attempt, in seconds
	size     laws.Law // of a task, in seconds
	slowdown laws.Law
	search   map[bool]*searchTime // by whether attempts resume
}

// gridCell is a setting.
type gridCell struct {
	law       int // index in shedGrid.laws
	load      float64
	told      gridTold
	resumable bool
	valued    bool // jobs are worth 1 to 10, and shares are of their value
}

// gridTold is what policies know of the law.
type gridTold string

const (
	toldTruth   gridTold = "the law"
	toldWrong   gridTold = "a wrong law" // exponential, with half the mean
	toldNothing gridTold = "nothing"
)

const (
	gridMean    = 240.0 // seconds of an attempt
	gridJobs    = 300
	gridTasks   = 9.5          // of a job, on average
	gridLongest = 6 * gridMean // seconds of a task that has time enough for it
	gridShort   = 0.02         // by which laxity may be below the best of the others
	gridBound   = 0.95         // of the bound that laxity is to meet,
	gridValue   = 0.9          // and of that on the value of jobs, in overload
)

// gridOf is what is compared; laxity is the last.
var gridOf = [...]string{"fifo", "edf", "srpt", "shed", "laxity"}

// gridLaws returns the laws, all of the same mean but for the slowdown, whose attempts are slower.
func gridLaws() []gridLaw {
	lognormal := func(cv float64) laws.Law {
		l, err := laws.LognormalOf(gridMean, cv*gridMean)
		if err != nil {
			panic(fmt.Sprintf("reproduce: %v", err))
		}
		return l
	}
	pareto := func(mean, alpha float64) laws.Law { return laws.Pareto{Alpha: alpha, Xm: mean * (alpha - 1) / alpha} }
	one := laws.Deterministic{Value: 1}
	redrawn := func(name string, l laws.Law) gridLaw { return gridLaw{name: name, law: l, size: one, slowdown: l} }
	all := []gridLaw{
		redrawn("Pareto 1.5", pareto(gridMean, 1.5)), redrawn("Pareto 2.5", pareto(gridMean, 2.5)), redrawn("exponential", laws.Exponential{Mu: 1 / gridMean}),
		redrawn("lognormal, cv 0.3", lognormal(0.3)), redrawn("lognormal, cv 1", lognormal(1)), redrawn("uniform", laws.Uniform{Lo: 0, Hi: 2 * gridMean}),
		{name: "size x slowdown", law: lognormal(1), size: lognormal(1), slowdown: pareto(1, 3)}, {name: "the task's own", law: lognormal(1), size: lognormal(1), slowdown: one},
	}
	for i := range all {
		most := 1.0
		if all[i].size != one {
			most = gridLongest
		}
		all[i].search = map[bool]*searchTime{}
		for _, resumes := range []bool{true, false} {
			all[i].search[resumes] = newSearchTime(all[i].slowdown, shedLaunch.Seconds(), reportGap.Seconds(), most, resumes)
		}
	}
	return all
}

func newShedGrid(o *Options, repeats int) *shedGrid {
	x := &shedGrid{laws: gridLaws(), seed: o.Seed}
	loads, told := []float64{0.4, 0.8, 1.2, 1.6}, []gridTold{toldTruth, toldWrong, toldNothing}
	if o.Quick {
		loads, told, repeats = []float64{1.6}, []gridTold{toldTruth, toldNothing}, min(repeats, 2)
	}
	for l := range x.laws {
		for _, load := range loads {
			for _, t := range told {
				for _, resumable := range []bool{true, false} {
					x.add(gridCell{l, load, t, resumable, false}, repeats)
					if load == loads[len(loads)-1] {
						x.add(gridCell{l, load, t, resumable, true}, repeats)
					}
				}
			}
		}
	}
	return x
}

func (x *shedGrid) add(cell gridCell, repeats int) {
	x.cells = append(x.cells, cell)
	x.met = append(x.met, make([][]float64, repeats))
}

func (x *shedGrid) steps() (steps []func(context.Context) error) {
	for c := range x.cells {
		for k := range x.met[c] {
			steps = append(steps, func(ctx context.Context) error { return x.run(ctx, c, k) })
		}
	}
	return steps
}

// run simulates a cell. Cells of one law and load have the same jobs, and their attempts the same durations.
func (x *shedGrid) run(ctx context.Context, c, k int) error {
	cell, seed := &x.cells[c], repetition(x.seed, k)
	w := x.workload(cell, seed)
	law := &x.laws[cell.law]
	met := make([]float64, 0, len(gridOf)+2)
	for _, name := range gridOf {
		share, err := x.play(ctx, cell, w, x.spec(name, cell), seed, shedLaunch, reportGap)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		met = append(met, share)
	}
	least, takes := law.times(w)
	x.met[c][k] = append(met, mostInTime(w, shedSlots, least), mostInTimeBy(w, shedSlots, least, takes))
	return nil
}

// play returns the share of the value that a policy wins where attempts take so long to launch and report so often.
func (x *shedGrid) play(ctx context.Context, cell *gridCell, w *trace.Workload, spec string, seed uint64, launch, report sched.Time) (float64, error) {
	p, err := policy.New(spec, seed)
	if err != nil {
		return 0, err
	}
	res, err := sim.Run(ctx, w, p, sim.Options{
		Machines: shedSlots, Model: sim.SizeTimesSlowdown(x.laws[cell.law].slowdown), LaunchDelay: launch, Progress: sim.Progress{Every: report}, Seed: seed,
		Limits: sched.Limits{Attempts: shedMost, Clones: sched.CloneBudget{Floor: sched.Unlimited}},
	})
	if err != nil {
		return 0, err
	}
	return ratioWon(res.Jobs), nil
}

// times returns the least that tasks of a job take, and what they take on average while nobody knows how slow attempts
// are.
func (l *gridLaw) times(w *trace.Workload) (least, takes func(job int) []float64) {
	of := func(j int, one func(size float64) float64) (tasks []float64) {
		for _, d := range w.DurationsOf(&w.StagesOf(j)[0]) {
			tasks = append(tasks, one(d.Seconds()))
		}
		return tasks
	}
	least = func(j int) []float64 {
		return of(j, func(size float64) float64 { return shedLaunch.Seconds() + size*l.slowdown.Quantile(0) })
	}
	return least, func(j int) []float64 { return of(j, l.search[w.StagesOf(j)[0].Resumable].of) }
}

// spec returns a policy with what it is told.
func (x *shedGrid) spec(name string, cell *gridCell) string {
	e, err := policy.Find(name)
	if err != nil {
		panic(err)
	}
	var with []string
	for _, p := range e.Params {
		switch {
		case p.Kind == kit.Law && cell.told == toldTruth:
			with = append(with, fmt.Sprintf("%s=(%v)", p.Name, x.laws[cell.law].law))
		case p.Kind == kit.Law && cell.told == toldWrong:
			with = append(with, fmt.Sprintf("%s=(%v)", p.Name, laws.Exponential{Mu: 2 / gridMean}))
		case p.Name == "launch":
			with = append(with, fmt.Sprintf("launch=%v", shedLaunch))
		}
	}
	if len(with) == 0 {
		return name
	}
	return name + ":" + strings.Join(with, ",")
}

// workload returns jobs of the paper's sizes. A deadline is one to three times what nine of ten such jobs take on a
// cluster of their own, or twice the mean if that is less.
func (x *shedGrid) workload(cell *gridCell, seed uint64) *trace.Workload {
	g := rand.New(rand.NewPCG(seed, 0x921d))
	w := &trace.Workload{Name: "deadlines", Names: []string{""}}
	law := &x.laws[cell.law]
	at, gap := 0.0, gridTasks*gridMean/shedSlots/cell.load
	for i := range gridJobs {
		c := 0
		for u := g.IntN(100); u >= hybridJobs[c]; c++ {
			u -= hybridJobs[c]
		}
		tasks := shedClasses[c]
		alone := min(law.law.Quantile(math.Pow(0.9, 1/float64(tasks))), 2*gridMean)
		w.Jobs = append(w.Jobs, trace.JobRow{
			Arrival: sched.FromSeconds(at), Deadline: shedLaunch + sched.FromSeconds(alone*(1+2*g.Float64())), Number: uint32(i), FirstStage: uint32(i), Stages: 1,
		})
		w.Stages = append(w.Stages, trace.StageRow{FirstTask: uint32(len(w.Durations)), Tasks: uint32(tasks), Law: -1, Resumable: cell.resumable})
		for range tasks {
			w.Durations = append(w.Durations, sched.FromSeconds(law.size.Quantile(g.Float64())))
		}
		at += gap * g.ExpFloat64()
	}
	for g, i := rand.New(rand.NewPCG(seed, 0x7a1e)), 0; cell.valued && i < gridJobs; i++ {
		w.Jobs[i].Value = 1 + 9*g.Float64()
	}
	return w
}

func (x *shedGrid) sections() []report.Section { return []report.Section{x.section()} }

func (x *shedGrid) section() report.Section {
	s := report.Section{Title: "Outside the paper's world", Text: []string{
		fmt.Sprintf("Not in the paper: %d jobs of the sizes of Figure 4 under other laws of the same mean, %v s. Attempts draw a new duration; have the size of their task "+
			"times a slowdown, Pareto(3), that each draws; or all have the duration of their task. Deadlines are one to three times what the job takes alone in nine cases of ten "+
			"(at most twice the mean). Policies know the law, believe a wrong one (exponential, half the mean) or know nothing. Attempts report every %v.", gridJobs, gridMean, reportGap),
		"In rows that are valued each job is worth between 1 and 10 by its deadline, and the shares are of that value; elsewhere all are worth the same.",
		"The last columns are laxity minus the best of the other policies in that cell; a bound for schedulers that know all durations, each as short as it can be, and " +
			"choose which jobs to serve; and laxity over that bound. Where an attempt may take next to no time, the bound is 1. A job with a task that takes longer than there is " +
			"time counts in none; the others may be divided at will, and count in parts.",
		"Then the same for schedulers that know all that comes, but not how slow an attempt is before it has been launched: a task takes what the best search for a quick attempt " +
			"takes on average. No policy that cannot foresee draws has more.",
	}}
	t := report.Table{Name: "grid", Caption: "Share of deadlines met", Columns: []string{"law", "load", "told", "resumable", "valued"}}
	t.Columns = append(append(t.Columns, gridOf[:]...), "laxity - best", "±", "bound", "laxity / bound", "± of that", "bound, draws unknown", "laxity / that", "± of it")
	var worst sim.Estimate
	where := ""
	for c := range x.cells {
		cell := &x.cells[c]
		row := []any{x.laws[cell.law].name, cell.load, string(cell.told), cell.resumable, cell.valued}
		for p := range gridOf {
			row = append(row, column(x.met[c], p).Mean)
		}
		gain := x.gain(c)
		if !cell.valued && (where == "" || gain.Mean-gain.Half < worst.Mean-worst.Half) {
			worst, where = gain, x.describe(cell)
		}
		share, blind := x.share(c, clairvoyant), x.share(c, drawsUnknown)
		t.Add(append(row, gain.Mean, gain.Half, column(x.met[c], len(gridOf)).Mean, share.Mean, share.Half, column(x.met[c], len(gridOf)+1).Mean, blind.Mean, blind.Half)...)
	}
	s.Tables = append(s.Tables, t)
	s.Claims = append(s.Claims, judge(worst, -gridShort, math.Inf(1), fmt.Sprintf("laxity is nowhere more than %v below the best of fifo, edf, srpt and shed", gridShort),
		"(not in the paper)", fmt.Sprintf("%+.3f ± %.3f where it is least sure: %s", worst.Mean, worst.Half, where)))
	s.Claims = append(s.Claims,
		x.bounded(clairvoyant, false, gridBound, fmt.Sprintf("laxity meets %v of the bound everywhere", gridBound)),
		x.bounded(clairvoyant, true, gridValue, fmt.Sprintf("in overload laxity wins %v of the bound on value everywhere", gridValue)),
		x.bounded(drawsUnknown, false, gridBound, fmt.Sprintf("laxity meets %v of the bound for schedulers that cannot foresee draws", gridBound)),
		x.bounded(drawsUnknown, true, gridValue, fmt.Sprintf("in overload laxity wins %v of that bound on value", gridValue)))
	return s
}

func (x *shedGrid) describe(cell *gridCell) string {
	return fmt.Sprintf("%s, load %v, told %s, resumable %v", x.laws[cell.law].name, cell.load, cell.told, cell.resumable)
}

// bounded judges whether laxity has a share of a bound in all cells, valued or not, by that in which it has least.
func (x *shedGrid) bounded(by gridKnows, valued bool, least float64, what string) report.Claim {
	var worst sim.Estimate
	where, below, all := "", 0, 0
	for c := range x.cells {
		if cell := &x.cells[c]; cell.valued == valued {
			share := x.share(c, by)
			if all++; share.Mean < least {
				below++
			}
			if where == "" || share.Mean < worst.Mean {
				worst, where = share, x.describe(cell)
			}
		}
	}
	return judge(worst, least, math.Inf(1), what, "(not in the paper)", fmt.Sprintf("%.3f ± %.3f where it is least: %s; below in %d of %d settings", worst.Mean, worst.Half, where, below, all))
}

// gridKnows is a bound, by what the schedulers know that it is for.
type gridKnows int

const (
	clairvoyant gridKnows = iota
	drawsUnknown
)

// share returns how much of a bound laxity meets in a cell.
func (x *shedGrid) share(c int, by gridKnows) sim.Estimate {
	last := len(gridOf) - 1
	var all []float64
	for _, r := range x.met[c] {
		all = append(all, r[last]/max(r[last+1+int(by)], 1e-9))
	}
	return sim.EstimateOf(all)
}

// ratioWon returns the share of the jobs' value that was won; all that were late are worth nothing here.
func ratioWon(jobs []sim.JobResult) float64 {
	won, all := 0.0, 0.0
	for i := range jobs {
		won, all = won+jobs[i].Won, all+jobs[i].Value
	}
	return won / all
}

// gain returns how much more laxity meets in a cell than the best of the others, which is the best on average.
func (x *shedGrid) gain(c int) sim.Estimate {
	last := len(gridOf) - 1
	best := 0
	for p := range last {
		if column(x.met[c], p).Mean > column(x.met[c], best).Mean {
			best = p
		}
	}
	var d []float64
	for _, r := range x.met[c] {
		d = append(d, r[last]-r[best])
	}
	return sim.EstimateOf(d)
}
