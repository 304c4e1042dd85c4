package policy

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// TestHadoop2 has hand-worked examples of digest section 14. Twenty tasks on 21 machines, most of which last 10 s, report every 3 s.
func TestHadoop2(t *testing.T) {
	s := sched.Second
	twenty, pair := []*sched.JobSpec{policytest.Tasks(20)}, []*sched.JobSpec{policytest.Tasks(2)}
	most := func(last ...sched.Time) []sched.Time { return policytest.Repeat(10*s, 20-len(last), last...) }
	tellAll(t, []policytest.Story{
		{Name: "one slow task", Policy: "hadoop2", Machines: 21, Jobs: twenty, Lasts: most(100 * s), Again: 10 * s, Reports: 3 * s,
			Want: []string{"10s t19 #1 m0"}},
		{Name: "the same by rates", Policy: "hadoop2", Machines: 21, Jobs: twenty, Lasts: most(100 * s), Again: 10 * s, Rate: true,
			Want: []string{"10s t19 #1 m0"}},
		{Name: "largest gain first, then a rest of 15 s", Policy: "hadoop2", Machines: 21, Jobs: twenty, Lasts: most(100*s, 200*s), Again: 10 * s,
			Reports: 3 * s, Want: []string{"10s t19 #1 m0", "25s t18 #1 m0"}},
		{Name: "equal gains, in order", Policy: "hadoop2", Machines: 21, Jobs: twenty, Lasts: most(100*s, 100*s), Again: 10 * s,
			Rate: true, Want: []string{"10s t18 #1 m0", "25s t19 #1 m0"}},
		// the clone ends at 60 s; the mean is (18 x 10 + 50)/19 = 12.1 s then, 60 + 12.1 < 100
		{Name: "cap", Policy: "hadoop2:min_allowed=1,total_cap=0,running_cap=0", Machines: 21, Jobs: twenty, Lasts: most(100*s, 200*s), Again: 50 * s,
			Reports: 3 * s, Want: []string{"10s t19 #1 m0", "1m0s t18 #1 m0"}},
		{Name: "a cap of nothing", Policy: "hadoop2:min_allowed=0,total_cap=0,running_cap=0", Machines: 21, Jobs: twenty, Lasts: most(100*s, 200*s),
			Again: 50 * s, Reports: 3 * s},
		// 19 < 10 + 10
		{Name: "too late", Policy: "hadoop2", Machines: 21, Jobs: twenty, Lasts: most(19 * s), Again: s, Reports: 3 * s},
		// at 10 s it has been silent for more than 9 s: 10 s / 0.0001, which the next scan finds
		{Name: "silence", Policy: "hadoop2", Machines: 21, Jobs: twenty, Lasts: most(100 * s), Again: 10 * s, Want: []string{"11s t19 #1 m0"}},
		{Name: "no slot, no clone", Policy: "hadoop2", Machines: 1, Jobs: twenty, Lasts: most(100 * s), Again: 10 * s, Reports: 3 * s},
		// one of 40 is less than 5 %, two are not
		{Name: "5 % done", Policy: "hadoop2:min_allowed=1,total_cap=0,running_cap=0", Machines: 41, Jobs: []*sched.JobSpec{policytest.Tasks(40)},
			Lasts: []sched.Time{5 * s, 20 * s, 1000 * s}, Again: 1000 * s, Reports: 3 * s, Want: []string{"20s t2 #1 m0"}},
		// 12 < 10 + 10; but with one task done the other estimator expects a new attempt to take no time
		{Name: "legacy, a single sample", Policy: "hadoop2", Machines: 3, Jobs: pair, Lasts: []sched.Time{10 * s, 12 * s}, Again: s, Reports: 3 * s},
		{Name: "simple-exponential, a single sample", Policy: "hadoop2:estimator=simple-exponential,skip=2", Machines: 3, Jobs: pair,
			Lasts: []sched.Time{10 * s, 12 * s}, Again: s, Reports: 3 * s, Want: []string{"10s t1 #1 m0"}},
		// at the 25th report, real or not: 3, 6, ..., 75 s
		{Name: "simple-exponential, 24 reports skipped", Policy: "hadoop2:estimator=simple-exponential", Machines: 21, Jobs: twenty, Lasts: most(300 * s),
			Again: 10 * s, Reports: 3 * s, Want: []string{"1m15s t19 #1 m0"}},
	})
}

