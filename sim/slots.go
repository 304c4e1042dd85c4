package sim

import "github.com/tailcut/tailcut/sched"

// A machine with slots of several classes has an id in the core for each: machine m of M has m for its slots of class
// 0, M+m for those of class 1, and so on. The rest of the simulator knows the machine by the first.

// slots returns the slots of the whole cluster, of all classes together.
func (o *Options) slots() int {
	if o.Cluster != nil {
		return o.Cluster.Slots()
	}
	sum := 0
	for m := range o.Machines {
		sum += o.slotsOf(m)
	}
	for _, n := range o.More {
		sum += o.Machines * n
	}
	return sum
}

// slotsOf returns the slots of class 0 of a machine.
func (o *Options) slotsOf(m int) int {
	if o.Sizes != nil {
		return o.Sizes[m]
	}
	return max(o.Slots, 1)
}

// addMachines makes the machines known to the core and has them join.
func (s *Simulator) addMachines() error {
	if s.geo != nil {
		return s.addSites()
	}
	for class := range len(s.o.More) + 1 {
		for m := range s.o.Machines {
			slots := s.o.slotsOf(m)
			if class > 0 {
				slots = s.o.More[class-1]
			}
			if _, err := s.core.AddMachineOf(sched.Class(class), 0, slots); err != nil {
				return err
			}
		}
	}
	for m := range s.o.Machines {
		s.back = append(s.back, sched.MachineID(m))
	}
	if s.present != nil {
		s.back = s.back[:s.present.count]
	}
	return nil
}

// tell appends what has happened to machines, and so to their slots of every class. Where machines come and go, those
// of other classes than 0 join at the beginning and stay.
func (s *Simulator) tell(kind sched.EventKind, machines []sched.MachineID) {
	for class := range len(s.o.More) + 1 {
		switch {
		case class == 0 || s.present == nil:
			for _, m := range machines {
				delete(s.dying, m+sched.MachineID(class*s.o.Machines))
				s.facts = append(s.facts, sched.Event{At: s.now, Kind: kind, Machine: m + sched.MachineID(class*s.o.Machines)})
			}
		case s.steps == 1 && kind == sched.MachineJoined:
			for m := range s.o.Machines {
				s.facts = append(s.facts, sched.Event{At: s.now, Kind: kind, Machine: sched.MachineID(m + class*s.o.Machines)})
			}
		}
	}
}

// machine returns the machine that an id of the core's belongs to.
func (s *Simulator) machine(id sched.MachineID) sched.MachineID {
	return id % sched.MachineID(s.o.Machines)
}
