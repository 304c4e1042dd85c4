package live

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// gale is a storm over an engine of many jobs: clients ask it for this and that, segments are short, and it dies.
type gale struct {
	*farm
	seed uint64
	draw *rand.Rand // of crashes, by the loop's goroutine
	calm bool
	dead atomic.Bool // what is done beside the loop ends, too

	jobs     []*trace.JournalJob
	accepted map[string]sched.JobID // whose submission was answered
	ended    map[string]bool        // that somebody cancelled, once
	intact   int64                  // length of the last segment before the record that may be torn
	of       string                 // that segment
	appended bool
	lives    int
	crashes  map[string]int
	engine   *shell
}

func (g *gale) fateOf(j *Job, a Attempt) fate {
	r := rand.New(rand.NewPCG(g.seed, uint64(j.ID)<<48|uint64(a.Stage)<<40|uint64(a.Index)<<20|uint64(a.Number)))
	f := fate{takes: time.Duration(1+r.IntN(40)) * ms}
	if r.IntN(10) == 0 {
		f.takes *= 15
	}
	f.fails = r.IntN(9) == 0
	f.refused = r.IntN(12) == 0
	f.silent = a.Number == 0 && !g.calm && r.IntN(15) == 0 // three of them would hold all slots for ever
	f.twice = r.IntN(6) == 0
	f.inline = r.IntN(2) == 0
	f.lost = r.IntN(25) == 0
	if r.IntN(4) == 0 {
		f.late = time.Duration(r.IntN(20)) * ms
	}
	for i := range r.IntN(3) {
		f.progress = append(f.progress, float64(i+1)/4)
	}
	return f
}

// slow is called before each deed of an executor: what is done in folders takes a moment, in which the engine may die.
func (g *gale) slow(deed string, _ place) {
	if deed == "commit" || deed == "publish" {
		time.Sleep(3 * ms)
	}
	if deed == "publish" && g.dead.Load() {
		runtime.Goexit()
	}
}

var errGone = errors.New("the engine is dead")

func (g *gale) gone() error {
	if g.dead.Load() {
		return errGone
	}
	return nil
}

// strike is called on the loop. It may kill the engine there.
func (g *gale) strike(where string, odds int) {
	if !g.calm && g.draw.IntN(odds) == 0 {
		panic(crash{where})
	}
}

// mark notes how long the journal is before a record: what stands there has been acted on.
func (g *gale) mark() { g.intact, g.of, g.appended = g.size(), g.last(), false }

// size returns the length of the last segment.
func (g *gale) size() int64 {
	info, err := os.Stat(g.last())
	if err != nil {
		g.t.Fatal(err)
	}
	return info.Size()
}

func (g *gale) last() string {
	all, err := trace.Segments(g.folder)
	if err != nil || len(all) == 0 {
		g.t.Fatal("no segments", err)
	}
	return trace.SegmentPath(g.folder, all[len(all)-1])
}

// client submits what is not there yet, and meddles, until ctx is done.
func (g *gale) client(ctx context.Context, s *shell, draw *rand.Rand) {
	known := map[string]sched.JobID{}
	if s.Look(ctx, func(x Sight) {
		for j := range x.Jobs() {
			known[j.Run] = j.ID
		}
	}) != nil {
		return
	}
	for _, j := range g.jobs {
		if _, ok := g.accepted[j.Run]; ok {
			continue
		}
		if id, ok := known[j.Run]; ok {
			g.accepted[j.Run] = id // it was, only nobody heard
			continue
		}
		time.Sleep(time.Duration(draw.IntN(60)) * ms)
		id, err := s.Submit(ctx, j)
		if err != nil {
			return
		}
		g.accepted[j.Run] = id
		if j.Held {
			_ = s.Release(ctx, id)
		}
		if !g.meddle(ctx, s, draw) {
			return
		}
	}
	for range 10 {
		time.Sleep(time.Duration(draw.IntN(60)) * ms)
		if !g.meddle(ctx, s, draw) {
			return
		}
	}
}

// meddle asks for something, and tells whether the engine is there.
func (g *gale) meddle(ctx context.Context, s *shell, draw *rand.Rand) bool {
	j := g.jobs[draw.IntN(len(g.jobs))]
	id, ok := g.accepted[j.Run]
	if !ok {
		return true
	}
	var err error
	switch draw.IntN(12) {
	case 0, 1:
		err = s.Pause(ctx, id)
	case 2, 3:
		err = s.Continue(ctx, id)
	case 4:
		g.ended[j.Run] = true
		err = s.Cancel(ctx, id)
	case 5:
		p := int32(draw.IntN(5))
		err = s.Change(ctx, id, Change{Priority: &p})
	case 6:
		err = s.SetPolicy(ctx, []string{"nervous", "patient"}[draw.IntN(2)], 1, g.limits)
	case 7:
		err = s.Resize(ctx, draw.IntN(2), 1+draw.IntN(3))
	case 8:
		err = s.Retire(ctx, id)
	case 9:
		err = s.Retry(ctx, id)
	case 10:
		err = s.Release(ctx, id)
	}
	return !errors.Is(err, ErrStopped) && ctx.Err() == nil
}

