package trace

import (
	"sync"
	"sync/atomic"
	"time"
)

// What is written outlives the engine, and it outlives the system once it is synced. Few who write need the second:
// what an engine starts is gone with the system as well. So records are synced together, by those who need it or a
// moment later, and a slot does not stand idle while a disk turns.

// syncEvery is how long a record may wait until it is synced although nobody waits for that.
const syncEvery = 10 * time.Millisecond

// durable is what is known of how much of a journal the disk has.
type durable struct {
	soon atomic.Bool           // it will be synced without being asked
	err  atomic.Pointer[error] // after which the disk may lack anything; kept, for a system tells it once

	mu   sync.Mutex   // held while it is synced
	size atomic.Int64 // so many bytes are on the disk
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
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.failed(); err != nil || d.size.Load() >= size { // somebody else has, or the end of it
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

// page is what a disk has as a whole or not at all.
const page = 4 << 10

// fill is called before the buffer is written. It syncs a page before the next one is begun: if a crash could leave the
// second without the first, what is unfinished would look like damage.
func (j *Journal) fill() error {
	size, synced := j.Size(), j.Synced()
	if synced == size || synced/page == (size+int64(len(j.buf))-1)/page {
		return nil
	}
	return j.Sync()
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
