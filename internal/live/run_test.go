package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

const ms = time.Millisecond

// never is more patience than any test has.
const never = time.Hour

// alike lets every attempt take as long and do well.
func alike(d time.Duration) func(Attempt) fate { return func(Attempt) fate { return fate{takes: d} } }

// story runs a test in virtual time with a journal in memory.
func story(t *testing.T, tell func(t *testing.T, path string)) {
	t.Helper()
	path := journalPath(t)
	synctest.Test(t, func(t *testing.T) { tell(t, path) })
}

// finish lets a run go to its end.
func finish(t *testing.T, r *Run, exec *fake) *Summary {
	t.Helper()
	defer exec.Close()
	if err := r.Loop(t.Context(), exec, Watcher{}); err != nil {
		t.Fatal(err)
	}
	return r.Summary()
}

func TestRunInOrder(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		exec := newFake(t, newDisk(), func(a Attempt) fate { return fate{takes: 10*ms + time.Duration(a.Index)*ms} })
		r := create(t, path, header(1, 0, 3, 1), never)
		exec.hook = func(deed string, p place) {
			if deed == "reports" || deed == "clean" || deed == "publish" {
				return
			}
			ds := batches(t, path)
			last := ds[len(ds)-1]
			found := false
			for _, d := range last.Decisions {
				found = found || d.Kind == map[string]sched.DecisionKind{"start": sched.Launch, "commit": sched.Commit}[deed] && int(d.Number) == p.Number
			}
			if !found {
				t.Errorf("%s %v is not in the last record of the journal", deed, p)
			}
		}
		s := finish(t, r, exec)
		want := []string{
			"clean 0/0#0", "start 0/0#0", "start 0/1#0",
			"commit 0/0#0", "start 0/2#0", "commit 0/1#0",
			"commit 0/2#0", "start 1/0#0", "commit 1/0#0", "publish 0/0#0",
		}
		if d := cmp.Diff(want, exec.log); d != "" {
			t.Errorf("deeds (-want +got):\n%s", d)
		}
		if s.State != "succeeded" || s.Flow != sched.Time(32*ms) || s.Fruitful != sched.Time(43*ms) || s.Fruitless != 0 {
			t.Errorf("summary: %+v", s)
		}
		if d := cmp.Diff([]StageSummary{{"stage0", 3, 3, 0, 3, 0.022}, {"stage1", 1, 1, 0, 1, 0.01}}, s.Stages); d != "" {
			t.Errorf("stages (-want +got):\n%s", d)
		}
		mustReplay(t, path, never)
	})
}

// A task loses its machine three times. That is no failure, of which this job forgives none; the task waits again, and the machine is used again at once.
func TestRunLosesMachine(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		exec := newFake(t, newDisk(), func(a Attempt) fate {
			if a.Index == 1 {
				return fate{takes: 10 * ms, lost: a.Number < 3}
			}
			return fate{takes: 3 * ms} // the others are over when the machine is lost
		})
		s := finish(t, create(t, path, header(2, 0, 3), never), exec)
		if s.State != "succeeded" || s.Attempts != 6 || s.Flow != sched.Time(40*ms) {
			t.Errorf("summary: %+v\n%v", s, exec.log)
		}
		mustReplay(t, path, never)
	})
}