// life runs one engine until it dies, is stopped, or, in calm weather, until all jobs are over.
func (g *gale) life() (done bool) {
	g.lives++
	g.dead.Store(false)
	for run, d := range g.disks {
		if o, _ := g.end(run); o == nil { // else a file has it
			d.forget()
		}
	}
	s := g.open()
	g.engine = s
	ctx, cancel := context.WithCancel(g.t.Context())
	defer cancel()
	asked := make(chan struct{})
	draw := rand.New(rand.NewPCG(g.seed, uint64(g.lives)))
	go func() {
		defer close(asked)
		defer cancel()
		if g.client(ctx, s, draw); g.calm {
			g.finish(ctx, s)
			done = true
		}
	}()
	if !g.calm && g.draw.IntN(4) == 0 {
		time.AfterFunc(time.Duration(g.draw.IntN(400))*ms, cancel)
	}
	func() {
		defer func() {
			switch c := recover().(type) {
			case nil:
			case crash:
				g.crashes[c.where]++
				g.die(s)
			default:
				panic(c)
			}
		}()
		g.appended = false
		if err := s.Loop(ctx); err != nil {
			g.t.Errorf("life %d: %v", g.lives, err)
			g.calm = true
		}
	}()
	cancel()
	<-asked
	return done
}

// finish lets all jobs come to their ends.
func (g *gale) finish(ctx context.Context, s *shell) {
	_ = s.SetPolicy(ctx, "nervous", 1, g.limits)
	for range 600 {
		left := 0
		err := s.Look(ctx, func(x Sight) {
			for j := range x.Jobs() {
				if j.row().State <= sched.JobActive || j.settling != nil {
					left++
				}
			}
		})
		if err != nil || left == 0 {
			break
		}
		for _, id := range g.accepted {
			_ = s.Release(ctx, id)
			_ = s.Continue(ctx, id)
		}
		time.Sleep(100 * ms)
	}
}

// die leaves the world as a dead engine does: nobody is answered, attempts end, what was done beside the loop does, and
// the last record may be torn if none of it was carried out.
func (g *gale) die(s *shell) {
	g.dead.Store(true)
	_ = s.journal.Close()
	close(s.stopped)
	if g.draw.IntN(2) == 0 {
		time.Sleep(time.Duration(g.draw.IntN(20)) * ms)
	}
	for _, x := range s.executors() {
		x.die()
	}
	time.Sleep(10 * ms)
	synctest.Wait()
	if size := g.size(); g.appended && size > g.intact && g.of == g.last() {
		if err := os.Truncate(g.last(), g.intact+g.draw.Int64N(size-g.intact+1)); err != nil {
			g.t.Fatal(err)
		}
	}
	switch g.draw.IntN(4) {
	case 0: // while it began a segment
		if err := os.WriteFile(g.last()+".new", []byte("tailcut\n and then"), 0o600); err != nil {
			g.t.Fatal(err)
		}
	case 1: // between the birth of a segment and the end of the one before
		if all, _ := trace.Segments(g.archive); len(all) > 0 {
			n := all[len(all)-1]
			if err := os.Rename(trace.SegmentPath(g.archive, n), trace.SegmentPath(g.folder, n)); err != nil {
				g.t.Fatal(err)
			}
		}
	case 2:
		time.Sleep(time.Duration(g.draw.IntN(500)) * ms)
	}
}

