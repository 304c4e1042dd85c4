package serve

import (
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/sched"
)

// What the engine tells on its loop goes to those who listen and into the timeline. Nothing here waits.

// changed is told that a job has changed. Its end is told by who has its results brought in, which comes last.
func (s *Server) changed(j *live.Job) {
	s.times.job(s, j)
	_, had := s.forecast.of(j.ID)
	s.forecast.wake(had == nil)
	s.watchers.wake(int64(j.ID))
	if State(j.State()).Over() {
		return
	}
	s.news.tell(Event{Kind: "job", Job: int64(j.ID), State: stateOf(j)})
}

// launched is told of the begin of an attempt.
func (s *Server) launched(j *live.Job, r *live.Record) {
	s.times.Launched(j.ID, r)
	s.watchers.wake(int64(j.ID))
	s.news.tell(Event{
		Kind: "attempt", Job: int64(j.ID), Stage: j.Stages[r.Stage], Task: r.Index, Attempt: r.Number, Clone: r.Clone, Reason: r.Reason.String(),
		Busy: s.count(r.ID, true), At: r.Launched.Seconds(),
	})
}

// attemptEnded is told of the end of an attempt.
func (s *Server) attemptEnded(j *live.Job, r *live.Record, last live.Report) {
	s.times.ended(j.ID, r)
	s.forecast.wake(false)
	s.watchers.wake(int64(j.ID))
	if line := s.shop.Ended(j, r, last); line != "" {
		s.watchers.tell(int64(j.ID), line)
	}
	s.news.tell(Event{
		Kind: "attempt", Job: int64(j.ID), Stage: j.Stages[r.Stage], Task: r.Index, Attempt: r.Number, Clone: r.Clone, End: string(r.End), Reason: last.Note,
		Busy: s.count(r.ID, false), At: r.Stop.Seconds(),
	})
}

// short is told that the machine lacks something.
func (s *Server) short(why string) { s.say("%s", why) }

// count counts the attempts that run. An attempt of an earlier engine ends without having begun here.
func (s *Server) count(id sched.AttemptID, runs bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if runs {
		s.busy[id] = struct{}{}
	} else {
		delete(s.busy, id)
	}
	return len(s.busy)
}