// One task straggles twentyfold; its clone wins, and the summary says so.
func TestRunStraggler(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		exec := newFake(t, newDisk(), func(a Attempt) fate {
			if a.Index == 3 && a.Number == 0 {
				return fate{takes: 200 * ms}
			}
			return fate{takes: 10 * ms}
		})
		defer exec.Close()
		var ended []string
		r := create(t, path, header(1, 0, 6), 50*ms)
		err := r.Loop(t.Context(), exec, Watcher{Ended: func(r *Record, _ Report) {
			ended = append(ended, fmt.Sprintf("%d#%d %s", r.Index, r.Number, r.End))
		}})
		if err != nil {
			t.Fatal(err)
		}
		s := r.Summary()
		if s.Clones != 1 || s.Attempts != 7 || s.Retries != 0 || exec.disk.done[[2]int{0, 3}] != (place{0, 3, 1}) {
			t.Errorf("summary %+v, results %v", s, exec.disk.done)
		}
		// It started at 10 ms, was cloned 50 ms later and lost to the clone after another 10 ms.
		if w := s.Straggler; w == nil || w.Index != 3 || w.Number != 0 || w.End != Lost || w.Stop-w.Start != sched.Time(60*ms) || s.StragglerOver != 6 {
			t.Errorf("the worst straggler is %+v, %v times the median", w, s.StragglerOver)
		}
		if s.Fruitful != sched.Time(60*ms) || s.Fruitless != sched.Time(60*ms) {
			t.Errorf("fruitful %v, fruitless %v", s.Fruitful, s.Fruitless)
		}
		if got := strings.Join(ended[len(ended)-2:], ", "); got != "3#1 won, 3#0 lost" {
			t.Errorf("the last to end were %s", got)
		}
	})
}

func TestRunRetries(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		exec := newFake(t, newDisk(), func(a Attempt) fate { return fate{takes: 10 * ms, fails: a.Index == 1 && a.Number < 2} })
		s := finish(t, create(t, path, header(1, 2, 3), never), exec)
		if s.State != "succeeded" || s.Retries != 2 || s.Attempts != 5 || s.Clones != 0 || s.Fruitless != sched.Time(20*ms) {
			t.Errorf("summary: %+v", s)
		}
	})
}

// A task that fails once too often fails the job, and nothing is published. Opened again, what is done stays done and the task may fail as often again; once the
// cause is gone the job succeeds. All that is one journal.
func TestRunFails(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		d := newDisk()
		always := func(a Attempt) fate {
			if a.Index == 1 {
				return fate{takes: 15 * ms, fails: true}
			}
			return fate{takes: 10 * ms}
		}
		exec := newFake(t, d, always)
		s := finish(t, create(t, path, header(1, 1, 3), never), exec)
		if s.State != "failed" || len(s.Failed) != 1 || s.Failed[0].Last.Index != 1 || failureOf(s) == nil || failureOf(s).Note != "attempt 1 broke" {
			t.Errorf("summary: %+v, failed %+v", s, s.Failed)
		}
		time.Sleep(time.Second)
		again := newFake(t, d, always)
		r := reopen(t, path, never)
		if !r.Retried || r.Recovered != 2 {
			t.Errorf("opened again: retried %v, %d recovered", r.Retried, r.Recovered)
		}
		if s := finish(t, r, again); s.State != "failed" || failureOf(s) == nil || failureOf(s).Note != "attempt 3 broke" {
			t.Errorf("opened again: %+v", s)
		}
		slices.Sort(again.log[:2])
		want := []string{"commit 0/0#0", "commit 0/2#0", "clean 0/0#0", "start 0/1#2", "start 0/1#3"}
		if diff := cmp.Diff(want, again.log); diff != "" || d.result != nil {
			t.Errorf("published %v; opened again it did (-want +got):\n%s", d.result, diff)
		}
		cured := newFake(t, d, alike(10*ms))
		if s := finish(t, reopen(t, path, never), cured); s.State != "succeeded" || s.Attempts != 7 || s.Recovered != 2 || len(s.Failed) > 0 || len(d.result) != 3 {
			t.Errorf("cured: %+v, %d published", s, len(d.result))
		}
		if r := reopen(t, path, never); r.Retried || r.State() != sched.JobSucceeded {
			t.Errorf("after its success: retried %v, state %v", r.Retried, r.State())
		}
		mustReplay(t, path, never)
	})
}

