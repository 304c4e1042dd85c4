// Package hindsight asks which policy would have served the last runs of a job better than the one that they had. It
// answers only what it can stand by, and otherwise says nothing.
//
// It simulates the job on the slots that it had, through the same core that schedules it, with durations drawn from
// the estimate of Kaplan and Meier of what the runs took: attempts that lost to a clone count as cut off. What has to
// hold before there is an answer:
//
//   - There are enough runs, alike in policy, slots and tasks, and enough durations.
//   - The simulation of the policy that they had takes as long as they took. Policies that decide by progress are left
//     out unless it is known that all stages reported it, or none.
//   - It is not the same tasks that are slow in each run. A clone does the same work, and would be as slow.
//   - The whole confidence interval of the saving is worth it. Runs, and durations in them, are drawn with replacement
//     (the bootstrap) for the interval; the policy is chosen on one half of the draws and judged by the other, so that
//     the choice of the best of several does not flatter it.
package hindsight

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// What an answer needs and promises.
const (
	LeastRuns = 3 // that are alike

	leastDurations = 30  // of each stage, in all runs; of one with a single task, LeastRuns
	leastSaving    = 5.0 // seconds, at the lower end of the interval
	leastShare     = 0.1 // of the time, likewise
	mostCost       = 1.1 // machine time, to that of the policy that the runs had
	deviations     = 2.1 // standard deviations from the middle of the interval to its ends

	draws     = 80     // even: one half chooses, the other judges
	fewDraws  = 40     // of a job with more than manyTasks
	manyTasks = 400    // so that an answer takes less than a second
	mostSims  = 8      // of each policy in a draw that judges
	mostWork  = 80_000 // tasks that are simulated for each policy and judgement, about
	mostTasks = 3000
	apart     = 3.0  // standard errors between the runs and their simulation, at most, and
	besides   = 0.05 // of the simulation's time, for what a simulation does not have
	sameTasks = 0.05 // probability below which it is no chance that the same tasks are slow
	// tasks of a stage of which the slowest are compared by that probability
	leastCompared = 10
)

// Question is which policy would have been better.
type Question struct {
	Spec   sched.JobSpec
	Stages []string // names
	Past   *live.Past
	Slots  int
	Limits sched.Limits
	Policy string   // that the last run had
	Others []string // to choose from
	Seed   uint64
}

// Answer is a policy that would have been better.
type Answer struct {
	Other       int     // index in Others
	Runs        int     // that it was found with
	Was, Would  float64 // seconds, on average
	Low, High   float64 // of the saving in seconds, with a confidence of 95 %
	MachineTime float64 // to that of the policy that the runs had
}

// ErrNothing means that there is nothing to say.
var ErrNothing = errors.New("nothing to advise")

// Ask answers the question. Its error is ErrNothing, that of the context, or one of a policy that cannot be had.
func (q *Question) Ask(ctx context.Context) (*Answer, error) {
	runs := q.alike()
	if len(runs) < LeastRuns || !q.enough(runs) || sameAreSlow(runs) {
		return nil, ErrNothing
	}
	w := q.workload()
	if w == nil {
		return nil, ErrNothing
	}
	s := &study{Question: q, runs: runs, w: w, draws: draws}
	if err := s.listen(); err != nil {
		return nil, err
	}
	if len(w.Durations) > manyTasks {
		s.draws = fewDraws
	}
	if ok, err := s.holds(ctx); err != nil || !ok {
		return nil, errors.Join(err, nothingUnless(ok))
	}
	best, err := s.choose(ctx)
	if err != nil || best < 0 {
		return nil, errors.Join(err, nothingUnless(best >= 0))
	}
	return s.judge(ctx, best)
}

func nothingUnless(ok bool) error {
	if ok {
		return nil
	}
	return ErrNothing
}

// alike returns the runs that had the policy, the slots and the tasks of the last one, and went from their beginning
// to their end in one go.
func (q *Question) alike() (runs []live.PastRun) {
	for _, r := range q.Past.Runs {
		ok := r.Seconds > 0 && r.Policy == q.Policy && r.Slots == q.Slots && len(r.Stages) == len(q.Stages)
		for i := range r.Stages {
			ok = ok && r.Stages[i].Name == q.Stages[i] && r.Stages[i].Tasks == q.Spec.Stages[i].Tasks
		}
		if ok {
			runs = append(runs, r)
		}
	}
	return runs
}

// enough tells whether enough is known of the durations.
func (q *Question) enough(runs []live.PastRun) bool {
	tasks := 0
	for i := range q.Spec.Stages {
		n := 0
		for _, r := range runs {
			n += len(r.Stages[i].Durations)
		}
		least := leastDurations
		if q.Spec.Stages[i].Tasks <= 1 {
			least = LeastRuns * q.Spec.Stages[i].Tasks
		}
		if n < least {
			return false
		}
		tasks += q.Spec.Stages[i].Tasks
	}
	return tasks > 1 && tasks <= mostTasks
}

