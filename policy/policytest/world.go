package policytest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// World drives a core in virtual time: it submits jobs, rolls dice for attempts, loses machines and reports facts.
// How an attempt ends is a pure function of (seed, task, number), so every policy meets the same luck.
type World struct {
	Core   *sched.Core
	Policy sched.Policy
	Now    sched.Time
	Orders []sched.Decision // all so far
	Facts  Timeline         // what is going to happen; a test may push more

	// Fate says of a launch how the attempt goes.
	Fate func(d *sched.Decision) Fate
	// Waits says how long an attempt waits before it begins. Where it is negative the attempt does not wait and nobody
	// says so. Nil where none waits.
	Waits func(d *sched.Decision) sched.Time
	// Seen is called after each step, with the instant of the step before and the decisions of this one. It may be nil.
	Seen    func(before sched.Time, d []sched.Decision)
	Between func()               // is called before each step; it may be nil
	Lag     sched.Time           // calls of Advance are late by up to so much
	Learns  sched.Time           // after the launch of an attempt how fast it is, if its fate is to tell that
	Classes int                  // of slots; machines and stages of a job have them in turn
	Retires bool                 // jobs that have ended for good are retired at the next step
	Bound   func(*sched.JobSpec) // bounds a job before it is submitted; nil where none is bounded

	Writes func(t sched.TaskID) int64 // bytes that each reader reads of a task's result; nil for 0 to 4 MB

	tb      testing.TB
	wake    sched.Time
	batch   []sched.Event
	twice   bool                // report every end twice
	again   int                 // how often a job that has failed is retried
	retried map[sched.JobID]int // how often it was
	ended   []sched.JobID       // to be retired
	priced  bool                // links and slots have prices
	sites   int                 // connected, see Connect; machines have them in turn, tasks read data there
}

// Fate says how an attempt goes.
type Fate struct {
	Lasts   sched.Time // of a whole task; an attempt that resumes lasts what is left
	Fails   bool       // at its end
	Reports sched.Time // interval of progress reports, 0 for none
	Rate    bool       // tell the rate once, at the start
	Rests   sched.Time // for so long it stands still, once
	Starts  sched.Time // of Lasts, until it is at work

	stops sched.Time                     // after so long it does
	nags  bool                           // while it does it reports
	tells func(done float64) float64     // what it says of what it has done; nil for the truth
	late  func(at sched.Time) sched.Time // how late a report is; nil for not at all
}

// done returns what fraction an attempt has done after so long, and whether it goes on then.
func (f *Fate) done(at sched.Time) (fraction float64, moves bool) {
	switch {
	case f.Lasts <= f.Rests:
		return 1, false
	case f.Rests == 0 || at < f.stops:
		return float64(at) / float64(f.Lasts-f.Rests), true
	case at < f.stops+f.Rests:
		return float64(f.stops) / float64(f.Lasts-f.Rests), false
	}
	return float64(at-f.Rests) / float64(f.Lasts-f.Rests), true
}

// Timeline is a binary heap of facts by instant and order of insertion.
type Timeline struct {
	facts []stamped
	n     int
}

type stamped struct {
	ev sched.Event
	n  int
}

func (q *Timeline) before(i, j int) bool {
	a, b := &q.facts[i], &q.facts[j]
	return a.ev.At < b.ev.At || a.ev.At == b.ev.At && a.n < b.n
}

// Push adds a fact.
func (q *Timeline) Push(ev sched.Event) {
	q.facts = append(q.facts, stamped{ev, q.n})
	q.n++
	for i := len(q.facts) - 1; i > 0 && q.before(i, (i-1)/2); i = (i - 1) / 2 {
		q.facts[i], q.facts[(i-1)/2] = q.facts[(i-1)/2], q.facts[i]
	}
}

func (q *Timeline) pop() sched.Event {
	ev, last := q.facts[0].ev, len(q.facts)-1
	q.facts[0] = q.facts[last]
	q.facts = q.facts[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return ev
		}
		if c+1 < last && q.before(c+1, c) {
			c++
		}
		if !q.before(c, i) {
			return ev
		}
		q.facts[i], q.facts[c] = q.facts[c], q.facts[i]
		i = c
	}
}

