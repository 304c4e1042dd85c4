package trace

import (
	"sync"
	"sync/atomic"
	"time"
)

// What is written outlives the engine, and it outlives the system once it is synced. Few who write need the second:
// what an engine starts is gone with the system as well. So records are synced together, by those who need it or a
// moment later, and a slot does not stand idle while a disk turns.
//
// A disk may have a later page of what was not synced and lack an earlier one. So each record says how much the disk
// had for sure when it was written. A record that does not check can have been lacking if none behind it says that the
// disk had it; else it is damaged.

// syncEvery is how long a record may wait until it is synced although nobody waits for that.
const syncEvery = 10 * time.Millisecond

// mostUnsynced is how much the disk may lack, or one record that is longer: with a disk that does not answer, a crash
// of the system loses no more.
const mostUnsynced = 1 << 20

// durable is what is known of how much of a journal the disk has.
type durable struct {
	soon atomic.Bool           // it will be synced without being asked
	err  atomic.Pointer[error] // after which the disk may lack anything; kept, for a system tells it once

	mu     sync.Mutex   // held while it is synced
	size   atomic.Int64 // so many bytes are on the disk
	closed bool
}

func (d *durable) failed() error {
	if err := d.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Sync waits until all that has been written before is on the disk.
func (j *Journal) Sync() error { return j.SyncTo(j.size.Load()) }

// SyncTo waits until so many bytes are on the disk, from the beginning.
func (j *Journal) SyncTo(size int64) error {
	d := &j.disk
	if err := d.failed(); err != nil || d.size.Load() >= size {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.failed(); err != nil || d.size.Load() >= size || d.closed { // somebody else has, or the end of it
		return err
	}
	written := j.size.Load()
	if err := syncData(j.file); err != nil {
		err = j.named(err)
		d.err.Store(&err)
		return err
	}
	d.size.Store(written)
	return nil
}

// Synced returns how many bytes of the journal the disk has for sure.
func (j *Journal) Synced() int64 { return j.disk.size.Load() }

// wait is called before the buffer is written. A journal whose records do not tell what the disk has may lack one only:
// what else is unfinished would look like damage.
func (j *Journal) wait() error {
	if !j.tells {
		return j.Sync()
	}
	size := j.Size()
	return j.SyncTo(min(size, size+int64(len(j.buf))-mostUnsynced))
}

// syncSoon has Sync called in a moment. Who appends next hears of its failure.
func (j *Journal) syncSoon() {
	if j.disk.soon.CompareAndSwap(false, true) {
		time.AfterFunc(syncEvery, func() {
			j.disk.soon.Store(false)
			_ = j.Sync()
		})
	}
}
