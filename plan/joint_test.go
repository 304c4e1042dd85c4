package plan

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/laws"
)

var utilities = []Utility{UtilitySum, 0.5, UtilityLog, 2, 4, UtilityMaxMin}

// drawJobs makes a small instance: new jobs and running ones, tight deadlines, loose and hopeless ones.
func drawJobs(rng *rand.Rand, most int) []Work {
	jobs := make([]Work, 2+rng.IntN(most-1))
	for i := range jobs {
		tmin := 20 + 100*rng.Float64()
		w := Work{Tasks: 1 + rng.IntN(20), Law: laws.Pareto{Alpha: 1 + 1.5*rng.Float64(), Xm: tmin}}
		w.Deadline = tmin * (0.9 + 5*rng.Float64()*rng.Float64())
		if rng.IntN(3) == 0 {
			w.Elapsed = w.Deadline * rng.Float64() * 0.8
			w.Progress = 0.9 * rng.Float64()
			w.Launch = 5 * float64(rng.IntN(2))
			if rng.IntN(3) == 0 { // its attempts report nothing
				w.Progress, w.Age = 0, w.Elapsed*rng.Float64()
				if !w.Renew(w.Age) {
					w.Held = rng.IntN(4)
				}
			}
		}
		jobs[i] = w
	}
	return jobs
}

// base returns what the originals take.
func base(jobs []Work, master int) (slots int) {
	for _, w := range jobs {
		slots += w.Tasks + master
	}
	return slots
}

// bestByEnumeration tries every allocation.
func bestByEnumeration(jobs []Work, left, maxClones int, u Utility) []int {
	clones := make([]int, len(jobs))
	var best []int
	var visit func(i, left int)
	visit = func(i, left int) {
		if i == len(jobs) {
			if best == nil || better(jobs, clones, best, u) {
				best = slices.Clone(clones)
			}
			return
		}
		for r := 0; r <= maxClones && r*jobs[i].Tasks <= left; r++ {
			clones[i] = r
			visit(i+1, left-r*jobs[i].Tasks)
		}
		clones[i] = 0
	}
	visit(0, left)
	return best
}

// better compares two allocations, for max-min by their sorted PoCDs without the hopeless jobs.
func better(jobs []Work, a, b []int, u Utility) bool {
	if u != UtilityMaxMin {
		return total(jobs, a, u) > total(jobs, b, u)+1e-12
	}
	x, y := ascending(jobs, a), ascending(jobs, b)
	for i := range x {
		if !near(x[i], y[i], 1e-9) {
			return x[i] > y[i]
		}
	}
	return false
}

// ascending are the logarithms of PoCD, so that differences near 0 and 1 count.
func ascending(jobs []Work, clones []int) []float64 {
	var all []float64
	for i, w := range jobs {
		if !w.odds().hopeless() {
			all = append(all, w.LogPoCD(clones[i]))
		}
	}
	slices.Sort(all)
	return all
}

// total is the sum of utilities of the jobs that are not hopeless, by its definition.
func total(jobs []Work, clones []int, u Utility) (sum float64) {
	for i, w := range jobs {
		switch l := w.LogPoCD(clones[i]); {
		case w.odds().hopeless():
		case u == UtilityLog:
			sum += cmp.Or(w.Value, 1) * l
		default:
			sum += cmp.Or(w.Value, 1) * math.Expm1(float64(1-u)*l) / float64(1-u)
		}
	}
	return sum
}

func slotsOf(jobs []Work, clones []int, master int) (used int) {
	for i, r := range clones {
		if r != Queued && jobs[i].Tasks > 0 {
			used += jobs[i].Tasks*(r+1) + master
		}
	}
	return used
}

