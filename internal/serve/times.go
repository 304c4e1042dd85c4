package serve

import (
	"context"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// times is the timeline of the jobs that are under way, and of those that were until lately. Of older ones their
// output folders have it.
type times struct {
	*timeline.Book

	mu       sync.Mutex
	attempts map[sched.JobID]int // that the book has
	gone     []sched.JobID       // jobs that are over, in the order of their ends
	total    int                 // attempts of those
	most     int                 // how many of those there are at most: as many as are listed
}

// mostPast is how many attempts of jobs that are over the book has.
const mostPast = 200_000

func newTimes(s *Server) *times {
	var machines []timeline.SlotRow
	for _, m := range s.cfg.Machines {
		machines = append(machines, timeline.SlotRow{Machine: m.Name, Class: s.className(m.Class)})
	}
	return &times{Book: timeline.NewBook("tailcut serve", s.cfg.Policy, s.engine.Started(), machines), attempts: map[sched.JobID]int{}, most: max(1, s.cfg.Keep)}
}

// job says how a job stands. It is called on the loop's goroutine.
func (t *times) job(s *Server, j *live.Job) {
	row := timeline.JobRow{ID: j.ID, Name: j.Name}
	core := j.View().Job(j.ID)
	row.Fill(core)
	row.State, row.Tasks, row.Done = string(stateOf(j)), int(core.Tasks), done(j.View(), &core)
	row.Submitted = timeline.Seconds(j.Submitted.Sub(s.engine.Started()))
	if core.Deadline != sched.Never {
		row.Deadline = timeline.Seconds(core.Deadline)
	}
	var stages []timeline.StageRow
	for i, name := range j.Stages {
		st := &j.Spec.Stages[i]
		stages = append(stages, timeline.StageRow{Name: name, Class: s.className(st.Class), Tasks: st.Tasks})
	}
	t.Job(row, stages)
}

// takeUp enters a job of an earlier server.
func (t *times) takeUp(s *Server, j *live.Job) {
	t.job(s, j)
	for _, r := range j.Records() {
		t.Launched(j.ID, &r)
		if r.End != live.Running {
			t.ended(j.ID, &r)
		}
	}
}

func (t *times) ended(id sched.JobID, r *live.Record) {
	t.Ended(id, r)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.attempts[id]++
}

// over drops what jobs did that were over longest ago, as far as it is too much or they are not listed any more.
func (t *times) over(id sched.JobID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gone = append(t.gone, id)
	t.total += t.attempts[id] + 1
	for (t.total > mostPast || len(t.gone) > t.most) && len(t.gone) > 1 {
		first := t.gone[0]
		t.gone, t.total = t.gone[1:], t.total-t.attempts[first]-1
		delete(t.attempts, first)
		t.Drop(first)
	}
}

// now is the engine's time.
func (s *Server) now() sched.Time { return sched.Time(time.Since(s.engine.Started())) }

// timeline tells what attempts did.
func (s *Server) timeline(_ context.Context, c *call) (any, error) {
	since, _ := strconv.ParseUint(c.query.Get("since"), 10, 64)
	return s.times.Since(since, s.now()), nil
}

// timelineOf tells what the attempts of one job did.
func (s *Server) timelineOf(_ context.Context, c *call) (any, error) {
	e, over, err := s.jobs.find(c.ref)
	if err != nil {
		return nil, err
	}
	id, out := int64(0), ""
	if over != nil {
		id, out = over.ID, over.Output
	} else {
		id = e.id
	}
	if t := s.times.Of(sched.JobID(id), s.now()); t != nil {
		return t, nil
	}
	reader, err := trace.OpenJournalReader(proc.Folders{Root: filepath.Join(out, mapreduce.PrivateName)}.Journal())
	if err != nil {
		return nil, problem(http.StatusNotFound, "what its attempts did is not known any more: %v", err)
	}
	return timeline.FromJournal(reader, policiesOf, out)
}
