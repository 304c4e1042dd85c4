package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// TestJournalHasBytes: the journal of a run says what each map and shuffle task has written, as it is on the disk, so
// that what a stage will read can be foretold from it, in a replay too. The reduces fail, for
// the parts to be there still.
func TestJournalHasBytes(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte(strings.Repeat("some words of a line\n", 400)), 0o600); err != nil {
		t.Fatal(err)
	}
	job := jobfile.Job{MapReduce: &mapreduce.Request{
		Operator: mapreduce.Operator{Name: "streaming", Mapper: "cat", Reducer: "false"}, Inputs: []string{in}, Reducers: 3, SplitSize: 700,
	}}
	_, err := do(t, t.Context(), Options{
		Job: job, Output: out, Slots: 4, Classes: []ClassSlots{{"map", 2}, {"shuffle", 2}}, Policy: "fifo",
	})
	if err == nil {
		t.Fatal("the reduces did not fail")
	}
	reader, err := trace.OpenJournalReader(filepath.Join(out, "_tailcut", "journal"))
	if err != nil {
		t.Fatal(err)
	}
	var told [2][]int64 // by the tasks of the stages map and shuffle
	core, err := live.Replay(reader, policyOf, func(core *sched.Core, b *trace.Batch) {
		for _, d := range b.Decisions {
			if d.Kind != sched.Commit {
				continue
			}
			for _, f := range b.Facts {
				if f.Kind == sched.AttemptDone && f.Attempt == d.Attempt {
					told[d.Stage] = append(told[d.Stage], f.Bytes)
				}
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for stage, readers := range []int64{1, 3} {
		var read, written int64
		for _, bytes := range told[stage] {
			read += bytes
		}
		parts, err := filepath.Glob(filepath.Join(out, "_tailcut", "*", "done", []string{"0", "1"}[stage], "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			info, err := os.Stat(part)
			if err != nil {
				t.Fatal(err)
			}
			written += info.Size()
		}
		st := core.View().Stage(sched.StageID(stage))
		if n := len(told[stage]); n != int(st.Tasks) || written < 400 || read*readers > written || read*readers < written-readers*int64(n) {
			t.Errorf("stage %d: %d of %d tasks say that each of %d readers reads %d bytes, %d are on the disk", stage, n, st.Tasks, readers, read, written)
		}
		if got, ok := core.View().Sites().Foretold(sched.StageID(stage), sched.StageID(stage+1)); !ok || got != float64(read*readers) {
			t.Errorf("stage %d: %v bytes are foretold, want %d", stage, got, read*readers)
		}
	}
}
