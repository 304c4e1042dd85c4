package proc

import "sync"

// slots gives each process that is there a number from 1, the lowest that is free. What the core has given up may take
// a moment to end, so that a number can be above the run's slots for so long.
type slots struct {
	mu    sync.Mutex
	taken []bool
}

func (s *slots) take() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, taken := range s.taken {
		if !taken {
			s.taken[i] = true
			return i + 1
		}
	}
	s.taken = append(s.taken, true)
	return len(s.taken)
}

// give takes a number back; 0 is none.
func (s *slots) give(slot int) {
	if slot == 0 {
		return
	}
	s.mu.Lock()
	s.taken[slot-1] = false
	s.mu.Unlock()
}
