package promise

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// State is what there is to promise from.
type State struct {
	Snapshot *sched.Snapshot
	Policy   func(seed uint64) (sched.Policy, error) // a fresh one for each play
	Limits   sched.Limits
	Epoch    time.Time // wall clock at sched.Time 0
	// Known returns what is known of a stage of a job, nil for nothing. It is called once for each that is not over.
	Known func(job sched.JobID, stage int) *Durations
	// After are the jobs that jobs wait for which have not arrived. What is not in the snapshot has ended.
	After map[sched.JobID][]sched.JobID
	Came  []Came // the latest submissions, in their order, to foresee others from; nil to foresee none
	Seed  uint64
	// Rest is called after each play with what it took, and before the first one with what it took to get ready. It may
	// wait; nil for no rest.
	Rest func(context.Context, time.Duration)
}

// How often the rest is played: with n plays the quantile at p is the p(n+1)th end, and both numbers make that whole
// for all Levels.
const (
	fewPlays  = 39
	manyPlays = 199
)

const (
	// MostTasks is how many tasks are played, about. Where more are left, they are bundled.
	MostTasks = 10_000

	mostSteps = 20_000_000 // calls of the core in a play, against policies that never end
	mostIdle  = 1000       // calls in a row in which nothing happened
)

// Foresee returns a promise for each job that has not ended, those about which nothing is known without ends. It plays
// the rest at least 39 times, and up to 199 times while that takes less than budget.
func (s *State) Foresee(ctx context.Context, budget time.Duration) (map[sched.JobID]Promise, error) {
	began := time.Now()
	g := newGame(s, MostTasks)
	if s.Rest != nil {
		s.Rest(ctx, time.Since(began))
	}
	spent := time.Duration(0)
	n := 0
	for ; n < manyPlays; n++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if n == fewPlays && spent > budget*fewPlays/manyPlays {
			break
		}
		began := time.Now()
		if err := g.play(n); err != nil {
			return nil, err
		}
		took := time.Since(began)
		if spent += took; s.Rest != nil {
			s.Rest(ctx, took)
		}
	}
	all := map[sched.JobID]Promise{}
	for i := range g.jobs {
		j := &g.jobs[i]
		p := Promise{Made: s.at(s.Snapshot.At)}
		slices.Sort(j.ends)
		if j.known && j.Spec.Deadline > 0 {
			p.Chance, p.Plays = new(chance(len(j.met), n)), &Plays{N: n, Deadline: s.at(j.Spec.Deadline)}
			for _, end := range j.met {
				p.Plays.Met = append(p.Plays.Met, time.Duration(end-s.Snapshot.At))
			}
		}
		if j.known && j.ends[n-1] < sched.Never {
			for _, level := range Levels {
				p.Ends = append(p.Ends, s.at(j.ends[int(math.Round(level*float64(n+1)))-1]))
			}
		}
		all[j.ID] = p
	}
	return all, nil
}

// chance is the probability of what came true in so many of n plays, which never is certain (Jeffreys' prior).
func chance(k, n int) float64 { return (float64(k) + 0.5) / (float64(n) + 1) }

// at is an instant by the wall clock.
func (s *State) at(t sched.Time) time.Time { return s.Epoch.Add(time.Duration(t)) }

// game is what all plays have in common, and the memory of one.
type game struct {
	*State
	snapshot *sched.Snapshot       // with bundles
	jobs     []player              // those of the snapshot that are not over, by id
	place    map[sched.JobID]int   // positions in jobs
	next     map[sched.JobID][]int // positions of the jobs that wait for one

	luck   rand.PCG
	rng    *rand.Rand // of luck
	paired bool       // an attempt lasts as long under each policy, see State.Compare
	every  sched.Time // so often attempts report, 0 for never
	spells map[sched.AttemptID]spell
	core   sched.Core
	queue  ends
	alive  map[sched.AttemptID]bool
	facts  []sched.Event
	coming coming
	open   int // jobs of the snapshot that are not over, in this play
}

// player is a job of a game.
type player struct {
	*sched.SavedJob
	known  bool         // enough to promise
	laws   []*law       // by stage; nil where nothing is known
	every  []sched.Time // likewise, between two reports of an attempt; 0 for none
	bundle []bundle
	ends   []sched.Time // of each play, sched.Never if it did not end
	met    []sched.Time // likewise, of those in which it was done by its deadline
	factor float64      // of this play: how much slower than its laws the job is, in standard deviations
	waits  int          // for so many jobs, in this play
}

// unknownMean is how long attempts of which nothing is known are taken to last, where nothing is known of any.
const unknownMean = 60