func TestJointAgainstEnumeration(t *testing.T) {
	const instances = 200
	for _, u := range utilities {
		t.Run(u.String(), func(t *testing.T) {
			var joint Joint
			for seed := range instances {
				rng := rand.New(rand.NewPCG(uint64(seed), 7))
				jobs := drawJobs(rng, 5)
				left := rng.IntN(100)
				pool := Pool{Slots: base(jobs, 1) + left, Lambda: 1, MaxAttempts: 5, MasterSlots: 1}
				got := joint.Optimise(pool, u, jobs)
				want := bestByEnumeration(jobs, left, 4, u)
				if got.Used != slotsOf(jobs, got.Clones, 1) || got.Used > pool.Slots {
					t.Fatalf("seed %d: %d slots of %d used, the clones %v take %d", seed, got.Used, pool.Slots, got.Clones, slotsOf(jobs, got.Clones, 1))
				}
				if better(jobs, want, got.Clones, u) && !near(total(jobs, want, u), total(jobs, got.Clones, u), 1e-9) {
					t.Fatalf("seed %d: %v with %g, best %v with %g", seed, got.Clones, total(jobs, got.Clones, u), want, total(jobs, want, u))
				}
				if got.Gap != 0 {
					t.Fatalf("seed %d: a small instance has a gap of %g", seed, got.Gap)
				}
			}
		})
	}
}

// Values count: the best of all divisions by the weighted sum, and another one than without.
func TestJointValues(t *testing.T) {
	for _, u := range []Utility{UtilitySum, UtilityLog, 2} {
		differ := 0
		for seed := range 60 {
			rng := rand.New(rand.NewPCG(uint64(seed), 7))
			jobs := drawJobs(rng, 5)
			left := rng.IntN(100)
			pool := Pool{Slots: base(jobs, 0) + left, Lambda: 1, MaxAttempts: 5}
			alike := slices.Clone(new(Joint).Optimise(pool, u, jobs).Clones)
			for i := range jobs {
				jobs[i].Value = []float64{1, 30, 0.2}[i%3]
			}
			got := new(Joint).Optimise(pool, u, jobs)
			want := bestByEnumeration(jobs, left, 4, u)
			if better(jobs, want, got.Clones, u) && !near(total(jobs, want, u), total(jobs, got.Clones, u), 1e-9) {
				t.Fatalf("%v, seed %d: %v with %g, best %v with %g", u, seed, got.Clones, total(jobs, got.Clones, u), want, total(jobs, want, u))
			}
			if !slices.Equal(alike, got.Clones) {
				differ++
			}
		}
		if differ < 10 {
			t.Errorf("%v: values matter in %d instances only", u, differ)
		}
	}
}

// Of the bound: whatever the dynamic programme is allowed, nothing is better by more than the gap.
func TestJointGapIsABound(t *testing.T) {
	for _, u := range []Utility{UtilitySum, UtilityLog, 2} {
		var exact Joint
		short := Joint{Steps: 1} // so that only the hull is climbed
		var worst, sum float64
		const instances = 1500
		optimal := 0
		for seed := range instances {
			rng := rand.New(rand.NewPCG(uint64(seed), 8))
			jobs := drawJobs(rng, 6)
			pool := Pool{Slots: base(jobs, 0) + rng.IntN(120), Lambda: 1, MaxAttempts: 5}
			best := total(jobs, exact.Optimise(pool, u, jobs).Clones, u)
			a := short.Optimise(pool, u, jobs)
			got := total(jobs, a.Clones, u)
			if best-got > a.Gap*(1+1e-9)+1e-12 {
				t.Fatalf("%v, seed %d: %g is short of %g by more than the gap %g", u, seed, got, best, a.Gap)
			}
			per := (best - got) / float64(len(jobs))
			worst, sum = max(worst, per), sum+per
			if per < 1e-12 {
				optimal++
			}
		}
		t.Logf("%v: the hull alone is short by %.4f per job on average, %.4f at worst, and best in %.0f%%",
			u, sum/instances, worst, 100*float64(optimal)/instances)
		if optimal < instances/2 || optimal == instances {
			t.Errorf("%v: best in %d of %d; the test cannot tell", u, optimal, instances)
		}
	}
}

