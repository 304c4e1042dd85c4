package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/results"
	"github.com/tailcut/tailcut/sched"
)

// LogPiece is a piece of what a task writes, for clients that accept application/x-ndjson, a line each. Others get the
// text alone.
type LogPiece struct {
	Out  []byte `json:"out,omitempty"` // of standard output
	Err  []byte `json:"err,omitempty"` // of standard error
	Said string `json:"said,omitempty" doc:"a line about the task, for people"`
}

// ndjson is the media type of lines of JSON.
const ndjson = "application/x-ndjson"

// logs tells what a task writes, while it runs and afterwards.
func (s *Server) logs(w http.ResponseWriter, r *http.Request, c *call) error {
	e, over, err := s.jobs.find(c.ref)
	if err != nil {
		return err
	}
	out := ""
	if over != nil {
		out = over.Output
	} else {
		out = e.job.Output
	}
	to := &logWriter{w: w, control: http.NewResponseController(w), pieces: strings.Contains(r.Header.Get("Accept"), ndjson)}
	logs := results.Logs{
		Out: logPart{to, func(text []byte) LogPiece { return LogPiece{Out: text} }}, Err: logPart{to, func(text []byte) LogPiece { return LogPiece{Err: text} }},
		Say:   func(line string) { to.write(LogPiece{Said: line}) },
		Lines: c.number("lines", 10), Follow: c.query.Get("follow") == "true", Attempt: c.number("attempt", -1),
	}
	if e != nil {
		logs.UnderWay = func() (*results.Run, error) { return s.underWay(r.Context(), e) }
	}
	err = logs.Print(r.Context(), out, c.query.Get("task"))
	if err == nil {
		to.begin()
		return nil
	}
	if to.begun {
		to.write(LogPiece{Said: err.Error()})
		return nil
	}
	return problem(http.StatusNotFound, "%v", err)
}

// underWay returns the run of a job as the engine knows it; nil once it is over.
func (s *Server) underWay(ctx context.Context, e *entry) (found *results.Run, err error) {
	if _, over := s.jobs.get(e.id); over != nil {
		return nil, nil
	}
	var tasks []results.Result
	err = s.engine.Look(ctx, func(v live.Sight) {
		if j := v.Job(sched.JobID(e.id)); j != nil {
			tasks = standingOf(v.View(), j)
		}
	})
	if err != nil || tasks == nil {
		return nil, err
	}
	return results.UnderWay(e.job.Output, e.job.Run, e.job.Stages, e.job.Work, tasks)
}

// standingOf lists the tasks of a job. It is called on the loop's goroutine.
func standingOf(v *sched.View, j *live.Job) (all []results.Result) {
	job := v.Job(j.ID)
	for i := range j.Stages {
		st := v.Stage(job.FirstStage + sched.StageID(i))
		for k := range int(st.Tasks) {
			id := st.First + sched.TaskID(k)
			t := v.Task(id)
			winner, output, done := j.Winner(id)
			all = append(all, results.Standing(i, k, int(t.Live), int(t.Failures), done, winner.Number, output))
		}
	}
	return all
}

// logWriter writes pieces to a client, which may go away at any time.
type logWriter struct {
	mu      sync.Mutex
	w       http.ResponseWriter
	control *http.ResponseController
	pieces  bool
	begun   bool
}

// begin writes the header, once.
func (l *logWriter) begin() {
	if l.begun {
		return
	}
	l.begun = true
	kind := "text/plain; charset=utf-8"
	if l.pieces {
		kind = ndjson
	}
	l.w.Header().Set("Content-Type", kind)
	l.w.Header().Set("Cache-Control", "no-store")
	l.w.Header().Set("X-Content-Type-Options", "nosniff")
}

func (l *logWriter) write(p LogPiece) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begin()
	_ = l.control.SetWriteDeadline(time.Now().Add(takeTime))
	text := append(p.Out, p.Err...)
	if l.pieces {
		line, err := json.Marshal(p)
		if err != nil {
			return err
		}
		text = append(line, '\n')
	} else if p.Said != "" {
		text = []byte("tailcut: " + p.Said + "\n")
	}
	if _, err := l.w.Write(text); err != nil {
		return err
	}
	return l.control.Flush()
}

// logPart is the writer of one kind of pieces.
type logPart struct {
	to   *logWriter
	kind func([]byte) LogPiece
}

func (p logPart) Write(text []byte) (int, error) {
	if err := p.to.write(p.kind(text)); err != nil {
		return 0, err
	}
	return len(text), nil
}
