package sched

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestToll(t *testing.T) {
	n := &Network{
		Names: []string{"a", "b"}, Bandwidth: []float64{1, 1, 1, 1},
		Price: []Money{9, 20_000_000, 0, 9}, Rent: []Money{0, 360 * Unit},
	}
	if err := n.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from, to SiteID
		bytes    int64
		want     Money
	}{
		{0, 0, 1 << 60, 0},                        // within a site
		{1, 0, 1 << 60, 0},                        // free
		{0, 1, 1e9, 20_000_000},                   // 0.02 for a gigabyte
		{0, 1, 25, 1},                             // half a billionth
		{0, 1, 24, 0},                             // less
		{0, 1, math.MaxInt64, 184467440737095516}, // 9.2e9 GB
	} {
		if got := n.Toll(c.from, c.to, c.bytes); got != c.want {
			t.Errorf("%d bytes from %d to %d cost %d, want %d", c.bytes, c.from, c.to, got, c.want)
		}
	}
	if got := n.Hire(1, 10*Second); got != Unit {
		t.Errorf("ten seconds at 360 an hour cost %d, want %d", got, Unit)
	}
	if got := n.Hire(0, Never); got != 0 {
		t.Errorf("a free slot costs %d", got)
	}
	if free := (&Network{Names: n.Names}); free.Priced() || free.Toll(0, 1, 1e9) != 0 || free.Hire(0, Never) != 0 {
		t.Error("a network without prices has some")
	}
	for _, c := range []struct {
		price, rent []Money
		want        string
	}{
		{[]Money{1}, nil, "1 prices of links and 0 of slots: 2 sites have 4 pairs"},
		{nil, []Money{1}, "0 prices of links and 1 of slots"},
		{[]Money{0, -1, 0, 0}, nil, "price from a to b: -1"},
		{nil, []Money{0, MostPrice + 1}, "rent of a slot at b"},
	} {
		x := *n
		x.Price, x.Rent = c.price, c.rent
		if err := x.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v %v gives %v, want %q", c.price, c.rent, err, c.want)
		}
	}
}

// TestTollIsExact compares with integers of any size.
func TestTollIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Int64Range(0, int64(MostPrice)).Draw(t, "price")
		x := rapid.Int64Range(0, math.MaxInt64).Draw(t, "bytes")
		want := new(big.Int).Mul(big.NewInt(m), big.NewInt(x))
		want.Add(want, big.NewInt(gigabyte/2)).Quo(want, big.NewInt(gigabyte))
		if !want.IsInt64() {
			want.SetInt64(math.MaxInt64)
		}
		if got := Money(m).times(x, gigabyte); int64(got) != want.Int64() {
			t.Fatalf("%d x %d: %d, want %v", m, x, got, want)
		}
	})
}