// What is proven of a thousand jobs: docs/howto/plan-deadlines.md has the figures.
func TestJointGapOfThousandJobs(t *testing.T) {
	for _, c := range []struct {
		name     string
		tasks    func(*rand.Rand) int
		deadline func(*rand.Rand) float64
	}{
		{"1 to 80 tasks", func(r *rand.Rand) int { return 1 + r.IntN(80) }, func(r *rand.Rand) float64 { return 120 * (1 + 6*r.Float64()) }},
		{"tight deadlines", func(r *rand.Rand) int { return 1 + r.IntN(120) }, func(r *rand.Rand) float64 { return 120 * (1 + r.Float64()) }},
		{"1 to 1,000 tasks, mostly few", func(r *rand.Rand) int { return int(math.Exp(6.9 * r.Float64())) },
			func(r *rand.Rand) float64 { return 120 * (1 + 6*r.Float64()) }},
		{"three classes", func(r *rand.Rand) int { return []int{5, 10, 20}[r.IntN(3)] },
			func(r *rand.Rand) float64 { return []float64{460, 500, 560}[r.IntN(3)] }},
		{"nearly alike", func(r *rand.Rand) int { return 47 + r.IntN(7) }, func(*rand.Rand) float64 { return 500 }},
	} {
		for _, u := range []Utility{UtilitySum, UtilityLog} {
			const instances = 10
			proven, worst := 0, 0.0
			for seed := range instances {
				rng := rand.New(rand.NewPCG(uint64(seed), 9))
				jobs := make([]Work, 1000)
				for i := range jobs {
					jobs[i] = Work{Tasks: c.tasks(rng), Law: laws.Pareto{Alpha: 1.5, Xm: 120}, Deadline: c.deadline(rng)}
				}
				slots := base(jobs, 1)
				pool := Pool{Slots: slots + int(float64(slots)*(0.2+1.5*rng.Float64())), Lambda: 1, MaxAttempts: 5, MasterSlots: 1}
				gap := new(Joint).Optimise(pool, u, jobs).Gap / float64(len(jobs))
				if gap == 0 {
					proven++
				}
				worst = max(worst, gap)
			}
			t.Logf("%s, %v: proven optimal %d of %d, otherwise short by at most %.2g per job", c.name, u, proven, instances, worst)
			if worst > 0.01 {
				t.Errorf("%s, %v: a gap of %.2g per job", c.name, u, worst)
			}
		}
	}
}

// Of ten thousand jobs on a million slots even the hull alone is within a thousandth of what the linear relaxation has;
// the dynamic programme only adds to it.
func TestTenThousandJobsAreNearTheRelaxation(t *testing.T) {
	for seed := range 3 {
		jobs, pool := crowdOf(10_000, uint64(seed))
		for _, u := range []Utility{UtilitySum, 0.5, UtilityLog} {
			hull := Joint{Steps: 1}
			short := hull.Optimise(pool, u, jobs)
			relaxed := math.Abs(total(jobs, short.Clones, u) + short.Gap)
			if u == UtilitySum { // which is told from certainty, 0, downwards
				relaxed = float64(len(jobs)) + total(jobs, short.Clones, u) + short.Gap
			}
			a := new(Joint).Optimise(pool, u, jobs)
			gained := total(jobs, a.Clones, u) - total(jobs, short.Clones, u)
			t.Logf("%v: of %g the hull is short by %.2g at most, the answer by %.2g; %d slots used", u, relaxed, short.Gap, a.Gap, a.Used)
			if short.Gap > 0.001*relaxed || gained < -1e-9*relaxed || gained > short.Gap*(1+1e-9)+1e-9 || a.Gap > short.Gap {
				t.Errorf("%v: gained %g", u, gained)
			}
		}
	}
}

