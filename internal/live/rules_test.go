package live

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// A journal from before the failures of clones counted for nothing is replayed as it was written: there the job fails.
func TestOldRules(t *testing.T) {
	for name, x := range map[string]struct {
		rules int
		state sched.JobState
	}{
		"today": {trace.JournalRules, sched.JobActive},
		"old":   {0, sched.JobBroken},
	} {
		t.Run(name, func(t *testing.T) {
			h := header(1, 1, 1)
			h.Rules = x.rules
			path := journalPath(t)
			j, err := trace.CreateJournal(path, h)
			if err != nil {
				t.Fatal(err)
			}
			core, err := newCore(h, &nervous{patience: sched.Second})
			if err != nil {
				t.Fatal(err)
			}
			running := map[uint32]sched.AttemptID{}
			step := func(at sched.Time, facts ...sched.Event) {
				for i := range facts {
					facts[i].At = at
				}
				b := trace.Batch{Now: at, Facts: facts}
				if b.Decisions, err = core.Advance(at, facts); err != nil {
					t.Fatal(err)
				}
				for _, d := range b.Decisions {
					if d.Kind == sched.Launch {
						running[d.Number] = d.Attempt
					}
				}
				if err := j.Append(&b, false); err != nil {
					t.Fatal(err)
				}
			}
			step(0, sched.Event{Kind: sched.MachineJoined}, sched.Event{Kind: sched.JobArrived})
			step(sched.Second)
			step(2*sched.Second, sched.Event{Kind: sched.AttemptFailed, Attempt: running[1]})
			step(3*sched.Second, sched.Event{Kind: sched.AttemptFailed, Attempt: running[0]})
			step(4*sched.Second, sched.Event{Kind: sched.MachineLost}) // the job has used up its retries, or it has not
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if s := core.View().Job(job).State; s != x.state || core.View().Job(job).Failures != 2 {
				t.Errorf("the job is in state %d after %d failures, want %d after 2", s, core.View().Job(job).Failures, x.state)
			}
			mustReplay(t, path, time.Second)
			for _, b := range batches(t, path) { // the other rules would have told otherwise
				if slices.ContainsFunc(b.Decisions, func(d sched.Decision) bool { return d.Kind == sched.Close }) != (x.state == sched.JobBroken && b.Now == 4*sched.Second) {
					t.Errorf("decisions at %v: %+v", b.Now, b.Decisions)
				}
			}
			r, err := trace.OpenJournalReader(path)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Rules = 1 - x.rules
			var diverged *DivergedError
			if _, err := Replay(r, always(&nervous{patience: sched.Second}), nil); !errors.As(err, &diverged) {
				t.Errorf("under the other rules: %v, want another decision", err)
			}
		})
	}
}