// sameAreSlow tells whether it is the same tasks that are the slowest of a stage in several runs, more often than by
// chance: the number of tasks that two runs have in common is nearly Poisson's, with k²/n for k of n tasks. Of a stage
// of few tasks too little can be told, so any more than the mean is too many.
func sameAreSlow(runs []live.PastRun) bool {
	for i := range runs[0].Stages {
		common, mean := 0, 0.0
		for j := 1; j < len(runs); j++ {
			a, b := runs[j-1].Stages[i].Slowest, runs[j].Stages[i].Slowest
			for _, task := range a {
				if slices.Contains(b, task) {
					common++
				}
			}
			mean += float64(len(a)*len(b)) / float64(max(1, runs[j].Stages[i].Tasks))
		}
		few := runs[0].Stages[i].Tasks < leastCompared && float64(common) > mean
		if few || common > 0 && poissonTail(common, mean) < sameTasks {
			return true
		}
	}
	return false
}

// poissonTail is the probability of at least k events, of which there are mean on average.
func poissonTail(k int, mean float64) float64 {
	p, below := math.Exp(-mean), 0.0
	for i := range k {
		below += p
		p *= mean / float64(i+1)
	}
	return max(0, 1-below)
}

// workload is the job, for the simulator; nil if it has what the simulator cannot have.
func (q *Question) workload() *trace.Workload {
	w := &trace.Workload{Name: "history", Names: []string{""}, Laws: make([]laws.Law, len(q.Spec.Stages))}
	for i := range q.Spec.Stages {
		st := &q.Spec.Stages[i]
		if st.Class > 0 {
			return nil
		}
		w.Stages = append(w.Stages, trace.StageRow{
			FirstTask: uint32(len(w.Durations)), Tasks: uint32(st.Tasks), Need: uint32(st.Need), Law: int32(i), Resumable: st.Resumable,
		})
		w.Durations = append(w.Durations, make([]sched.Time, st.Tasks)...)
	}
	for _, e := range q.Spec.Edges {
		if len(e.Pairs) > 0 || len(e.Bytes) > 0 || e.Measured {
			return nil
		}
		w.Edges = append(w.Edges, trace.Edge{From: uint32(e.From), To: uint32(e.To), Kind: e.Kind})
	}
	w.Jobs = []trace.JobRow{{Stages: uint32(len(w.Stages)), Edges: uint32(len(w.Edges)), Retries: uint32(q.Spec.Retries)}}
	return w
}

// study answers one question.
type study struct {
	*Question
	runs      []live.PastRun
	w         *trace.Workload
	draws     int
	progress  sim.Progress // what attempts reported
	deaf      bool         // that is not known
	simulator sim.Simulator
}

// listen finds out what the runs' attempts reported: in all stages of all runs, or in none. Its error is ErrNothing if
// that is not known and the policy of the runs decides by it.
func (s *study) listen() error {
	told, silent := 0, 0
	for _, r := range s.runs {
		for i := range r.Stages {
			switch reports := r.Stages[i].Reports; {
			case reports == nil:
				told, silent = told+1, silent+1
			case *reports:
				told++
			default:
				silent++
			}
		}
	}
	s.progress.Exact, s.deaf = silent == 0, told > 0 && silent > 0
	if uses, err := policy.UsesProgress(s.Policy); err != nil || uses && s.deaf {
		return errors.Join(err, nothingUnless(err != nil))
	}
	return nil
}

// outcome is what a simulated job took, in seconds.
type outcome struct{ flow, machine float64 }

// draw gives the workload the laws of one draw; 0 is the runs themselves.
func (s *study) draw(number int) error {
	rng := rand.New(rand.NewPCG(s.Seed, uint64(number)))
	drawn := s.runs
	if number > 0 {
		drawn = make([]live.PastRun, len(s.runs))
		for i := range drawn {
			drawn[i] = s.runs[rng.IntN(len(s.runs))]
		}
	}
	for i := range s.w.Laws {
		var all []laws.Observation
		for _, r := range drawn {
			st := &r.Stages[i]
			ended := len(st.Durations)
			for k := range ended + len(st.Cut) {
				if number > 0 {
					k = rng.IntN(ended + len(st.Cut))
				}
				if k < ended {
					all = append(all, laws.Observation{Value: st.Durations[k]})
				} else {
					all = append(all, laws.Observation{Value: st.Cut[k-ended], Censored: true})
				}
			}
		}
		law, err := laws.Learn(all)
		if err != nil { // no complete one was drawn
			return ErrNothing
		}
		s.w.Laws[i] = law
	}
	return nil
}

