//go:build !linux

package proc

import "sync"

// keeper starts processes and waits for them.
type keeper struct {
	ended func(*process)
	mu    sync.Mutex // one order at a time
}

func newKeeper(ended func(*process)) (*keeper, error) { return &keeper{ended: ended}, nil }

// order has do called, soon.
func (k *keeper) order(do func()) {
	go func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		do()
	}()
}

func (k *keeper) stop() {}

// keep follows a process to its end.
func (k *keeper) keep(p *process) {
	go func() {
		buf := make([]byte, 4<<10)
		for n, err := 0, error(nil); err == nil; n, err = p.progress.Read(buf) {
			k.mu.Lock()
			p.hear(buf[:n])
			k.mu.Unlock()
		}
	}()
	go func() {
		p.how = waitFor(p.pid)
		k.order(func() { k.ended(p) })
	}()
}
