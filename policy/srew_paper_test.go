package policy

import (
	"fmt"
	"math/big"
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

// flat returns a job of n tasks of one stage whose attempts last mean on average.
func flat(n int, mean, sd sched.Time) *sched.JobSpec {
	return &sched.JobSpec{Stages: []sched.StageSpec{{Tasks: n, Mean: mean, SD: sd}}}
}

// quota is g_j(t) of Section 4.1 as printed, for a job of rank i among n without ties, so that |psi_j| = n-i+1.
func quota(beta *big.Rat, slots, n, i int) *big.Rat {
	a := big.NewRat(int64(n-i+1), 1)
	idle := new(big.Rat).Mul(new(big.Rat).Sub(big.NewRat(1, 1), beta), big.NewRat(int64(n), 1)) // (1-beta) n
	each := new(big.Rat).Quo(big.NewRat(int64(slots), int64(n)), beta)                          // M/(beta n)
	switch {
	case new(big.Rat).Sub(a, big.NewRat(1, 1)).Cmp(idle) >= 0:
		return each
	case a.Cmp(idle) < 0:
		return new(big.Rat)
	default:
		return each.Mul(each, new(big.Rat).Sub(a, idle))
	}
}

// largestRemainder rounds the printed quotas to integers that sum to slots; ties go to the better rank.
func largestRemainder(beta *big.Rat, slots, n int) []int {
	g, rest, rank := make([]int, n), make([]*big.Rat, n), make([]int, n)
	left := slots
	for i := range g {
		q := quota(beta, slots, n, i+1)
		g[i] = int(new(big.Int).Quo(q.Num(), q.Denom()).Int64())
		rest[i] = q.Sub(q, big.NewRat(int64(g[i]), 1))
		rank[i] = i
		left -= g[i]
	}
	sort.SliceStable(rank, func(a, b int) bool { return rest[rank[a]].Cmp(rest[rank[b]]) > 0 })
	for _, i := range rank[:left] {
		g[i]++
	}
	return g
}

func tableOf(s *shares, n int) []int {
	g := make([]int, n)
	for i := range g {
		g[i] = s.of(i + 1)
	}
	return g
}

// Section 4.1, g_j(t), made integer by largest remainder. The numbers are worked out by hand from M clamp(x-i+1, 0, 1)/x, x = beta n.
func TestSREWPaperShares(t *testing.T) {
	for _, tc := range []struct {
		name    string
		beta    float64
		slots   int
		jobs    int
		want    []int
		because string
	}{
		{"half of four", 0.5, 12, 4, []int{6, 6, 0, 0}, "x=2"},
		{"seven of ten", 0.7, 70, 10, []int{10, 10, 10, 10, 10, 10, 10, 0, 0, 0}, "x=7"},
		{"a part for the third", 0.7, 14, 4, []int{5, 5, 4, 0}, "x=2.8: 5, 5, 4"},
		{"the remainder to the part", 0.7, 12, 4, []int{4, 4, 4, 0}, "x=2.8: 4.29, 4.29, 3.43"},
		{"remainders to the first", 0.7, 11, 4, []int{4, 4, 3, 0}, "x=2.8: 3.93, 3.93, 3.14"},
		{"equal shares", 1, 12, 4, []int{3, 3, 3, 3}, "beta=1 is the fair scheduler"},
		{"equal shares, odd", 1, 12, 5, []int{3, 3, 2, 2, 2}, "2.4 each"},
		{"one at a time", 0.001, 10, 5, []int{10, 0, 0, 0, 0}, "x=0.005"},
		{"exactly one", 0.2, 10, 5, []int{10, 0, 0, 0, 0}, "x=1"},
		{"fewer slots than jobs that share", 0.7, 3, 10, []int{1, 1, 1, 0, 0, 0, 0, 0, 0, 0}, "M < x=7: the first M get one each"},
		{"a tie that doubles break", 0.1, 3, 12, []int{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, "x=1.2: 2.5 and 0.5; doubles give 2 and 1"},
		{"one job", 0.7, 11, 1, []int{11}, "x=0.7, all of M"},
		{"no slots", 0.7, 0, 3, []int{0, 0, 0}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := toRatio(tc.beta).shares(tc.slots, tc.jobs)
			if diff := cmp.Diff(tc.want, tableOf(&s, tc.jobs)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.because, diff)
			}
		})
	}
}