// An interrupted run goes on where it stopped: what was done stays done, what ran is begun anew.
func TestRunInterrupted(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		d := newDisk()
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(25*ms, cancel)
		first := newFake(t, d, alike(10*ms))
		r := create(t, path, header(1, 0, 6), never)
		if err := errors.Join(r.Loop(ctx, first, Watcher{}), first.Close()); err != nil {
			t.Fatalf("interrupted, the loop says %v", err)
		}
		if s := r.Summary(); s.State != "cancelled" || s.Flow != sched.Time(25*ms) || s.Fruitless != sched.Time(10*ms) || d.result != nil {
			t.Errorf("summary %+v, published %v", s, d.result)
		}
		time.Sleep(time.Second)
		second := newFake(t, d, alike(10*ms))
		r = reopen(t, path, never)
		s := finish(t, r, second)
		if r.Recovered != 4 || s.Recovered != 4 || s.Attempts != 8 || len(d.result) != 6 {
			t.Errorf("recovered %d, summary %+v, %d published", r.Recovered, s, len(d.result))
		}
		var deeds []string
		for _, deed := range second.log {
			deeds = append(deeds, strings.Fields(deed)[0])
		}
		want := "commit commit commit commit clean start start commit commit publish"
		if got := strings.Join(deeds, " "); got != want {
			t.Errorf("it did %s, want %s", got, want)
		}
		// The two that were cut off ran 5 ms each.
		if s.Fruitless != sched.Time(10*ms) || s.Flow.Seconds() < 1.034 || s.Flow.Seconds() > 1.036 {
			t.Errorf("fruitless %v, flow %v", s.Fruitless, s.Flow)
		}
		mustReplay(t, path, never)
	})
}

// An engine that dies after the record of a commit and before the commit repeats it; one that dies before publishing publishes.
func TestRunRecommits(t *testing.T) {
	for _, deadly := range []string{"commit", "publish"} {
		t.Run(deadly, func(t *testing.T) {
			story(t, func(t *testing.T, path string) {
				d := newDisk()
				first := newFake(t, d, alike(10*ms))
				first.hook = func(deed string, _ place) {
					if deed == deadly {
						panic(crash{deed})
					}
				}
				r := create(t, path, header(1, 0, 1), never)
				func() {
					defer func() { _ = recover(); first.die() }()
					_ = r.Loop(t.Context(), first, Watcher{})
					t.Error("the engine did not die")
				}()
				_ = r.journal.Close()
				if deadly == "commit" && len(d.done) != 0 {
					t.Fatal("it was committed before the engine died")
				}
				s := finish(t, reopen(t, path, never), newFake(t, d, alike(10*ms)))
				if s.State != "succeeded" || s.Attempts != 1 || s.Recovered != 1 || len(d.result) != 1 {
					t.Errorf("summary %+v, published %v", s, d.result)
				}
			})
		})
	}
}

// A clone that was due while no engine ran is launched as soon as one runs again; one that is not due yet, when it is.
func TestRunWakesAfterResume(t *testing.T) {
	for name, away := range map[string]time.Duration{"due": time.Second, "not due": 10 * ms} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, path string) {
				d := newDisk()
				slow := func(a Attempt) fate {
					if a.Number < 2 {
						return fate{takes: time.Minute}
					}
					return fate{takes: 10 * ms}
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*ms)
				defer cancel()
				first := newFake(t, d, slow)
				_ = create(t, path, header(1, 0, 1), 50*ms).Loop(ctx, first, Watcher{})
				first.Close()
				time.Sleep(away)
				begun := time.Now()
				s := finish(t, reopen(t, path, 50*ms), newFake(t, d, slow))
				// The original is lost with its engine; attempt 1 starts at once, and its clone 50 ms later.
				if took := time.Since(begun); took != 60*ms || s.Clones != 1 {
					t.Errorf("took %v with %d clones", took, s.Clones)
				}
				mustReplay(t, path, 50*ms)
			})
		})
	}
}

// quiet asks to be woken and then does nothing, but what it does next depends on it.
type quiet struct{ nervous }

func (p *quiet) Decide(v *sched.View, act *sched.Actions) {
	if p.asked == 0 {
		act.WakeAt(sched.Time(5 * ms))
	}
	p.nervous.Decide(v, act)
}

// Everything that the core was asked is in the journal, also if it had nothing to say: the policy was asked, too.
func TestRunRecordsQuietTimers(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		r, err := Create(path, header(1, 0, 9), &quiet{nervous{patience: sched.Time(never)}})
		if err != nil {
			t.Fatal(err)
		}
		finish(t, r, newFake(t, newDisk(), alike(10*ms)))
		j, err := trace.OpenJournalReader(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Replay(j, always(&quiet{nervous{patience: sched.Time(never)}}), nil); err != nil {
			t.Error(err)
		}
	})
}

