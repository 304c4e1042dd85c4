package proc

import (
	"sync"
	"time"
)

// A teller passes on what an attempt tells of its progress, at most once in a while, from its start on. Of what comes
// in between the last is told when that is over: who tells much at once and then works for an hour has told how far it
// was. Who has read all its input in the first instant does not seem to hang in the next.
type teller struct {
	every time.Duration
	tell  func(progress float64) // is not called after hush

	mu    sync.Mutex
	last  time.Time // something was told, or it began
	next  float64   // is told when the timer fires
	timer *time.Timer
	over  bool
}

func (t *teller) say(progress float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = progress
	switch wait := t.every - time.Since(t.last); {
	case t.over, t.timer != nil:
	case wait > 0:
		t.timer = time.AfterFunc(wait, t.fire)
	default:
		t.last = time.Now()
		t.tell(progress)
	}
}

func (t *teller) fire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer = nil; !t.over {
		t.last = time.Now()
		t.tell(t.next)
	}
}

// hush lets it tell nothing more: its attempt has ended.
func (t *teller) hush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over = true; t.timer != nil {
		t.timer.Stop()
	}
}
