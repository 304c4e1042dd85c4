package policy

import (
	"math"
	"testing"

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
		// before its 25th report task 19 seems to end never, from the first scan on that may ask
		{Name: "simple-exponential, young attempts", Policy: "hadoop2:estimator=simple-exponential", Machines: 21, Jobs: twenty, Lasts: most(300 * s),
			Again: 10 * s, Reports: 3 * s, Want: []string{"10s t19 #1 m0"}},
		// at the 25th report, real or not: 3, 6, ..., 75 s
		{Name: "simple-exponential-first, 24 reports skipped", Policy: "hadoop2:estimator=simple-exponential-first", Machines: 21, Jobs: twenty, Lasts: most(300 * s),
			Again: 10 * s, Reports: 3 * s, Want: []string{"1m15s t19 #1 m0"}},
	})
}

// TestSimpleExponential follows SimpleExponentialSmoothing by hand: 10 % at 10 s, nothing more at 20 s and 40 s.
func TestSimpleExponential(t *testing.T) {
	p := &hadoop2{smoothed: true, first: true, smooth: 15 * sched.Second, skip: 1}
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
