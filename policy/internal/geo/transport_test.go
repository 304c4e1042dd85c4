package geo

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// enumerate looks at every answer of a problem: how many units of each group go, the earlier groups first, the least cost of the dearest unit, the least sum under that, and the least
// sum at all.
func enumerate(x *Transport) (goes []int32, dearest, sumUnder, sum float64) {
	room := append([]int32(nil), x.Room...)
	sent := make([]int32, len(x.Supply))
	var place func(g int, left int32, worst, total float64)
	place = func(g int, left int32, worst, total float64) {
		for g < len(x.Supply) && left == 0 {
			if g++; g < len(x.Supply) {
				left = x.Supply[g]
			}
		}
		if g == len(x.Supply) {
			switch slices.Compare(sent, goes) {
			case -1:
				return
			case 1:
				goes, dearest, sumUnder, sum = slices.Clone(sent), math.Inf(1), math.Inf(1), math.Inf(1)
			}
			if worst < dearest || worst == dearest && total < sumUnder {
				dearest, sumUnder = worst, total
			}
			sum = min(sum, total)
			return
		}
		for k := range room {
			if c := x.costs[g*x.Sites+k]; room[k] > 0 && !math.IsInf(c, 1) {
				room[k]--
				sent[g]++
				place(g, left-1, max(worst, c), total+c)
				sent[g]--
				room[k]++
			}
		}
		place(g, left-1, worst, total) // it stays out
	}
	place(0, x.Supply[0], 0, 0)
	return goes, dearest, sumUnder, sum
}

// total returns the sum and the dearest unit of the answer, and whether it is one.
func (x *Transport) total(t *testing.T) (sum, dearest float64) {
	at := make([]int32, x.Sites)
	for g := range x.Supply {
		n := int32(0)
		for k := range at {
			m := x.Sent[g*x.Sites+k]
			if m < 0 {
				t.Fatalf("%d units sent", m)
			}
			if m > 0 {
				sum += float64(m) * x.costs[g*x.Sites+k]
				dearest = max(dearest, x.costs[g*x.Sites+k])
			}
			n, at[k] = n+m, at[k]+m
		}
		if n != x.Supply[g] {
			t.Fatalf("group %d: %d of %d units are sent", g, n, x.Supply[g])
		}
	}
	for k := range at {
		if at[k] > x.Room[k] {
			t.Fatalf("site %d: %d units in room for %d", k, at[k], x.Room[k])
		}
	}
	return sum, dearest
}

// TestTransportAgainstEnumeration checks both objectives on small problems with many ties, little room, and some sites where groups may not go. There are many of them, for
// paths that push others on where prices matter are rare.
func TestTransportAgainstEnumeration(t *testing.T) {
	var x Transport
	crowded, out := 0, 0
	r := rand.New(rand.NewPCG(7, 7))
	for range 20_000 {
		sites, groups := 1+r.IntN(4), 1+r.IntN(3)
		x.Reset(sites)
		need := int32(0)
		for range groups {
			n := int32(1 + r.IntN(2))
			need += n
			for k, costs := 0, x.Group(n); k < sites; k++ {
				if costs[k] = float64(r.IntN(10)); r.IntN(10) == 0 {
					costs[k] = math.Inf(1)
				}
			}
		}
		for k := range x.Room {
			x.Room[k] = int32(r.IntN(3))
			need -= x.Room[k]
		}
		if r.IntN(4) > 0 {
			x.Room[r.IntN(sites)] += max(0, need)
		}
		goes, dearest, sumUnder, sum := enumerate(&x)
		if !slices.Equal(goes, x.Supply) {
			out++
		}
		got := x.Solve()
		if got != dearest || !slices.Equal(x.Supply, goes) {
			t.Fatalf("dearest %v of %v, want %v of %v: %+v", got, x.Supply, dearest, goes, x)
		}
		if s, d := x.total(t); math.Abs(s-sumUnder) > 1e-9 || d != dearest {
			t.Fatalf("sum %v and dearest %v, want %v and %v: %+v", s, d, sumUnder, dearest, x)
		}
		if math.IsNaN(x.cheapest()) {
			crowded++
		}
		x.send(false, math.Inf(1))
		if s, _ := x.total(t); math.Abs(s-sum) > 1e-9 {
			t.Fatalf("sum %v, want %v: %+v", s, sum, x)
		}
	}
	if out < 1000 {
		t.Errorf("only %d problems where units stay out", out)
	}
	if crowded < 5000 {
		t.Errorf("only %d problems where cheapest sites are full", crowded)
	}
}

// BenchmarkTransport sends 400 groups of tasks, 2,000 in all, to 100 sites of which few have much room.
func BenchmarkTransport(b *testing.B) {
	var x Transport
	for b.Loop() {
		x.Reset(100)
		for g := range 400 {
			for k, costs := 0, x.Group(5); k < 100; k++ {
				costs[k] = float64((g*31+k*17)%97) + float64(k)
			}
		}
		for k := range x.Room {
			x.Room[k] = int32(40 - k%30)
		}
		if d := x.Solve(); math.IsInf(d, 1) || d == 0 {
			b.Fatal("no answer")
		}
	}
}
