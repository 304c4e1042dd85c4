package simulation

import (
	"cmp"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sim"
)

// BillFigures are what a run cost, or runs on average, in the unit that the cluster's prices are in. All is nil if
// nothing has a price.
type BillFigures struct {
	MovedBytes  *float64 `json:"moved_bytes,omitempty"`  // between sites
	Money       *float64 `json:"money,omitempty"`        // in all
	MoneyMoved  *float64 `json:"money_moved,omitempty"`  // of that, for moved bytes
	MoneySlots  *float64 `json:"money_slots,omitempty"`  // and for slots
	MoneyClones *float64 `json:"money_clones,omitempty"` // of all of it, for clones
}

// billColumns are the fields of BillFigures.
var billColumns = []string{"moved_bytes", "money", "money_moved", "money_slots", "money_clones"}

// priced tells whether anything has a price.
func (r *Result) priced() bool { return r.Money != "" }

// moneyOf names the unit of a cluster's prices; "" if nothing has a price.
func moneyOf(c *sim.Cluster) string {
	if c == nil || !c.Network.Priced() {
		return ""
	}
	return cmp.Or(c.Money, "units")
}

// bill makes figures of what shows each part.
func (r *Result) bill(show func(of func(*sim.Cell) float64) float64) (f BillFigures) {
	if !r.priced() {
		return f
	}
	return BillFigures{
		MovedBytes: new(show(movedBytes)), Money: new(show(money)), MoneyMoved: new(show(moneyMoved)), MoneySlots: new(show(moneySlots)), MoneyClones: new(show(moneyClones)),
	}
}

func movedBytes(c *sim.Cell) float64  { return float64(c.Bill.Bytes) }
func money(c *sim.Cell) float64       { return c.Bill.Money().Units() }
func moneyMoved(c *sim.Cell) float64  { return c.Bill.Moved.Units() }
func moneySlots(c *sim.Cell) float64  { return c.Bill.Slots.Units() }
func moneyClones(c *sim.Cell) float64 { return c.Bill.Clones.Units() }

// billHeader and billRow are the columns of the table for people.
func (r *Result) billHeader() []any { return []any{"moved", r.Money, "for clones"} }

func (r *Result) billRow(policy int) []any {
	mean := func(of func(*sim.Cell) float64) float64 { return r.Mean(policy, of).Mean }
	return []any{
		show.Bytes(int64(mean(movedBytes))), priceOf(r.Mean(policy, money)), show.Percent(mean(func(c *sim.Cell) float64 { return moneyClones(c) / max(money(c), 1e-9) })),
	}
}
