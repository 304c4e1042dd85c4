package serve

import (
	"context"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/run"
	"github.com/tailcut/tailcut/sched"
)

// watchers brings what happens to a job to those who watch it. A job that nobody watches costs nothing, nor does one to
// which nothing happens.
type watchers struct {
	mu  sync.Mutex
	all map[int64]*watched
}

// watched is a job that somebody watches. All who do share one look at it.
type watched struct {
	watchers map[*watcher]bool // watchers.mu is held

	mu       sync.Mutex // held while somebody looks
	looked   time.Time
	standing *run.Standing // at that time
}

// watcher is somebody who watches a job.
type watcher struct {
	job     *watched
	lines   chan string
	changed chan struct{} // holds a value if something has happened to the job
}

const (
	// mostLines is how many lines a watcher may be behind. Further ones are left out: the job's failures are listed at
	// its end, too.
	mostLines    = 256
	lookEvery    = 200 * time.Millisecond // at most, a watcher is told how a job stands
	runningAgain = time.Second            // a job that runs is looked at although nothing happens: its time goes by
	waitingAgain = 5 * time.Second        // so is one that waits and has a deadline
)

func newWatchers() *watchers { return &watchers{all: map[int64]*watched{}} }

// tell brings a line.
func (w *watchers) tell(job int64, line string) {
	w.each(job, func(x *watcher) {
		select {
		case x.lines <- line:
		default:
		}
	})
}

// wake says that something has happened to a job.
func (w *watchers) wake(job int64) {
	w.each(job, func(x *watcher) {
		select {
		case x.changed <- struct{}{}:
		default:
		}
	})
}

func (w *watchers) each(job int64, do func(*watcher)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.all[job]; j != nil {
		for x := range j.watchers {
			do(x)
		}
	}
}

// begin begins to watch a job; end ends it.
func (w *watchers) begin(job int64) (x *watcher, end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	j := w.all[job]
	if j == nil {
		j = &watched{watchers: map[*watcher]bool{}}
		w.all[job] = j
	}
	x = &watcher{job: j, lines: make(chan string, mostLines), changed: make(chan struct{}, 1)}
	j.watchers[x] = true
	x.changed <- struct{}{} // the first look may be another's, at a time before this
	return x, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(j.watchers, x); len(j.watchers) == 0 {
			delete(w.all, job)
		}
	}
}

// look returns how the job stands, at most half a lookEvery ago.
func (j *watched) look(find func() (*run.Standing, error)) (*run.Standing, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if time.Since(j.looked) < lookEvery/2 {
		return j.standing, nil
	}
	standing, err := find()
	if err == nil {
		j.standing, j.looked = standing, time.Now()
	}
	return standing, err
}

// watchJob tells how a job stands until it is over.
func (s *Server) watchJob(w http.ResponseWriter, r *http.Request, c *call) error {
	e, over, err := s.jobs.find(c.ref)
	if err != nil {
		return err
	}
	out := newEventStream(w)
	if over == nil {
		x, end := s.watchers.begin(e.id)
		defer end()
		if !s.followJob(r.Context(), out, e, x) {
			return nil
		}
		if _, over = s.jobs.get(e.id); over == nil {
			return nil
		}
	}
	if len(over.Result) > 0 && out.send("result", 0, over.Result) != nil {
		return nil
	}
	_ = out.send("over", 0, answerOver(over))
	return nil
}

// followJob tells of a job until it is over, and whether it is.
func (s *Server) followJob(ctx context.Context, out *eventStream, e *entry, x *watcher) bool {
	var last *run.Standing
	quiet := time.NewTicker(quietTime)
	defer quiet.Stop()
	next := time.NewTimer(0) // the next look
	defer next.Stop()
	for changed := (<-chan struct{})(nil); ; {
		var err error
		select {
		case <-ctx.Done():
			return false
		case line := <-x.lines:
			err = out.send("line", 0, line)
		case <-e.ended:
			return s.lastLines(out, x.lines)
		case <-quiet.C:
			err = out.breathe()
		case <-changed:
			changed = nil
			next.Reset(lookEvery)
		case <-next.C:
			standing, failed := x.job.look(func() (*run.Standing, error) { return s.standing(ctx, e) })
			if failed != nil {
				return false
			}
			if standing != nil && !reflect.DeepEqual(standing, last) {
				last, err = standing, out.send("standing", 0, standing)
			}
			changed = x.changed
			switch {
			case standing == nil:
			case standing.State == "running":
				next.Reset(runningAgain)
			case standing.Left != nil:
				next.Reset(waitingAgain)
			}
		}
		if err != nil {
			return false
		}
	}
}

// lastLines tells what was said of a job just before its end.
func (s *Server) lastLines(out *eventStream, lines <-chan string) bool {
	for {
		select {
		case line := <-lines:
			if out.send("line", 0, line) != nil {
				return false
			}
		default:
			return true
		}
	}
}

// standing tells how a job stands; nil if the engine has forgotten it.
func (s *Server) standing(ctx context.Context, e *entry) (standing *run.Standing, err error) {
	err = s.engine.Look(ctx, func(v live.Sight) {
		if j := v.Job(sched.JobID(e.id)); j != nil {
			standing = s.shop.Standing(v.View(), j)
		}
	})
	return standing, err
}

// noticeEvery is how often the jobs that run are looked at for what has to be noticed in time, such as a deadline at
// risk.
const noticeEvery = time.Second

// notice looks at jobs with deadlines that run. It costs nothing while nothing runs.
func (s *Server) notice(ctx context.Context) {
	every(ctx, noticeEvery, func() {
		s.mu.Lock()
		idle := len(s.busy) == 0
		s.mu.Unlock()
		if idle {
			return
		}
		_ = s.engine.Look(ctx, func(v live.Sight) { // it fails when the server ends
			seen := map[sched.JobID]bool{}
			for j := range v.Running() {
				if !seen[j.ID] && v.View().Job(j.ID).Deadline != sched.Never {
					seen[j.ID] = true
					s.shop.Standing(v.View(), j)
				}
			}
		})
	})
}
