package overlap

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"
)

// fatal is a test, rapid's or not.
type fatal interface {
	Fatalf(format string, args ...any)
}

// optimum is the least total flow time of all schedules of the model, however they preempt and share. It solves a linear program for each order of arrivals
// and completions: between two of these events only how much is mapped and shuffled of each job matters, since serving it at constant rates keeps the
// constraints of the paper's (1) within if they hold at both ends. Jobs are few, have both phases, and come in order of arrival.
func optimum(t fatal, jobs []Demand) float64 {
	best := math.Inf(1)
	arrived, last := 0, make([]int, len(jobs)) // last is the interval that ends with the job's completion, -1 before
	first := make([]int, len(jobs))            // the first interval in which it is present
	for arrived < len(jobs) && jobs[arrived].Arrival == jobs[0].Arrival {
		arrived++
	}
	for i := range last {
		last[i] = -1
	}
	var extend func(intervals, done int)
	extend = func(intervals, done int) {
		if done == len(jobs) {
			best = min(best, solve(t, jobs, first, last, intervals))
			return
		}
		if arrived < len(jobs) {
			first[arrived] = intervals + 1
			arrived++
			extend(intervals+1, done)
			arrived--
		}
		for i := range arrived {
			if last[i] < 0 {
				last[i] = intervals
				extend(intervals+1, done+1)
				last[i] = -1
			}
		}
	}
	extend(0, 0)
	return best
}

// solve is the linear program of one order. Job i is present in the intervals from first to last, and arrives as the one before first ends.
func solve(t fatal, jobs []Demand, first, last []int, intervals int) float64 {
	var rows [][]float64
	var right []float64
	columns := intervals // lengths of the intervals come first
	at := map[[3]int]int{}
	for i := range jobs {
		for k := first[i]; k <= last[i]; k++ {
			at[[3]int{i, k, 0}], at[[3]int{i, k, 1}] = columns, columns+1 // mapped and shuffled in it
			columns += 2
		}
	}
	add := func(slack bool, value float64, fill func(row []float64)) {
		row := make([]float64, columns, columns+1)
		fill(row)
		if slack {
			columns++
			row = append(row, 1)
		}
		rows, right = append(rows, row), append(right, value)
	}
	for i, j := range jobs {
		if first[i] > 0 {
			add(false, j.Arrival-jobs[0].Arrival, func(row []float64) {
				for k := range first[i] {
					row[k] = 1
				}
			})
		}
		for station, size := range []float64{j.Map, j.Shuffle} {
			add(false, size, func(row []float64) {
				for k := first[i]; k <= last[i]; k++ {
					row[at[[3]int{i, k, station}]] = 1
				}
			})
		}
		for end := first[i]; end < last[i]; end++ { // no further shuffled than mapped
			add(true, 0, func(row []float64) {
				for k := first[i]; k <= end; k++ {
					row[at[[3]int{i, k, 0}]], row[at[[3]int{i, k, 1}]] = -1/j.Map, 1/j.Shuffle
				}
			})
		}
	}
	for k := range intervals {
		for station := range 2 {
			add(true, 0, func(row []float64) {
				row[k] = -1
				for i := range jobs {
					if first[i] <= k && k <= last[i] {
						row[at[[3]int{i, k, station}]] = 1
					}
				}
			})
		}
	}
	matrix := mat.NewDense(len(rows), columns, nil)
	for r, row := range rows {
		for c, v := range row {
			matrix.Set(r, c, v)
		}
	}
	cost, offset := make([]float64, columns), 0.0
	for i, j := range jobs {
		for k := range last[i] + 1 {
			cost[k]++
		}
		offset += jobs[0].Arrival - j.Arrival
	}
	value, _, err := lp.Simplex(cost, matrix, right, 1e-10, nil)
	if errors.Is(err, lp.ErrInfeasible) {
		return math.Inf(1)
	}
	if err != nil {
		t.Fatalf("%v, completions at the ends of %v: %v", jobs, last, err)
	}
	return value + offset
}

// tinyJobs has both phases, so that a fraction of each is defined.
func tinyJobs(t *rapid.T, most int) []Demand {
	size := rapid.SampledFrom([]float64{0.25, 0.5, 1, 1, 2, 3, 4})
	gap := rapid.SampledFrom([]float64{0, 0, 0.25, 1, 2})
	jobs := make([]Demand, rapid.IntRange(1, most).Draw(t, "jobs"))
	clock := 0.0
	for i := range jobs {
		if i > 0 {
			clock += gap.Draw(t, "gap")
		}
		jobs[i] = Demand{Arrival: clock, Map: size.Draw(t, "map"), Shuffle: size.Draw(t, "shuffle")}
	}
	return jobs
}

