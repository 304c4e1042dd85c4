package promise

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

var epoch = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// world is jobs as they are in truth: a core that is driven by a driver of its own, so that it shares nothing with the
// one that is tested.
type world struct {
	t     testing.TB
	core  *sched.Core
	rng   *rand.Rand
	law   []laws.Law // by job
	queue ends
	alive map[sched.AttemptID]bool
	every sched.Time // between two reports of an attempt; 0 for none
	lives map[sched.AttemptID]life
	wake  sched.Time
	now   sched.Time
	own   map[sched.StageID]*Run
	ended map[sched.JobID]sched.Time
}

// life is an attempt that reports.
type life struct {
	from        float64
	since, ends sched.Time
}

func newWorld(t testing.TB, seed uint64, spec string, slots int, jobs []sched.JobSpec, law []laws.Law) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), law: law, alive: map[sched.AttemptID]bool{}, lives: map[sched.AttemptID]life{}, wake: sched.Never, own: map[sched.StageID]*Run{}, ended: map[sched.JobID]sched.Time{}}
	p, err := policy.New(spec, seed)
	if err != nil {
		t.Fatal(err)
	}
	w.core = sched.New(p, sched.DefaultLimits())
	m, err := w.core.AddMachine(0, slots)
	if err != nil {
		t.Fatal(err)
	}
	w.advance([]sched.Event{{Kind: sched.MachineJoined, Machine: m}})
	if len(jobs) > 0 {
		w.submit(jobs)
	}
	return w
}

// submit lets jobs arrive.
func (w *world) submit(jobs []sched.JobSpec) {
	var facts []sched.Event
	for i := range jobs {
		id, err := w.core.Submit(&jobs[i])
		if err != nil {
			w.t.Fatal(err)
		}
		facts = append(facts, sched.Event{Kind: sched.JobArrived, Job: id})
	}
	w.advance(facts)
}

func (w *world) advance(facts []sched.Event) {
	for i := range facts {
		facts[i].At = w.now
	}
	if w.wake <= w.now {
		w.wake = sched.Never
	}
	decisions, err := w.core.Advance(w.now, facts)
	if err != nil {
		w.t.Fatal(err)
	}
	for i := range decisions {
		d := &decisions[i]
		switch d.Kind {
		case sched.Launch:
			seconds := laws.Sample(w.law[d.Job], w.rng.Float64()) * (1 - d.From)
			l := life{d.From, w.now, w.now + sched.FromSeconds(seconds)}
			heap.Push(&w.queue, end{at: l.ends, id: d.Attempt})
			w.alive[d.Attempt], w.lives[d.Attempt] = true, l
			if w.every > 0 && w.now+w.every < l.ends {
				heap.Push(&w.queue, end{at: w.now + w.every, id: d.Attempt})
			}
		case sched.Kill:
			w.note(d.Attempt, false)
		case sched.Wake:
			w.wake = d.At
		case sched.Close:
			w.ended[d.Job] = w.now
		}
	}
}

// note keeps how long an attempt ran that ends now.
func (w *world) note(id sched.AttemptID, won bool) {
	a := w.core.View().Attempt(id)
	st := w.core.View().Task(a.Task).Stage
	r := w.own[st]
	if r == nil {
		r = &Run{}
		w.own[st] = r
	}
	if ran := (w.now - a.Started).Seconds() / (1 - a.From); won {
		r.Ended = append(r.Ended, ran)
	} else {
		r.Cut = append(r.Cut, ran)
	}
	delete(w.alive, id)
}

