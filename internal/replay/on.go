package replay

import "github.com/tailcut/tailcut/internal/history"

// On returns the rerun on so many slots, all the time, with what is known of its stages.
func (r *Rerun) On(slots int) *Rerun {
	other := *r
	other.steps, other.Source, other.Slots = []history.SlotsFrom{{Slots: slots}}, Asked, slots
	return &other
}

// SlotTime is for how long the slots of the log were there in all, in seconds.
func (r *Rerun) SlotTime() float64 { return r.slotTime(r.began, max(r.ended, r.lastEnd())) }