// newGame readies a game of so many tasks, about.
func newGame(s *State, most int) *game {
	g := &game{State: s, place: map[sched.JobID]int{}, next: map[sched.JobID][]int{}}
	bundles := g.bundle(most)
	ages, reporting := g.ages(), g.reporting()
	cache := map[*Durations]*law{}
	for i := range g.snapshot.Jobs {
		j := &g.snapshot.Jobs[i]
		if j.State > sched.JobActive {
			continue
		}
		p := player{SavedJob: j, known: !j.Paused, laws: make([]*law, len(j.Spec.Stages)), bundle: bundles[i]}
		for k := range p.laws {
			d := s.Known(j.ID, k)
			if d != nil && len(d.Own.Ended) > 0 {
				p.laws[k] = lawOf(d, ages[j.Stage+sched.StageID(k)])
			} else if d != nil {
				if _, done := cache[d]; !done {
					cache[d] = lawOf(d, nil)
				}
				p.laws[k] = cache[d]
			}
			over := len(j.Stages) > 0 && j.Stages[k].State >= sched.StageClosed
			p.known = p.known && (p.laws[k] != nil || over || j.Spec.Stages[k].Tasks == 0)
		}
		for _, before := range s.After[j.ID] {
			g.next[before] = append(g.next[before], len(g.jobs))
		}
		g.place[j.ID] = len(g.jobs)
		g.jobs = append(g.jobs, p)
	}
	g.await(cache)
	g.guess()
	for i := range g.jobs {
		g.jobs[i].intervals(reporting)
	}
	for i := range g.coming.kinds {
		g.coming.kinds[i].intervals(nil)
	}
	return g
}

// ages returns for how long the attempts of each stage have run, in seconds.
func (g *game) ages() map[sched.StageID][]float64 {
	ages := map[sched.StageID][]float64{}
	for i := range g.snapshot.Attempts {
		if a := &g.snapshot.Attempts[i]; !a.Waits {
			_, stage := g.locate(a.Task)
			ages[stage] = append(ages[stage], (g.snapshot.At - a.Started).Seconds())
		}
	}
	return ages
}

// locate returns the job and the stage of a task of the snapshot.
func (g *game) locate(t sched.TaskID) (job sched.JobID, stage sched.StageID) {
	all := g.snapshot.Jobs
	i, found := slices.BinarySearchFunc(all, t, func(j sched.SavedJob, t sched.TaskID) int { return int(int64(j.Task) - int64(t)) })
	if !found {
		i--
	}
	j := &all[i]
	first := j.Task
	for k := range j.Spec.Stages {
		n := sched.TaskID(j.Spec.Stages[k].Tasks)
		if t < first+n {
			return j.ID, j.Stage + sched.StageID(k)
		}
		first += n
	}
	return j.ID, j.Stage
}

// ends are attempts by when they end.
type ends []end

type end struct {
	at    sched.Time
	id    sched.AttemptID
	every sched.Time // it is no end but a report, and the next one comes so much later; 0 for an end
}

func (q ends) Len() int { return len(q) }
func (q ends) Less(i, k int) bool {
	return q[i].at < q[k].at || q[i].at == q[k].at && q[i].id < q[k].id
}
func (q ends) Swap(i, k int) { q[i], q[k] = q[k], q[i] }

// Push implements [heap.Interface].
func (q *ends) Push(x any) { *q = append(*q, x.(end)) }

// Pop implements [heap.Interface].
func (q *ends) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}

// play plays the rest once.
func (g *game) play(number int) error {
	g.luck.Seed(g.Seed, uint64(number))
	g.rng = rand.New(&g.luck)
	p, err := g.Policy(g.rng.Uint64())
	if err != nil {
		return err
	}
	if err = g.core.Restore(g.snapshot, p, g.Limits); err != nil {
		return fmt.Errorf("promise: %w", err)
	}
	g.begin(number)
	wake, idle := sched.Never, 0
	now := g.snapshot.At
	for range mostSteps {
		if err := g.arrive(now); err != nil {
			return err
		}
		for len(g.queue) > 0 && g.queue[0].at <= now {
			e := heap.Pop(&g.queue).(end)
			if !g.alive[e.id] {
				continue
			}
			if e.every > 0 {
				if f, ok := g.reported(now, e); ok {
					g.facts = append(g.facts, f)
				}
			} else {
				delete(g.alive, e.id)
				g.facts = append(g.facts, sched.Event{At: now, Kind: sched.AttemptDone, Attempt: e.id})
			}
		}
		if idle++; len(g.facts) > 0 {
			idle = 0
		}
		decisions, err := g.core.Advance(now, g.facts)
		if err != nil {
			return fmt.Errorf("promise: %w", err)
		}
		g.facts = g.facts[:0]
		if wake <= now {
			wake = sched.Never
		}
		for i := range decisions {
			if d := &decisions[i]; d.Kind == sched.Wake {
				wake = d.At
			} else {
				g.carryOut(now, number, d)
			}
		}
		if len(g.facts) > 0 {
			continue // at the same instant
		}
		next := min(wake, g.coming.next)
		if len(g.queue) > 0 {
			next = min(next, g.queue[0].at)
		}
		if g.open == 0 || next == sched.Never || idle > mostIdle {
			return nil
		}
		now = max(now, next)
	}
	return nil
}