// check holds what became of the jobs against what all segments say and what the disks hold.
func (g *gale) check() {
	t := g.t
	var paths []string
	for _, folder := range []string{g.archive, g.folder} {
		all, err := trace.Segments(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range all {
			if n != len(paths)+1 {
				t.Fatalf("segment %d is where %d should be", n, len(paths)+1)
			}
			paths = append(paths, trace.SegmentPath(folder, n))
		}
	}
	type task struct {
		job  sched.JobID
		task sched.TaskID
	}
	winners, runs := map[task]int{}, map[sched.JobID]string{}
	submitted := map[string]int{}
	first := map[sched.JobID]sched.TaskID{}
	_, err := Chain(paths, g.policies, func(c *sched.Core, b *trace.Batch) {
		for _, j := range b.Jobs {
			submitted[j.Run]++
			runs[j.ID] = j.Run
			first[j.ID] = c.View().Stage(c.View().Job(j.ID).FirstStage).First
		}
		for _, d := range b.Decisions {
			at := task{d.Job, d.Task}
			switch _, over := winners[at]; {
			case d.Kind == sched.Launch && over:
				t.Errorf("task %v was launched after it was done", at)
			case d.Kind == sched.Commit && over:
				t.Errorf("task %v was committed twice", at)
			case d.Kind == sched.Commit:
				winners[at] = int(d.Number)
			}
		}
	})
	if err != nil {
		t.Errorf("%d segments: %v", len(paths), err)
	}
	results := map[sched.JobID]int{}
	for at, number := range winners {
		results[at.job]++
		run := runs[at.job]
		stage, index := stageOf(&g.jobs[jobNumber(run)].Spec, at.task-first[at.job])
		if got, ok := g.disk(run).done[[2]int{stage, index}]; !ok || got.Number != number {
			t.Errorf("%s: the result of task %d/%d is of attempt %v, the journal names %d", run, stage, index, got, number)
		}
	}
	for run, id := range g.accepted {
		o, d, tasks := g.over[run], g.disk(run), 0
		for _, st := range g.jobs[jobNumber(run)].Spec.Stages {
			tasks += st.Tasks
		}
		switch {
		case submitted[run] != 1:
			t.Errorf("%s was submitted %d times", run, submitted[run])
		case o == nil:
			t.Errorf("%s has no end", run)
		case o.Succeeded() && (len(d.result) != tasks || results[id] != tasks || len(d.done) != tasks):
			t.Errorf("%s: %d tasks, %d results, %d published, %d in the journal", run, tasks, len(d.done), len(d.result), results[id])
		case o.Failure != nil || o.Ended != nil:
			t.Errorf("%s: %v, %v", run, o.Failure, o.Ended)
		case o.State == sched.JobStopped && !g.ended[run] && g.jobs[jobNumber(run)].Halt == nil:
			t.Errorf("%s was cancelled by nobody", run)
		case !o.Succeeded() && d.result != nil:
			t.Errorf("%s has not succeeded and is published", run)
		case len(d.done) != results[id]:
			t.Errorf("%s has %d results, the journal %d", run, len(d.done), results[id])
		}
	}
	if len(g.accepted) != len(g.jobs) {
		t.Errorf("%d of %d jobs were accepted", len(g.accepted), len(g.jobs))
	}
}

func jobNumber(run string) (n int) {
	_, _ = fmt.Sscanf(run, "job%d", &n)
	return n
}

// Whatever dies when, and whatever is asked meanwhile: an accepted job comes to its end once, with one result per task
// where it has succeeded, and all segments replay, each from where the one before ends. A failing seed is repeated with
// -run 'EngineFaults/seed=N$'.
func TestEngineFaults(t *testing.T) {
	lives, crashes, succeeded, failed, segments := 0, map[string]int{}, 0, 0, 0
	seeds := *faultSeeds / 6
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			f := newFarm(t, 2, 1)
			tale(t, f, func(t *testing.T) {
				g := &gale{
					farm: f, seed: uint64(seed), draw: rand.New(rand.NewPCG(uint64(seed), 2)), accepted: map[string]sched.JobID{}, ended: map[string]bool{}, crashes: crashes,
				}
				f.fate, f.hook, f.gone, f.polled, f.archive = g.fateOf, g.slow, g.gone, g.mark, filepath.Join(filepath.Dir(f.folder), "archive")
				f.deaf = func(*Over) error {
					if g.dead.Load() {
						runtime.Goexit()
					}
					return nil
				}
				f.watch.Changed = func(*Job) { g.mark() }
				f.watch.Launched = func(*Job, *Record) { g.strike("launched", 18) }
				f.patience, f.segment = time.Duration(20+g.draw.IntN(100))*ms, int64(1000+g.draw.IntN(20000))
				f.watch.Ended = func(*Job, *Record, Report) {
					g.appended = true
					g.strike("ended", 25)
				}
				if seed%3 == 0 {
					f.limits.MaxWait = sched.Time(30 * ms)
				}
				for i := range 4 + g.draw.IntN(6) {
					var stages []int
					for range 1 + g.draw.IntN(3) {
						stages = append(stages, g.draw.IntN(5))
					}
					j := jobOf(fmt.Sprint("job", i), stages...)
					j.Held, j.Spec.Retries = g.draw.IntN(4) == 0, g.draw.IntN(4)
					if g.draw.IntN(4) == 0 {
						halt := g.draw.IntN(2)
						j.Halt, j.Spec.MaxFailed = &halt, sched.Unlimited
					}
					g.jobs = append(g.jobs, j)
				}
				for !g.life() {
					g.calm = g.lives > 12 || t.Failed()
				}
				g.check()
				lives += g.lives
				for _, o := range g.over {
					if o.Succeeded() {
						succeeded++
					} else {
						failed++
					}
				}
				all, _ := trace.Segments(g.archive)
				segments += len(all)
			})
		})
	}
	t.Logf("%d lives, %d jobs succeeded, %d did not, %d segments, crashes %v", lives, succeeded, failed, segments, crashes)
	if seeds >= 50 && (lives < 3*seeds || failed == 0 || succeeded < failed || segments < 10*seeds) {
		t.Error("the storms are too mild or too wild")
	}
}
