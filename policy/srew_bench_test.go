package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
)

// srewLaw gives a job its size and mean, and an attempt its duration, in the manner of the Google surrogate of 2011: large jobs have long tasks, 124 tasks of
// 1,250 s on average. All draws are keyed.
type srewLaw struct{ means []float64 } // by task

func (l *srewLaw) spec(j int) *sched.JobSpec {
	r := rand.New(rand.NewPCG(1, uint64(j)))
	z := r.NormFloat64()
	size := math.Exp(2.93 + 2*z)
	mean := math.Exp(4.75 + 1.5*(0.56*z+0.83*r.NormFloat64()))
	n := int(math.Ceil(min(size, 5000)))
	mean = min(max(mean, 15), 8000)
	for range n {
		l.means = append(l.means, mean)
	}
	spec := flat(n, sched.FromSeconds(mean), sched.FromSeconds(0.42*mean))
	spec.Stages[0].Resumable = true
	return spec
}

func (l *srewLaw) lasts(t sched.TaskID, number uint32) sched.Time {
	h := (uint64(t)<<20 + uint64(number) + 1) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	u := float64(h>>11) / (1 << 53)
	return sched.FromSeconds(l.means[t] * (0.4 - 0.6*math.Log1p(-u))) // mean 1
}

// srewClock measures the decisions of a policy that are taken at boundaries.
type srewClock struct {
	*srew
	spent, longest time.Duration
	decisions      int
}

func (c *srewClock) Decide(v *sched.View, act *sched.Actions) {
	due := c.Due
	begin := time.Now()
	c.srew.Decide(v, act)
	if d := time.Since(begin); c.Due != due {
		c.spent += d
		c.longest = max(c.longest, d)
		c.decisions++
	}
}

// One decision with 1,000 active jobs on 11,000 machines; the paper's took 5 ms. A job that ends is followed by another. An iteration is a slot of five seconds
// with all that happens in it, decide-ns the decision alone.
func BenchmarkSREWDecide(b *testing.B) {
	const jobs, machines = 1000, 11000
	for _, spec := range []string{"srew", "srew:preempt=true", "srew:preempt=clones"} {
		b.Run(fmt.Sprintf("%s/jobs=%d,machines=%d", spec, jobs, machines), func(b *testing.B) {
			p, err := New(spec, 1)
			if err != nil {
				b.Fatal(err)
			}
			clock := &srewClock{srew: p.(*srew)}
			w := newSrewWorld(b, clock, sched.NoLimits())
			w.join(machines, 1)
			law := &srewLaw{}
			w.lasts = law.lasts
			for j := range jobs {
				w.submit(0, law.spec(j))
			}
			w.advance(0)
			slot := func() {
				for until := w.core.View().Now() + 5*sched.Second; w.step(until); {
					for _, d := range w.out {
						if d.Kind == sched.Close {
							w.submit(w.core.View().Now(), law.spec(w.core.View().Rows().Jobs()))
						}
					}
				}
			}
			for range 2000 {
				slot()
			}
			clock.spent, clock.longest, clock.decisions, w.launches, w.kills, w.events = 0, 0, 0, 0, 0, 0
			b.ResetTimer()
			for range b.N {
				slot()
			}
			b.StopTimer()
			if n := len(p.(*srew).ranks.order); n < jobs*9/10 || w.launches < clock.decisions || clock.decisions < b.N/2 {
				b.Fatalf("%d jobs, %d launches, %d decisions in %d slots", n, w.launches, clock.decisions, b.N)
			}
			b.ReportMetric(float64(clock.spent.Nanoseconds())/float64(clock.decisions), "decide-ns")
			b.ReportMetric(float64(clock.longest.Nanoseconds()), "longest-ns")
			b.ReportMetric(float64(w.launches)/float64(b.N), "launches/op")
			b.ReportMetric(float64(w.kills)/float64(b.N), "kills/op")
		})
	}
}

// A million tasks on 11,000 machines from arrival to end: core, policy and a heap of ends. Events are facts that the driver reports, orders are launches and kills. Without
// limits on clones the paper's algorithm fills the idle slots of a cluster with clones: ten orders and more for each task.
func BenchmarkSREWMillion(b *testing.B) {
	const tasks, machines = 1_000_000, 11000
	for _, limits := range []struct {
		name string
		sched.Limits
	}{{"none", sched.NoLimits()}, {"default", sched.DefaultLimits()}} {
		for _, load := range []float64{0.55, 0.9} {
			b.Run(fmt.Sprintf("limits=%s,load=%g", limits.name, load), func(b *testing.B) {
				for range b.N {
					srewMillion(b, limits.Limits, tasks, machines, load)
				}
			})
		}
	}
}

func srewMillion(b *testing.B, l sched.Limits, tasks, machines int, load float64) {
	b.StopTimer()
	w := srewOn(b, "srew", l, machines)
	law := &srewLaw{}
	w.lasts = law.lasts
	var work float64
	var ids []sched.JobID
	for j := 0; len(law.means) < tasks; j++ {
		spec := law.spec(j)
		id, err := w.core.Submit(spec)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, id)
		work += float64(spec.Stages[0].Tasks) * spec.Stages[0].Mean.Seconds()
	}
	gap := sched.FromSeconds(work / load / float64(machines) / float64(len(ids)))
	b.StartTimer()
	begin := time.Now()
	wakes := 0
	for i, id := range ids {
		at := sched.Time(i) * gap
		for w.step(at) {
			wakes++
		}
		w.facts = append(w.facts, sched.Event{At: at, Kind: sched.JobArrived, Job: id})
		w.advance(at)
	}
	for w.step(sched.Never) {
		wakes++
	}
	spent := time.Since(begin)
	b.StopTimer()
	v := w.core.View()
	won := 0
	for j := range ids {
		if v.Job(ids[j]).State == sched.JobSucceeded {
			won += int(v.Job(ids[j]).Tasks)
		}
	}
	if won < tasks || w.launches < tasks {
		b.Fatalf("%d tasks done, %d launches", won, w.launches)
	}
	b.ReportMetric(float64(w.events)/spent.Seconds(), "events/s")
	b.ReportMetric(float64(w.events+w.launches+w.kills)/spent.Seconds(), "events+orders/s")
	b.ReportMetric(float64(w.launches), "launches")
	b.ReportMetric(float64(wakes), "instants")
}