// NewWorld returns a world without machines and jobs. Before the first step set Fate.
func NewWorld(tb testing.TB, p sched.Policy, l sched.Limits) *World {
	return &World{tb: tb, Core: sched.New(p, l), Policy: p, wake: sched.Never, retried: map[sched.JobID]int{}}
}

// Machine adds a machine that joins at an instant.
func (w *World) Machine(at sched.Time, slots int) sched.MachineID {
	n := w.Core.View().Rows().Machines()
	m, err := w.Core.AddMachineOf(sched.Class(n%max(1, w.Classes)), sched.SiteID(n%max(1, w.sites)), slots)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.Facts.Push(sched.Event{At: at, Kind: sched.MachineJoined, Machine: m})
	return m
}

// Submit adds a job that arrives at an instant.
func (w *World) Submit(at sched.Time, spec *sched.JobSpec) sched.JobID {
	for i := range spec.Stages {
		spec.Stages[i].Class = sched.Class(i % max(1, w.Classes))
	}
	if w.sites > 0 {
		w.scatter(spec)
	}
	if w.Bound != nil {
		w.Bound(spec)
	}
	j, err := w.Core.Submit(spec)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.Facts.Push(sched.Event{At: at, Kind: sched.JobArrived, Job: j})
	return j
}

// over tells whether every job has ended for good.
func (w *World) over() bool {
	v := w.Core.View()
	for j := range sched.JobID(v.Rows().Jobs()) {
		if state := v.Job(j).State; state <= sched.JobActive || state == sched.JobBroken && w.retried[j] < w.again {
			return false
		}
	}
	return true
}

// Step advances to the next instant at which something happens; false if nothing will.
func (w *World) Step() bool {
	if w.Between != nil {
		w.Between()
	}
	next := w.wake
	if len(w.Facts.facts) > 0 {
		next = min(next, w.Facts.facts[0].ev.At)
	}
	if next == sched.Never {
		return false
	}
	if w.Lag > 0 {
		next += sched.Time(rand.New(rand.NewPCG(uint64(next), 7)).Int64N(int64(w.Lag)))
	}
	w.batch = w.batch[:0]
	for len(w.Facts.facts) > 0 && w.Facts.facts[0].ev.At <= next {
		w.batch = append(w.batch, w.Facts.pop())
	}
	if w.wake <= next {
		w.wake = sched.Never
	}
	for _, j := range w.ended {
		w.batch = append(w.batch, sched.Event{At: next, Kind: sched.JobRetired, Job: j})
	}
	w.ended = w.ended[:0]
	for i := range w.batch {
		if f := &w.batch[i]; f.Kind == sched.JobRetried {
			w.retried[f.Job]++
		}
	}
	w.advance(next, w.batch)
	return true
}

// advance tells the core what has happened until an instant, and does what it orders.
func (w *World) advance(to sched.Time, facts []sched.Event) {
	w.tb.Helper()
	before := w.Now
	w.Now = to
	orders, err := w.Core.Advance(to, facts)
	if err != nil {
		w.tb.Fatal(err)
	}
	for i := range orders {
		w.obey(&orders[i])
	}
	w.Orders = append(w.Orders, orders...)
	if w.Seen != nil {
		w.Seen(before, orders)
	}
}

