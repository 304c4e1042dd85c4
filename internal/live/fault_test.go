package live

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailcut/tailcut/sched"
)

var faultSeeds = flag.Int("fault-seeds", 400, "schedules of faults to try")

// crash is what an engine dies of: it is thrown through the loop by a call that the loop makes, so nothing after that call happens.
type crash struct{ where string }

// storm is one schedule of faults, drawn from a seed.
type storm struct {
	t        *testing.T
	seed     uint64
	draw     *rand.Rand // of crashes
	path     string
	disk     *remains
	patience time.Duration
	retries  int
	calm     bool  // no more crashes
	intact   int64 // length of the journal before the record that may be torn
	appended bool  // a record was appended, and nothing has been carried out since
	lives    int

	known     map[order]bool // what the journal orders, as of
	knownSize int64
}

// order is something that the journal orders.
type order struct {
	kind sched.DecisionKind
	who  place
}

// loses tells whether the job goes on without tasks that fail for good; some halt softly after the second.
func (s *storm) loses() bool { return s.seed%5 >= 3 }

// fate draws how an attempt goes, from the seed and the attempt alone.
func (s *storm) fate(a Attempt) fate {
	r := rand.New(rand.NewPCG(s.seed, uint64(a.Stage)<<40|uint64(a.Index)<<20|uint64(a.Number)))
	f := fate{takes: time.Duration(1+r.IntN(50)) * time.Millisecond}
	if r.IntN(8) == 0 {
		f.takes *= 20
	}
	if s.seed%4 > 0 { // reports at the same instant come in any order; without, a seed is one story
		f.takes += time.Duration(r.IntN(1e6))
	}
	f.fails = r.IntN(7) == 0
	f.refused = r.IntN(9) == 0
	f.silent = a.Number == 0 && r.IntN(12) == 0
	f.twice = r.IntN(6) == 0
	f.inline = r.IntN(2) == 0
	if r.IntN(4) == 0 {
		f.late = time.Duration(r.IntN(30)) * time.Millisecond
	}
	for i := range r.IntN(4) {
		f.progress = append(f.progress, float64(i+1)/5)
	}
	f.lost = r.IntN(15) == 0
	if s.seed%4 == 1 && r.IntN(5) > 0 {
		f.waits = time.Duration(r.IntN(100)) * time.Millisecond
	}
	return f
}

// strike is called before everything that the loop does. It may kill the engine there, and checks that what is about to be done is in the journal.
func (s *storm) strike(what string, p place) {
	s.intact, s.appended = s.size(), false
	odds := 25
	if what == "reports" { // of these there are many
		odds = 60
	}
	if !s.calm && s.draw.IntN(odds) == 0 {
		panic(crash{what})
	}
	if kind, ok := map[string]sched.DecisionKind{"start": sched.Launch, "commit": sched.Commit}[what]; ok && !s.journaled(order{kind, p}) {
		s.t.Errorf("%s %v is not in the journal", what, p)
	}
}

func (s *storm) size() int64 {
	info, err := os.Stat(s.path)
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Size()
}

// journaled looks a launch or commit up in the file.
func (s *storm) journaled(d order) bool {
	if size := s.size(); size != s.knownSize {
		s.known, s.knownSize = map[order]bool{}, size
		for _, b := range batches(s.t, s.path) {
			for _, d := range b.Decisions {
				s.known[order{d.Kind, who(d)}] = true
			}
		}
	}
	return s.known[d]
}

var stormStages = []int{7, 3, 4}

// who names the attempt of a decision. The core numbers the tasks of all stages through.
func who(d sched.Decision) place {
	first := 0
	for _, n := range stormStages[:d.Stage] {
		first += n
	}
	return place{int(d.Stage), int(d.Task) - first, int(d.Number)}
}

// ended is called by the loop between a record and its execution.
func (s *storm) ended(*Record, Report) {
	s.appended = true
	if !s.calm && s.draw.IntN(20) == 0 {
		panic(crash{"ended"})
	}
}

// live runs one engine until the job is over or the engine dies, and tells which.
func (s *storm) live() (over bool) {
	var r *Run
	if s.lives++; s.lives == 1 {
		h := header(2, s.retries, stormStages...)
		if s.seed%3 == 0 {
			apart(h)
		}
		h.Waits = s.seed%4 == 1
		if s.loses() {
			h.Job.MaxFailed = sched.Unlimited
		}
		r = create(s.t, s.path, h, s.patience)
	} else {
		r = reopen(s.t, s.path, s.patience)
	}
	if s.seed%5 == 3 {
		r.HaltSoon(1)
	}
	s.disk.forget()
	exec := newFake(s.t, s.disk, s.fate)
	exec.hook = s.strike
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	if !s.calm && s.draw.IntN(4) == 0 { // an orderly end, for a change
		time.AfterFunc(time.Duration(s.draw.IntN(200))*time.Millisecond, cancel)
	}
	defer func() {
		switch c := recover().(type) {
		case nil:
		case crash:
			over = false
			s.die(r, exec)
		default:
			panic(c)
		}
	}()
	s.appended = false
	if err := errors.Join(r.Loop(ctx, exec, Watcher{Ended: s.ended}), exec.Close()); err != nil {
		s.t.Fatalf("life %d: %v", s.lives, err)
	}
	return r.State() > sched.JobActive
}

