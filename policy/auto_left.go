package policy

import (
	"math"
	"slices"
)

// timeLeft is the law of a time in seconds: a few values with weights that sum to 1, ascending.
type timeLeft struct {
	x, w []float64
}

func (t *timeLeft) clear() { t.x, t.w = t.x[:0], t.w[:0] }

func (t *timeLeft) put(x, w float64) { t.x, t.w = append(t.x, x), append(t.w, w) }

// set makes it a copy.
func (t *timeLeft) set(o *timeLeft) {
	t.x, t.w = append(t.x[:0], o.x...), append(t.w[:0], o.w...)
}

// insert puts a value where it belongs.
func (t *timeLeft) insert(x, w float64) {
	t.put(x, w)
	for i := len(t.x) - 1; i > 0 && t.x[i-1] > x; i-- {
		t.x[i], t.x[i-1] = t.x[i-1], t.x[i]
		t.w[i], t.w[i-1] = t.w[i-1], t.w[i]
	}
}

func (t *timeLeft) mean() float64 {
	sum := 0.0
	for i, x := range t.x {
		sum += x * t.w[i]
	}
	return sum
}

// perSuccess returns what it takes of a slot until one attempt is done, if each is given up at the best age: the least
// of E[min(x, t)] / P(x <= t). It is the inverse of Gittins' index.
func (t *timeLeft) perSuccess() float64 {
	least, sum, done := math.Inf(1), 0.0, 0.0
	for i, x := range t.x {
		sum += x * t.w[i]
		done += t.w[i]
		least = min(least, (sum+x*max(0, 1-done))/done)
	}
	return least
}

// quantile returns the time that is exceeded with a chance of at most share.
func (t *timeLeft) quantile(share float64) float64 {
	left := 1.0
	for i, x := range t.x {
		if left -= t.w[i]; left <= share {
			return x
		}
	}
	return t.x[len(t.x)-1]
}

// room makes room for n values, which are to be set.
func (t *timeLeft) room(n int) (x, w []float64) {
	t.x, t.w = slices.Grow(t.x[:0], n)[:n], slices.Grow(t.w[:0], n)[:n]
	return t.x, t.w
}

// cut keeps the first n values.
func (t *timeLeft) cut(n int) { t.x, t.w = t.x[:n], t.w[:n] }

// first is the law of the earlier of two times that do not depend on each other.
func (t *timeLeft) first(a, b *timeLeft) {
	x, w := t.room(len(a.x) + len(b.x))
	n, i, k := 0, 0, 0
	for left, right := 1.0, 1.0; i < len(a.x) && k < len(b.x); n++ {
		was := left * right
		if a.x[i] <= b.x[k] {
			left -= a.w[i]
			x[n] = a.x[i]
			i++
		} else {
			right -= b.w[k]
			x[n] = b.x[k]
			k++
		}
		w[n] = was - left*right
	}
	t.cut(n)
}

// meanOfFirst is the mean of first, of this time and another one.
func (t *timeLeft) meanOfFirst(o *timeLeft) float64 {
	sum, left, right, i, k := 0.0, 1.0, 1.0, 0, 0
	for i < len(t.x) && k < len(o.x) {
		was := left * right
		if t.x[i] <= o.x[k] {
			left -= t.w[i]
			sum += t.x[i] * (was - left*right)
			i++
		} else {
			right -= o.w[k]
			sum += o.x[k] * (was - left*right)
			k++
		}
	}
	return sum
}

// before returns the chance that a time is less than another one, which does not depend on it.
func (t *timeLeft) before(o *timeLeft) (chance float64) {
	left, k := 1.0, 0
	for i, x := range t.x {
		for ; k < len(o.x) && o.x[k] <= x; k++ {
			left -= o.w[k]
		}
		chance += t.w[i] * left
	}
	return chance
}

// kernel is how wide each value stands for its neighbourhood when a report is weighed against it, as a deviation of the
// logarithm.
const kernel = 0.3

// weigh is the law once a report has said how much is left, with an error whose logarithm has a deviation of low if it
// is below 0 and of high if it is above, see errorLaw: Bayes' rule for values that each stand for a lognormal law of
// deviation kernel, all of which is on the side on which its middle is. A good report moves all values to what it says,
// a bad one hardly changes their weights.
func (t *timeLeft) weigh(says, low, high float64) {
	if says <= 0 {
		t.clear()
		t.put(0, 1)
		return
	}
	logged := math.Log(says)
	// of the variance of a value and the report
	inverse := [...]float64{1 / (kernel*kernel + high*high), 1 / (kernel*kernel + low*low)}
	side := func(d float64) int {
		if d > 0 {
			return 1
		}
		return 0
	}
	nearest := math.Inf(1)
	for i, x := range t.x {
		d := math.Log(max(x, 1e-9)) - logged
		nearest = min(nearest, d*d*inverse[side(d)])
		t.x[i] = d
	}
	sum := 0.0
	for i, d := range t.x {
		by := inverse[side(d)]
		t.w[i] *= math.Exp((nearest - d*d*by) / 2)
		sum += t.w[i]
		t.x[i] = says * math.Exp(d*(1-kernel*kernel*by))
	}
	for i := range t.w {
		t.w[i] /= sum
	}
}

// after is the law once some time has passed without an end. What is not done when it should be may last as long again.
func (t *timeLeft) after(since float64) {
	if since <= 0 {
		return
	}
	n, sum := 0, 0.0
	for i, x := range t.x {
		if x > since {
			t.x[n], t.w[n] = x-since, t.w[i]
			sum += t.w[i]
			n++
		}
	}
	t.cut(n)
	if sum < 1e-9 {
		t.again(since)
		return
	}
	for i := range t.w {
		t.w[i] /= sum
	}
}

// longAgain is the index of Pareto's law by which something takes as long again on average.
const longAgain = 2

// again is the law of what has lasted so long that nothing else is known of it: it takes as long again on average, and
// 0.73 of that by the few values that stand for the law.
func (t *timeLeft) again(age float64) {
	t.clear()
	for _, u := range tailAt {
		t.put(age*(math.Pow(u, -1./longAgain)-1), 1/float64(len(tailAt)))
	}
}
