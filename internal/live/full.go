package live

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tailcut/tailcut/trace"
)

// The disk of an engine's journal may be full. What cannot be written down is not done: the loop waits, with all that
// has happened in its hands, and what runs goes on to its end. When there is room it goes on by itself. Who looks
// meanwhile sees how all stood when it began to wait, and what that would have started next; who wants to change
// anything is refused. Submissions are refused before: while there is little room, it is for what runs.

const (
	roomEvery = time.Second // how often a record is tried again that could not be written
	reserve   = 256 << 10   // bytes that submissions leave to what runs
)

// crowded is what an engine knows of the room for its journal.
type crowded struct {
	told    bool   // of a record that could not be written
	size    int64  // of the segment, below which no other is begun, for there was no room for one
	refused *error // of who waits for another segment, see Engine.SetPolicy; nil for nobody
}

// record appends a batch to the journal. In an Engine it waits until there is room.
func (l *loop) record(b *trace.Batch) error {
	for {
		err := l.journal.Append(b, mustSync(b))
		if l.host == nil {
			return err
		}
		if !errors.Is(err, trace.ErrNoRoom) {
			l.host.crowded.told = false
			return err
		}
		if !l.host.awaitRoom(err) {
			return fmt.Errorf("%w; make room there and start again: nothing that was accepted is lost", err)
		}
	}
}

// awaitRoom waits before a record is tried again. It returns false if the engine is to end.
func (e *Engine) awaitRoom(why error) bool {
	if !e.crowded.told && e.watch.Short != nil {
		e.watch.Short(fmt.Sprintf("%v: nothing starts and nothing is taken in until there is", why))
	}
	e.crowded.told = true
	e.taken = slices.DeleteFunc(e.taken, func(a *ask) bool {
		if a.reads {
			a.answer(nil)
		}
		return a.reads
	})
	again := time.NewTimer(roomEvery)
	defer again.Stop()
	for {
		select {
		case <-e.ending:
			return false
		case <-again.C:
			return true
		case a := <-e.asks:
			if a.reads {
				a.answer(a.do())
			} else {
				a.done <- why
			}
		}
	}
}

// refused tells whether there was no room for a new segment. Then the old one goes on, and another is tried later.
func (e *Engine) refused(err error) bool {
	who := e.crowded.refused
	e.crowded.refused = nil
	if !errors.Is(err, trace.ErrNoRoom) {
		return false
	}
	if who != nil {
		*who = err
	}
	e.crowded.size = e.journal.Size() + max(1, e.cfg.Segment/8)
	return true
}

// roomFor refuses a submission that would take the last room of the disk.
func (e *Engine) roomFor(j *trace.JournalJob) error {
	need := int64(reserve + len(j.Command) + len(j.Work))
	for i := range j.Spec.Stages {
		need += 8 * int64(len(j.Spec.Stages[i].Done))
	}
	return trace.CheckRoom(e.cfg.Folder, need)
}
