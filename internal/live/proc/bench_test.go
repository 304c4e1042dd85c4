//go:build linux

package proc

import (
	"testing"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// BenchmarkAttempts runs attempts of true on two slots, without a core and a journal: what an attempt costs the executor.
func BenchmarkAttempts(b *testing.B) {
	dir := b.TempDir()
	e, err := New(Config{
		Folders: Folders{Root: dir + "/_tailcut", Run: "0123456789abcdef"}, Out: dir, Run: "bench", Stages: 1,
		Work: &jobfile.Work{Dir: dir, Array: &jobfile.Array{Stages: []jobfile.Stage{{Name: "tasks", Tasks: b.N + 2, Command: []string{"true"}}}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	}()
	next := 0
	start := func() {
		e.Start(live.Attempt{ID: sched.AttemptID(next), Index: next})
		next++
	}
	b.ResetTimer()
	start()
	start()
	for range b.N {
		if rep := <-e.Reports(); rep.Kind != sched.AttemptDone {
			b.Fatalf("%+v", rep)
		}
		start()
	}
	b.StopTimer()
}
