package overlap

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
)

// twinFill is what [twin] keeps from one event to the next under FillSRPT: the share that was settled, and for whom.
type twinFill struct {
	crowd string
	lot   float64
	in    float64 // seconds until g catches up with h
}

func (f *twinFill) catches() float64 {
	if f == nil {
		return math.Inf(1)
	}
	return f.in
}

func heavyFirst(a, b Demand) int {
	heavy := func(j Demand) int {
		if j.Shuffle > j.Map {
			return 0
		}
		return 1
	}
	return cmp.Compare(heavy(a), heavy(b))
}

// fill is FillSRPT by definition.
func (t *twin) fill(present []*twinJob) {
	if t.filling == nil {
		t.filling = new(twinFill)
	}
	f := t.filling
	f.in = math.Inf(1)
	left := func(j *twinJob) float64 { return max(j.x, j.y) }
	sorted := slices.SortedFunc(slices.Values(present), func(a, b *twinJob) int {
		return cmp.Or(cmp.Compare(left(a), left(b)), heavyFirst(a.Demand, b.Demand), cmp.Compare(a.index, b.index))
	})
	g := slices.IndexFunc(sorted, func(j *twinJob) bool { return j.Shuffle > j.Map })
	if g >= 0 && left(sorted[g]) <= left(sorted[0])*(1+1e-12) { // it has caught up, but for rounding
		sorted[0], sorted[g] = sorted[g], sorted[0]
		g = 0
	}
	stock := slices.ContainsFunc(sorted, (*twinJob).stock)
	if h := sorted[0]; stock || g <= 0 || h.Shuffle >= h.Map {
		f.crowd = ""
		giveMap(sorted, 1)
		giveShuffle(sorted, 1)
		return
	}
	crowd := ""
	for _, j := range present {
		crowd += fmt.Sprint(j.index, " ")
	}
	if crowd != f.crowd {
		f.crowd, f.lot = crowd, t.lot(sorted, g)
	}
	h, next := sorted[0], sorted[g]
	rh, rg := h.Shuffle/h.Map, next.Shuffle/next.Map
	q := f.lot * (1 - rh) / (rg - rh)
	h.mapRate, next.mapRate = 1-q, q
	h.take, next.take = h.released(), next.released()
	if falls := next.take - h.mapRate; falls > 0 {
		f.in = (next.y - h.x) / falls
	}
}

// lot is the part of q that the g-th of the sorted jobs gets.
func (t *twin) lot(sorted []*twinJob, g int) float64 {
	others, heavy := 0, 0
	for _, j := range sorted {
		switch {
		case j.Shuffle > j.Map:
			heavy++
		case j.x < sorted[g].y:
			others++
		}
	}
	if float64(heavy)*(sorted[g].Shuffle-sorted[g].Map/2) > float64(others)*sorted[g].Map {
		return 1
	}
	// The system was last empty when the last job came that found all before it done.
	var x, y float64
	for i, j := range t.jobs {
		if j.Arrival > t.clock {
			break
		}
		if !slices.ContainsFunc(t.jobs[:i], func(b *twinJob) bool { return !b.done || b.completion > j.Arrival }) {
			x, y = 0, 0
		}
		x, y = x+j.Map, y+j.Shuffle
	}
	if y >= x {
		return 0.5
	}
	return 0
}

type exactFill struct {
	crowd   string
	lot     *big.Rat
	catches *big.Rat // seconds until g catches up with h, nil for never
}

