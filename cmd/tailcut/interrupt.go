package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// patience is how long a verb that only computes may take to end when it is interrupted. Then the process ends without
// it: what it would have printed nobody waits for, and its files have no names yet.
const patience = 50 * time.Millisecond

// errHungUp is the cause of a context that is done because the terminal has closed.
var errHungUp = errors.New("the terminal has closed")

// hearHangup ends a context when the terminal closes, unless that is ignored, as under nohup. It goes on to hear: the
// system and the shell each say so, and only another signal is of somebody who does not want to wait.
func hearHangup(end context.CancelCauseFunc) (stop func()) {
	if signal.Ignored(syscall.SIGHUP) {
		return func() {}
	}
	came, over := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(came, syscall.SIGHUP)
	go func() {
		select {
		case <-came:
			end(errHungUp)
		case <-over:
		}
	}()
	return func() {
		signal.Stop(came)
		close(over)
	}
}

// ownEndKey is the key of a context's flag for a verb that ends by itself.
type ownEndKey struct{}

// endsItself says that the verb has processes or a journal to bring to an end when it is interrupted: it is waited for.
func endsItself(ctx context.Context) {
	if own, ok := ctx.Value(ownEndKey{}).(*atomic.Bool); ok {
		own.Store(true)
	}
}

// interruptible calls a verb and returns what it does, or after an interrupt the context's error, whatever the verb is
// at: a sum of a minute, or a read from a terminal.
func interruptible(ctx context.Context, verb func(context.Context) error) error {
	var own atomic.Bool
	done := make(chan error, 1)
	go func() { done <- verb(context.WithValue(ctx, ownEndKey{}, &own)) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if own.Load() {
		return <-done
	}
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		unfinished.remove()
		return ctx.Err()
	}
}

// partFiles are the files of a process that are being written, under the names that they have until they are complete.
type partFiles struct {
	mu    sync.Mutex
	names map[string]bool
	over  bool // no more are begun
}

var unfinished partFiles

// begin adds a file. It never returns once the process ends: who would write a file then has been given up.
func (p *partFiles) begin(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		select {}
	}
	if p.names == nil {
		p.names = map[string]bool{}
	}
	p.names[name] = true
}

func (p *partFiles) end(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.names, name)
}

// remove deletes the files.
func (p *partFiles) remove() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	for name := range p.names {
		_ = os.Remove(name)
	}
}
