package policy

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/policy/policytest"
	"github.com/tailcut/tailcut/sched"
)

// drawLeft draws a law of up to eight values.
func drawLeft(r *rand.Rand) *timeLeft {
	var t timeLeft
	sum := 0.0
	for range 1 + r.IntN(8) {
		w := 0.1 + r.Float64()
		t.put(10*r.Float64(), w)
		sum += w
	}
	slices.Sort(t.x)
	for i := range t.w {
		t.w[i] /= sum
	}
	return &t
}

// TestTimeLeftFirst: the law of the earlier of two times has the mean and the quantiles of all pairs.
func TestTimeLeftFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		a, b := drawLeft(r), drawLeft(r)
		var first timeLeft
		first.first(a, b)
		mean, at := 0.0, 10*r.Float64()
		var below, sum float64
		for i, x := range a.x {
			for k, y := range b.x {
				mean += a.w[i] * b.w[k] * min(x, y)
				if min(x, y) <= at {
					below += a.w[i] * b.w[k]
				}
			}
		}
		got := 0.0
		for i, x := range first.x {
			if sum += first.w[i]; x <= at {
				got += first.w[i]
			}
		}
		if math.Abs(first.mean()-mean) > 1e-9 || math.Abs(got-below) > 1e-9 || math.Abs(sum-1) > 1e-9 || !slices.IsSorted(first.x) {
			t.Fatalf("of %v and %v: mean %v, want %v; up to %v %v, want %v", a, b, first.mean(), mean, at, got, below)
		}
		share := r.Float64()
		q := first.quantile(share)
		beyond := 0.0
		for i, x := range first.x {
			if x > q {
				beyond += first.w[i]
			}
		}
		if beyond > share+1e-9 {
			t.Fatalf("%v is exceeded with chance %v, want at most %v", q, beyond, share)
		}
	}
}

// TestTimeLeftWeigh compares with Bayes' rule in numbers: a mixture of lognormal laws, weighed on a fine grid. If errors
// have two deviations, it is off by a little for values that what is said is in the middle of.
func TestTimeLeftWeigh(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for k := range 100 {
		law := drawLeft(r)
		says, low := 0.1+10*r.Float64(), 0.05+r.Float64()
		high, most := low, 1e-3
		if k%2 == 1 {
			high, most = 0.05+r.Float64(), 0.2
		}
		var mass, logged float64 // of the posterior, and the mean of the logarithm under it
		for z := -12.0; z < 12; z += 0.002 {
			density := 0.0
			for i, x := range law.x {
				density += law.w[i] * math.Exp(-sq((z-math.Log(x))/kernel)/2)
			}
			if z > math.Log(says) { // which is an error below 0
				density *= math.Exp(-sq((z-math.Log(says))/low) / 2)
			} else {
				density *= math.Exp(-sq((z-math.Log(says))/high) / 2)
			}
			mass += density
			logged += density * z
		}
		law.weigh(says, low, high)
		got, sum := 0.0, 0.0
		for i, x := range law.x {
			got += law.w[i] * math.Log(x)
			sum += law.w[i]
		}
		if want := logged / mass; math.Abs(got-want) > most || math.Abs(sum-1) > 1e-9 || !slices.IsSorted(law.x) {
			t.Errorf("says %v with errors %v and %v: mean of the logarithm %v, want %v", says, low, high, got, want)
		}
	}
}

func sq(x float64) float64 { return x * x }

// TestSample: what is left at an age agrees with the chance that an attempt gets so old, and samples that were thinned
// are fair.
func TestSample(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	var s sample
	var median, late float64
	const rounds, values = 40, 1000
	for range rounds {
		s.reset()
		for n := range values {
			s.add(math.Pow(1-r.Float64(), -1/1.5))
			checkSample(t, &s, n, 4*r.Float64())
		}
		median += s.median() / rounds
		late += s.exceeds(4) / rounds
	}
	if want := math.Pow(0.5, -1/1.5); math.Abs(median/want-1) > 0.1 {
		t.Errorf("median %v, want about %v", median, want)
	}
	if want := math.Pow(4, -1.5); math.Abs(late/want-1) > 0.2 {
		t.Errorf("4 is exceeded with chance %v, want about %v", late, want)
	}
}

func checkSample(t *testing.T, s *sample, n int, age float64) {
	t.Helper()
	var left timeLeft
	beyond := tailOf(s.index())
	s.left(&beyond, age, &left)
	sum := 0.0
	for _, w := range left.w {
		sum += w
	}
	if math.Abs(sum-1) > 1e-9 || !slices.IsSorted(left.x) || left.x[0] < 0 {
		t.Fatalf("%d values, age %v: %+v", n+1, age, left)
	}
	if more := s.exceeds(age + 1); more > s.exceeds(age) || more <= 0 || s.exceeds(0) != 1 {
		t.Fatalf("%d values: exceeds %v with chance %v, %v with %v", n+1, age, s.exceeds(age), age+1, more)
	}
}

