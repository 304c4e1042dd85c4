package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/tailcut/tailcut/laws"
)

// TwoForks searches the policies of two forks for those that are done soonest and cost no more per task than a budget.
// A task gets at most that many clones at a time. There are too many to look at all: the search looks at those with
// numbers of stragglers that are powers of two, and improves the best, one fork after the other, until nothing gains.
// It judges by the limit of many tasks (Theorem 1), and of a sample with many values by a rounded one. So it returns a
// few, of which a simulation has to choose: the best within the budget, and within somewhat smaller ones, as the limit
// is not exact. There is none if no two forks that do something are within any of them.
//
// The error is that of [NewExact], or what stop returns, which is asked all the time and ends the search if that is not
// nil.
func TwoForks(stop func() error, l laws.Law, tasks, most int, budget float64) ([]Forks, error) {
	if sample, ok := l.(*laws.Empirical); ok {
		l = Rounded(sample, twoForksValues)
	}
	exact, err := NewExact(l, tasks)
	if err != nil {
		return nil, err
	}
	s := newForkSearch(stop, exact, most)
	var found []Forks
	for _, share := range []float64{1, 0.995, 0.985, 0.97} {
		best, ok := s.best(budget * share)
		if err := stop(); err != nil {
			return nil, err
		}
		if ok && !slices.ContainsFunc(found, func(f Forks) bool { return slices.Equal(f, best[:]) }) {
			found = append(found, slices.Clone(best[:]))
		}
	}
	return found, nil
}

// atMostMore is by how much two forks may cost more than what they are to beat, as far as the simulation can tell.
const atMostMore = 0.01

// Soonest returns the forks that are sooner than a rule and cost no more on the same jobs, of these the soonest; nil if
// there are none. They cost no more if the mean of the difference is at most 0 and its interval of 95 % below a
// hundredth of the cost. To show what they do take other jobs: these were chosen by.
func (m *Simulate) Soonest(of []Forks, than Rule) (best Forks, err error) {
	base, err := m.Evaluate(than)
	if err != nil {
		return nil, err
	}
	least := 0.0
	for _, f := range of {
		over, err := m.Versus(f, than)
		if err != nil {
			return nil, err
		}
		if over.Cost <= 0 && over.Cost+z95*over.CostError <= atMostMore*base.Cost && over.Latency < least {
			best, least = f, over.Latency
		}
	}
	return best, nil
}

// twoForksValues is how many distinct values the durations have that two forks are searched on: one evaluation takes
// about as many steps.
const twoForksValues = 300

type twoForks [2]Policy

type forkSearch struct {
	stop   func() error
	exact  *Exact
	most   int
	known  map[twoForks]Outcome
	coarse []twoForks // known before the first search
}

func newForkSearch(stop func() error, exact *Exact, most int) *forkSearch {
	s := &forkSearch{stop: stop, exact: exact, most: most, known: map[twoForks]Outcome{}}
	all := s.policies(powers(1, exact.tasks, 1))
	for _, a := range all {
		for _, b := range all {
			if x := (twoForks{a, b}); s.allowed(x) && stop() == nil {
				s.coarse = append(s.coarse, x)
				s.of(x)
			}
		}
	}
	return s
}

// improved is how many of the best coarse forks are improved.
const improved = 3

// best returns false if there are no two forks within the budget.
func (s *forkSearch) best(budget float64) (best twoForks, ok bool) {
	within := slices.DeleteFunc(slices.Clone(s.coarse), func(x twoForks) bool { return s.of(x).Cost > budget })
	slices.SortStableFunc(within, func(x, y twoForks) int { return cmp.Compare(s.of(x).Latency, s.of(y).Latency) })
	for _, x := range within[:min(improved, len(within))] {
		x = s.descend(x, budget)
		if !ok || s.of(x).Latency < s.of(best).Latency {
			best, ok = x, true
		}
	}
	return best, ok
}

// finer is into how many parts a factor of two is divided where forks are improved.
const finer = 8

// descend replaces one fork after the other by the best like it beside the other one, until that gains nothing.
func (s *forkSearch) descend(x twoForks, budget float64) twoForks {
	for gained := true; gained && s.stop() == nil; {
		gained = false
		for i := range x {
			for _, p := range s.policies(powers(max(1, x[i].Stragglers/2), min(s.exact.tasks, 2*x[i].Stragglers), finer)) {
				y := x
				y[i] = p
				if s.allowed(y) && s.of(y).Cost <= budget && s.of(y).Latency < s.of(x).Latency*(1-1e-9) {
					x, gained = y, true
				}
			}
		}
	}
	return x
}

// policies are the forks at these numbers of stragglers that do something, with up to four clones, and of more with
// powers of two.
func (s *forkSearch) policies(stragglers []int) (all []Policy) {
	clones := []int{0}
	for c := 1; c < s.most; {
		clones = append(clones, c)
		if c < 4 {
			c++
		} else {
			c *= 2
		}
	}
	if s.most > 0 {
		clones = append(clones, s.most)
	}
	for _, n := range stragglers {
		for _, c := range clones {
			for _, original := range []Original{Keep, Kill} {
				if p := (Policy{Stragglers: n, Clones: c, Original: original}); !p.Baseline() {
					all = append(all, p)
				}
			}
		}
	}
	return all
}

// powers returns numbers from low to high that grow by a factor of two in so many steps.
func powers(low, high, steps int) (numbers []int) {
	for k := 0; ; k++ {
		x := int(math.Round(float64(low) * math.Exp2(float64(k)/float64(steps))))
		if x >= high {
			return append(numbers, high)
		}
		if len(numbers) == 0 || numbers[len(numbers)-1] < x {
			numbers = append(numbers, x)
		}
	}
}

// allowed tells whether the forks follow each other, and a task has at most so many clones at a time.
func (s *forkSearch) allowed(x twoForks) bool {
	atOnce := x[0].Clones + x[1].Clones
	if x[1].Original == Kill {
		atOnce = max(x[0].Clones, x[1].Clones)
	}
	return x[0].Stragglers > x[1].Stragglers && atOnce <= s.most
}

func (s *forkSearch) of(x twoForks) Outcome {
	o, ok := s.known[x]
	if !ok {
		o = Forks(x[:]).limit(s.exact)
		s.known[x] = o
	}
	return o
}