func (w *World) obey(d *sched.Decision) {
	switch d.Kind {
	case sched.Wake:
		w.wake = d.At
	case sched.Close:
		if w.Core.View().Job(d.Job).State == sched.JobBroken && w.retried[d.Job] < w.again {
			w.Facts.Push(sched.Event{At: d.At + 7*sched.Second, Kind: sched.JobRetried, Job: d.Job})
		} else if w.Retires {
			w.ended = append(w.ended, d.Job)
		}
	case sched.Launch:
		f := w.Fate(d)
		f.Lasts = sched.Time(float64(f.Lasts) * (1 - d.From))
		f.stops = min(f.stops, f.Lasts)
		f.Lasts += f.Rests
		begins := d.At
		if w.Waits != nil {
			wait := w.Waits(d)
			if begins += max(0, wait); wait >= 0 {
				w.Facts.Push(sched.Event{At: begins, Kind: sched.AttemptBegan, Attempt: d.Attempt})
			}
		}
		end := sched.Event{At: begins + f.Lasts, Kind: sched.AttemptDone, Attempt: d.Attempt, Span: f.Starts, Bytes: w.writes(d.Task)}
		if f.Fails {
			end.Kind, end.Span, end.Bytes = sched.AttemptFailed, 0, 0
		}
		if f.Rate && f.Lasts > f.Rests {
			rate, at := (1-d.From)/(f.Lasts-f.Rests).Seconds(), min(w.Learns, f.Lasts)
			w.Facts.Push(sched.Event{At: begins + at, Kind: sched.AttemptProgress, Attempt: d.Attempt, Progress: min(1, d.From+rate*at.Seconds()), Rate: rate})
		}
		if f.Reports > 0 {
			for at := f.Reports; at < f.Lasts; at += f.Reports {
				done, moves := f.done(at)
				if !moves && !f.nags {
					continue
				}
				if done = d.From + (1-d.From)*done; f.tells != nil {
					done = f.tells(done)
				}
				ev := sched.Event{At: begins + at, Kind: sched.AttemptProgress, Attempt: d.Attempt, Progress: done}
				if f.late != nil {
					ev.At += f.late(at)
				}
				w.Facts.Push(ev)
			}
		}
		if w.sites > 0 {
			w.fetch(d, f.Lasts/2)
		}
		w.Facts.Push(end)
		if w.twice {
			w.Facts.Push(end)
			end.At += sched.Second
			w.Facts.Push(end)
		}
	}
}

// writes returns what each reader reads of a task's result.
func (w *World) writes(t sched.TaskID) int64 {
	if w.Writes != nil {
		return w.Writes(t)
	}
	return int64(t*7%5) * 1e6
}

// fetch reports that an attempt has fetched what it reads, as fast as links are but for a span at most. Of each
// seventh attempt nothing is said.
func (w *World) fetch(d *sched.Decision, most sched.Time) {
	v := w.Core.View()
	to := v.Machine(d.Machine).Site
	for _, x := range v.Sites().AppendSources(nil, d.Task) {
		if span := min(most, v.Sites().Network().Fetch(x.Site, to, x.Bytes)); x.Site != to && d.Attempt%7 > 0 {
			w.Facts.Push(sched.Event{At: d.At + span, Kind: sched.DataFetched, Attempt: d.Attempt, Machine: d.Machine, Site: x.Site, Bytes: x.Bytes, Span: span})
		}
	}
}

// Run goes on until every job has ended.
func (w *World) Run() {
	w.tb.Helper()
	for steps := 0; !w.over(); steps++ {
		if steps > 200_000 {
			w.tb.Fatalf("still not over at %v", w.Now)
		}
		if !w.Step() {
			w.tb.Fatalf("nothing happens after %v and jobs are not over: %d tasks wait, %d attempts run", w.Now, w.Core.View().Pending(), w.Core.View().Cluster().Live())
		}
	}
}

// MessyWorld is a world of several jobs, stages, edges, failures, losses and ties, all decided by the seed.
func MessyWorld(tb testing.TB, p sched.Policy, l sched.Limits, seed uint64) *World {
	return MessyClasses(tb, 1, p, l, seed)
}

// MessyClasses is messy with so many classes of slots.
func MessyClasses(tb testing.TB, classes int, p sched.Policy, l sched.Limits, seed uint64) *World {
	w := NewWorld(tb, p, l)
	w.Classes = classes
	return w.mess(classes, seed)
}

// MessySites is messy with several sites.
func MessySites(tb testing.TB, p sched.Policy, l sched.Limits, seed uint64) *World {
	w := NewWorld(tb, p, l)
	w.Connect(2 + int(seed%3))
	return w.mess(1, seed)
}

// Connect makes sites with links of 1 to 16 MB/s.
func (w *World) Connect(sites int) {
	w.sites = sites
	n := &sched.Network{Names: make([]string, sites), Bandwidth: make([]float64, sites*sites)}
	for i := range n.Bandwidth {
		n.Bandwidth[i] = float64(int(1e6) << (i * 7 % 5))
	}
	if w.priced {
		price(n)
	}
	if err := w.Core.Connect(n); err != nil {
		w.tb.Fatal(err)
	}
}

