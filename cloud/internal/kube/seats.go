package kube

import (
	"cmp"
	"slices"

	"github.com/tailcut/tailcut/sched"
)

// The seats of a core are in zones, the sites of the core: those of its pool, or a single one without a name. A zone
// has as many seats as there are attempts in them, and as pods that there is room for:
//
//	seats = attempts in seats of the zone + floor(room for pods in the zone / size of a pod)
//
// The attempts are those of the zone's own pods, but for the past that a controller lives through when it starts: there
// the policy may take up a pod in a seat of another zone, since what it knew then is not all known any more. The pod
// counts where it is. In all zones together there is never room for more pods than they have slots. See decision 0108.
//
// The same holds where a pool has its slots in classes, but that a pod never is in another one than its seat.

// seating is the seats of a zone.
type seating struct {
	machines []sched.MachineID
	up       int   // of them that may be used
	taken    int   // of these, by attempts
	capacity int64 // for pods in the zone
	used     int64 // of that, by pods of attempts, there are or come to be
	pods     int64 // of that, by those that are there
	shrunk   bool  // there is less capacity than pods have already
	idle     int   // pods in the zone that no attempt stands for, as their Jobs saw last
}

// floating tells whether the seat of an attempt that ends may be one that there is no room for any more. Then it is
// taken back before the policy can give it away.
func (r *run) floating() bool { return r.unit != "" || len(r.seats) > 1 }

// seat makes as many seats usable as there is room for.
func (r *run) seat(at sched.Time) error {
	r.fits = r.need()
	before := len(r.facts)
	for z := range r.seats {
		r.oust(z, at)
	}
	if len(r.facts) > before {
		return nil // how many seats there are is found out when those have ended
	}
	room := int64(0) // in all zones
	for z := range r.seats {
		room += r.seats[z].capacity - r.seats[z].used
	}
	for z := range r.seats {
		free := max(0, min(r.seats[z].capacity-r.seats[z].used, room))
		room -= free
		if err := r.fill(z, free, at); err != nil {
			return err
		}
	}
	return nil
}

// fill makes as many seats of a zone usable as it has so much room for. Of too many, the last go.
func (r *run) fill(z int, free int64, at sched.Time) error {
	k := &r.seats[z]
	want := int(min(int64(k.taken)+free/r.fits, mostSlots))
	if want == k.up {
		return nil
	}
	for len(k.machines) < want {
		m, err := r.newSeat(z)
		if err != nil {
			return err
		}
		k.machines, r.up = append(k.machines, m), append(r.up, false)
	}
	for i := 0; i < len(k.machines) && k.up < want; i++ {
		if m := k.machines[i]; !r.up[m] {
			r.up[m] = true
			k.up++
			r.facts = append(r.facts, sched.Event{At: at, Kind: sched.MachineJoined, Machine: m})
		}
	}
	v := r.core.View()
	for i := len(k.machines) - 1; i >= 0 && k.up > want; i-- {
		if m := k.machines[i]; r.up[m] && v.Machine(m).Used == 0 {
			r.takeBack(m, at)
		}
	}
	return nil
}

// oust takes the seats of attempts that a zone has no room for. Those that have no pod get other seats, in a zone that
// has room. Pods end only if there has come to be less room: otherwise the gate of the pool holds back what is too
// much, as a large clone of a small pod is.
func (r *run) oust(z int, at sched.Time) {
	k := &r.seats[z]
	over := k.used - k.capacity
	k.shrunk = over > 0 && (k.shrunk || k.pods > k.capacity)
	if over <= 0 || !k.shrunk && len(r.seats) == 1 {
		return
	}
	var all []*attempt
	for _, a := range r.byID {
		if a.part == z && (k.shrunk || !a.seen) {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(a, b *attempt) int {
		if a.seen != b.seen {
			return map[bool]int{true: 1, false: -1}[a.seen]
		}
		return cmp.Compare(b.machine, a.machine)
	})
	for _, a := range all {
		if over > 0 {
			r.takeBack(a.machine, at)
			over -= a.of.size
		}
	}
}

// newSeat makes a machine of a part of the pool, which has one slot.
func (r *run) newSeat(part int) (sched.MachineID, error) {
	if r.classes != "" {
		return r.core.AddMachineOf(sched.Class(part), 0, 1)
	}
	return r.core.AddMachine(sched.SiteID(part), 1)
}

// partWith returns the part of the pool that a seat is in.
func (r *run) partWith(m sched.MachineID) int {
	seat := r.core.View().Machine(m)
	return max(int(seat.Site), int(seat.Class)) // one of them is 0
}

// takeBack makes a seat unusable, which ends the attempt that has it.
func (r *run) takeBack(m sched.MachineID, at sched.Time) {
	if r.up[m] {
		r.up[m] = false
		r.seats[r.partWith(m)].up--
		r.facts = append(r.facts, sched.Event{At: at, Kind: sched.MachineLost, Machine: m})
	}
}

// withdraw takes back the seat of an attempt that is about to end, before the policy can give it to a pod that there is
// no room for. What fits then is found out when the end has been told.
func (r *run) withdraw(m sched.MachineID, at sched.Time) {
	if r.floating() {
		r.takeBack(m, at)
	}
}

// settle notes in which zone the pod of an attempt is, or is to be: in that of its seat, unless it was made in another.
func (r *run) settle(a *attempt) {
	a.part, a.there = r.partWith(a.machine), false
	if s := a.of.sights[a.ref]; s != nil {
		if z := partIn(r.names, s.part); z >= 0 {
			a.part, a.there = z, s.live && !s.leaving
		}
	}
}

// occupy counts what the pod of an attempt takes, or does not take any more.
func (r *run) occupy(a *attempt, sign int64) {
	k := &r.seats[a.part]
	if k.used += sign * a.of.size; a.there {
		k.pods += sign * a.of.size
	}
}

// welcome tells whether an attempt of the core may take up a pod: not one that is in no zone of the pool, nor one of
// more pods than its zone has room for since it has shrunk.
func (r *run) welcome(a *attempt) bool {
	s := a.of.sights[a.ref]
	if s == nil || !s.live || r.names[0] == "" {
		return true
	}
	z := partIn(r.names, s.part)
	return z >= 0 && r.seats[z].pods+a.of.size <= r.seats[z].capacity
}
