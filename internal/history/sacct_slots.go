package history

import (
	"bytes"
	"strconv"
)

// sacctSlots finds the slots of a log of sacct that is about one job only. Of other logs nobody knows which job had
// which.
//
// A job with several steps is an allocation: its own row is no task, and its AllocCPUS divided by those of a step are
// the slots from its start. Of an array the element 123_[8-20%4], which is listed while elements wait, says that at
// most four run at once. sacct does not say so of an array all of whose elements have started.
type sacctSlots struct {
	cpus   int    // column, -1 if there is none
	base   string // id of the job
	others bool   // there are rows of others

	held      Record // the row of the allocation, until it is known that the log is about it only
	holds     bool
	allocated int // cpus of it
	steps     int
	each      int // cpus of each step; -1 if they differ
	throttle  int // of the array; 0 if it is not known
}

// row takes in the row of an attempt and returns true if it is held back.
func (s *sacctSlots) row(id []byte, cpus int, a *Record, emit emit) (held bool, err error) {
	base, _, isStep := bytes.Cut(id, []byte{'.'})
	switch {
	case s.base == "":
		if s.base = string(base); !isStep && !bytes.ContainsAny(base, "_+") {
			s.held, s.holds, s.allocated = *a, true, cpus
			return true, nil
		}
	case s.base == string(base) && isStep && s.holds:
		if s.steps++; s.steps == 1 {
			s.each = cpus
		} else if s.each != cpus {
			s.each = -1
		}
	case s.base != string(base) && (s.array() == "" || s.array() != sacctArray(base)):
		s.others = true
		return false, s.let(emit)
	}
	return false, nil
}

// array is the array that the log is about, "" if it is not about one.
func (s *sacctSlots) array() string { return sacctArray([]byte(s.base)) }

func sacctArray(base []byte) string {
	number, _, isElement := bytes.Cut(base, []byte{'_'})
	if !isElement {
		return ""
	}
	return string(number)
}

// waits takes in the id of elements of an array that wait, such as 123_[8-20%4].
func (s *sacctSlots) waits(id []byte) {
	_, limit, ok := bytes.Cut(bytes.TrimSuffix(id, []byte{']'}), []byte{'%'})
	n, err := strconv.Atoi(string(limit))
	if ok && err == nil && n > 0 && (s.base == "" || s.array() == sacctArray(id)) {
		s.throttle = n
	}
}

// let emits what is held back.
func (s *sacctSlots) let(emit emit) error {
	if !s.holds {
		return nil
	}
	s.holds = false
	return emit(&s.held)
}

// finish emits the row of a job that is no allocation of steps.
func (s *sacctSlots) finish(emit emit) error {
	if s.steps > 1 {
		return nil
	}
	return s.let(emit)
}

// course says how many slots there were, if the log does.
func (s *sacctSlots) course() []SlotsFrom {
	switch {
	case s.others:
	case s.array() != "" && s.throttle > 0:
		return []SlotsFrom{{Slots: s.throttle}}
	case s.steps > 1 && s.each > 0 && s.allocated >= s.each:
		return []SlotsFrom{{At: s.held.Start, Slots: s.allocated / s.each}}
	}
	return nil
}

// course says how many slots the job of the log had.
func (s *sacct) course() *Course { return &Course{Slots: s.slots.course()} }

// count reads a whole number of the row, 0 if it is not there.
func (s *sacct) count(column int) int {
	n, err := strconv.Atoi(string(bytes.TrimSpace(s.t.cell(column))))
	if err != nil {
		return 0
	}
	return n
}