// Errata 5: the table sums to M, never grows with the rank, is less than 1 from the printed g_j everywhere, and is what largest remainders give.
func TestSREWSharesOfAnyCluster(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.SampledFrom([]int64{1, 10, 100, 1000, decimals}).Draw(t, "den")
		num := rapid.Int64Range(1, den).Draw(t, "num")
		slots := rapid.IntRange(0, 60).Draw(t, "slots")
		if rapid.Bool().Draw(t, "large") {
			slots = rapid.IntRange(0, 1<<40).Draw(t, "slots")
		}
		n := rapid.IntRange(1, 40).Draw(t, "n")
		s := toRatio(float64(num)/float64(den)).shares(slots, n)
		g := tableOf(&s, n)
		beta := big.NewRat(num, den)
		if diff := cmp.Diff(largestRemainder(beta, slots, n), g); diff != "" {
			t.Fatalf("beta=%v M=%d n=%d (-naive +got)\n%s", beta, slots, n, diff)
		}
		sum := 0
		for i, x := range g {
			sum += x
			off := new(big.Rat).Sub(big.NewRat(int64(x), 1), quota(beta, slots, n, i+1))
			if off.Abs(off).Cmp(big.NewRat(1, 1)) >= 0 {
				t.Fatalf("rank %d has %d, %v from its quota", i+1, x, off)
			}
			if i > 0 && x > g[i-1] {
				t.Fatalf("rank %d has more than rank %d: %v", i+1, i, g)
			}
		}
		if sum != slots {
			t.Fatalf("%v sums to %d of %d slots", g, sum, slots)
		}
	})
}

// Errata 5: beta is the decimal fraction that was typed, not the double nearest to it.
func TestSREWBetaIsDecimal(t *testing.T) {
	for _, tc := range []struct {
		beta float64
		want ratio
	}{
		{0.7, ratio{7, 10}}, {0.1, ratio{1, 10}}, {0.3, ratio{3, 10}}, {1, ratio{1, 1}}, {0.125, ratio{1, 8}},
		{0.123456789, ratio{123456789, decimals}}, {1e-9, ratio{1, decimals}}, {1.0 / 3, ratio{333333333, decimals}},
	} {
		if got := toRatio(tc.beta); got != tc.want {
			t.Errorf("toRatio(%v) = %v, want %v", tc.beta, got, tc.want)
		}
	}
}

// Section 4.1 and errata 5: |psi_j| counts jobs of equal workload, so the printed shares of 4 equal jobs sum to 24 of 12 slots. Ranked by arrival and id they sum to 12.
func TestSREWPaperTies(t *testing.T) {
	w := srewOn(t, "srew:beta=0.5", sched.NoLimits(), 12)
	for range 4 {
		w.submit(0, flat(3, sched.Second, 0))
	}
	w.advance(0)
	if diff := cmp.Diff([]int{6, 6, 0, 0}, w.held()); diff != "" {
		t.Errorf("slots held (-want +got)\n%s", diff)
	}

	w = srewOn(t, "srew:beta=0.5,slot=10s", sched.NoLimits(), 12)
	late := w.submit(3*sched.Second, flat(3, sched.Second, 0))
	early := w.submit(2*sched.Second, flat(3, sched.Second, 0))
	w.advance(4 * sched.Second)
	w.advance(10 * sched.Second)
	if got := w.held(); got[early] != 12 || got[late] != 0 {
		t.Errorf("slots held: %v, want all for the job that arrived first", got)
	}
}