// die leaves the world as a dead engine does: attempts end, some of them a little later, and the last record may be torn if none of it was carried out.
func (s *storm) die(r *Run, exec *fake) {
	_ = r.journal.Close()
	if s.draw.IntN(2) == 0 {
		time.Sleep(time.Duration(s.draw.IntN(20)) * time.Millisecond)
	}
	exec.die()
	synctest.Wait()
	size := s.size()
	if s.appended && size > s.intact {
		if err := os.Truncate(s.path, s.intact+s.draw.Int64N(size-s.intact+1)); err != nil {
			s.t.Fatal(err)
		}
	}
	if s.draw.IntN(3) == 0 {
		time.Sleep(time.Duration(s.draw.IntN(500)) * time.Millisecond)
	}
}

// check holds the end of the run against what the journal says and the disk holds.
func (s *storm) check() {
	t := s.t
	winners := map[[2]int]place{}
	for _, b := range batches(t, s.path) {
		outputs := map[sched.AttemptID]bool{}
		for _, o := range b.Outputs {
			outputs[o.Attempt] = true
		}
		for _, d := range b.Decisions {
			p := who(d)
			task := [2]int{p.Stage, p.Index}
			winner, over := winners[task]
			switch d.Kind {
			case sched.Launch:
				if over {
					t.Errorf("task %v was launched again after %v had won", task, winner)
				}
			case sched.Commit:
				if over {
					t.Errorf("task %v was committed twice", task)
				}
				winners[task] = p
				if want := s.fate(Attempt{Stage: p.Stage, Index: p.Index, Number: p.Number}).inline; outputs[d.Attempt] != want {
					t.Errorf("the output of %v is in the journal: %v, want %v", p, outputs[d.Attempt], want)
				}
				delete(outputs, d.Attempt)
			}
		}
		if len(outputs) > 0 {
			t.Errorf("the journal has outputs of attempts that did not win: %v", outputs)
		}
	}
	for task, p := range s.disk.done {
		if winners[task] != p {
			t.Errorf("the result of task %v is of attempt %v, the journal names %v", task, p, winners[task])
		}
		if f := s.fate(Attempt{Stage: p.Stage, Index: p.Index, Number: p.Number}); f.fails {
			t.Errorf("the result of task %v is of attempt %v, which failed", task, p)
		}
	}
	if len(s.disk.done) != len(winners) {
		t.Errorf("%d tasks have results, the journal commits %d", len(s.disk.done), len(winners))
	}
	mustReplay(t, s.path, s.patience)
}

// Whatever dies when: one result per task, of an attempt that really finished and that the journal names, and nothing done twice. A failing
// seed is repeated with -run 'Faults/seed=N$'.
func TestFaults(t *testing.T) {
	lives, broken, retried, lossy := 0, 0, 0, 0
	for seed := range *faultSeeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			path := journalPath(t)
			synctest.Test(t, func(t *testing.T) {
				draw := rand.New(rand.NewPCG(uint64(seed), 1))
				s := &storm{
					t: t, seed: uint64(seed), draw: draw, path: path, disk: newDisk(),
					patience: time.Duration(20+draw.IntN(200)) * time.Millisecond, retries: 1 + draw.IntN(5),
				}
				var r *Run
				for more := draw.IntN(3); ; more-- { // times that a job is tried again that has failed
					for !s.live() {
						s.calm = s.lives > 30
					}
					s.check()
					r = reopen(t, path, s.patience)
					if !r.Retried || more == 0 {
						break
					}
					_ = r.journal.Close()
					retried++
				}
				switch r.State() {
				case sched.JobSucceeded:
					if n := len(s.disk.result); n != 14 || len(s.disk.done) != 14 {
						t.Errorf("%d tasks of 14 have results, %d are published", len(s.disk.done), n)
					}
				case sched.JobBroken, sched.JobStopped:
					broken++
					if s.disk.result != nil {
						t.Error("a failed job was published")
					}
					if lost := r.View().Job(job).Broken; s.loses() && lost > 0 {
						lossy++
					}
				default:
					t.Errorf("the job ended in state %v", r.State())
				}
				_ = r.journal.Close()
				lives += s.lives
			})
		})
	}
	if n := *faultSeeds; n >= 100 && (lives < 2*n || broken == 0 || broken > n/2 || retried == 0 || lossy == 0) {
		t.Errorf("%d seeds took %d lives, %d jobs failed, %d were retried, %d lost tasks: the storms are too mild or too wild", n, lives, broken, retried, lossy)
	}
}