// Algorithm 1 is for the worst job: of the number of jobs in time it leaves much.
func TestMaxMinIsNotTheSum(t *testing.T) {
	var joint Joint
	var ratios []float64
	for seed := range 1500 {
		rng := rand.New(rand.NewPCG(uint64(seed), 8))
		jobs := drawJobs(rng, 6)
		pool := Pool{Slots: base(jobs, 0) + rng.IntN(20*len(jobs)), Lambda: 1, MaxAttempts: 5}
		expected := func(u Utility) (sum float64) {
			for i, r := range joint.Optimise(pool, u, jobs).Clones {
				sum += jobs[i].PoCD(r)
			}
			return sum
		}
		if best := expected(UtilitySum); best > 1e-6 {
			ratios = append(ratios, expected(UtilityMaxMin)/best)
		}
	}
	slices.Sort(ratios)
	var sum float64
	for _, r := range ratios {
		sum += r
	}
	mean := sum / float64(len(ratios))
	t.Logf("of the largest sum max-min has %.3f on average, %.3f in the worst twentieth", mean, ratios[len(ratios)/20])
	if ratios[len(ratios)-1] > 1+1e-9 || !(mean > 0.5 && mean < 0.99) {
		t.Errorf("mean %.3f, largest %.3f", mean, ratios[len(ratios)-1])
	}
}

// One hopeless job takes nothing, and neither does one past its deadline.
func TestJointLeavesHopelessJobs(t *testing.T) {
	law := laws.Pareto{Alpha: 1.5, Xm: 120}
	jobs := []Work{
		{Tasks: 10, Law: law, Deadline: 119},
		{Tasks: 10, Law: law, Deadline: 500, Elapsed: 500},
		{Tasks: 10, Law: law, Deadline: 500},
	}
	for _, u := range utilities {
		got := new(Joint).Optimise(Pool{Slots: 60, Lambda: 1, MaxAttempts: 5}, u, jobs)
		if want := []int{0, 0, 3}; !slices.Equal(got.Clones, want) {
			t.Errorf("%v: clones %v, want %v", u, got.Clones, want)
		}
	}
}

// Jobs that cannot meet their deadlines take their turn as in the paper, or what the others leave: nothing while one of those waits.
func TestJointHopelessLast(t *testing.T) {
	law := laws.Pareto{Alpha: 1.5, Xm: 120}
	dead, able := Work{Tasks: 50, Law: law, Deadline: 300, Elapsed: 400}, Work{Tasks: 20, Law: law, Deadline: 600}
	for _, c := range []struct {
		slots int
		jobs  []Work
		last  bool
		want  []int
		used  int
	}{
		{60, []Work{dead, able}, false, []int{0, Queued}, 50},
		{60, []Work{dead, able}, true, []int{Queued, 2}, 60},
		{150, []Work{dead, able}, true, []int{0, 4}, 150},
		{75, []Work{able, dead, able, able, able}, true, []int{0, Queued, 0, 0, Queued}, 60},
		{55, []Work{dead}, true, []int{0}, 50},
	} {
		got := new(Joint).Optimise(Pool{Slots: c.slots, Lambda: 1, MaxAttempts: 5, HopelessLast: c.last}, UtilityMaxMin, c.jobs)
		if !slices.Equal(got.Clones, c.want) || got.Used != c.used {
			t.Errorf("%d slots: %v, %d used; want %v, %d", c.slots, got.Clones, got.Used, c.want, c.used)
		}
	}
}

