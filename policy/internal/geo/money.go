package geo

// What an attempt at a site costs beside time. A policy that chooses sites minimises seconds + money x price, where
// money is how many seconds a unit of money is worth: 0 by default. The price of a site is what the bytes cost that an
// attempt fetches to it, and what its slot does for as long as it is expected to have it. Prices are not learned: they
// are in a contract. Where data of the task may not be the price is infinite.

import (
	"math"

	"github.com/tailcut/tailcut/policy/kit"
	"github.com/tailcut/tailcut/sched"
)

var moneyParam = kit.Param{
	Name: "money", Kind: kit.Float, Default: "0", Max: 1e12, Help: "seconds that a unit of money is worth, where links or slots have prices: expected seconds plus money times the price decide where a task starts, and a clone has to save as much",
}

// Toll returns in seconds what an attempt of a task that reads from these sources costs at a site, where it is expected
// to have its slot for so many seconds: +Inf if its data may not be there.
func (w *LinkWatch) Toll(v *sched.View, t sched.TaskID, sources []sched.Source, to sched.SiteID, seconds float64) float64 {
	if !v.Sites().Allows(t, to) {
		return math.Inf(1)
	}
	if !w.pays(v) {
		return 0
	}
	n, price := v.Sites().Network(), 0.0
	for _, x := range sources {
		price += n.Toll(x.Site, to, x.Bytes).Units()
	}
	if n.Rent != nil {
		price += n.Rent[to].Units() * seconds / 3600
	}
	return w.money * price
}

// Charges tells whether some site may cost a task anything.
func (w *LinkWatch) Charges(v *sched.View, t sched.TaskID) bool {
	return v.Sites().Zone(t) != 0 || w.pays(v)
}

// pays tells whether anything has a price, and money is worth some time.
func (w *LinkWatch) pays(v *sched.View) bool {
	n := v.Sites().Network()
	return w.money > 0 && n != nil && n.Priced()
}

// Worth returns the seconds that a unit of money is worth where bytes that are moved have a price, else 0.
func (w *LinkWatch) Worth(v *sched.View) float64 {
	if !w.pays(v) || v.Sites().Network().Price == nil {
		return 0
	}
	return w.money
}