// begin readies the jobs and the attempts that run for a play.
func (g *game) begin(play int) {
	g.queue, g.alive, g.facts = g.queue[:0], map[sched.AttemptID]bool{}, g.facts[:0]
	g.spells = map[sched.AttemptID]spell{}
	g.open = len(g.jobs)
	g.coming.begin(g.Seed, play, g.snapshot.At)
	for i := range g.jobs {
		j := &g.jobs[i]
		j.ends = append(j.ends, sched.Never)
		j.factor, j.waits = g.rng.NormFloat64(), 0
	}
	for _, all := range g.next {
		for _, i := range all {
			g.jobs[i].waits++
		}
	}
	for i := range g.jobs {
		j := &g.jobs[i]
		for _, before := range g.After[j.ID] {
			if g.find(before) == nil {
				j.waits--
			}
		}
		if j.State == sched.JobSubmitted && j.waits == 0 && len(g.After[j.ID]) > 0 {
			g.facts = append(g.facts, sched.Event{At: g.snapshot.At, Kind: sched.JobArrived, Job: j.ID})
		}
	}
	for i := range g.snapshot.Attempts {
		a := &g.snapshot.Attempts[i]
		job, stage := g.locate(a.Task)
		started, from := a.Started, 0.0
		if a.Waits {
			g.facts = append(g.facts, sched.Event{At: g.snapshot.At, Kind: sched.AttemptBegan, Attempt: a.ID})
			started = g.snapshot.At
		}
		if a.Reported != nil {
			from = a.Reported.From
		}
		g.rearm(play, a.Task, a.Number)
		if left, ok := g.foretold(a); ok && !g.paired {
			g.run(a.ID, job, stage, a.Reported.Done, g.snapshot.At, left)
			continue
		}
		g.start(started, a.ID, a.Task, job, stage, from)
	}
}

// find returns a job that has not ended in the snapshot, or has come; nil if it is neither.
func (g *game) find(id sched.JobID) *player {
	if id >= g.snapshot.NextJob {
		return &g.coming.jobs[id-g.snapshot.NextJob]
	}
	if i, found := g.place[id]; found {
		return &g.jobs[i]
	}
	return nil
}

func (g *game) carryOut(now sched.Time, play int, d *sched.Decision) {
	switch d.Kind {
	case sched.Launch:
		if g.snapshot.Waits {
			g.facts = append(g.facts, sched.Event{At: now, Kind: sched.AttemptBegan, Attempt: d.Attempt})
		}
		g.rearm(play, d.Task, d.Number)
		g.start(now, d.Attempt, d.Task, d.Job, d.Stage, d.From)
	case sched.Kill:
		delete(g.alive, d.Attempt)
	case sched.Close:
		if i, found := g.place[d.Job]; found {
			g.open--
			g.jobs[i].ends[play] = now
			if row := g.core.View().Job(d.Job); row.State == sched.JobSucceeded && now <= row.Deadline {
				g.jobs[i].met = append(g.jobs[i].met, now)
			}
		}
		for _, i := range g.next[d.Job] {
			j := &g.jobs[i]
			if j.waits--; j.waits == 0 && j.State == sched.JobSubmitted {
				g.facts = append(g.facts, sched.Event{At: now, Kind: sched.JobArrived, Job: j.ID})
			}
		}
	}
}

// start draws how long an attempt lasts that began at an instant, and that lasts still.
func (g *game) start(began sched.Time, id sched.AttemptID, task sched.TaskID, job sched.JobID, stage sched.StageID, from float64) {
	j := g.find(job)
	if j == nil {
		return
	}
	k := int(stage - j.Stage)
	factor, of := 1.0, j.laws[k]
	if of != nil {
		factor = math.Exp(of.deviation*j.factor - of.deviation*of.deviation/2)
	}
	age := (g.core.View().Now() - began).Seconds()
	seconds := factor * g.draw(of, j.sizeOf(k, task), max(0, age)/factor/max(1e-9, 1-from)) * (1 - from)
	g.run(id, job, stage, from, began, max(0, sched.FromSeconds(seconds)-(g.core.View().Now()-began)))
}

// draw returns how long an attempt lasts that has lasted for age, in seconds: a bundle of so many tasks.
func (g *game) draw(l *law, bundle, age float64) float64 {
	u := g.rng.Float64()
	switch {
	case l == nil:
		return age - unknownMean*math.Log1p(-u)
	case bundle > 1: // nearly normal, and it has not begun
		mean, sd := l.mean*bundle, l.sd*math.Sqrt(bundle)
		return max(mean/4, mean+sd*g.rng.NormFloat64())
	}
	return l.draw(age, u)
}