// checkOptimum compares both bounds and all policies with the best of all schedules.
func checkOptimum(t *testing.T, most int) {
	policies := map[string]Discipline{}
	for _, spec := range battery {
		policies[spec] = mustParse(t, spec)
	}
	instances, sums, reached := 0, [2]float64{}, [2]int{}
	rapid.Check(t, func(t *rapid.T) {
		jobs := tinyJobs(t, most)
		n := float64(len(jobs))
		best := optimum(t, jobs)
		loose, tight := NewBound(0), NewTight(0)
		for _, j := range jobs {
			loose.Arrive(j)
			tight.Arrive(j)
		}
		loose.Drain()
		tight.Drain()
		if tight.Mean()*n > best*(1+1e-9) || loose.Mean() > tight.Mean()*(1+1e-9) {
			t.Fatalf("%v: bounds %v and %v, the best schedule takes %v in all", jobs, loose.Mean()*n, tight.Mean()*n, best)
		}
		for _, spec := range battery {
			if total := totalFlow(jobs, completions(policies[spec], jobs)); total < best*(1-1e-9) {
				t.Fatalf("%v: %s takes %v in all, the best schedule %v", jobs, spec, total, best)
			}
		}
		instances++
		for i, v := range []float64{loose.Mean() * n / best, tight.Mean() * n / best} {
			sums[i] += v
			if v > 1-1e-9 {
				reached[i]++
			}
		}
	})
	t.Logf("%d instances: the paper's bound is %.3f of the optimum on average and equal in %d, the tight one %.3f and %d",
		instances, sums[0]/float64(instances), reached[0], sums[1]/float64(instances), reached[1])
}

func TestOptimum(t *testing.T) { checkOptimum(t, 3) }

// The optimum of examples that can be had by hand.
func TestOptimumByHand(t *testing.T) {
	for _, c := range []struct {
		jobs []Demand
		want float64
	}{
		{[]Demand{{Map: 2, Shuffle: 3}}, 3},
		{[]Demand{{Map: 1, Shuffle: 1}, {Map: 2, Shuffle: 2}}, 1 + 3},
		// Corollary 4's pair: the shuffle-heavy first, so that the other's map work hides behind it
		{[]Demand{{Map: 2, Shuffle: 1}, {Map: 1, Shuffle: 2}}, 2 + 3},
		// SRPT preempts: 0.5 at 1.5, the first at 2.5
		{[]Demand{{Map: 2, Shuffle: 2}, {Arrival: 1, Map: 0.5, Shuffle: 0.5}}, 2.5 + 0.5},
	} {
		if got := optimum(t, c.jobs); math.Abs(got-c.want) > 1e-9 {
			t.Fatalf("%v: got %v, want %v", c.jobs, got, c.want)
		}
	}
}

// tightTwin is the bound by definition: jobs present in each relaxation from completions of the naive simulator, looked at between any two instants where
// something happens.
func tightTwin(jobs []Demand) float64 {
	relaxed := func(size func(Demand) float64) []float64 {
		only := make([]Demand, len(jobs))
		for i, j := range jobs {
			only[i] = Demand{Arrival: j.Arrival, Map: size(j)}
		}
		return runTwin(&twin{policy: Discipline{Kind: MaxSRPT}}, only)
	}
	var ends [][]float64 // of each relaxation and job
	for _, w := range weights {
		ends = append(ends, relaxed(func(j Demand) float64 { return w*j.Map + (1-w)*j.Shuffle }))
	}
	for _, c := range partitions {
		heavy := func(j Demand) bool { return j.Map >= c*j.Shuffle }
		pick := func(want bool, size func(Demand) float64) []float64 {
			return relaxed(func(j Demand) float64 {
				if heavy(j) != want {
					return 0
				}
				return size(j)
			})
		}
		maps, shuffles := pick(true, func(j Demand) float64 { return j.Map }), pick(false, func(j Demand) float64 { return j.Shuffle })
		for i, j := range jobs {
			if !heavy(j) {
				maps[i] = shuffles[i]
			}
		}
		ends = append(ends, maps)
	}
	alone := make([]float64, len(jobs))
	var times []float64
	for i, j := range jobs {
		alone[i] = j.Arrival + j.Alone()
		times = append(times, j.Arrival)
	}
	ends = append(ends, alone)
	for _, e := range ends {
		times = append(times, e...)
	}
	slices.Sort(times)
	area := 0.0
	for k, t := range times[1:] {
		middle, most := (t+times[k])/2, 0
		for _, e := range ends {
			n := 0
			for i, j := range jobs {
				if j.Arrival < middle && middle < e[i] {
					n++
				}
			}
			most = max(most, n)
		}
		area += (t - times[k]) * float64(most)
	}
	return area
}

func TestTightTwin(t *testing.T) {
	check := func(t *rapid.T, jobs []Demand) {
		skip := rapid.IntRange(0, len(jobs)-1).Draw(t, "skip")
		b := NewTight(int64(skip))
		for _, j := range jobs {
			b.Arrive(j)
		}
		b.Drain()
		if got, want := b.Mean()*float64(len(jobs)-skip), tightTwin(jobs[skip:]); math.Abs(got-want) > 1e-9*max(1, want) {
			t.Fatalf("%v, skip %d: got %v, want %v", jobs, skip, got, want)
		}
	}
	t.Run("ties", rapid.MakeCheck(func(t *rapid.T) { check(t, dyadic(t)) }))
	t.Run("real", rapid.MakeCheck(func(t *rapid.T) { check(t, realJobs(t)) }))
}