// Algorithm 2, line 12: floor or ceil of (g-o)/u attempts of each waiting task; fewer slots than tasks: one each. Line 14: the same over running tasks.
func TestSREWPaperSplit(t *testing.T) {
	for _, tc := range []struct {
		slots, tasks int
		want         []int
	}{
		{7, 3, []int{3, 2, 2}},
		{6, 3, []int{2, 2, 2}},
		{2, 3, []int{1, 1, 0}},
		{3, 3, []int{1, 1, 1}},
		{5, 1, []int{5}},
	} {
		t.Run(fmt.Sprintf("%d slots, %d waiting", tc.slots, tc.tasks), func(t *testing.T) {
			w := srewOn(t, "srew", sched.NoLimits(), tc.slots)
			j := w.submit(0, flat(tc.tasks, sched.Second, 0))
			w.advance(0)
			if diff := cmp.Diff(tc.want, w.live(j)); diff != "" {
				t.Errorf("attempts (-want +got)\n%s", diff)
			}
		})
	}
	t.Run("3 running", func(t *testing.T) {
		w := srewOn(t, "srew", sched.NoLimits(), 3)
		j := w.submit(0, flat(3, sched.Second, 0))
		w.advance(0)
		for i, want := range [][]int{{2, 2, 1}, {2, 2, 2}, {4, 3, 3}} {
			w.join([]int{2, 1, 4}[i], 1)
			w.advance(sched.Time(i+1) * 5 * sched.Second)
			if diff := cmp.Diff(want, w.live(j)); diff != "" {
				t.Errorf("step %d (-want +got)\n%s", i, diff)
			}
		}
	})
	t.Run("odd clones go round", func(t *testing.T) {
		w := srewOn(t, "srew", sched.NoLimits(), 4)
		j := w.submit(0, flat(3, sched.Second, 0)) // 2 1 1
		w.advance(0)
		w.join(1, 1)
		w.advance(5 * sched.Second)
		if diff := cmp.Diff([]int{2, 2, 1}, w.live(j)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// Equation (25): rank by the sum of unfinished tasks x (E + lambda sigma) over both phases.
func TestSREWPaperRank(t *testing.T) {
	s := sched.Second
	jobs := []*sched.JobSpec{
		flat(10, 2*s, 9*s), // 20 + 90 lambda
		flat(10, 3*s, s),   // 30 + 10 lambda
		{
			Stages: []sched.StageSpec{{Tasks: 5, Mean: 3 * s, SD: 2 * s}, {Tasks: 5, Mean: 2 * s, SD: 2 * s}}, // 25 + 20 lambda
			Edges:  []sched.Edge{{From: 0, To: 1}},
		},
	}
	for _, tc := range []struct {
		lambda string
		want   []sched.JobID
	}{
		{"0", []sched.JobID{0, 2, 1}}, // 20 30 25
		{"0.25", []sched.JobID{2, 1, 0}},
		{"1", []sched.JobID{1, 2, 0}}, // 110 40 45
	} {
		w := srewOn(t, "srew:beta=0.01,lambda="+tc.lambda, sched.NoLimits(), 1)
		for _, j := range jobs {
			w.submit(0, j)
		}
		w.advance(0)
		var got []sched.JobID
		for _, k := range w.ranks().order {
			got = append(got, k.job)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("lambda=%s (-want +got)\n%s", tc.lambda, diff)
		}
	}
}

func (w *srewWorld) ranks() *srewRanks { return &w.policy.(*srew).ranks }

// Section 4.1: with beta close to 0 one job runs at a time, the one with the smallest remaining workload (errata 5: not FIFO).
func TestSREWPaperSmallBeta(t *testing.T) {
	w := srewOn(t, "srew:beta=0.000001,slot=1s", sched.NoLimits(), 4)
	w.lasts = func(sched.TaskID, uint32) sched.Time { return sched.Second }
	for _, n := range []int{40, 8, 24} {
		w.submit(0, flat(n, sched.Second, 0))
	}
	w.advance(0)
	for w.step(sched.Never) {
		busy := 0
		for _, n := range w.held() {
			if n > 0 {
				busy++
			}
		}
		if busy > 1 {
			t.Fatalf("at %v jobs hold %v", w.core.View().Now(), w.held())
		}
	}
	v := w.core.View()
	if a, b, c := v.Job(1).Closed, v.Job(2).Closed, v.Job(0).Closed; a != 2*sched.Second || b != 8*sched.Second || c != 18*sched.Second {
		t.Errorf("closed at %v, %v, %v; want 8, 24, 40 tasks in order on 4 slots: 2s, 8s, 18s", a, b, c)
	}
}

// Section 4.1: beta=1 is the fair scheduler.
func TestSREWPaperBetaOne(t *testing.T) {
	w := srewOn(t, "srew:beta=1", sched.NoLimits(), 12)
	for _, n := range []int{100, 2, 30} {
		w.submit(0, flat(n, sched.Second, 0))
	}
	w.advance(0)
	if diff := cmp.Diff([]int{4, 4, 4}, w.held()); diff != "" {
		t.Errorf("slots held (-want +got)\n%s", diff)
	}
}

// Section 4.1: reduce tasks start only after all map tasks have completed; until then their slots clone maps.
func TestSREWPaperReduceWaits(t *testing.T) {
	w := srewOn(t, "srew", sched.NoLimits(), 4)
	s := sched.Second
	j := w.submit(0, &sched.JobSpec{
		Stages: []sched.StageSpec{{Tasks: 2, Mean: s}, {Tasks: 2, Mean: s}},
		Edges:  []sched.Edge{{From: 0, To: 1}},
	})
	steps := []struct {
		ends sched.TaskID
		want []int
	}{{0, []int{0, 4, 0, 0}}, {1, []int{0, 0, 2, 2}}}
	w.advance(0)
	if diff := cmp.Diff([]int{2, 2, 0, 0}, w.live(j)); diff != "" {
		t.Errorf("at the start (-want +got)\n%s", diff)
	}
	for i, step := range steps {
		now := sched.Time(i+1) * 5 * s
		w.end(now, sched.AttemptDone, step.ends)
		w.advance(now)
		if diff := cmp.Diff(step.want, w.live(j)); diff != "" {
			t.Errorf("after task %d (-want +got)\n%s", step.ends, diff)
		}
	}
}

// Section 5, implementation: without line 7 a job keeps what runs beyond its quota. A better job gets the slots that become free.
func TestSREWPaperNonPreemptive(t *testing.T) {
	w := srewOn(t, "srew:beta=0.5", sched.NoLimits(), 6)
	big := w.submit(0, flat(6, 100*sched.Second, 0))
	w.advance(0)
	w.submit(5*sched.Second, flat(1, sched.Second, 0))
	w.advance(5 * sched.Second)
	if diff := cmp.Diff([]int{6, 0}, w.held()); diff != "" || w.kills > 0 {
		t.Errorf("%d kills; slots held (-want +got)\n%s", w.kills, diff)
	}
	w.end(10*sched.Second, sched.AttemptDone, w.core.View().Stage(0).First)
	w.advance(10 * sched.Second)
	if diff := cmp.Diff([]int{5, 1}, w.held()); diff != "" || w.kills > 0 {
		t.Errorf("%d kills; slots held (-want +got)\n%s", w.kills, diff)
	}
	if got := w.live(big); got[0] != 0 {
		t.Errorf("attempts %v", got)
	}
}

// Algorithm 2, line 7, and errata 5: clones go before last attempts, the most cloned tasks first, and all before any launch. A preempted task keeps its work.
func TestSREWPaperPreemption(t *testing.T) {
	w := srewOn(t, "srew:beta=0.5,preempt=true", sched.NoLimits(), 8)
	s := sched.Second
	spec := flat(3, 100*s, 0)
	spec.Stages[0].Resumable = true
	big := w.submit(0, spec) // 3 3 2
	w.advance(0)
	v := w.core.View()
	for task, rate := range []float64{0.01, 0.02, 0.03} {
		for x, ok := v.FirstAttempt(sched.TaskID(task)); ok; x, ok = v.NextAttempt(x) {
			w.facts = append(w.facts, sched.Event{At: s, Kind: sched.AttemptProgress, Attempt: x, Progress: rate, Rate: rate})
		}
	}
	w.advance(s)
	w.submit(5*s, flat(1, s, 0)) // 2 jobs, x=1: the small one has all 8
	out := w.advance(5 * s)

	var kills, launches []sched.TaskID
	for _, d := range out {
		switch {
		case d.Kind == sched.Kill && len(launches) > 0:
			t.Errorf("attempt %d is preempted after a launch", d.Attempt)
		case d.Kind == sched.Kill && d.Reason == sched.Share:
			kills = append(kills, d.Task)
		case d.Kind == sched.Launch:
			launches = append(launches, d.Task)
		}
	}
	// third attempts of tasks 1 and 0, second of 2, 1, 0, and the last attempts: of equal age, so later tasks first
	if diff := cmp.Diff([]sched.TaskID{1, 0, 2, 1, 0, 2, 1, 0}, kills); diff != "" {
		t.Errorf("preempted (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]int{0, 0, 0}, w.live(big)); diff != "" || len(launches) != 8 {
		t.Errorf("%d launches; attempts (-want +got)\n%s", len(launches), diff)
	}
	w.end(10*s, sched.AttemptDone, 3)
	var from []float64
	for _, d := range w.advance(10 * s) {
		if d.Kind == sched.Launch {
			from = append(from, d.From)
		}
	}
	slices.Sort(from)
	if diff := cmp.Diff([]float64{0.05, 0.05, 0.05, 0.1, 0.1, 0.1, 0.15, 0.15}, from, approx); diff != "" {
		t.Errorf("resumed from (-want +got)\n%s", diff)
	}
}

// preempt=clones: of the jobs above their share only clones go, the most cloned tasks first, and of each task the most advanced attempt stays, be it the original or a
// clone. So the better job gets five of eight slots, all but one for each of the three tasks.
func TestSREWPreemptsClonesOnly(t *testing.T) {
	s := sched.Second
	for _, tc := range []struct {
		name string
		done [2]float64 // of an original and its clones after a second
		keep uint32     // number of the attempt that stays
	}{
		{"the original is ahead", [2]float64{0.2, 0.1}, 0},
		{"the first clone is ahead", [2]float64{0.1, 0.2}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := srewOn(t, "srew:beta=0.5,preempt=clones", sched.NoLimits(), 8)
			big := w.submit(0, flat(3, 100*s, 0)) // 3 3 2
			w.advance(0)
			v := w.core.View()
			for task := range sched.TaskID(3) {
				for x, ok := v.FirstAttempt(task); ok; x, ok = v.NextAttempt(x) {
					done := tc.done[min(v.Attempt(x).Number, 1)] / float64(max(v.Attempt(x).Number, 1))
					w.facts = append(w.facts, sched.Event{At: s, Kind: sched.AttemptProgress, Attempt: x, Progress: done})
				}
			}
			w.advance(s)
			small := w.submit(5*s, flat(1, s, 0)) // 2 jobs, x=1: the small one has all 8
			w.advance(5 * s)
			if diff := cmp.Diff([]int{1, 1, 1}, w.live(big)); diff != "" {
				t.Errorf("attempts of the large job (-want +got)\n%s", diff)
			}
			if got := w.held(); got[small] != 5 || w.kills != 5 {
				t.Errorf("%d preempted, slots held %v; want 5 and 5 for the small job", w.kills, got)
			}
			for task := range sched.TaskID(3) {
				if x, _ := v.FirstAttempt(task); v.Attempt(x).Number != tc.keep {
					t.Errorf("task %d keeps attempt %d, want %d", task, v.Attempt(x).Number, tc.keep)
				}
			}
		})
	}
}

var approx = cmp.Comparer(func(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 })

// Section 2: copies of a task share its checkpoints, so a clone goes on from the most advanced attempt.
func TestSREWPaperClonesShareCheckpoints(t *testing.T) {
	w := srewOn(t, "srew:preempt=true", sched.NoLimits(), 2)
	spec := flat(1, 100*sched.Second, 0)
	spec.Stages[0].Resumable = true
	w.submit(0, spec)
	w.advance(0)
	for i, done := range []float64{0.4, 0.3} {
		x, _ := w.core.View().FirstAttempt(0)
		if i == 1 {
			x, _ = w.core.View().NextAttempt(x)
		}
		w.facts = append(w.facts, sched.Event{At: sched.Second, Kind: sched.AttemptProgress, Attempt: x, Progress: done})
	}
	w.join(2, 1)
	for _, d := range w.advance(5 * sched.Second) {
		if d.Kind == sched.Launch && (d.From != 0.4 || d.Reason != sched.Cloning) {
			t.Errorf("clone for %v goes on from %v, want 0.4", d.Reason, d.From)
		}
	}
	if w.launches != 4 {
		t.Errorf("%d launches, want 4", w.launches)
	}
}