// TestSimpleExponential follows SimpleExponentialSmoothing by hand: 10 % at 10 s, nothing more at 20 s and 40 s.
func TestSimpleExponential(t *testing.T) {
	p := &hadoop2{smoothed: true, smooth: 15 * sched.Second, skip: 1}
	x := &hadoopAttempt{}
	s := sched.Second
	p.estimate(x, 0, 10*s, 0.1)
	if x.rate != 0.01 || x.end != 0 {
		t.Errorf("after one report: rate %v, end %v; want 0.01 and none yet", x.rate, x.end)
	}
	p.estimate(x, 0, 20*s, 0.1) // T = max(15 s, 20 s) from here on
	rate := 0.01 * math.Exp(-0.5)
	if math.Abs(x.rate-rate) > 1e-15 || math.Abs(x.end.Seconds()-(20+0.9/rate)) > 1e-6 {
		t.Errorf("after two reports: rate %v, end %v; want %v and %v", x.rate, x.end, rate, 20+0.9/rate)
	}
	p.estimate(x, 0, 40*s, 0.1)
	if rate *= math.Exp(-1); math.Abs(x.rate-rate) > 1e-15 {
		t.Errorf("after three reports: rate %v, want %v", x.rate, rate)
	}
}

// scanningHadoop2 is the twin of hadoop2: it scans as DefaultSpeculator does, every task of every job each time. It shares the estimates and
// how requests are served.
type scanningHadoop2 struct {
	hadoop2
	next map[sched.JobID]sched.Time
}

func (p *scanningHadoop2) Decide(v *sched.View, act *sched.Actions) {
	p.start(v, act)
	p.quiet.Look(v, func(s sched.StageID, t sched.TaskID) { p.still(v, p.stages.Of(s), t) })
	kit.WakeFor(act, &p.quiet.Due)
	first := sched.Never
	for j, ok := v.ActiveJob(0); ok; j, ok = v.ActiveJob(j + 1) {
		if _, known := p.next[j]; !known {
			p.next[j] = v.Job(j).Arrived
		}
		if p.next[j] <= v.Now() {
			p.next[j] = v.Now() + p.rule.Retry
			if p.scanJob(v, j) {
				p.next[j] = v.Now() + p.rule.Rest
			}
		}
		first = min(first, p.next[j])
	}
	p.serve(v, act)
	act.WakeAt(first)
}

func (p *scanningHadoop2) scanJob(v *sched.View, j sched.JobID) (asked bool) {
	job := v.Job(j)
	for s := job.FirstStage; s < job.FirstStage+sched.StageID(job.Stages); s++ {
		if v.Stage(s).State != sched.StageOpen || v.Stage(s).Tasks == 0 {
			continue
		}
		st := p.stages.Of(s)
		if !p.open(v, st) {
			continue
		}
		best, value := sched.TaskID(0), sched.Time(0)
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			a, _ := v.FirstAttempt(t)
			x := &p.attempts[a.Row()]
			if v.Task(t).Live > 1 || x.end < v.Now() || v.AttemptRoom(t) == 0 {
				continue
			}
			if x := x.end - kit.Later(v.Now(), p.anew(v, st)); x > value {
				best, value = t, x
			}
		}
		if value > 0 {
			p.asked.Push(best)
			st.asked, asked = true, true
		}
		for t, ok := v.RunningTask(s, 0); ok; t, ok = v.RunningTask(s, t+1) {
			a, _ := v.FirstAttempt(t)
			if x := &p.attempts[a.Row()]; v.Task(t).Live == 1 && !x.known && v.Now()-x.reported > 9*sched.Second {
				p.estimate(x, v.Attempt(a).Started, v.Now(), x.progress)
				p.putOff(v, a)
				p.update(st, a, t)
			}
		}
	}
	return asked
}

// TestHadoop2Twin compares the decisions, instants included, with those of scanning everything.
func TestHadoop2Twin(t *testing.T) {
	clones := 0
	for _, spec := range []string{
		"hadoop2", "hadoop2:rest=1s,order=fair", "hadoop2:retry=700ms,rest=4s,min_allowed=2,order=srpt",
		"hadoop2:estimator=simple-exponential,skip=2,smooth=10s", "hadoop2:estimator=simple-exponential,skip=0,rest=2s,total_cap=0.5",
	} {
		for seed := range uint64(80) {
			fast, err := New(spec, 1)
			if err != nil {
				t.Fatal(err)
			}
			other, _ := New(spec, 1)
			l := policytest.Limits[seed%uint64(len(policytest.Limits))]
			naive := &scanningHadoop2{hadoop2: *other.(*hadoop2), next: map[sched.JobID]sched.Time{}}
			w, twin := policytest.MessyWorld(t, fast, l, seed), policytest.MessyWorld(t, naive, l, seed)
			w.Lag, twin.Lag = 0, 0 // a late call is late for whoever was woken
			w.Run()
			twin.Run()
			if diff := cmp.Diff(withoutWakes(twin.Orders), withoutWakes(w.Orders)); diff != "" {
				t.Fatalf("%s, seed %d (-scanning +hadoop2):\n%s", spec, seed, diff)
			}
			clones += len(w.Clones())
		}
	}
	if clones < 500 {
		t.Errorf("only %d clones were compared", clones)
	}
}
