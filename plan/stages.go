package plan

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/tailcut/tailcut/laws"
)

// Phase is one of several stages of a [Work].
type Phase struct {
	Tasks int      // that are not done, 1 at least
	Law   laws.Law // of what one attempt takes for a whole task, in seconds
	After []int    // stages that are done before it begins, each earlier in the list
}

// mostStages bounds the stages of a job.
const mostStages = 100

// validateStages returns an error that names the first field out of range.
func (w Work) validateStages() error {
	tasks := 0
	for i, s := range w.Stages {
		switch {
		case s.Tasks < 1:
			return fmt.Errorf("a stage has no fewer than 1 task, got %d", s.Tasks)
		case s.Law == nil:
			return fmt.Errorf("a stage wants a law of its tasks' durations")
		case slices.ContainsFunc(s.After, func(k int) bool { return k < 0 || k >= i }) || len(s.After) != len(slices.Compact(slices.Sorted(slices.Values(s.After)))):
			return fmt.Errorf("a stage begins after earlier ones of the list, each named once, got %v of stage %d", s.After, i)
		}
		tasks += s.Tasks
	}
	switch {
	case tasks != w.Tasks:
		return fmt.Errorf("a job has as many tasks as its stages, %d, got %d", tasks, w.Tasks)
	case tasks > played || len(w.Stages) > mostStages:
		return fmt.Errorf("a job of several stages has up to %d tasks and %d stages, got %d and %d", played, mostStages, tasks, len(w.Stages))
	case w.Progress != 0 || w.Age != 0 || w.Held != 0 || w.Launch != 0:
		return fmt.Errorf("the progress, age, held clones and launch time of a job of several stages are 0")
	}
	return nil
}

// chain says that the stages come one after the other.
func (w Work) chain() bool {
	for i, s := range w.Stages {
		if i > 0 && !slices.Contains(s.After, i-1) {
			return false
		}
	}
	return true
}

// stagesInWaves is [Work.Waves] of a job of several stages.
func (w Work) stagesInWaves(clones, atOnce, plays int) Chance {
	s := w.shift(clones)
	switch {
	case s.left <= 0 || s.atLeast(atOnce) > s.left:
		return exactly(0)
	case s.atMost(atOnce) <= s.left:
		return exactly(1)
	}
	if widest := slices.MaxFunc(w.Stages, func(a, b Phase) int { return a.Tasks - b.Tasks }).Tasks; atOnce >= widest && w.chain() {
		p, within := w.chained(clones)
		return Chance{P: p, Low: max(0, p-within), High: min(1, p+within)}
	}
	n := s.plays()
	if plays > 0 {
		n = min(n, plays)
	}
	if !slices.ContainsFunc(s.stages, func(t Phase) bool { return t.Law.Quantile(0) != t.Law.InvSurvival(0) }) {
		return exactly(s.play(atOnce, 1).P)
	}
	return s.play(atOnce, n)
}

// chained is [ChainPoCD] of the stages.
func (w Work) chained(clones int) (p, within float64) {
	works, all := make([]Work, len(w.Stages)), make([]int, len(w.Stages))
	for i, s := range w.Stages {
		works[i], all[i] = Work{Tasks: s.Tasks, Law: s.Law, Deadline: w.Deadline, Elapsed: w.Elapsed}, clones
	}
	p, within, _ = ChainPoCD(works, all) // there are stages
	return p, max(within, chainRounding)
}

// chainRounding is more than what rounding adds up to in the sums of 100 stages: what is nearly certain is not exact.
const chainRounding = 1e-12

// path returns the length of the longest path through the stages, of which each takes so long.
func path(stages []Phase, lasts func(i int) float64) (longest float64) {
	ends := make([]float64, len(stages))
	for i := range stages {
		for _, k := range stages[i].After {
			ends[i] = max(ends[i], ends[k])
		}
		ends[i] += lasts(i)
		longest = max(longest, ends[i])
	}
	return longest
}

// waves returns how many turns a stage needs with g tasks at once.
func (s Phase) waves(g int) float64 { return float64((s.Tasks + g - 1) / g) }

