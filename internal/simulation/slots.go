package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// slotsPerMachine is a number, or a number for each class of slots.
type slotsPerMachine struct {
	names []string // of the classes; empty for a number
	each  []int    // by class, at least one
}

// parseSlots reads N or NAME=N,NAME=N for so many machines.
func parseSlots(text string, machines int) (s slotsPerMachine, err error) {
	left := 1 << 30 / machines
	for part := range strings.SplitSeq(text, ",") {
		name, number, named := strings.Cut(part, "=")
		if !named {
			name, number = "", part
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > 1<<16 || n > left {
			return s, fmt.Errorf("expected a number between 1 and %d, and at most %d slots in all, or one for each class such as map=2,shuffle=2, not %q",
				1<<16, 1<<30, text)
		}
		left -= n
		switch {
		case named && name == "" || len(s.each) > 0 && (!named || len(s.names) == 0):
			return s, fmt.Errorf("expected a number or NAME=NUMBER,NAME=NUMBER, not %q", text)
		case slices.Contains(s.names, name):
			return s, fmt.Errorf("expected each class once, %q is there twice", name)
		case len(s.each) == sched.Classes:
			return s, fmt.Errorf("expected at most %d classes of slots", sched.Classes)
		case named:
			s.names = append(s.names, name)
		}
		s.each = append(s.each, n)
	}
	return s, nil
}

// all returns the slots of a machine, but for those of drivers.
func (s slotsPerMachine) all() (n int) {
	for class, each := range s.each {
		if class >= len(s.names) || s.names[class] != trace.Driver {
			n += each
		}
	}
	return n
}

// drive adds slots for all that drivers do, if the workload has some and nobody says how many there are. It tells
// whether it has.
func (s *slotsPerMachine) drive(w *trace.Workload, machines int) bool {
	driver, tasks, _ := w.Driven()
	if driver < 0 || slices.Contains(s.names, trace.Driver) || len(s.each) == sched.Classes {
		return false
	}
	if len(s.names) == 0 {
		s.names = []string{""}
	}
	s.names, s.each = append(s.names, trace.Driver), append(s.each, tasks/machines+1)
	return true
}