// TestBid: at any price below its bid a clone is worth its slot, at any above it is not.
func TestBid(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 1000 {
		worth, late, saved, quicker := r.Float64(), 10*r.Float64(), 10*r.Float64(), 0.01+5*r.Float64()
		if r.IntN(4) == 0 {
			late = 0
		}
		b := bid(worth, late, saved, quicker)
		for range 10 {
			price := 20 * r.Float64()
			if gain := worth*(late+price*saved) - price*quicker; gain > 1e-9 && price > b || gain < -1e-9 && price < b {
				t.Errorf("bid %v, but at price %v the gain is %v", b, price, gain)
			}
		}
	}
}

// TestQuicken compares with all ways to clone the slowest.
func TestQuicken(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	unasked := 0
	for range 2000 {
		e := &autoEye{crowded: r.IntN(4) == 0}
		for range 1 + r.IntN(12) {
			until := math.Round(20*r.Float64()) / 2
			x := &remains{until: until}
			x.more[byPace] = oneMore{known: true, until: until * r.Float64()}
			e.seen = append(e.seen, runner{until: until, left: x})
		}
		slices.SortFunc(e.seen, func(a, b runner) int { return cmp.Compare(b.until, a.until) })
		rest, best, at := max(0, 8*r.Float64()-3), 0.0, len(e.seen)
		for m := 1; m <= len(e.seen); m++ {
			end := rest
			for i, x := range e.seen {
				if i < m {
					end = max(end, x.left.more[byPace].until)
				} else {
					end = max(end, x.until)
				}
			}
			if each := (e.seen[0].until - end) / float64(m); each > best && !(e.crowded && m == len(e.seen)) {
				best, at = each, m
			}
		}
		e.hopes()
		if late, many := e.quicken(rest, byPace); late != best || many != at {
			t.Fatalf("%+v, rest %v: %v for %d, want %v for %d", e.seen, rest, late, many, best, at)
		}
		if late := e.seen[0].until - rest; late <= 0 {
			e.seen[0].left.more[byPace].known = false // to ask would panic, as there is no law
			e.quicken(rest, byPace)
			unasked++
		}
	}
	if unasked == 0 {
		t.Error("quicken always asked")
	}
}

// random makes it any law.
func (t *timeLeft) random(r *rand.Rand) {
	t.clear()
	n := 1 + r.IntN(12)
	for range n {
		t.insert(20*math.Pow(1-r.Float64(), -1/(0.8+2*r.Float64())), 1/float64(n))
	}
}

// TestBidOfTask: what is left out where a bid is 0 anyway changes no bid.
func TestBidOfTask(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	var e autoEye
	zeros, free := 0, 0
	for range 20_000 {
		x := &remains{age: 20 * r.Float64()}
		x.random(r)
		e.renewal.random(r)
		x.mean, e.share, e.slot = x.timeLeft.mean(), r.Float64(), r.Float64()
		late, start, sure := 5*r.NormFloat64(), max(0, r.NormFloat64()), r.Float64()
		cause := tally{r.Float64(), r.Float64(), r.Float64()}
		sum := cause[byChance] + cause[byPace] + cause[bySize]
		for i := range cause {
			cause[i] /= sum
		}
		got := e.bid(x, sure, late, start, &cause)
		chance, pace := e.cloned(x, byChance).mean, e.cloned(x, byPace).mean
		want := bid(sure, late, e.slot*(cause[byChance]*(x.mean-chance)+cause[byPace]*(x.mean-pace)), chance+start)
		if got != want {
			t.Fatalf("%v, want %v: %+v, late %v", got, want, x, late)
		}
		if want == 0 {
			zeros++
		} else if late < 0 {
			free++
		}
	}
	if zeros == 0 || free == 0 {
		t.Errorf("%d bids of 0, %d of clones that cost nothing", zeros, free)
	}
}

func autoOn(t *testing.T, spec string) *auto {
	t.Helper()
	p, err := New(spec, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p.(*auto)
}

// TestAutoClones: a straggler gets a clone soon after the others have ended, and equal tasks get none.
func TestAutoClones(t *testing.T) {
	s := sched.Second
	for _, c := range []struct {
		name  string
		lasts []sched.Time
		want  int
	}{
		{"a straggler", policytest.Repeat(10*s, 9, 200*s), 1},
		{"equal tasks", policytest.Repeat(10*s, 10), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := on(t, "auto", sched.NoLimits())
			w.Machines(10)
			w.Submit(0, policytest.Tasks(10))
			w.Fate = policytest.Lasts(10*s, c.lasts...)
			w.Run()
			if got := len(w.Clones()); got < c.want || c.want == 0 && got > 0 {
				t.Errorf("clones %v, want %d", w.Clones(), c.want)
			}
			if now := w.Core.View().Now(); now > 30*s {
				t.Errorf("ended at %v", now)
			}
		})
	}
}

