package timeline

import (
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// lanes gives every attempt a slot of its machine: the first that is free. A machine gets as many as it ever used at
// once, because the core knows how many slots a machine has and not which of them an attempt has.
type lanes struct {
	free  [][]sched.Time // by machine and slot: since when it is free; Never if it is not
	first [][]uint32     // by machine and slot: its position in the table
	rows  []SlotRow
	known []SlotRow // by machine: its name and site
}

// take returns the position of the slot that an attempt has from an instant on.
func (l *lanes) take(m sched.MachineID, at sched.Time) uint32 {
	for int(m) >= len(l.free) {
		l.free, l.first = append(l.free, nil), append(l.first, nil)
	}
	k := slices.IndexFunc(l.free[m], func(since sched.Time) bool { return since <= at })
	if k < 0 {
		k = len(l.free[m])
		row := SlotRow{Number: k}
		if int(m) < len(l.known) {
			row = l.known[m]
			row.Number = k
		}
		l.free[m], l.first[m] = append(l.free[m], sched.Never), append(l.first[m], uint32(len(l.rows)))
		l.rows = append(l.rows, row)
	}
	l.free[m][k] = sched.Never
	return l.first[m][k]
}

// give says that a slot of a machine is free from an instant on.
func (l *lanes) give(m sched.MachineID, slot uint32, at sched.Time) {
	l.free[m][slices.Index(l.first[m], slot)] = at
}
