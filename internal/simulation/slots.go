package simulation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// slotsPerMachine is a number, a number for each class of slots, or one for each machine.
type slotsPerMachine struct {
	names []string // of the classes; empty for a number
	each  []int    // by class, at least one
	sizes []int    // of class 0 by machine, instead of each[0]; nil if all machines have as many
}

// mostSlots bounds those of all machines together.
const mostSlots = 1 << 30

// parseSlots reads N, NAME=N,NAME=N, or MACHINESxN,MACHINESxN for so many machines.
func parseSlots(text string, machines int) (s slotsPerMachine, err error) {
	if strings.Contains(text, "x") && !strings.Contains(text, "=") {
		return parseSizes(text, machines)
	}
	left := mostSlots / machines
	for part := range strings.SplitSeq(text, ",") {
		name, number, named := strings.Cut(part, "=")
		if !named {
			name, number = "", part
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > 1<<16 || n > left {
			return s, fmt.Errorf("expected a number between 1 and %d, and at most %d slots in all, or one for each class such as map=2,shuffle=2, not %q",
				1<<16, mostSlots, text)
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

// parseSizes reads MACHINESxN,MACHINESxN, which names every machine.
func parseSizes(text string, machines int) (s slotsPerMachine, err error) {
	s.each = []int{1}
	left := mostSlots
	for part := range strings.SplitSeq(text, ",") {
		count, number, _ := strings.Cut(part, "x")
		m, err := strconv.Atoi(count)
		n, wrong := strconv.Atoi(number)
		if err != nil || wrong != nil || m < 1 || n < 1 || n > 1<<16 || m > machines-len(s.sizes) || m*n > left {
			return s, fmt.Errorf("expected MACHINESxSLOTS,MACHINESxSLOTS such as 40x2,10x16, which add up to %d machines, not %q", machines, text)
		}
		left -= m * n
		s.sizes = append(s.sizes, slices.Repeat([]int{n}, m)...)
	}
	if len(s.sizes) != machines {
		return s, fmt.Errorf("expected sizes of %d machines, not %q, which are %d", machines, text, len(s.sizes))
	}
	return s, nil
}

// of returns the slots of so many machines, but for those of drivers.
func (s slotsPerMachine) of(machines int) (n int) {
	for _, size := range s.sizes {
		n += size
	}
	for class, each := range s.each {
		if (class > 0 || s.sizes == nil) && (class >= len(s.names) || s.names[class] != trace.Driver) {
			n += machines * each
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