// TestAutoLooksSeldom: a task that runs for an hour among tasks of a microsecond does not have its stage looked at ten
// times in each of these.
func TestAutoLooksSeldom(t *testing.T) {
	l := sched.NoLimits()
	l.Attempts = 1
	w := on(t, "auto", l)
	w.Machines(10)
	w.Submit(0, policytest.Tasks(10))
	w.Fate = policytest.Lasts(3600*sched.Second, policytest.Repeat(1000, 9, 3600*sched.Second)...)
	steps := 0
	for w.Step() {
		steps++
	}
	if j := w.Core.View().Job(0); steps > 1000 || j.State != sched.JobSucceeded || j.Closed != 3600*sched.Second {
		t.Errorf("%d steps; the job is in state %v at %v", steps, j.State, j.Closed)
	}
}

// TestAutoEndsClones: a task that waits gets the slot of a clone that is worth less, at the next look at the latest, and not that of
// an original about whose clone little is known.
func TestAutoEndsClones(t *testing.T) {
	s := sched.Second
	w := on(t, "auto", sched.NoLimits())
	w.Machines(4)
	w.Submit(0, policytest.Tasks(4))
	for range 3 {
		w.Submit(21*s, policytest.Tasks(1))
	}
	w.Fate = func(d *sched.Decision) policytest.Fate {
		if d.Task == 3 {
			return policytest.Fate{Lasts: 100 * s}
		}
		return policytest.Fate{Lasts: 10 * s}
	}
	w.Run()
	var killed []string
	for i := range w.Orders {
		if d := &w.Orders[i]; d.Kind == sched.Kill && d.Reason == sched.Share {
			killed = append(killed, policytest.OrderLine(d))
			if d.Number == 0 {
				t.Errorf("the oldest attempt was ended: %s", policytest.OrderLine(d))
			}
		}
	}
	var begun []sched.Time
	for i := range w.Orders {
		if d := &w.Orders[i]; d.Kind == sched.Launch && d.Job > 0 && d.Number == 0 {
			begun = append(begun, d.At)
		}
	}
	slices.Sort(begun)
	if len(begun) != 3 || begun[0] > 21*s || begun[2] > 21*s+50*sched.Millisecond || len(killed) == 0 {
		t.Errorf("clones %v, ended %v; later jobs began at %v", w.Clones(), killed, begun)
	}
}

// TestAutoRestarts: where new attempts are quick and many jobs wait, stragglers end once their clones run; where new
// attempts are as slow, none does.
func TestAutoRestarts(t *testing.T) {
	s := sched.Second
	for _, redrawn := range []bool{true, false} {
		w := on(t, "auto", sched.NoLimits())
		w.Machines(4)
		for range 20 {
			w.Submit(0, policytest.Tasks(25))
		}
		w.Fate = func(d *sched.Decision) policytest.Fate {
			if d.Task%5 == 4 && (d.Number == 0 || !redrawn) {
				return policytest.Fate{Lasts: 400 * s}
			}
			return policytest.Fate{Lasts: 10 * s}
		}
		w.Run()
		restarts := 0
		for i := range w.Orders {
			if d := &w.Orders[i]; d.Kind == sched.Kill && d.Reason == sched.Share && d.Number == 0 {
				restarts++
			}
		}
		if redrawn != (restarts > 5) || !redrawn && restarts > 0 {
			t.Errorf("redrawn %v: %d of 100 stragglers were restarted", redrawn, restarts)
		}
	}
}

// TestTrust: where all reports come true their error goes to 0.
func TestTrust(t *testing.T) {
	s := sched.Second
	p := autoOn(t, "auto")
	w := policytest.NewWorld(t, p, sched.NoLimits())
	if bias, sd := p.trust.miss(); bias != 0 || math.Abs(sd-trustError) > 1e-9 {
		t.Errorf("before any report: bias %v, error %v", bias, sd)
	}
	w.Machines(5)
	w.Submit(0, policytest.Tasks(100))
	w.Fate = func(d *sched.Decision) policytest.Fate {
		return policytest.Fate{Lasts: sched.Time(10+d.Task%7) * s, Reports: 2 * s}
	}
	w.Run()
	if bias, sd := p.trust.miss(); math.Abs(bias) > 0.02 || sd > 0.1 {
		t.Errorf("after 100 tasks: bias %v, error %v", bias, sd)
	}
}

// TestPooled: a job of which nothing is known is taken for what tasks last on average. Tasks of the first job last 100 s;
// at 200 s its only slot goes to the job that is told to last 50 s. For srpt an unknown task lasts a second.
func TestPooled(t *testing.T) {
	s := sched.Second
	for spec, want := range map[string][]sched.TaskID{"auto": {0, 1, 3, 2}, "srpt": {0, 1, 2, 3}} {
		w := on(t, spec, sched.NoLimits())
		w.Machines(1)
		w.Submit(0, policytest.Tasks(2))
		w.Submit(101*s, policytest.Tasks(1))
		w.Submit(101*s, &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: 1, Mean: 50 * s}}})
		w.Fate = func(*sched.Decision) policytest.Fate { return policytest.Fate{Lasts: 100 * s} }
		w.Run()
		if got := w.Launches(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", spec, got, want)
		}
	}
}
