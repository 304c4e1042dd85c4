package proc

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// watchEvery is how often attempts are looked at that have a limit which moves, or is one of memory.
const watchEvery = 100 * time.Millisecond

// watch looks at the attempts of executors that have such limits, as long as there are any.
type watch struct {
	mu   sync.Mutex
	of   map[*Executor]bool
	over chan struct{} // closed when nobody looks any more; nil while nobody does

	weigh time.Time // when memory is looked at again; who looks has it
}

// add has the attempts of an executor watched.
func (w *watch) add(e *Executor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over == nil {
		w.of, w.over = map[*Executor]bool{}, make(chan struct{})
		go w.run(w.over)
	}
	w.of[e] = true
}

// drop ends that.
func (w *watch) drop(e *Executor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.of, e); len(w.of) == 0 && w.over != nil {
		close(w.over)
		w.over = nil
	}
}

func (w *watch) run(over chan struct{}) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-over:
			return
		case now := <-tick.C:
			w.look(now)
		}
	}
}

// look has all executors end the attempts that are over their limits. Memory is read once for all.
func (w *watch) look(now time.Time) {
	w.mu.Lock()
	all := slices.Collect(maps.Keys(w.of))
	w.mu.Unlock()
	var used residents
	memory := func() residents {
		if used == nil && !now.Before(w.weigh) {
			var cost time.Duration
			used, cost = timedResidents()
			w.weigh = now.Add(20 * cost) // a twentieth of a processor is enough for that
		}
		return used
	}
	for _, e := range all {
		e.look(now, memory)
	}
}