// until lets the world go on to an instant, or to its end.
func (w *world) until(at sched.Time) {
	for {
		for len(w.queue) > 0 && !w.alive[w.queue[0].id] {
			heap.Pop(&w.queue)
		}
		next := w.wake
		if len(w.queue) > 0 {
			next = min(next, w.queue[0].at)
		}
		if next > at || len(w.queue) == 0 {
			break
		}
		w.now = next
		var facts []sched.Event
		for len(w.queue) > 0 && w.queue[0].at == w.now {
			e := heap.Pop(&w.queue).(end)
			if l := w.lives[e.id]; w.alive[e.id] && e.at < l.ends {
				done := l.from + (1-l.from)*float64(w.now-l.since)/float64(l.ends-l.since)
				facts = append(facts, sched.Event{Kind: sched.AttemptProgress, Attempt: e.id, Progress: done})
				if w.now+w.every < l.ends {
					heap.Push(&w.queue, end{at: w.now + w.every, id: e.id})
				}
			} else if w.alive[e.id] {
				w.note(e.id, true)
				facts = append(facts, sched.Event{Kind: sched.AttemptDone, Attempt: e.id})
			}
		}
		w.advance(facts)
	}
	if at < sched.Never {
		w.now = at
		w.advance(nil)
	}
}

func (w *world) state(spec string, past []*Durations) *State {
	return &State{
		Snapshot: w.core.Snapshot(), Policy: func(seed uint64) (sched.Policy, error) { return policy.New(spec, seed) }, Limits: sched.DefaultLimits(), Epoch: epoch, Seed: w.rng.Uint64(),
		Known: func(job sched.JobID, stage int) *Durations {
			d := past[job]
			if own := w.own[w.core.View().Job(job).FirstStage+sched.StageID(stage)]; own != nil {
				d = &Durations{Past: d.Past, Own: *own}
			}
			return d
		},
	}
}

// runs are what earlier jobs took of which nothing differs but luck.
func runs(rng *rand.Rand, l laws.Law, n, tasks int) *Durations {
	d := &Durations{}
	for range n {
		var r Run
		for range tasks {
			r.Ended = append(r.Ended, laws.Sample(l, rng.Float64()))
		}
		d.Past = append(d.Past, r)
	}
	return d
}

// Where estimates are right, the interval of 80 % holds about 80 %, whatever the policy and the law, for jobs that wait
// and for jobs that run. One promise of a world counts, so that they are independent.
func TestCoverage(t *testing.T) {
	const worlds = 200
	for _, c := range []struct{ policy, law string }{
		{"fifo", "exp:mean=20"},
		{"srpt", "lognormal:mean=20,sd=20"},
		{"fair", "uniform:lo=5,hi=15"},
		{"spark", "mixture:w1=0.95,of1=(uniform:lo=8,hi=12),w2=0.05,of2=(uniform:lo=60,hi=90)"},
	} {
		t.Run(c.policy, func(t *testing.T) {
			t.Parallel()
			l, err := laws.Parse(c.law)
			if err != nil {
				t.Fatal(err)
			}
			var outcomes []Outcome
			for k := range worlds {
				rng := rand.New(rand.NewPCG(uint64(k), 2))
				const jobs = 6
				specs, law, past := make([]sched.JobSpec, jobs), make([]laws.Law, jobs), make([]*Durations, jobs)
				for i := range specs {
					specs[i] = sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1 + rng.IntN(20), Mean: sched.FromSeconds(l.Mean()), SD: sched.FromSeconds(laws.StdDev(l))}}}
					law[i], past[i] = l, runs(rng, l, 10, 40)
				}
				w := newWorld(t, uint64(k), c.policy, 4, specs, law)
				w.until(sched.FromSeconds(rng.Float64() * 40))
				promises, err := w.state(c.policy, past).Foresee(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				chosen := sched.JobID(rng.IntN(jobs))
				w.until(sched.Never)
				if p, ok := promises[chosen]; ok {
					outcomes = append(outcomes, Outcome{Promised: p, First: true, Ended: epoch.Add(time.Duration(w.ended[chosen]))})
				}
			}
			r := Calibrate(outcomes).AtSubmission
			t.Logf("%d promises, %.3f held, late by %.3f, points %v", r.Promises, *r.Held, *r.Late, r.Points)
			if r.Promises < worlds*3/4 {
				t.Errorf("only %d promises", r.Promises)
			}
			// Past jobs are few, so that the interval is a little wider than it need be.
			if sd := math.Sqrt(0.8 * 0.2 / float64(r.Promises)); *r.Held < 0.8-3*sd || *r.Held > 0.92 {
				t.Errorf("the interval of 80 %% holds %.1f %%", 100**r.Held)
			}
		})
	}
}