// An executor that contradicts itself must not make the engine commit something else.
func TestRunDoubtfulReports(t *testing.T) {
	report := func(kinds ...sched.EventKind) func(exec *fake, a Attempt) {
		return func(exec *fake, a Attempt) {
			exec.disk.complete(placeOf(a))
			for _, k := range kinds {
				exec.reports <- Report{At: time.Now(), Attempt: a.ID, Kind: k}
			}
		}
	}
	for name, send := range map[string]func(*fake, Attempt){
		"done twice":       report(sched.AttemptDone, sched.AttemptDone),
		"done then failed": report(sched.AttemptDone, sched.AttemptFailed),
		"unknown attempt": func(exec *fake, a Attempt) {
			exec.reports <- Report{At: time.Now(), Attempt: 77<<32 | 9999, Kind: sched.AttemptDone}
			report(sched.AttemptDone)(exec, a)
		},
		"from the past": func(exec *fake, a Attempt) {
			exec.disk.complete(placeOf(a))
			exec.reports <- Report{At: time.Now().Add(-time.Hour), Attempt: a.ID, Kind: sched.AttemptDone}
		},
		"from the future": func(exec *fake, a Attempt) {
			exec.disk.complete(placeOf(a))
			exec.reports <- Report{At: time.Now().Add(time.Hour), Attempt: a.ID, Kind: sched.AttemptDone}
		},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, path string) {
				exec := newFake(t, newDisk(), func(a Attempt) fate { return fate{takes: 100 * ms, silent: a.Index == 2} })
				h := header(2, 0, 3)
				exec.fate = func(a Attempt) fate {
					if a.Index != 2 {
						return fate{takes: 100 * ms}
					}
					time.AfterFunc(50*ms, func() { send(exec, a) })
					return fate{takes: never, silent: true}
				}
				s := finish(t, create(t, path, h, never), exec)
				if s.State != "succeeded" || s.Attempts != 3 {
					t.Errorf("summary: %+v", s)
				}
				for i := range 3 {
					if p := exec.disk.done[[2]int{0, i}]; p != (place{0, i, 0}) {
						t.Errorf("the result of task %d is of %v", i, p)
					}
				}
				mustReplay(t, path, never)
			})
		})
	}
}

// broken is an executor that cannot do one thing, just when the run is interrupted.
type broken struct {
	*fake
	deed   string
	cancel func()
}

var errBroken = errors.New("broken")

func (b *broken) Commit(a Attempt, output []byte) error {
	if b.deed == "commit" {
		b.cancel()
		return errBroken
	}
	return b.fake.Commit(a, output)
}

func (b *broken) Publish() error {
	if b.deed == "publish" {
		b.cancel()
		return errBroken
	}
	return b.fake.Publish()
}

// That a run is interrupted hides no error: who tidies up after a run without one must not lose results.
func TestRunInterruptHidesNoError(t *testing.T) {
	for _, deed := range []string{"commit", "publish"} {
		t.Run(deed, func(t *testing.T) {
			story(t, func(t *testing.T, path string) {
				ctx, cancel := context.WithCancel(t.Context())
				exec := &broken{newFake(t, newDisk(), alike(10*ms)), deed, cancel}
				defer exec.Close()
				r := create(t, path, header(1, 0, 1), never)
				if err := r.Loop(ctx, exec, Watcher{}); !errors.Is(err, errBroken) {
					t.Errorf("the loop says %v", err)
				}
			})
		})
	}
}