// atLeast returns a time in whole nanoseconds before which a job of several stages is never done with g tasks at once.
func (s shift) atLeast(g int) float64 {
	work := 0.0
	for _, t := range s.stages {
		work += float64(t.Tasks) * nanoseconds(t.Law.Quantile(0))
	}
	return max(work/float64(g), path(s.stages, func(i int) float64 {
		return s.stages[i].waves(g) * nanoseconds(s.stages[i].Law.Quantile(0))
	}))
}

// atMost returns a time in whole nanoseconds by which it always is: of a chain the sum of its stages, of others
// Graham's bound.
func (s shift) atMost(g int) float64 {
	work, chain := 0.0, 0.0
	longest := func(i int) float64 { return nanoseconds(s.stages[i].Law.InvSurvival(0)) }
	for i, t := range s.stages {
		work += float64(t.Tasks) * longest(i)
		chain += t.waves(g) * longest(i)
	}
	if math.IsInf(work, 1) || (Work{Stages: s.stages}).chain() {
		return chain
	}
	return work/float64(g) + (1-1/float64(g))*path(s.stages, longest)
}

// rungsOfStages is [Work.rungsOf] of a job of several stages.
func (w Work) rungsOfStages(clones, most, n int) (all []rung) {
	s := w.shift(clones)
	most = min(most, w.Tasks)
	if most < 1 || s.left <= 0 || s.atLeast(w.Tasks) > s.left {
		return nil
	}
	if g := s.certain(most); g <= most {
		all = append(all, rung{slots: g * (clones + 1), atOnce: g, clones: clones})
		most = g - 1
	}
	some, _ := s.playedRungs(clones, most, n)
	return append(all, some...)
}

// certain returns the fewest tasks at once with which a job of several stages is in time with certainty; more than most
// if there are none.
func (s shift) certain(most int) int {
	return 1 + sort.Search(most, func(i int) bool { return s.atMost(1+i) <= s.left })
}

// doneStages returns when a job of several stages is done with g tasks at once: a free place gets the next task of the
// first stage in the list that may begin.
func (p *wavePlay) doneStages(g int) (end float64) {
	p.before, p.open, p.ready, p.running = p.before[:0], p.open[:0], p.ready[:0], p.running[:0]
	p.next = append(p.next[:0], p.first...)
	for i, s := range p.stages {
		p.before, p.open = append(p.before, len(s.After)), append(p.open, s.Tasks)
		if len(s.After) == 0 {
			p.ready = append(p.ready, i)
		}
	}
	for {
		for len(p.running) < g && len(p.ready) > 0 {
			i := p.ready[0]
			p.running.push(stageEnd{end + p.lasts[p.next[i]], i})
			if p.next[i]++; p.next[i] == p.first[i]+p.stages[i].Tasks {
				p.ready = slices.Delete(p.ready, 0, 1)
			}
		}
		if len(p.running) == 0 {
			return end
		}
		e := p.running.pop()
		end = e.at
		if p.open[e.stage]--; p.open[e.stage] > 0 {
			continue
		}
		for i := e.stage + 1; i < len(p.stages); i++ {
			if !slices.Contains(p.stages[i].After, e.stage) {
				continue
			}
			if p.before[i]--; p.before[i] == 0 {
				at, _ := slices.BinarySearch(p.ready, i)
				p.ready = slices.Insert(p.ready, at, i)
			}
		}
	}
}

// stageEnd is a task that runs.
type stageEnd struct {
	at    float64 // when it ends
	stage int
}

// stageEnds is a heap, the earliest first.
type stageEnds []stageEnd

func (h *stageEnds) push(e stageEnd) {
	*h = append(*h, e)
	a := *h
	for i := len(a) - 1; i > 0; {
		up := (i - 1) / 2
		if a[up].at <= e.at {
			break
		}
		a[i], a[up] = a[up], a[i]
		i = up
	}
}

func (h *stageEnds) pop() stageEnd {
	a := *h
	top, last := a[0], len(a)-1
	a[0] = a[last]
	a = a[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down+1 < last && a[down+1].at < a[down].at {
			down++
		}
		if down >= last || a[i].at <= a[down].at {
			break
		}
		a[i], a[down] = a[down], a[i]
		i = down
	}
	*h = a
	return top
}