func (e *exact) fill(present []*exactJob) {
	heavy := func(j *exactJob) bool { return j.work.Cmp(j.size) > 0 }
	slices.SortStableFunc(present, func(a, b *exactJob) int {
		c := larger(a.x, a.y).Cmp(larger(b.x, b.y))
		switch {
		case c != 0 || heavy(a) == heavy(b):
			return c
		case heavy(a):
			return -1
		}
		return 1
	})
	g := slices.IndexFunc(present, heavy)
	h := present[0]
	stock := slices.ContainsFunc(present, func(j *exactJob) bool { return j.backlog().Sign() > 0 })
	if stock || g <= 0 || h.work.Cmp(h.size) >= 0 {
		e.fills.crowd = ""
		exactMap(present, one)
		exactShuffle(present, one)
		return
	}
	next := present[g]
	crowd := ""
	for _, j := range slices.SortedFunc(slices.Values(present), func(a, b *exactJob) int { return a.index - b.index }) {
		crowd += fmt.Sprint(j.index, " ")
	}
	if crowd != e.fills.crowd {
		e.fills.crowd, e.fills.lot = crowd, e.lot(present, next)
	}
	rh, rg := quo(h.work, h.size), quo(next.work, next.size)
	q := mul(e.fills.lot, quo(sub(one, rh), sub(rg, rh)))
	h.mapRate, next.mapRate = sub(one, q), q
	h.take, next.take = h.released(), next.released()
	if falls := sub(next.take, h.mapRate); falls.Sign() > 0 {
		e.fills.catches = quo(sub(next.y, h.x), falls)
	}
}

func (e *exact) lot(present []*exactJob, g *exactJob) *big.Rat {
	var others, heavies int64
	for _, j := range present {
		switch {
		case j.work.Cmp(j.size) > 0:
			heavies++
		case j.x.Cmp(g.y) < 0:
			others++
		}
	}
	if mul(big.NewRat(heavies, 1), sub(g.work, quo(g.size, big.NewRat(2, 1)))).Cmp(mul(big.NewRat(others, 1), g.size)) > 0 {
		return one
	}
	x, y := zero, zero
	for i, j := range e.jobs {
		if j.arrival.Cmp(e.clock) > 0 {
			break
		}
		if !slices.ContainsFunc(e.jobs[:i], func(b *exactJob) bool { return b.finish == nil || b.finish.Cmp(j.arrival) > 0 }) {
			x, y = zero, zero
		}
		x, y = add(x, j.size), add(y, j.work)
	}
	if y.Cmp(x) >= 0 {
		return big.NewRat(1, 2)
	}
	return zero
}

// Worked out by hand.
func TestFillExamples(t *testing.T) {
	for _, c := range []struct {
		name string
		jobs []Demand
		want []float64
	}{
		// q = (1-1/4)/(17/4-1/4) = 3/16, and 1*(17/4-1/2) > 1: the first is mapped in 4/(13/16), and the shuffle station never idles.
		// MaxSRPT takes 4 and 8.25.
		{"it pays", []Demand{{Map: 4, Shuffle: 1}, {Map: 1, Shuffle: 4.25}}, []float64{64. / 13, 5.25}},
		// Equal in max(x, y): the one with y > x goes first, is mapped in 1 and shuffled until 4; the other is mapped from 1 to 5.
		{"a tie", []Demand{{Map: 4, Shuffle: 1}, {Map: 1, Shuffle: 4}}, []float64{5, 4}},
		// 1*(2-1/2) is not more than 2, and 4 of shuffle work came with 5.5 of map work: at first as under MaxSRPT. From 2 on it is more
		// than 1: q = (1-1/4)/(2-1/4) = 3/7, and both end after 2/(4/7) = 1.5/(3/7) seconds.
		{"it does not", []Demand{{Map: 2, Shuffle: 0.5}, {Map: 2, Shuffle: 0.5}, {Map: 1.5, Shuffle: 3}}, []float64{2, 5.5, 5.5}},
		// The same, but as much shuffle work came: half of q, 3/14, is for the third until 2/(11/14), and then q for 3.5 s. By then
		// 6/11+3/2 of it is mapped and twice that shuffled, which leaves 87/11.
		{"half", []Demand{{Map: 2, Shuffle: 0.5}, {Map: 2, Shuffle: 0.5}, {Map: 6, Shuffle: 12}}, []float64{28. / 11, 133. / 22, 307. / 22}},
	} {
		got := completions(Discipline{Kind: FillSRPT}, c.jobs)
		for i, want := range c.want {
			near(t, fmt.Sprint(c.name, ", job ", i), got[i], want, 1e-9)
		}
		if exact := runExact(Discipline{Kind: FillSRPT}, c.jobs); !slices.EqualFunc(got, exact, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%s: %v, in rationals %v", c.name, got, exact)
		}
	}
}
