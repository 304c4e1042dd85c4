//go:build linux

package proc

import (
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// An engine that removes its lock at its end, because nothing was begun, leaves no two others with a lock each.
func TestLockRunRemoved(t *testing.T) {
	t.Parallel() // it waits
	f := Folders{Root: t.TempDir()}
	var holders, taken atomic.Int64
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 2000 {
				lock, err := LockRun(f)
				if err != nil {
					continue
				}
				if holders.Add(1) > 1 {
					t.Error("two engines have the lock")
				}
				taken.Add(1)
				time.Sleep(20 * time.Microsecond)
				holders.Add(-1)
				_ = os.Remove(f.Lock())
				lock.Close()
			}
		})
	}
	group.Wait()
	if taken.Load() == 0 {
		t.Error("nobody had the lock")
	}
}

// What an engine was starting when it was killed has its lock a moment longer; the next engine waits for that, and for no more.
func TestLockRunHeldOn(t *testing.T) {
	t.Parallel() // it waits
	f := Folders{Root: t.TempDir()}
	first, err := LockRun(f)
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := LockRun(f); err == nil || time.Since(began) < lastGasp {
		t.Errorf("%v after %s", err, time.Since(began))
	}
	time.AfterFunc(lastGasp/4, func() { first.Close() })
	second, err := LockRun(f)
	if err != nil {
		t.Fatal(err)
	}
	second.Close()
}
