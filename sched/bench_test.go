package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// mill is a cluster in its steady state: every slot is busy, some attempt ends, the next task takes its place.
type mill struct {
	*Core
	now    Time
	facts  []Event
	busy   []AttemptID // per machine, of one slot each
	rng    *rand.Rand
	left   int // tasks of the present job
	events int
}

const millJob = 1 << 20 // tasks of one job

func newMill(tb testing.TB, machines int) *mill {
	m := &mill{rng: rand.New(rand.NewPCG(1, 2))}
	m.Core = New(m, NoLimits())
	m.busy = make([]AttemptID, machines)
	for i := range machines {
		if _, err := m.AddMachine(0, 1); err != nil {
			tb.Fatal(err)
		}
		m.facts = append(m.facts, Event{Kind: MachineJoined, Machine: MachineID(i)})
	}
	if _, err := m.Submit(&JobSpec{Retries: MaxRetries, Stages: []StageSpec{{Tasks: millJob, Resumable: true}}}); err != nil {
		tb.Fatal(err)
	}
	m.facts = append(m.facts, Event{Kind: JobArrived})
	m.left = millJob
	m.advance(tb)
	return m
}

func (m *mill) Observe(*View, *Event) { m.events++ }

// Decide gives each free machine the next task.
func (m *mill) Decide(v *View, act *Actions) {
	for {
		x, ok := v.FreeMachine(0)
		s, waiting := v.WaitingStage(0)
		if !ok || !waiting {
			return
		}
		t, _ := v.PendingTask(s, 0)
		id, err := act.Launch(t, x, v.Task(t).Saved, Original)
		if err != nil {
			panic(err)
		}
		m.busy[x] = id
		m.left--
	}
}

func (m *mill) advance(tb testing.TB) {
	if _, err := m.Advance(m.now, m.facts); err != nil {
		tb.Fatal(err)
	}
	m.facts = m.facts[:0]
}

// step ends the attempt on a machine.
func (m *mill) step(tb testing.TB, machine int) {
	m.now += 1000
	m.facts = append(m.facts, Event{At: m.now, Kind: AttemptDone, Attempt: m.busy[machine]})
	m.advance(tb)
}

// BenchmarkAdvance measures one call with one fact in the steady state: an attempt is done, its task is committed, the next one is launched.
// Attempts end at random, so large clusters pay for cache misses: two to three times from 1,000 machines to 100,000.
func BenchmarkAdvance(b *testing.B) {
	for _, machines := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("machines=%d", machines), func(b *testing.B) {
			m := newMill(b, machines)
			b.ReportAllocs()
			steps := 0
			for b.Loop() {
				if m.left == 0 {
					b.StopTimer()
					m = newMill(b, machines)
					b.StartTimer()
				}
				m.step(b, m.rng.IntN(machines))
				steps++
			}
			if done := int(m.View().Stage(0).Done); done == 0 || m.View().Cluster().Live() != machines {
				b.Fatalf("%d tasks done in %d steps, %d attempts running", done, steps, m.View().Cluster().Live())
			}
		})
	}
}

// BenchmarkTwoStages runs whole jobs of 1,000 tasks before 1,000 others, with a barrier or task by task.
func BenchmarkTwoStages(b *testing.B) {
	for name, kind := range map[string]EdgeKind{"barrier": Barrier, "pointwise": Pointwise} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				runTwoStages(b, kind)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2000, "ns/task")
		})
	}
}

func runTwoStages(tb testing.TB, kind EdgeKind) {
	const n, machines = 1000, 50
	c := New(greedy{}, NoLimits())
	facts := []Event{{Kind: JobArrived}}
	for i := range machines {
		_, _ = c.AddMachine(0, 1)
		facts = append(facts, Event{Kind: MachineJoined, Machine: MachineID(i)})
	}
	if _, err := c.Submit(&JobSpec{Stages: []StageSpec{{Tasks: n}, {Tasks: n}}, Edges: []Edge{{From: 0, To: 1, Kind: kind}}}); err != nil {
		tb.Fatal(err)
	}
	done := 0
	for now := Time(0); len(facts) > 0; now++ {
		ds, err := c.Advance(now, facts)
		if err != nil {
			tb.Fatal(err)
		}
		facts = facts[:0]
		for _, d := range ds {
			if d.Kind == Launch {
				facts = append(facts, Event{At: now + 1, Kind: AttemptDone, Attempt: d.Attempt})
				done++
			}
		}
	}
	if done != 2*n || c.View().Job(0).State != JobSucceeded {
		tb.Fatalf("%d tasks ran", done)
	}
}

