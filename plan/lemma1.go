package plan

import (
	"math"

	"github.com/tailcut/tailcut/laws"
)

// Verdict is the answer of Lemma 1's test.
type Verdict uint8

// The answers: one side of (8) is never the smaller, they are equal, or each is the larger somewhere.
const (
	Inconclusive Verdict = iota
	PreferKeep
	PreferKill
	Equal
)

// String returns keep, kill, equal or inconclusive.
func (v Verdict) String() string {
	return [...]string{"inconclusive", "keep", "kill", "equal"}[v]
}

// sides notes which side of (8) was seen to be larger: bit 0 the right (keep), bit 1 the left (kill).
type sides uint8

func (s sides) verdict() Verdict {
	return [...]Verdict{Equal, PreferKeep, PreferKill, Inconclusive}[s]
}

// compare notes one comparison of left and right with a tolerance relative to the larger.
func (s *sides) compare(left, right, tolerance float64) {
	switch d := left - right; {
	case d > tolerance*left:
		*s |= 2
	case -d > tolerance*right:
		*s |= 1
	}
}

// Lemma1 compares what is left of a straggler's original with a fresh attempt at a fork at Q = F⁻¹(1-p), p = s/n:
//
//	P(X > x+Q)/p >= P(X > x) for all x >= 0: killing gives lower latency and cost     (8)
//	the reverse for all x >= 0: keeping does
//
// Of a sample it compares the integers n·#(> x+Q) and s·#(> x) at every step, so that equality is equality. No law with
// a largest value can be certified "kill": just below that value the left side is 0. So of samples the answer is keep
// or inconclusive unless Q = 0, even where killing clearly wins: then compare outcomes. Of a law that is no sample it
// compares at 2,000 quantiles with a tolerance of 1e-10, which is evidence and no proof. It wants 1 <= s <= n.
func Lemma1(l laws.Law, tasks, stragglers int) Verdict {
	if stragglers >= tasks {
		return Equal // the fork is at the start, and there is nothing to kill
	}
	var seen sides
	switch e, ok := l.(*laws.Empirical); {
	case ok:
		seen = compareSample(e, tasks, stragglers)
	case laws.Atoms(l) != nil:
		seen = compareAtoms(laws.Atoms(l), tasks, stragglers)
	default:
		seen = compareLaw(l, tasks, stragglers)
	}
	return seen.verdict()
}

// compareSample walks over the steps of both sides at once.
func compareSample(e *laws.Empirical, tasks, stragglers int) sides {
	var seen sides
	size := int64(e.Size())
	// Q is the least value with upTo/size >= k/n.
	fork := 0
	for _, _, upTo := e.Value(fork); int64(upTo)*int64(tasks) < size*int64(tasks-stragglers); _, _, upTo = e.Value(fork) {
		fork++
	}
	q, _, upTo := e.Value(fork)
	left, right := size-int64(upTo), size // #(> x+Q) and #(> x)
	d := e.Distinct()
	old, fresh := fork+1, 0 // the next value to pass on either side
	for x := 0.0; ; {
		for old < d && valueOf(e, old)-q <= x {
			_, _, upTo := e.Value(old)
			left = size - int64(upTo)
			old++
		}
		for fresh < d && valueOf(e, fresh) <= x {
			_, _, upTo := e.Value(fresh)
			right = size - int64(upTo)
			fresh++
		}
		switch a, b := int64(tasks)*left, int64(stragglers)*right; {
		case a > b:
			seen |= 2
		case a < b:
			seen |= 1
		}
		if fresh == d {
			return seen
		}
		x = valueOf(e, fresh)
		if old < d {
			x = min(x, valueOf(e, old)-q)
		}
	}
}

func valueOf(e *laws.Empirical, i int) float64 {
	v, _, _ := e.Value(i)
	return v
}

// compareAtoms does the same in floating point.
func compareAtoms(atoms []laws.Atom, tasks, stragglers int) sides {
	var seen sides
	d := discrete{atoms: atoms, tasks: tasks}
	share := float64(stragglers) / float64(tasks)
	fork := 0
	for fork < len(atoms)-1 && atoms[fork].CDF < 1-share {
		fork++
	}
	left := atoms[fork].Survival / share
	d.residuals(fork, func(_, _, old, fresh float64) { seen.compare(left*old, fresh, tie) })
	if left == 0 {
		return 1
	}
	if last := len(atoms) - 1; fork > 0 || atoms[last].Value > 0 {
		// beyond the last residual, below the last value, there is only the right side
		seen |= 1
	}
	return seen
}

// compareLaw looks at the quantiles of the law and those less Q.
func compareLaw(l laws.Law, tasks, stragglers int) sides {
	var seen sides
	share := float64(stragglers) / float64(tasks)
	q := l.InvSurvival(share)
	look := func(x float64) {
		if left := l.Survival(x + q); x >= 0 && !math.IsInf(x, 1) && l.Survival(x) > 1e-200 {
			seen.compare(left/share, l.Survival(x), 1e-10)
		}
	}
	look(0)
	for i := range 1000 {
		w := float64(i-300) / 10 // of log(F/Fb), from -30 to 70
		x := l.InvSurvival(1 / (1 + math.Exp(w)))
		look(x)
		look(x - q)
	}
	return seen
}