// play simulates a policy with the laws of the last draw.
func (s *study) play(ctx context.Context, spec string, seed uint64) (outcome, error) {
	p, err := policy.New(spec, seed)
	if err != nil {
		return outcome{}, err
	}
	res, err := s.simulator.Run(ctx, s.w, p, sim.Options{Machines: 1, Slots: s.Slots, Limits: s.Limits, Model: sim.StatedLaw, Progress: s.progress, Seed: seed})
	if err != nil {
		return outcome{}, err
	}
	j := &res.Jobs[0]
	return outcome{(j.Completion - j.Arrival).Seconds(), (j.Fruitful + j.Fruitless).Seconds()}, nil
}

// holds tells whether the simulation takes as long as the runs took.
func (s *study) holds(ctx context.Context) (bool, error) {
	if err := s.draw(0); err != nil {
		return false, err
	}
	var simulated []float64
	for k := range s.draws {
		o, err := s.play(ctx, s.Policy, sim.RunSeed(s.Seed, k))
		if err != nil {
			return false, err
		}
		simulated = append(simulated, o.flow)
	}
	mean, sd := moments(simulated)
	sum := 0.0
	for _, r := range s.runs {
		sum += r.Seconds
	}
	n := float64(len(s.runs))
	return math.Abs(sum/n-mean) <= apart*sd/math.Sqrt(n)+besides*mean, nil
}

// moments returns the mean and the standard deviation, which is 0 for a single number.
func moments(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(max(1, len(x)-1))
	}
	return mean, math.Sqrt(sd)
}

// choose returns the policy that takes least time on average, at a cost that may be advised; -1 if none is better.
func (s *study) choose(ctx context.Context) (int, error) {
	sums := make([]outcome, len(s.Others))
	var able []int // to be judged by what is known
	for i, spec := range s.Others {
		uses, err := policy.UsesProgress(spec)
		if err != nil {
			return -1, err
		}
		if !uses || !s.deaf {
			able = append(able, i)
		}
	}
	var now outcome
	for number := 1; number <= s.draws/2; number++ {
		if err := s.draw(number); err != nil {
			return -1, err
		}
		seed := sim.RunSeed(s.Seed, draws+number)
		o, err := s.play(ctx, s.Policy, seed)
		if err != nil {
			return -1, err
		}
		now.flow, now.machine = now.flow+o.flow, now.machine+o.machine
		for _, i := range able {
			if o, err = s.play(ctx, s.Others[i], seed); err != nil {
				return -1, err
			}
			sums[i].flow, sums[i].machine = sums[i].flow+o.flow, sums[i].machine+o.machine
		}
	}
	best, least := -1, (1-leastShare)*now.flow
	for _, i := range able {
		if o := sums[i]; o.flow < least && o.machine <= mostCost*now.machine {
			best, least = i, o.flow
		}
	}
	return best, nil
}

// judge compares a policy with the one that the runs had, by draws that did not choose it.
func (s *study) judge(ctx context.Context, other int) (*Answer, error) {
	sims := min(mostSims, max(1, 2*mostWork/s.draws/len(s.w.Durations)))
	var was, would outcome
	var savings []float64
	within := 0.0 // the variance of a saving in one draw
	for number := s.draws/2 + 1; number <= s.draws; number++ {
		if err := s.draw(number); err != nil {
			return nil, err
		}
		var differ []float64
		for k := range sims {
			seed := sim.RunSeed(s.Seed, 2*draws+number*mostSims+k)
			a, err := s.play(ctx, s.Policy, seed)
			if err != nil {
				return nil, err
			}
			b, err := s.play(ctx, s.Others[other], seed)
			if err != nil {
				return nil, err
			}
			differ = append(differ, a.flow-b.flow)
			was.flow, was.machine = was.flow+a.flow, was.machine+a.machine
			would.flow, would.machine = would.flow+b.flow, would.machine+b.machine
		}
		mean, sd := moments(differ)
		savings = append(savings, mean)
		within += sd * sd
	}
	n := float64(len(savings))
	mean, sd := moments(savings)
	// What the draws differ by is what a few runs can be wrong by, and the luck of the simulations. The latter
	// averages out.
	luck := within / n / float64(sims)
	half := deviations * math.Sqrt(max(0, sd*sd-luck)+luck/n)
	runs := n * float64(sims)
	a := &Answer{
		Other: other, Runs: len(s.runs), Was: was.flow / runs, Would: would.flow / runs, Low: mean - half, High: mean + half,
		MachineTime: would.machine / was.machine,
	}
	if a.Low < leastSaving || a.Low < leastShare*a.Was || a.MachineTime > mostCost {
		return nil, ErrNothing
	}
	return a, nil
}
