package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// strides writes twenty lines, each a stride of its own, and goes on where another attempt has stopped. Half-way it says
// so and waits until it may go on.
const strides = `n=${TAILCUT_RESUME_OFFSET:-0}
while [ $n -lt 20 ]; do
	if [ $n = 10 ]; then
		echo half >half-$TAILCUT_TASK
		until [ -e go ]; do sleep 0.02; done
	fi
	sleep 0.02
	echo "line $((n + 1))" >$TAILCUT_OUTPUT/$n
	n=$((n + 1))
	printf '0.%03d %d\n' $((n * 1000 / 21)) $n >&3
done`

// A policy takes a slot from a long job for a short one that comes later. Where tasks can resume, the long job loses
// next to nothing: what is taken up again goes on from what was saved. Where they cannot, the attempt is ended, and
// its time is fruitless.
func TestPreemption(t *testing.T) {
	for _, resumable := range []bool{true, false} {
		t.Run(fmt.Sprintf("resumable %v", resumable), func(t *testing.T) {
			dir := t.TempDir()
			s := startServed(t, filepath.Join(dir, "server"))
			defer s.end(t)
			limits := sched.DefaultLimits()
			limits.Attempts = 1 // a clone is fruitless, too
			if err := s.engine.SetPolicy(t.Context(), "srew:preempt=true,slot=0s", 1, limits); err != nil {
				t.Fatal(err)
			}
			long := commands(strides)
			long.Array.Stages[0].Tasks, long.Array.Stages[0].Resumable = 2, resumable
			out := filepath.Join(dir, "long")
			first := s.give(t, Submission{Job: long, Output: out, Dir: dir})
			for i := range 2 {
				await(t, filepath.Join(dir, fmt.Sprintf("half-%d", i)))
			}
			if resumable {
				s.hears(t, first, 0.4)
			}
			short := commands("sleep 0.2")
			short.Array.Stages[0].Tasks = 1
			second := s.give(t, Submission{Job: short, Output: filepath.Join(dir, "short"), Dir: dir})

			s.wait(t, second) // the long job waits for it
			if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			res := s.wait(t, first)
			if res.Summary.State != "succeeded" {
				t.Fatalf("the long job has %s: %s", res.Summary.State, res.Error)
			}
			preempted, resumed, thrown := 0, 0, 0.0
			for _, r := range recordsIn(t, out) {
				ran := (r.Stop - r.Start).Seconds()
				switch {
				case r.End == live.Killed && !r.Clone:
					preempted++
					thrown += ran
				case r.From > 0 && r.Source != r.Number:
					resumed++
				}
			}
			if preempted == 0 {
				t.Error("nothing was preempted")
			}
			if resumable {
				if resumed == 0 {
					t.Error("nothing was taken up again")
				}
				for i := range 2 {
					var want strings.Builder
					for n := range 20 {
						fmt.Fprintf(&want, "line %d\n", n+1)
					}
					if got := slurp(t, fmt.Sprintf("%s/part-%05d", out, i)); got != want.String() {
						t.Errorf("task %d wrote %q", i, got)
					}
				}
			}
			lost := res.Summary.Fruitless.Seconds()
			if resumable && lost >= thrown || !resumable && lost < 0.9*thrown {
				t.Errorf("%.2f s are fruitless; what was preempted had run for %.2f s", lost, thrown)
			}
			t.Logf("preempted %d, resumed %d, fruitful %.2f s, fruitless %.2f s", preempted, resumed, res.Summary.Fruitful.Seconds(), lost)
		})
	}
}

// hears waits until all attempts of a job that run have told the server that they are so far: what was not told nobody can
// go on from.
func (s *served) hears(t *testing.T, id sched.JobID, far float64) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		least := 1.0
		err := s.engine.Look(t.Context(), func(sight live.Sight) {
			v := sight.View()
			stage := v.Job(id).FirstStage
			for task, ok := v.RunningTask(stage, 0); ok; task, ok = v.RunningTask(stage, task+1) {
				a, _ := v.FirstAttempt(task)
				least = min(least, v.Attempt(a).Progress)
			}
		})
		if err == nil && least >= far {
			return
		}
		if err != nil || time.Since(began) > time.Minute {
			t.Fatalf("an attempt has told of %v, expected %v (%v)", least, far, err)
		}
	}
}

// await waits for a file.
func await(t *testing.T, path string) {
	t.Helper()
	for began := time.Now(); isMissing(path); time.Sleep(5 * time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("%s does not come", path)
		}
	}
}

// recordsIn returns the attempts of a job by the journal in its folder.
func recordsIn(t *testing.T, out string) []live.Record {
	t.Helper()
	reader, err := trace.OpenJournalReader(filepath.Join(out, "_tailcut", "journal"))
	if err != nil {
		t.Fatal(err)
	}
	records, err := live.Lives(reader, policyOf, nil)
	if err != nil {
		t.Fatal(err)
	}
	return records
}