func TestJointQueues(t *testing.T) {
	law := laws.Pareto{Alpha: 1.5, Xm: 120}
	job := func(tasks int) Work { return Work{Tasks: tasks, Law: law, Deadline: 500} }
	for _, c := range []struct {
		name  string
		pool  Pool
		tasks []int
		want  []int
		used  int
	}{
		{"those after a job that waits wait too", Pool{Slots: 20, Lambda: 1}, []int{10, 15, 5}, []int{1, Queued, Queued}, 20},
		{"a job that never fits does not hold up others", Pool{Slots: 20, Lambda: 1}, []int{10, 25, 5}, []int{0, Queued, 1}, 20},
		{"masters take slots", Pool{Slots: 20, Lambda: 1, MasterSlots: 1}, []int{10, 10}, []int{0, Queued}, 11},
		{"a share of the slots", Pool{Slots: 100, Lambda: 0.29, MaxAttempts: 3}, []int{10, 9}, []int{1, 0}, 29},
		{"no slots", Pool{Lambda: 1}, []int{1}, []int{Queued}, 0},
		{"jobs that are done take none", Pool{Slots: 2, Lambda: 1, MasterSlots: 1}, []int{0, 1}, []int{0, 0}, 2},
		{"no clones allowed", Pool{Slots: 50, Lambda: 1, MaxAttempts: 1}, []int{5}, []int{0}, 5},
		{"nobody", Pool{Slots: 50, Lambda: 1}, nil, nil, 0},
	} {
		for _, u := range utilities {
			var jobs []Work
			for _, n := range c.tasks {
				jobs = append(jobs, job(n))
			}
			got := new(Joint).Optimise(c.pool, u, jobs)
			if !slices.Equal(got.Clones, c.want) || got.Used != c.used {
				t.Errorf("%s, %v: clones %v on %d slots, want %v on %d", c.name, u, got.Clones, got.Used, c.want, c.used)
			}
		}
	}
}

// Without a bound on attempts one job alone gets r = ⌊(λm-N-1)/N⌋, as line 5 of Algorithm 1 has it, unless it needs
// fewer to be certain.
func TestJointOneJob(t *testing.T) {
	law := laws.Pareto{Alpha: 1.5, Xm: 120}
	w := Work{Tasks: 10, Law: law, Deadline: 500}
	for _, u := range utilities {
		got := new(Joint).Optimise(Pool{Slots: 120, Lambda: 1, MasterSlots: 1}, u, []Work{w})
		if got.Clones[0] != 10 {
			t.Errorf("%v: %d clones, want 10", u, got.Clones[0])
		}
		got = new(Joint).Optimise(Pool{Slots: 1000, Lambda: 1}, u, []Work{w})
		if r := got.Clones[0]; w.Miss(r) > 1e-15 || w.Miss(r-1) < 1e-15 {
			t.Errorf("%v: %d clones; the job misses with %g", u, r, w.Miss(r))
		}
	}
}

// The answer does not depend on what the Joint was asked before, and a larger pool is never worse.
func TestJointIsAFunction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		u := rapid.SampledFrom(utilities).Draw(t, "utility")
		var used Joint
		used.Optimise(Pool{Slots: 300, Lambda: 1}, u, drawJobs(rng, 20))
		jobs := drawJobs(rng, 20)
		pool := Pool{Slots: base(jobs, 0) + rng.IntN(200), Lambda: 1, MaxAttempts: rng.IntN(8)}
		a := used.Optimise(pool, u, jobs)
		b := new(Joint).Optimise(pool, u, jobs)
		if !slices.Equal(a.Clones, b.Clones) || a.Used != b.Used {
			t.Fatalf("a used Joint says %v, a new one %v", a.Clones, b.Clones)
		}
		pool.Slots += 1 + rng.IntN(20)
		if c := used.Optimise(pool, u, jobs); better(jobs, b.Clones, c.Clones, u) && u != UtilityMaxMin &&
			total(jobs, b.Clones, u) > total(jobs, c.Clones, u)+a.Gap+c.Gap+1e-9*math.Abs(total(jobs, c.Clones, u)) {
			t.Fatalf("more slots are worse: %v, then %v", b.Clones, c.Clones)
		}
	})
}

