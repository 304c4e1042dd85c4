package reproduce

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What not knowing sizes costs at best, on instances that are small enough to try every decision: tasks of jobs that are
// all there on one slot or two, in whole seconds. A task's size is known after its first second, as after a first report;
// work is kept when a task stops. Sizes are 2, 6 or 14 s.

var (
	tinySizes  = [...]int{2, 6, 14}
	tinyChance = [...]float64{0.5, 0.3, 0.2}
)

// tinyJob is a job of some tasks, worth 1 by its deadline.
type tinyJob struct {
	tasks, due int
}

// tiny is an instance and what is known of it: what each task has left to do, 0 for one that has not begun, -1 for one
// that is done.
type tiny struct {
	jobs  []tinyJob
	slots int
	known map[tinyState]float64
}

type tinyState struct {
	at   int
	left [6]int8
}

// best returns the expected number of jobs in time from a state on, under the best policy. With sizes it knows all of them
// beforehand.
func (x *tiny) best(s tinyState) float64 {
	if v, ok := x.known[s]; ok {
		return v
	}
	first, alive := 0, false
	for _, j := range x.jobs {
		for i := first; i < first+j.tasks; i++ {
			alive = alive || s.left[i] >= 0 && s.at < j.due
		}
		first += j.tasks
	}
	v := 0.0
	if alive {
		for set := range 1 << first {
			if slots := bits(set); slots > 0 && slots <= x.slots && x.allowed(s, set) {
				v = max(v, x.after(s, set, 0, 1))
			}
		}
	}
	x.known[s] = v
	return v
}

func bits(set int) (n int) {
	for ; set > 0; set &= set - 1 {
		n++
	}
	return n
}

// allowed tells whether the tasks of a set can run: none of them is done or late.
func (x *tiny) allowed(s tinyState, set int) bool {
	first := 0
	for _, j := range x.jobs {
		for i := first; i < first+j.tasks; i++ {
			if set&(1<<i) != 0 && (s.left[i] < 0 || s.at >= j.due || s.at+int(s.left[i]) > j.due) {
				return false
			}
		}
		first += j.tasks
	}
	return true
}

// after returns the expectation after a second in which the tasks of a set have run, from the ith on.
func (x *tiny) after(s tinyState, set, i int, chance float64) (v float64) {
	for ; i < len(s.left); i++ {
		if set&(1<<i) == 0 {
			continue
		}
		if s.left[i] == 0 {
			for k, size := range tinySizes {
				next := s
				next.left[i] = int8(size - 1)
				v += tinyChance[k] * x.after(next, set, i+1, 1)
			}
			return chance * v
		}
		if s.left[i]--; s.left[i] == 0 {
			s.left[i] = -1
		}
	}
	s.at++
	first, won := 0, 0.0
	for _, j := range x.jobs {
		done, ran := true, false
		for i := first; i < first+j.tasks; i++ {
			done = done && s.left[i] < 0
			ran = ran || set&(1<<i) != 0
		}
		if done && ran && s.at <= j.due {
			won++
		}
		first += j.tasks
	}
	return chance * (won + x.best(s))
}

// TestPriceOfSizes compares the best policy that does not know sizes with the best that does, on jobs of one and two
// tasks that are together 1.6 times as much work as the slots can do by the mean deadline. No policy can have a larger
// share of a clairvoyant bound on such instances.
func TestPriceOfSizes(t *testing.T) {
	blind, seeing, n := 0.0, 0.0, 12
	for k := range uint64(n) {
		g := rand.New(rand.NewPCG(k, 9))
		x := tiny{slots: 1 + g.IntN(2), known: map[tinyState]float64{}}
		tasks := 0
		for range 3 {
			j := tinyJob{tasks: 1 + g.IntN(2), due: 5 + g.IntN(10)}
			x.jobs = append(x.jobs, j)
			tasks += j.tasks
		}
		slices.SortFunc(x.jobs, func(a, b tinyJob) int { return a.due - b.due })
		var start tinyState
		for i := tasks; i < len(start.left); i++ {
			start.left[i] = -1
		}
		blind += x.best(start) / 3 / float64(n)
		seeing += x.seeing(start, tasks, 0) / 3 / float64(n)
	}
	t.Logf("in time without sizes %.3f, with them %.3f: %.3f of that", blind, seeing, blind/seeing)
	if blind > seeing || blind < 0.7*seeing {
		t.Errorf("in time without sizes %.3f, with them %.3f", blind, seeing)
	}
}

// seeing is the expectation of best where all sizes are known, from the ith task on.
func (x *tiny) seeing(s tinyState, tasks, i int) (v float64) {
	if i == tasks {
		return x.best(s)
	}
	for k, size := range tinySizes {
		next := s
		next.left[i] = int8(size)
		v += tinyChance[k] * x.seeing(next, tasks, i+1)
	}
	return v
}
