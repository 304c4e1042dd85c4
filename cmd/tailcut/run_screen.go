package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
	"golang.org/x/term"

	"github.com/tailcut/tailcut/live"
	"github.com/tailcut/tailcut/sched"
)

// screen shows a run while it goes: a progress line per stage on a terminal, plain lines otherwise.
type screen struct {
	w      io.Writer
	run    *live.Run
	bars   progress.Writer // nil without a terminal
	stages []*progress.Tracker
	said   time.Time // last plain line
	begun  time.Time
	done   []bool
}

// plainEvery is the time between two plain lines of a long stage.
const plainEvery = 10 * time.Second

func newScreen(w io.Writer, run *live.Run) *screen {
	names := run.Header.Stages
	s := &screen{w: w, run: run, done: make([]bool, len(names)), begun: time.Now(), said: time.Now()}
	if run.Recovered > 0 {
		fmt.Fprintf(w, "going on with an earlier run: %d of %d tasks are done\n", run.Recovered, run.View().Job(0).Tasks)
	}
	if f, ok := w.(*os.File); !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.bars = progress.NewWriter()
	s.bars.SetOutputWriter(w)
	s.bars.SetAutoStop(false)
	s.bars.SetTrackerLength(30)
	s.bars.SetMessageLength(44)
	s.bars.SetUpdateFrequency(100 * time.Millisecond)
	s.bars.Style().Visibility.ETA = true
	s.bars.Style().Visibility.Speed = true
	for i, name := range names {
		t := &progress.Tracker{Message: name, Total: int64(run.Header.Job.Stages[i].Tasks), DeferStart: true}
		s.stages = append(s.stages, t)
		s.bars.AppendTracker(t)
	}
	go s.bars.Render()
	return s
}

// tick brings the screen up to date.
func (s *screen) tick(v *sched.View) {
	for i, name := range s.run.Header.Stages {
		st := v.Stage(sched.StageID(i))
		finished := st.State == sched.StageClosed
		clones := st.Live - min(st.Live, st.Running)
		switch {
		case s.bars != nil:
			s.stages[i].UpdateMessage(fmt.Sprintf("%-8s %d running, %d clones", name, st.Live, clones))
			s.stages[i].SetValue(int64(st.Done))
			if finished && !s.done[i] {
				s.stages[i].MarkAsDone()
			}
		case finished && !s.done[i]:
			s.line("%s: %d tasks done", name, st.Done)
		case !finished && st.Live > 0 && time.Since(s.said) >= plainEvery:
			s.line("%s: %d of %d done, %d running, %d clones", name, st.Done, st.Tasks, st.Live, clones)
		}
		s.done[i] = s.done[i] || finished
	}
}

func (s *screen) line(format string, args ...any) {
	s.said = time.Now()
	fmt.Fprintf(s.w, "%6.1fs  %s\n", time.Since(s.begun).Seconds(), fmt.Sprintf(format, args...))
}

// ended tells of attempts that failed.
func (s *screen) ended(r *live.Record, last live.Report) {
	if r.End != live.Failed {
		return
	}
	text := fmt.Sprintf("%s attempt %d failed: %s", taskName(s.run.Header.Stages, r), r.Number, last.Note)
	if s.bars != nil {
		s.bars.Log(text)
		return
	}
	s.line("%s", text)
}

func (s *screen) close() {
	if s.bars == nil {
		return
	}
	time.Sleep(150 * time.Millisecond) // one more frame with the final counts
	s.bars.Stop()
	for s.bars.IsRenderInProgress() {
		time.Sleep(5 * time.Millisecond)
	}
}

// taskName names a task for people.
func taskName(stages []string, r *live.Record) string {
	return fmt.Sprintf("%s task %d", stages[r.Stage], r.Index)
}