// scatter lets the tasks of a job read: those of each second stage from sites, each on its own or all the same, and
// others what they wait for.
func (w *World) scatter(spec *sched.JobSpec) {
	for i := range spec.Stages {
		st := &spec.Stages[i]
		switch i % 3 {
		case 0:
			for t := range st.Tasks {
				st.Inputs = append(st.Inputs, []sched.Source{{Site: sched.SiteID((t + i) % w.sites), Bytes: int64(1+t%4) * 5e6}})
			}
		case 1:
			st.Inputs = [][]sched.Source{{{Site: 0, Bytes: 3e7}, {Site: sched.SiteID(w.sites - 1), Bytes: 4e7}}}
		}
		if st.Tasks == 0 {
			st.Inputs = nil
		}
	}
	for i := range spec.Edges {
		spec.Edges[i].Bytes = []int64{int64(1+i) * 2e6}
	}
}

// mess fills a world with machines, jobs and luck.
func (w *World) mess(classes int, seed uint64) *World {
	r := rand.New(rand.NewPCG(seed, 1))
	instant := func(n int) sched.Time { return sched.Time(r.IntN(n)) * sched.Second }
	for i := range classes + r.IntN(6) {
		at := sched.Time(0)
		if i > 0 && r.IntN(3) == 0 {
			at = instant(30)
		}
		m := w.Machine(at, 1+r.IntN(3))
		for lost := instant(60); r.IntN(2) == 0 && (classes == 1 || i >= classes); lost += instant(200) {
			w.Facts.Push(sched.Event{At: lost, Kind: sched.MachineLost, Machine: m})
			lost += max(sched.Second, instant(20)) // lost and joined at one instant it would be down for good
			w.Facts.Push(sched.Event{At: lost, Kind: sched.MachineJoined, Machine: m})
		}
	}
	for range 1 + r.IntN(5) {
		j := w.Submit(instant(40), messyJob(r))
		if r.IntN(8) == 0 {
			w.Facts.Push(sched.Event{At: instant(100), Kind: sched.JobCancelled, Job: j})
		}
	}
	reports := []sched.Time{0, 0, 3 * sched.Second, 10 * sched.Second}[r.IntN(4)]
	rate := r.IntN(4) == 0
	failures := []float64{0, 0, 0.05, 0.3}[r.IntN(4)]
	w.twice = r.IntN(3) == 0
	w.Lag = []sched.Time{0, 0, 50 * sched.Millisecond, 3 * sched.Second}[r.IntN(4)]
	whole := r.IntN(2) == 0
	word := Words[seed%uint64(len(Words))]
	w.Fate = func(d *sched.Decision) Fate {
		r := rand.New(rand.NewPCG(seed, uint64(d.Task)<<20|uint64(d.Number)))
		f := Fate{Reports: reports, Rate: rate, Fails: r.Float64() < failures}
		s := 10 * math.Exp(r.NormFloat64())
		switch {
		case r.IntN(10) == 0:
			s *= 10
		case r.IntN(20) == 0:
			s = 0
		}
		if whole {
			s = math.Ceil(s)
		}
		f.Lasts = sched.FromSeconds(s)
		if word.Fate(&f); r.IntN(12) > 0 {
			f.Rests = 0
		}
		return f
	}
	return w
}