// A journal of another tool, or none, or one whose policy decides otherwise now, is refused.
func TestOpenRefuses(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		open := func(patience time.Duration) error {
			_, err := Open(path, func(*trace.JournalHeader) (sched.Policy, error) { return &nervous{patience: sched.Time(patience)}, nil })
			return err
		}
		if err := open(never); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("no journal: %v", err)
		}
		finish(t, create(t, path, header(1, 0, 1), never), newFake(t, newDisk(), alike(10*ms)))
		var diverged *DivergedError
		if err := open(ms); !errors.As(err, &diverged) || diverged.Batch != 1 {
			t.Errorf("another policy: %v", err)
		}
		if _, err := Create(path, header(1, 0, 1), &nervous{}); !errors.Is(err, os.ErrExist) {
			t.Errorf("created over an old journal: %v", err)
		}
	})
}

// The wall clock may be set back while no engine runs. The run's own time goes on all the same.
func TestRunClockSetBack(t *testing.T) {
	story(t, func(t *testing.T, path string) {
		d := newDisk()
		h := header(1, 0, 4)
		h.Started = time.Now().Add(time.Hour) // as the journal of an hour ahead has it
		ctx, cancel := context.WithTimeout(t.Context(), 15*ms)
		defer cancel()
		first := newFake(t, d, alike(10*ms))
		_ = create(t, path, h, never).Loop(ctx, first, Watcher{})
		first.Close()
		s := finish(t, reopen(t, path, never), newFake(t, d, alike(10*ms)))
		if s.State != "succeeded" || len(d.result) != 4 || s.Flow <= 0 || s.Flow > sched.Time(time.Second) {
			t.Errorf("summary %+v, %d published", s, len(d.result))
		}
		mustReplay(t, path, never)
	})
}

// A deadline does not stand still while the system is suspended: the run's time follows the wall clock, and timers with it.
func TestRunCatchesUp(t *testing.T) {
	for name, c := range map[string]struct {
		deadline sched.Time
		ahead    time.Duration
		want     sched.Time
	}{
		"suspended":        {3600 * sched.Second, time.Minute, 60 * sched.Second},
		"adjusted":         {3600 * sched.Second, 4 * time.Second, 0},
		"set back":         {3600 * sched.Second, -time.Minute, 0},
		"without deadline": {0, time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			story(t, func(t *testing.T, path string) {
				h := header(1, 0, 1)
				h.Job.Deadline = c.deadline
				r := create(t, path, h, never)
				r.start, r.past.wake = time.Now(), 30*sched.Second
				r.wake.Reset(30 * time.Second)
				r.catchUp(time.Now().Add(c.ahead).Round(0), false)
				if got := r.now(); got != c.want {
					t.Errorf("it is %v, want %v", got, c.want)
				}
				begun := time.Now()
				<-r.wake.C
				if took := time.Since(begun); (took == 0) != (c.want > 0) {
					t.Errorf("the timer fired after %v", took)
				}
				_ = r.journal.Close()
			})
		})
	}
}

// A batch is worth a sync if it changes the world.
func TestMustSync(t *testing.T) {
	for name, c := range map[string]struct {
		facts     []sched.EventKind
		decisions []sched.DecisionKind
		want      bool
	}{
		"a timer and no more": {nil, nil, false},
		"a beginning":         {[]sched.EventKind{sched.AttemptBegan}, []sched.DecisionKind{sched.Wake}, false},
		"progress":            {[]sched.EventKind{sched.AttemptProgress}, []sched.DecisionKind{sched.Wake}, false},
		"an attempt ended":    {[]sched.EventKind{sched.AttemptProgress, sched.AttemptDone}, nil, true},
		"a clone":             {[]sched.EventKind{sched.AttemptProgress}, []sched.DecisionKind{sched.Wake, sched.Launch}, true},
		"a kill":              {nil, []sched.DecisionKind{sched.Kill}, true},
	} {
		var facts []sched.Event
		for _, k := range c.facts {
			facts = append(facts, sched.Event{Kind: k})
		}
		var decisions []sched.Decision
		for _, k := range c.decisions {
			decisions = append(decisions, sched.Decision{Kind: k})
		}
		if got := mustSync(&trace.Batch{Facts: facts, Decisions: decisions}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// failureOf returns the last failure of the only task that failed, nil if nobody knows it.
func failureOf(s *Summary) *Report {
	if len(s.Failed) != 1 {
		return nil
	}
	return s.Failed[0].Failure
}
