//go:build !linux

package proc

import (
	"sync"
	"time"
)

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
	heard := make(chan struct{})
	go func() {
		defer close(heard)
		defer p.errs.close()
		buf := make([]byte, 4<<10)
		for n, err := 0, error(nil); err == nil; n, err = p.errs.Read(buf) {
			k.mu.Lock()
			select {
			case <-p.ended: // it was left by an attempt that has ended
			default:
				p.hearErr(buf[:n])
			}
			k.mu.Unlock()
		}
	}()
	go func() {
		p.how = waitFor(p.pid)
		select {
		case <-heard:
		case <-time.After(dying): // what the attempt left behind has it
		}
		k.order(func() { k.ended(p) })
	}()
}
