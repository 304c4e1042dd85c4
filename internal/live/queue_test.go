package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/cputime"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// Thousands of jobs in a queue cost memory and nothing else: under 20 kB each, no executor, no goroutine, no record of
// the journal. Whoever asks at the same time shares a sync, and an engine that takes them up is soon there.
func TestEngineQueues(t *testing.T) {
	const jobs, clients = 10000, 50
	folder := t.TempDir()
	environment, err := json.Marshal(map[string]string{"environment": strings.Repeat("PATH=/usr/bin:/bin ", 150)})
	if err != nil {
		t.Fatal(err)
	}
	open := func() *Engine {
		e, err := OpenEngine(Config{
			Folder: folder, Version: "test", Policy: "nervous", Limits: sched.DefaultLimits(), Policies: always(&nervous{patience: sched.Time(never)}),
			Machines: []trace.JournalMachine{{Name: "m", Slots: 1}}, Reports: func() <-chan Report { return nil },
			Open: func(*Job) (Executor, error) { return idle{}, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	ctx, cancel := context.WithCancel(t.Context())
	e, ended := open(), make(chan error)
	go func() {
		err := e.Loop(ctx)
		if err != nil {
			t.Error(err)
		}
		ended <- err
	}()
	before := heap()
	begun := time.Now()
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			for i := c; i < jobs; i += clients {
				j := jobOf(fmt.Sprint("job", i), 10, 10)
				j.Work = bytes.Clone(environment)
				if _, err := e.Submit(ctx, j); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	took := time.Since(begun)
	each := (heap() - before) / jobs
	t.Logf("%d jobs in %v, %d bytes each, journal of %d kB", jobs, took, each, e.journal.Size()>>10)
	if each > 20<<10 {
		t.Errorf("a queued job takes %d bytes", each)
	}
	if n := runtime.NumGoroutine(); n > 20 {
		t.Errorf("%d goroutines", n)
	}
	var size int64
	if err := e.Look(ctx, func(Sight) { size = e.journal.Size() }); err != nil {
		t.Fatal(err)
	}
	cpu := cputime.Used()
	time.Sleep(time.Second)
	if err := e.Look(ctx, func(Sight) { size -= e.journal.Size() }); err != nil || size != 0 {
		t.Errorf("an engine in which one attempt runs writes %d bytes a second, %v", -size, err)
	}
	t.Logf("a second of waiting takes %v of a processor", cputime.Used()-cpu)
	begun = time.Now()
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	t.Logf("stopped in %v, segment of %d kB", time.Since(begun), e.journal.Size()>>10)
	begun = time.Now()
	e = open()
	t.Logf("taken up in %v", time.Since(begun))
	if n := len(e.Jobs()); n != jobs {
		t.Errorf("%d jobs are there", n)
	}
	if err := e.journal.Close(); err != nil {
		t.Error(err)
	}
}

// idle is an executor whose attempts never end.
type idle struct{ Executor }

func (idle) Start(Attempt)        {}
func (idle) Kill(sched.AttemptID) {}
func (idle) Clean() error         { return nil }
func (idle) Close() error         { return nil }

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
