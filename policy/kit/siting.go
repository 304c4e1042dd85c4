package kit

import "github.com/tailcut/tailcut/sched"

// Placer chooses the sites at which pending tasks start. A policy that takes an order of jobs takes one of these
// beside it, as the parameter sites.
type Placer interface {
	Observe(v *sched.View, ev *sched.Event)

	// Plan appends sites for pending tasks of a job, which is the next in the order, and of whose tasks each is there
	// once; nothing where they had better wait. A task's site is one that Sites.Allows. There is a free slot somewhere.
	// Each place is free when those before it are taken.
	Plan(v *sched.View, j sched.JobID, to []Placement) []Placement

	// Wake returns the instant at which plan may answer otherwise although nothing happens, sched.Never if there is
	// none.
	Wake() sched.Time
}

// Placement is a task and the site where it shall start.
type Placement struct {
	Task sched.TaskID
	Site sched.SiteID
}

// siting carries out what a placing plans.
type siting struct {
	by    Placer
	stays bool // clones start at the site of the task's other attempts
	plan  []Placement
	done  int
	of    sched.JobID   // whose plan it is
	aside []sched.JobID // that shall wait for now
}

// PlacedBy returns the order with a choice of sites. Where clones stay, they start at the site of the task's other
// attempts.
func (o Order) PlacedBy(p Placer, stays bool) Order {
	o.siting = &siting{by: p, stays: stays}
	return o
}

// Confines tells whether the order starts every attempt only where data of its task may be, see sched.Confiner.
func (o *Order) Confines() bool { return o.siting != nil }

// Placing returns what chooses the sites, nil where a task starts at the first free slot.
func (o *Order) Placing() Placer {
	if o.siting == nil {
		return nil
	}
	return o.siting.by
}

// Observe keeps plans and what they are made from up to date.
func (s *siting) observe(v *sched.View, ev *sched.Event) {
	if ev.Kind != sched.JobRetired { // which changes nothing
		s.plan, s.done = s.plan[:0], 0
	}
	s.by.Observe(v, ev)
}

// planned tells whether a plan is not carried out to its end.
func (s *siting) planned() bool { return s.done < len(s.plan) }

// next returns the next launch of the plan for a job, and plans anew when there is none.
func (s *siting) next(v *sched.View, j sched.JobID) (t sched.TaskID, m sched.MachineID, ok bool) {
	if s.of != j {
		s.of, s.plan, s.done = j, s.plan[:0], 0
	}
	for fresh := false; ; fresh = true {
		for s.done < len(s.plan) {
			x := s.plan[s.done]
			s.done++
			if v.Task(x.Task).State != sched.TaskPending {
				continue // it was given a slot otherwise
			}
			if m, ok := v.Sites().FreeMachine(x.Site, 0); ok {
				return x.Task, m, true
			}
		}
		if s.plan, s.done = s.plan[:0], 0; fresh || v.FreeSlots() == 0 || v.Job(j).Pending == 0 {
			return 0, 0, false
		}
		s.plan = s.by.Plan(v, j, s.plan)
	}
}

// nextSited is next where sites are chosen: a plan is carried out to its end, whatever the order of jobs meanwhile
// is.
func (o *Order) nextSited(v *sched.View) (t sched.TaskID, m sched.MachineID, ok bool) {
	s := o.siting
	for s.done < len(s.plan) && !ok {
		t, m, ok = s.next(v, s.of)
	}
	for !ok && o.jobs.Len() > 0 && v.FreeSlots() > 0 {
		j := sched.JobID(o.jobs.Top())
		if t, m, ok = s.next(v, j); !ok {
			o.jobs.Drop(int(j))
			s.aside = append(s.aside, j)
		}
	}
	if !ok {
		o.recall(v)
	}
	return t, m, ok
}

// recall puts the jobs that were to wait for now back into the order: when all have had their turn, and when something
// has happened since, for who gave away the last slot asked no further.
func (o *Order) recall(v *sched.View) {
	for _, j := range o.siting.aside {
		o.Touch(v, j)
	}
	o.siting.aside = o.siting.aside[:0]
}

// NextOf returns a pending task of a job and the free machine that it gets; ok is false if there is none of either.
func (o *Order) NextOf(v *sched.View, j sched.JobID) (t sched.TaskID, m sched.MachineID, ok bool) {
	if o.siting != nil {
		return o.siting.next(v, j)
	}
	if t, ok = FirstPending(v, j); !ok {
		return 0, 0, false
	}
	m, ok = v.FreeMachine(0)
	return t, m, ok
}

// Settle asks to be called when tasks have waited long enough for their site.
func (o *Order) Settle(act *sched.Actions) {
	if o.siting != nil {
		act.WakeAt(o.siting.by.Wake())
	}
}

// Elsewhere returns a free machine for a clone of a running task: one on which it does not run, or else any that is
// free. Where clones stay, it is at the site of the task's youngest attempt.
func (o *Order) Elsewhere(v *sched.View, t sched.TaskID) (sched.MachineID, bool) {
	if o.siting == nil || !o.siting.stays {
		if o.shuns != nil {
			return o.shuns.Free(v, t)
		}
		return Elsewhere(v, t)
	}
	a, _ := v.FirstAttempt(t)
	site := v.Machine(v.Attempt(a).Machine).Site
	first, found := v.Sites().FreeMachine(site, 0)
	for m, ok := first, found; ok; m, ok = v.Sites().FreeMachine(site, m+1) {
		if !RunsOn(v, t, m) {
			return m, true
		}
	}
	return first, found
}

// RoomBeside returns how many slots are free for attempts of a task that starts on a machine, with that one.
func (o *Order) RoomBeside(v *sched.View, m sched.MachineID) int {
	if o.siting == nil || !o.siting.stays {
		return v.FreeSlots()
	}
	return v.Sites().FreeSlots(v.Machine(m).Site)
}
