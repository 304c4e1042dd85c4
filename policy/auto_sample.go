package policy

import (
	"math"
	"slices"
	"sort"
)

// sample keeps up to mostKept of the durations of a stage's winners, evenly thinned, and knows the law beyond the
// longest of them: Pareto's. Attempts that run longer than any winner count as censored.
type sample struct {
	sorted []float64
	every  int // one in so many is kept
	skip   int
	other  int // of two values the one that stays when the sample is thinned: in turns, so that it is fair
	n      int
	above  float64 // attempts that run longer than any winner did, if they count, see above
	from   float64 // mean age of those, from which the tail begins
	older  float64 // sum of ln(age / longest winner) of the attempts that run longer than any winner did

	logs   float64 // 1, and the sum of ln(x / median) of what is above the median; if summed
	summed bool
}

const mostKept = 32

func (s *sample) reset() { *s = sample{sorted: s.sorted[:0], every: 1} }

func (s *sample) add(x float64) {
	s.n++
	if s.skip++; s.skip < s.every {
		return
	}
	s.skip = 0
	s.insert(x)
	if len(s.sorted) < mostKept {
		return
	}
	for i := 0; 2*i+1 < len(s.sorted); i++ {
		s.sorted[i] = s.sorted[2*i+s.other]
	}
	s.other = 1 - s.other
	s.sorted = s.sorted[:len(s.sorted)/2]
	s.every *= 2
}

func (s *sample) insert(x float64) {
	s.summed = false
	at, _ := slices.BinarySearch(s.sorted, x)
	s.sorted = slices.Insert(s.sorted, at, x)
}

func (s *sample) median() float64 {
	if len(s.sorted) == 0 {
		return 0
	}
	return s.sorted[len(s.sorted)/2]
}

func (s *sample) shortest() float64 {
	if len(s.sorted) == 0 {
		return 0
	}
	return s.sorted[0]
}

// certainty grows with what is known: 1 - 1/sqrt(1 + n). A mean that was told beforehand counts as toldCounts winners.
func (s *sample) certainty(told bool) float64 {
	n := float64(s.n)
	if told {
		n += toldCounts
	}
	return 1 - 1/math.Sqrt(1+n)
}

// index of the tail: Hill's estimator over what is above the median, drawn towards 2 as if by two values, and with the
// ages of attempts that run on as what the tail exceeds.
func (s *sample) index() float64 { return s.indexIf(s.older) }

// indexIf is index if the attempts that run on are older by so much.
func (s *sample) indexIf(older float64) float64 {
	if !s.summed {
		s.logs, s.summed = 1, true
		if m := s.median(); m > 0 {
			for _, x := range s.sorted[len(s.sorted)/2:] {
				s.logs += math.Log(x / m)
			}
		}
	}
	n := 2.0
	if s.median() > 0 {
		n += float64(len(s.sorted) - len(s.sorted)/2)
	}
	return min(20, max(0.5, 1/(max(1./20, s.logs/n)+older)))
}

// beyond is what the tail counts, in values: one winner, and the attempts above.
func (s *sample) beyond() float64 { return (1 + s.above) / float64(s.every) }

// tailFrom is where the tail begins: at the longest winner, or beyond it at the mean age of the attempts above.
func (s *sample) tailFrom() float64 { return max(s.sorted[len(s.sorted)-1], s.from) }

// exceeds returns the chance that an attempt takes longer than that. There must be a winner.
func (s *sample) exceeds(age float64) float64 {
	beyond := s.beyond()
	all := float64(len(s.sorted)) + beyond
	first := sort.SearchFloat64s(s.sorted, age)
	if over := len(s.sorted) - first; over > 0 {
		return (float64(over) + beyond) / all
	}
	return beyond / all * math.Pow(max(1, age/s.tailFrom()), -s.index())
}

// Shares of the tail, and one value for each.
var tailAt = [...]float64{0.9, 0.7, 0.5, 0.3, 0.1}

// tail is how many times longer than the longest winner attempts take, at each share of tailAt.
type tail [len(tailAt)]float64

// tailOf is the tail of an index.
func tailOf(alpha float64) (t tail) {
	for i, u := range tailAt {
		t[i] = math.Pow(u, -1/alpha)
	}
	return t
}

// left is the law of what is left at an age: of the winners that took longer, and beyond the longest of them the tail.
func (s *sample) left(beyondAll *tail, age float64, to *timeLeft) {
	first := sort.SearchFloat64s(s.sorted, age)
	over := s.sorted[first:]
	beyond := s.beyond()
	total := float64(len(over)) + beyond
	x, w := to.room(len(over) + len(beyondAll))
	each := 1 / total
	for i, lasts := range over {
		x[i], w[i] = lasts-age, each
	}
	from := max(age, s.tailFrom())
	each = beyond / total / float64(len(tailAt))
	for i, times := range beyondAll {
		x[len(over)+i], w[len(over)+i] = from*times-age, each
	}
}
