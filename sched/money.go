package sched

import (
	"fmt"
	"math"
	"math/bits"
)

// Money is an amount in billionths of the unit that prices are given in, whichever that is: dollars, euros, credits. It
// is an integer, as Time is, so that sums do not depend on the order of their terms. Amounts are rounded once for each
// fetch and each slot, to the nearest: at 0.02 for a gigabyte a byte costs a fiftieth of a billionth.
type Money int64

// Unit is one of whatever prices are given in.
const Unit Money = 1e9

// MostPrice bounds the price of a gigabyte and of an hour.
const MostPrice = 1e6 * Unit

// Units returns the amount in units.
func (m Money) Units() float64 { return float64(m) / float64(Unit) }

const (
	gigabyte = 1_000_000_000
	hour     = 3600 * Second
)

// Toll returns the price of moving so many bytes from one site to another: nothing within a site. It is rounded to the
// nearest, a half upwards, and ends at the largest amount that there is.
func (n *Network) Toll(from, to SiteID, bytes int64) Money {
	if n.Price == nil || from == to {
		return 0
	}
	return n.Price[int(from)*len(n.Names)+int(to)].times(bytes, gigabyte)
}

// Hire returns the price of a slot of a site for so long, rounded likewise.
func (n *Network) Hire(k SiteID, d Time) Money {
	if n.Rent == nil {
		return 0
	}
	return n.Rent[k].times(int64(d), int64(hour))
}

// Priced tells whether anything costs money.
func (n *Network) Priced() bool { return n.Price != nil || n.Rent != nil }

// times returns m x/each, for an x of at least 0.
func (m Money) times(x, each int64) Money {
	hi, lo := bits.Mul64(uint64(m), uint64(x))
	lo, carry := bits.Add64(lo, uint64(each)/2, 0)
	if hi += carry; hi >= uint64(each) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(each))
	return Money(min(q, math.MaxInt64))
}

func (n *Network) validatePrices() error {
	k := len(n.Names)
	if n.Price != nil && len(n.Price) != k*k || n.Rent != nil && len(n.Rent) != k {
		return fmt.Errorf("%d prices of links and %d of slots: %d sites have %d pairs", len(n.Price), len(n.Rent), k, k*k)
	}
	for i, p := range n.Price {
		if p < 0 || p > MostPrice {
			return fmt.Errorf("price from %s to %s: %d is not between 0 and %d", n.Names[i/k], n.Names[i%k], p, MostPrice)
		}
	}
	for i, p := range n.Rent {
		if p < 0 || p > MostPrice {
			return fmt.Errorf("rent of a slot at %s: %d is not between 0 and %d", n.Names[i], p, MostPrice)
		}
	}
	return nil
}
