package proc

import "sync"

// lane does one thing after the other, beside whoever orders it, on a goroutine that is there as long as something is
// to be done.
type lane struct {
	mu    sync.Mutex
	queue []func()
	busy  bool
}

// do has something done after all that was ordered before. It does not wait.
func (l *lane) do(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append(l.queue, f)
	if !l.busy {
		l.busy = true
		go l.work()
	}
}

func (l *lane) work() {
	for {
		l.mu.Lock()
		if len(l.queue) == 0 {
			l.queue, l.busy = nil, false
			l.mu.Unlock()
			return
		}
		f := l.queue[0]
		l.queue = l.queue[1:]
		l.mu.Unlock()
		f()
	}
}
