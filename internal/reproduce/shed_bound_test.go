package reproduce

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

// exactInTime is the largest share of the value of jobs that can be won by their deadlines, by trying every order of the
// tasks of every set of jobs: each goes to the slot that is free first. Some order is that of an optimal schedule.
func exactInTime(w *trace.Workload, slots int) float64 {
	all, best := 0.0, 0.0
	for j := range w.Jobs {
		all += w.Jobs[j].Value
	}
	for set := range 1 << len(w.Jobs) {
		value := 0.0
		var jobs []int // of each task
		var tasks []sched.Time
		for j := range w.Jobs {
			if set&(1<<j) != 0 {
				value += w.Jobs[j].Value
				for _, d := range w.DurationsOf(&w.StagesOf(j)[0]) {
					jobs, tasks = append(jobs, j), append(tasks, d)
				}
			}
		}
		if value > best && someOrder(w, jobs, tasks, make([]sched.Time, slots), make([]bool, len(tasks)), len(tasks)) {
			best = value
		}
	}
	return best / all
}

// someOrder tells whether the tasks that are not placed can all be in time, after the instants at which slots are free.
func someOrder(w *trace.Workload, jobs []int, tasks, free []sched.Time, placed []bool, left int) bool {
	if left == 0 {
		return true
	}
	for i := range tasks {
		job := &w.Jobs[jobs[i]]
		slot := slices.Index(free, slices.Min(free))
		was := free[slot]
		end := max(was, job.Arrival) + tasks[i]
		if placed[i] || end > job.Arrival+job.Deadline {
			continue
		}
		placed[i], free[slot] = true, end
		if someOrder(w, jobs, tasks, free, placed, left-1) {
			return true
		}
		placed[i], free[slot] = false, was
	}
	return false
}

// TestBoundIsOne: on small instances the bound is never below the optimum, which no policy beats, and on average not far
// above it.
func TestBoundIsOne(t *testing.T) {
	gap, best, won, n := 0.0, 0.0, 0.0, 200
	for k := range uint64(n) {
		g := rand.New(rand.NewPCG(k, 1))
		w := &trace.Workload{Name: "small", Names: []string{""}}
		at := sched.Time(0)
		for i := range uint32(4) {
			at += sched.Time(g.IntN(4)) * sched.Second
			tasks := 1 + g.IntN(2)
			w.Jobs = append(w.Jobs, trace.JobRow{
				Arrival: at, Deadline: sched.Time(4+g.IntN(12)) * sched.Second, Value: float64(1 + g.IntN(5)),
				Number: i, FirstStage: i, Stages: 1,
			})
			w.Stages = append(w.Stages, trace.StageRow{FirstTask: uint32(len(w.Durations)), Tasks: uint32(tasks), Law: -1})
			for range tasks {
				w.Durations = append(w.Durations, sched.Time(1+g.IntN(9))*sched.Second)
			}
		}
		slots := 1 + g.IntN(2)
		bound := mostInTime(w, slots, func(j int) (tasks []float64) {
			for _, d := range w.DurationsOf(&w.StagesOf(j)[0]) {
				tasks = append(tasks, d.Seconds())
			}
			return tasks
		})
		exact := exactInTime(w, slots)
		p, err := policy.New("laxity", 1)
		if err != nil {
			t.Fatal(err)
		}
		res, err := sim.Run(t.Context(), w, p, sim.Options{Machines: slots, Model: sim.SizeTimesSlowdown(laws.Deterministic{Value: 1}), Progress: sim.Progress{Every: sched.Second}, Seed: k, Limits: sched.NoLimits()})
		if err != nil {
			t.Fatal(err)
		}
		laxity := ratioWon(res.Jobs)
		if bound < exact-1e-9 || laxity > exact+1e-9 {
			t.Errorf("instance %d: bound %.3f, optimum %.3f, laxity %.3f", k, bound, exact, laxity)
		}
		gap += (bound - exact) / float64(n)
		best, won = best+exact/float64(n), won+laxity/float64(n)
	}
	t.Logf("optimum %.3f on average, the bound %.3f above it; laxity wins %.3f", best, gap, won)
	if gap > 0.1 {
		t.Errorf("the bound is %.3f above the optimum on average", gap)
	}
}

// arriving is what mostInTimeBy bounds, for a scheduler that may interrupt and divide jobs at will, too, but learns of a job when it comes: then it
// chooses anew among those there are, by the rule of Moore and Hodgson.
func arriving(jobs []arrivingJob) float64 {
	var there []*arrivingJob // by deadline
	now, won, all := 0.0, 0.0, 0.0
	work := func(until float64) {
		for _, x := range there {
			if d := min(x.left, until-now); x.chosen && d > 0 {
				now += d
				if x.left -= d; x.left == 0 {
					won += x.value
				}
			}
		}
		now = until
	}
	for i := range jobs {
		x := &jobs[i]
		work(x.from)
		all += x.value
		there = slices.DeleteFunc(append(there, x), func(x *arrivingJob) bool { return x.left == 0 || x.left > x.until-now })
		slices.SortStableFunc(there, func(a, b *arrivingJob) int { return cmp.Compare(a.until, b.until) })
		var chosen []*arrivingJob
		end := now
		for _, x := range there {
			chosen, end = append(chosen, x), end+x.left
			if x.chosen = true; end > x.until {
				worst := slices.MaxFunc(chosen, func(a, b *arrivingJob) int { return cmp.Compare(a.left*b.value, b.left*a.value) })
				worst.chosen = false
				end -= worst.left
				chosen = slices.DeleteFunc(chosen, func(x *arrivingJob) bool { return x == worst })
			}
		}
	}
	work(math.Inf(1))
	return won / all
}

type arrivingJob struct {
	from, until, left, value float64
	chosen                   bool
}

// TestForesight: to know jobs only when they come costs next to nothing of the bound in the grid, if their work is known then.
func TestForesight(t *testing.T) {
	x := newShedGrid(&Options{Seed: 1, Quick: true}, 2)
	for c := range x.cells {
		cell := &x.cells[c]
		if cell.told != toldTruth || !cell.resumable {
			continue
		}
		for k := range x.met[c] {
			w := x.workload(cell, repetition(x.seed, k))
			least, takes := x.laws[cell.law].times(w)
			var jobs []arrivingJob
			for j := range w.Jobs {
				job := &w.Jobs[j]
				a := arrivingJob{from: job.Arrival.Seconds(), until: (job.Arrival + job.Deadline).Seconds(), value: cmp.Or(job.Value, 1)}
				for _, s := range takes(j) {
					a.left += s / shedSlots
				}
				if slices.Max(least(j)) > job.Deadline.Seconds() {
					a.left = math.Inf(1)
				}
				jobs = append(jobs, a)
			}
			got, bound := arriving(jobs), mostInTimeBy(w, shedSlots, least, takes)
			if got > bound+1e-9 || got < 0.99*bound {
				t.Errorf("%s, draw %d: %.4f, where the bound is %.4f", x.describe(cell), k, got, bound)
			}
		}
	}
}