func messyJob(r *rand.Rand) *sched.JobSpec {
	spec := &sched.JobSpec{
		Priority: int32(r.IntN(3)) - 1, Weight: []float64{0, 0.5, 1, 3}[r.IntN(4)], MinShare: r.IntN(4), Retries: r.IntN(4),
		Deadline: sched.Time(r.IntN(3)) * 100 * sched.Second,
	}
	for i := range 1 + r.IntN(4) {
		st := sched.StageSpec{Tasks: r.IntN(30), Resumable: r.IntN(3) == 0}
		if r.IntN(3) == 0 {
			st.Need = r.IntN(st.Tasks + 1)
		}
		if r.IntN(2) == 0 {
			st.Mean, st.SD = 15*sched.Second, 20*sched.Second
		}
		if i > 0 && r.IntN(4) > 0 {
			e := sched.Edge{From: r.IntN(i), To: i, Kind: sched.EdgeKind(r.IntN(3))}
			from := &spec.Stages[e.From]
			switch e.Kind {
			case sched.Pointwise:
				st.Tasks, st.Need = from.Tasks, min(st.Need, from.Tasks)
			case sched.PerTask:
				for n := 0; from.Tasks > 0 && st.Tasks > 0 && n < 5; n++ {
					e.Pairs = append(e.Pairs, [2]uint32{uint32(r.IntN(from.Tasks)), uint32(r.IntN(st.Tasks))})
				}
			}
			spec.Edges = append(spec.Edges, e)
		}
		spec.Stages = append(spec.Stages, st)
	}
	// one job in four goes on without all that fails, one without the first two
	spec.MaxFailed = []int{sched.Unlimited, 2, 0, 0}[(spec.Retries+len(spec.Stages))%4]
	spec.Late = []sched.Late{
		{}, {Kind: sched.LateSoft, Cost: 1}, {}, {Kind: sched.LateHard}, {}, {Kind: sched.LateSoft, Cost: 0.2}, {Kind: sched.LateDrop}, {},
	}[(3*spec.Retries+spec.MinShare)%8]
	spec.Value = []float64{0, 2, 0.3}[(spec.MinShare+len(spec.Stages))%3]
	return spec
}

// OrderLine prints an order as a scenario shows it, "" for those that it leaves out.
func OrderLine(d *sched.Decision) string {
	switch d.Kind {
	case sched.Wake:
		return fmt.Sprintf("wake at %v", d.At)
	case sched.Pace:
		return fmt.Sprintf("%v pace %v", d.At, d.Speed)
	case sched.Close:
		return fmt.Sprintf("%v close job %d", d.At, d.Job)
	case sched.Commit:
		return fmt.Sprintf("%v commit task %d attempt %d", d.At, d.Task, d.Number)
	default:
		return fmt.Sprintf("%v %v task %d attempt %d on machine %d: %v", d.At, d.Kind, d.Task, d.Number, d.Machine, d.Reason)
	}
}

// Words are what attempts may say of themselves: fate changes one that is to stand still for 1,000 s after a third of
// its time.
var Words = []struct {
	Name string
	Fate func(f *Fate)
}{
	{"the truth", func(*Fate) {}},
	{"reports stop", func(f *Fate) { f.hang() }},
	{"no report ever", func(f *Fate) { f.hang(); f.stops = 0 }},
	{"the same again", func(f *Fate) { f.hang(); f.nags = true }},
	{"0.99 for ever", func(f *Fate) {
		f.hang()
		f.nags, f.tells = true, func(done float64) float64 { return min(0.99, 4*done) }
	}},
	{"1 for ever", func(f *Fate) { f.hang(); f.nags, f.tells = true, func(done float64) float64 { return min(1, 4*done) } }},
	{"more than is so", func(f *Fate) { f.hang(); f.tells = func(done float64) float64 { return -math.Expm1(-5 * done) } }},
	{"back to the beginning", func(f *Fate) {
		f.hang()
		f.tells = func(done float64) float64 { return done - 0.25*math.Floor(4*done) + 0.1*math.Floor(4*done) }
	}},
	{"late", func(f *Fate) {
		f.hang()
		f.late = func(at sched.Time) sched.Time { return f.Reports * (1 + at/f.Reports%3) }
	}},
	{"an end that does not come", func(f *Fate) {
		f.hang()
		f.Rate, f.Reports = true, 0
	}},
}

func (f *Fate) hang() { f.stops, f.Rests = f.Lasts/3, 1000*sched.Second }

// Launches returns the tasks in the order in which they got attempts.
func (w *World) Launches() (tasks []sched.TaskID) {
	for i := range w.Orders {
		if w.Orders[i].Kind == sched.Launch {
			tasks = append(tasks, w.Orders[i].Task)
		}
	}
	return tasks
}

// Clones returns the clones as "instant task number machine".
func (w *World) Clones() (all []string) {
	for i := range w.Orders {
		if d := &w.Orders[i]; d.Kind == sched.Launch && d.Reason == sched.Straggling {
			all = append(all, fmt.Sprintf("%v t%d #%d m%d", d.At, d.Task, d.Number, d.Machine))
		}
	}
	return all
}

// Machines adds n machines of one slot.
func (w *World) Machines(n int) {
	for range n {
		w.Machine(0, 1)
	}
}