// Of a name that never ran nothing is promised until enough attempts have ended, and then something that holds.
func TestUnknownAtFirst(t *testing.T) {
	l := laws.Law(mustParse(t, "lognormal:mean=20,sd=10"))
	var outcomes []Outcome
	for k := range 200 {
		specs := []sched.JobSpec{{Stages: []sched.StageSpec{{Tasks: 60}}}}
		w := newWorld(t, uint64(k), "fifo", 6, specs, []laws.Law{l})
		past := []*Durations{{}}
		p, err := w.state("fifo", past).Foresee(t.Context(), 0)
		if first := p[0]; err != nil || first.Known() {
			t.Fatal("promised without any knowledge", err)
		}
		w.until(80 * sched.Second)
		if p, err = w.state("fifo", past).Foresee(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		w.until(sched.Never)
		outcomes = append(outcomes, Outcome{Promised: p[0], First: true, Ended: epoch.Add(time.Duration(w.ended[0]))})
	}
	r := Calibrate(outcomes).AtSubmission
	t.Logf("%d promises, %.3f held, late by %.3f", r.Promises, *r.Held, *r.Late)
	if r.Promises < 190 || *r.Held < 0.68 || *r.Held > 0.92 {
		t.Errorf("%d promises, %.3f held", r.Promises, *r.Held)
	}
}

func mustParse(t testing.TB, spec string) laws.Law {
	t.Helper()
	l, err := laws.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Jobs that wait for others end after them; paused ones are promised nothing.
func TestWaitingAndPaused(t *testing.T) {
	l := mustParse(t, "uniform:lo=9,hi=11")
	spec := sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 4}}}
	w := newWorld(t, 1, "fifo", 2, []sched.JobSpec{spec, spec}, []laws.Law{l, l, l})
	held, err := w.core.Submit(&spec)
	if err != nil {
		t.Fatal(err)
	}
	w.advance([]sched.Event{{Kind: sched.JobPaused, Job: 0}})
	past := runs(w.rng, l, 5, 20)
	s := w.state("fifo", []*Durations{past, past, past})
	s.After = map[sched.JobID][]sched.JobID{held: {1}}
	p, err := s.Foresee(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if a := p[0]; a.Known() {
		t.Errorf("a paused job is promised %v", a.Middle())
	}
	b, c := p[1], p[held]
	if !b.Known() || !c.Known() || c.Middle().Sub(b.Middle()) < 15*time.Second || c.Middle().Sub(b.Middle()) > 25*time.Second {
		t.Errorf("%v, %v", b, c)
	}
}

// A long queue is foreseen in a time that a server can spare.
func BenchmarkForesee(b *testing.B) {
	for _, jobs := range []int{100, 10_000} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			l := mustParse(b, "lognormal:mean=20,sd=20")
			d := runs(rand.New(rand.NewPCG(1, 1)), l, 10, 100)
			specs, law, past := make([]sched.JobSpec, jobs), make([]laws.Law, jobs), make([]*Durations, jobs)
			for i := range specs {
				specs[i], law[i], past[i] = sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 20}}}, l, d
			}
			w := newWorld(b, 1, "srpt", 8, specs, law)
			s := w.state("srpt", past)
			for b.Loop() {
				if p, err := s.Foresee(b.Context(), 0); err != nil || len(p) != jobs {
					b.Fatal(len(p), err)
				}
			}
		})
	}
}
