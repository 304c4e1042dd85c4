package results

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
)

// UnderWay is a run of which a server knows how its tasks stand: its folder has no journal before it is over. Their
// states follow from the rest.
func UnderWay(out, run string, stages []string, work []byte, tasks []Result) (*Run, error) {
	r := &Run{
		Out: out, Name: run, Active: true, Stages: stages, Tasks: tasks, work: &jobfile.Work{},
		folders: proc.Folders{Root: filepath.Join(out, mapreduce.PrivateName), Run: run},
	}
	if err := json.Unmarshal(work, r.work); err != nil {
		return nil, fmt.Errorf("work of run %s: %w", run, err)
	}
	return r, r.judge()
}

// Standing is a task as a server knows it: how many attempts of it run, and if it is done the one that won, with its
// output where that is no file.
func Standing(stage, index, running, failures int, done bool, winner int, output []byte) Result {
	t := Result{Stage: stage, Index: index, Failures: failures, Attempt: winner, live: running, output: output}
	if done {
		t.State = Done
	}
	return t
}
