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

// watchers brings the lines about a job to those who watch it.
type watchers struct {
	mu  sync.Mutex
	all map[int64]map[chan string]bool
}

// mostLines is how many lines a watcher may be behind. Further ones are left out: the job's failures are listed at its
// end, too.
const mostLines = 256

func newWatchers() *watchers { return &watchers{all: map[int64]map[chan string]bool{}} }

func (w *watchers) tell(job int64, line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for lines := range w.all[job] {
		select {
		case lines <- line:
		default:
		}
	}
}

// begin begins to watch a job; end ends it.
func (w *watchers) begin(job int64) (lines chan string, end func()) {
	lines = make(chan string, mostLines)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all[job] == nil {
		w.all[job] = map[chan string]bool{}
	}
	w.all[job][lines] = true
	return lines, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.all[job], lines); len(w.all[job]) == 0 {
			delete(w.all, job)
		}
	}
}

// lookEvery is how often a watcher is told how a job stands, if that has changed.
const lookEvery = 200 * time.Millisecond

// watchJob tells how a job stands until it is over.
func (s *Server) watchJob(w http.ResponseWriter, r *http.Request, c *call) error {
	e, over, err := s.jobs.find(c.ref)
	if err != nil {
		return err
	}
	out := newEventStream(w)
	if over == nil {
		lines, end := s.watchers.begin(e.id)
		defer end()
		if !s.followJob(r.Context(), out, e, lines) {
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
func (s *Server) followJob(ctx context.Context, out *eventStream, e *entry, lines <-chan string) bool {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last *run.Standing
	quiet := time.Now()
	for {
		standing, err := s.standing(ctx, e)
		if err != nil {
			return false
		}
		if standing != nil && !reflect.DeepEqual(standing, last) {
			if err, last, quiet = out.send("standing", 0, standing), standing, time.Now(); err != nil {
				return false
			}
		}
		if time.Since(quiet) > quietTime {
			if quiet = time.Now(); out.breathe() != nil {
				return false
			}
		}
		select {
		case <-ctx.Done():
			return false
		case line := <-lines:
			if out.send("line", 0, line) != nil {
				return false
			}
		case <-e.ended:
			return s.lastLines(out, lines)
		case <-tick.C:
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
