package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Experiment runs several policies over one workload, each as often as asked for. Run k meets the same luck under
// every policy and other luck than the other runs, so that the differences between policies, run by run, vary less
// than their results do.
type Experiment struct {
	Workload *trace.Workload
	Policies []Candidate
	Runs     int // of each policy; 0 means 1
	First    int // number of the first of them: those before it are of another experiment, see Comparison.Join

	// Options are those of every run, but for the seed, which is RunSeed(Options.Seed, run). Tick is called by several
	// goroutines at once.
	Options Options

	// Redraw gives the workload of a run, by the run's seed; it may be called several times for one run, by several
	// goroutines at once, and gives the same each time. Nil if all runs have Workload. With SameLuck all runs have the
	// seed of the first but for that.
	Redraw   func(seed uint64) (*trace.Workload, error)
	SameLuck bool

	// Measure says which jobs the figures are of. Nil for all.
	Measure *Measure

	// Done is shown every run as it is done, with what became of each job: one call at a time, in order of policy and
	// run whoever was faster. Both are the caller's to keep. An error ends the experiment. May be nil.
	Done func(c *Cell, jobs []JobResult) error
}

// Candidate is a policy of an experiment.
type Candidate struct {
	Name  string
	New   func(seed uint64) (sched.Policy, error) // called for each run, by several goroutines at once
	Exact bool                                    // is told at each launch when the attempt will end, others or not
	Every sched.Time                              // so often it is told how far attempts are; 0 for as Options say
	Steer func(seed uint64) Steer                 // of each run, see Options; nil for as they say
}

// Cell is one run of one policy.
type Cell struct {
	Policy int // index of Experiment.Policies
	Run    int // from 0
	Stats
	Paired  Paired
	Classes []ClassCell   // by class, if Experiment.Measure has any
	Events  int64         // see Result
	Wall    time.Duration // that the run took; the only thing here that is not the same each time
}

// Comparison is what came out of an experiment.
type Comparison struct {
	Cells []Cell  // by policy, then run
	Runs  int     // of each policy
	Tail  float64 // exponent of the heaviest law by which attempts last, see ServiceTail; 0 if not known
}

// Run runs everything on as many goroutines as there are processors. The result does not depend on how many these
// are. It fails with the error of the first run that failed, in order, or if ctx is cancelled.
func (e *Experiment) Run(ctx context.Context) (*Comparison, error) {
	runs := max(e.Runs, 1)
	x := &Comparison{Cells: make([]Cell, len(e.Policies)*runs), Runs: runs}
	workers := runtime.GOMAXPROCS(0)
	simulators := make([]Simulator, workers)
	pairs := newPairing(len(e.Policies), e.First, runs)
	d := delivery{done: e.Done, waiting: map[int]*Result{}, cells: x.Cells}
	err := each(ctx, len(x.Cells), workers, func(worker, i int) error {
		c := &x.Cells[i]
		c.Policy, c.Run = i/runs, e.First+i%runs
		res, err := e.cell(ctx, &simulators[worker], c)
		if err != nil {
			return err
		}
		pairs.add(c, res.Jobs)
		return d.add(i, res)
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// cell does one run.
func (e *Experiment) cell(ctx context.Context, s *Simulator, c *Cell) (*Result, error) {
	begin := time.Now()
	who := &e.Policies[c.Policy]
	o := e.Options
	seed, w := o.Seed, e.Workload
	if o.Seed = RunSeed(seed, c.Run); e.Redraw != nil {
		var err error
		if w, err = e.Redraw(o.Seed); err != nil {
			return nil, err
		}
	}
	if e.SameLuck {
		o.Seed = RunSeed(seed, 0)
	}
	o.Progress.Exact = o.Progress.Exact || who.Exact
	if who.Every > 0 {
		o.Progress.Every = who.Every
	}
	if who.Steer != nil {
		o.Steer = who.Steer(o.Seed)
	}
	p, err := who.New(o.Seed)
	if err != nil {
		return nil, err
	}
	res, err := s.Run(ctx, w, p, o)
	if errors.Is(err, ErrStuck) {
		return nil, fmt.Errorf("%s: %w", who.Name, err)
	}
	if err != nil {
		return nil, err
	}
	e.Measure.apply(w, res, c)
	c.Stats, c.Events, c.Wall = res.Stats(), res.Events, time.Since(begin)
	return res, nil
}

// delivery hands results on in order. One that is ready before an earlier one is kept until then.
type delivery struct {
	done  func(*Cell, []JobResult) error
	cells []Cell

	mu      sync.Mutex
	next    int
	waiting map[int]*Result
}

func (d *delivery) add(i int, res *Result) error {
	if d.done == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting[i] = res
	for res := d.waiting[d.next]; res != nil; res = d.waiting[d.next] {
		delete(d.waiting, d.next)
		if err := d.done(&d.cells[d.next], res.Jobs); err != nil {
			return err
		}
		d.next++
	}
	return nil
}

// Estimate is a mean over runs, and half the width of its 95 % interval: NaN if there was one run only.
type Estimate struct {
	Mean, Half float64
	N          int // measurements
}

// EstimateOf returns the mean of independent measurements and its interval, Student's.
func EstimateOf(x []float64) Estimate {
	mean, half := laws.MeanInterval(x, 0.95)
	return Estimate{mean, half, len(x)}
}

// Join returns the runs of both, of the same policies.
func (x *Comparison) Join(more *Comparison) *Comparison {
	if x == nil {
		return more
	}
	all := &Comparison{Runs: x.Runs + more.Runs, Tail: x.Tail}
	for policy := range len(x.Cells) / x.Runs {
		all.Cells = append(append(all.Cells, x.Of(policy)...), more.Of(policy)...)
	}
	return all
}

// Of returns the runs of a policy.
func (x *Comparison) Of(policy int) []Cell { return x.Cells[policy*x.Runs:][:x.Runs] }

// Mean estimates a policy's mean of what a run shows.
func (x *Comparison) Mean(policy int, of func(*Cell) float64) Estimate {
	return EstimateOf(x.shown(policy, of))
}

// Difference estimates by how much more a policy shows than a reference does, from the differences between runs that
// met the same luck.
func (x *Comparison) Difference(policy, reference int, of func(*Cell) float64) Estimate {
	all := make([]float64, x.Runs)
	for k := range all {
		all[k] = of(&x.Of(policy)[k]) - of(&x.Of(reference)[k])
	}
	return EstimateOf(all)
}

// AllSucceeded tells whether no job failed in any run of a policy. Means of flow times are of the jobs that succeeded,
// so those of two policies are of the same jobs only if all did under both; Versus compares them otherwise.
func (x *Comparison) AllSucceeded(policy int) bool {
	for i := range x.Of(policy) {
		if x.Of(policy)[i].Failed > 0 {
			return false
		}
	}
	return true
}

// MeanFlow is what experiments compare most: the mean flow time of a run in seconds.
func MeanFlow(c *Cell) float64 { return c.MeanFlow }