// Whatever the jobs, what is given fits, and no clone makes a job worse.
func TestJointNeverOverfills(t *testing.T) {
	sample, err := laws.NewEmpirical([]float64{0, 1, 5, 5, 80})
	if err != nil {
		t.Fatal(err)
	}
	some := []laws.Law{
		sample, laws.Deterministic{Value: 10}, laws.Pareto{Alpha: 0.3, Xm: 1e-3}, laws.Pareto{Alpha: 30, Xm: 9.99}, laws.Uniform{Lo: 0, Hi: 10},
		laws.Exponential{Mu: 1e-6},
	}
	rapid.Check(t, func(t *rapid.T) {
		jobs := make([]Work, rapid.IntRange(0, 12).Draw(t, "jobs"))
		for i := range jobs {
			jobs[i] = Work{
				Tasks: rapid.SampledFrom([]int{0, 1, 2, 7, 1000, 1_000_000}).Draw(t, "tasks"), Law: rapid.SampledFrom(some).Draw(t, "law"),
				Deadline: rapid.SampledFrom([]float64{1e-9, 5, 10, 11, 1e9}).Draw(t, "deadline"),
				Elapsed:  rapid.SampledFrom([]float64{0, 1, 4, 10}).Draw(t, "elapsed"),
				Progress: rapid.SampledFrom([]float64{0, 0.5, 0.999, 1}).Draw(t, "progress"),
				Launch:   rapid.SampledFrom([]float64{0, 1, 20}).Draw(t, "launch"),
			}
		}
		pool := Pool{
			Slots: rapid.SampledFrom([]int{0, 1, 10, 50, 3000, 2_500_000}).Draw(t, "slots"), Lambda: rapid.Float64Range(0.1, 1).Draw(t, "lambda"),
			MaxAttempts: rapid.IntRange(0, 6).Draw(t, "attempts"), MasterSlots: rapid.IntRange(0, 1).Draw(t, "master"),
		}
		u := rapid.SampledFrom(append([]Utility{0.999999, 30, maxAlpha}, utilities...)).Draw(t, "utility")
		a := new(Joint).Optimise(pool, u, jobs)
		if a.Used != slotsOf(jobs, a.Clones, pool.MasterSlots) || a.Used > pool.Usable() || !(a.Gap >= 0) {
			t.Fatalf("%d slots used of %d, by clones %v, gap %g", a.Used, pool.Usable(), a.Clones, a.Gap)
		}
		for i, r := range a.Clones {
			if r == Queued {
				continue
			}
			if p := jobs[i].PoCD(r); pool.MaxAttempts > 0 && r >= pool.MaxAttempts || !(p >= jobs[i].PoCD(0) && p <= 1) {
				t.Fatalf("job %d: %d clones with PoCD %g, %g without", i, r, p, jobs[i].PoCD(0))
			}
		}
	})
}

// crowd are 1,000 jobs that would take 100,000 slots and more.
func crowd() ([]Work, Pool) { return crowdOf(1000, 3) }

// crowdOf are so many jobs, with a hundred slots for each.
func crowdOf(n int, seed uint64) ([]Work, Pool) {
	rng := rand.New(rand.NewPCG(seed, 3))
	jobs := make([]Work, n)
	for i := range jobs {
		w := Work{Tasks: 1 + rng.IntN(80), Law: laws.Pareto{Alpha: 1.2 + rng.Float64(), Xm: 120}}
		w.Deadline = 120 * (1 + 6*rng.Float64())
		jobs[i] = w
	}
	return jobs, Pool{Slots: 100 * n, Lambda: 1, MaxAttempts: 5, MasterSlots: 1}
}

func TestJointAllocatesNothing(t *testing.T) {
	jobs, pool := crowd()
	for _, u := range utilities {
		var joint Joint
		joint.Optimise(pool, u, jobs)
		if n := testing.AllocsPerRun(3, func() { joint.Optimise(pool, u, jobs) }); n != 0 {
			t.Errorf("%v: %g allocations", u, n)
		}
	}
}

func BenchmarkJoint(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprintf("jobs=%d", n), func(b *testing.B) { benchmarkJoint(b, n) })
	}
}

func benchmarkJoint(b *testing.B, n int) {
	jobs, pool := crowdOf(n, 3)
	for _, most := range []int{5, 0} {
		pool.MaxAttempts = most
		for _, u := range utilities {
			b.Run(fmt.Sprintf("%v/attempts=%d", u, most), func(b *testing.B) {
				var joint Joint
				var a Allocation
				for b.Loop() {
					a = joint.Optimise(pool, u, jobs)
				}
				if a.Used < 99*n {
					b.Fatalf("%d slots used", a.Used)
				}
				b.ReportMetric(a.Gap, "gap")
			})
		}
	}
}