// A fact costs the same whatever the size of the cluster. Attempts end in the order of their launch, so that caches do not blur the
// picture. Wall time on a shared machine varies, so the best of several short runs counts, and the bound is wide: measured was a ratio
// of 1.0, and a cost in proportion to the cluster would be 100.
func TestCostDoesNotGrowWithTheCluster(t *testing.T) {
	if checking || testing.Short() {
		t.Skip("an audit is most of the cost")
	}
	small, large := newMill(t, 1_000), newMill(t, 100_000)
	best := func(m *mill) time.Duration {
		least := time.Hour
		for range 20 {
			start := time.Now()
			for i := range 5_000 {
				m.step(t, i%len(m.busy))
			}
			least = min(least, time.Since(start))
		}
		return least / 5_000
	}
	a, b := best(small), best(large)
	t.Logf("%v per fact with 1,000 machines, %v with 100,000", a, b)
	if b > 5*a {
		t.Errorf("a fact costs %v with 100,000 machines, %v with 1,000", b, a)
	}
}

// Everything that can happen to attempts and machines allocates nothing once the tables have grown: clones and their end, failures,
// progress, preemption and resumption, machines lost and joined, timers.
func TestMessyStateAllocatesNothing(t *testing.T) {
	m := newMill(t, 64)
	c := &messy{mill: m}
	c.policy = c
	for range 500 {
		c.step(t)
	}
	launched := c.View().Job(0).Attempts
	if n := testing.AllocsPerRun(1000, func() { c.step(t) }); n != 0 {
		t.Errorf("%v allocations per call of Advance", n)
	}
	job := c.View().Job(0)
	if job.Attempts == launched || job.Clones == 0 || job.Failures == 0 || c.resumed == 0 || c.fired == 0 {
		t.Errorf("not much happened: %+v, %d resumed, %d timers", job, c.resumed, c.fired)
	}
}

// messy is a mill whose policy preempts, clones and sets timers.
type messy struct {
	*mill
	n, resumed, fired int
}

func (c *messy) Observe(v *View, ev *Event) {
	if ev.Kind == TimerFired {
		c.fired++
	}
}

func (c *messy) Decide(v *View, act *Actions) {
	c.n++
	act.WakeAt(v.Now() + 1500)
	victim, cloned := c.busy[c.n%len(c.busy)], c.busy[(c.n+7)%len(c.busy)]
	if v.Rows().Alive(victim) && c.n%3 == 0 {
		t := v.Attempt(victim).Task
		if act.Kill(victim, Share) == nil && v.Task(t).Saved > 0 {
			c.resumed++
		}
	}
	if x, ok := v.FreeMachine(0); ok && v.Rows().Alive(cloned) && c.n%2 == 0 {
		if id, err := act.Launch(v.Attempt(cloned).Task, x, 0, Cloning); err == nil {
			c.busy[x] = id
		}
	}
	c.mill.Decide(v, act)
}

func (c *messy) step(tb testing.TB) {
	c.now += 1000
	at := func(f Event) { f.At = c.now; c.facts = append(c.facts, f) }
	at(done(c.busy[c.n*5%64]))
	at(failed(c.busy[c.n*3%64]))
	at(progress(c.busy[(c.n+1)%64], 0.5, 1))
	at(lostMachine(MachineID(c.n * 11 % 64)))
	at(joined(MachineID(c.n * 11 % 64)))
	at(joined(MachineID((c.n + 63) * 11 % 64)))
	c.advance(tb)
}
