package plan

import "github.com/tailcut/tailcut/laws"

// Clone is a task that gets new attempts, and when.
type Clone struct {
	Task int
	At   float64
}

// Played plays a rule on a job whose originals, in increasing order, last so long. It returns its clones, when each task
// is done, and how long new attempts last, whose number counts from 1.
func Played(r Rule, l laws.Law, sorted []float64) (clones []Clone, ends []float64, lasts func(number, task int) float64) {
	j := newJob(l, len(sorted))
	copy(j.sorted, sorted)
	j.cloned = func(task int, at float64) { clones = append(clones, Clone{task, at}) }
	j.start()
	r.play(j)
	return clones, j.end, j.draw
}
