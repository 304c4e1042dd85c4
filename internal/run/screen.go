package run

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/tailcut/tailcut/internal/jobfile"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/trace"
)

// screen shows a run while it goes. On a terminal it keeps one line per stage that is open, drawn over again ten times
// a second below what is said once: stages that are done, attempts that failed. Elsewhere all is said once. There is no
// colour in it.
type screen struct {
	w      io.Writer
	width  func() int // columns of the terminal; nil without one
	begun  time.Time
	said   time.Time // last plain line
	stages []stageScreen

	mu      sync.Mutex // of what follows, and of writing: tasks' output is printed beside the screen
	open    []string   // what was drawn last
	drawn   int        // lines of it, to be drawn over
	midline bool       // something else is on the last line of the terminal

	warned bool // has said that the deadline is at risk
}

// stageScreen is what the screen remembers of a stage.
type stageScreen struct {
	begun time.Time // when it was first seen at work
	base  int       // tasks that were done when the screen was begun
	over  bool      // has been told
}

const (
	plainEvery = 10 * time.Second // between two plain lines of a long stage
	mostLines  = 12               // of stages that are open
	nameWidth  = 20               // longer names of stages are cut

	mostBar, leastBar = 24, 5 // columns of a bar
	besideBar         = 76    // columns of a line without its bar, mostly
	narrow            = 60    // columns below which there is none
)

// newScreen begins one with how the job stands.
func newScreen(w io.Writer, st *Standing) *screen {
	now := time.Now()
	s := &screen{w: w, begun: now, said: now, stages: make([]stageScreen, len(st.Stages))}
	for i := range st.Stages {
		x := &st.Stages[i]
		s.stages[i] = stageScreen{base: x.Done, over: x.Closed && x.Done >= x.Need}
	}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		s.width = func() int {
			if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
				return columns
			}
			return 80
		}
	}
	return s
}

// opening says what of the job was done before, "" of a new one. retried tells that tasks had failed for good and are
// tried again, halfway that the job had not ended.
func opening(done, tasks int, retried, halfway bool) string {
	switch all := show.Count(tasks, "task"); {
	case retried && halfway:
		return fmt.Sprintf("resuming an earlier run: %d of %s are done; failed ones run again\n", done, all)
	case retried:
		return fmt.Sprintf("retrying a failed run: %d of %s are done; failure counts of the others start at 0\n", done, all)
	case done > 0:
		return fmt.Sprintf("resuming an earlier run: %d of %s are done\n", done, all)
	}
	return ""
}

// tick brings the screen up to date.
func (s *screen) tick(st *Standing) {
	var said, open []string
	waiting, more, bar := 0, 0, mostBar
	if s.width != nil {
		width := s.width()
		if bar = min(mostBar, max(leastBar, width-besideBar)); width < narrow {
			bar = 0
		}
	}
	for i := range st.Stages {
		x, mine := &st.Stages[i], &s.stages[i]
		if mine.begun.IsZero() && x.Attempts > 0 {
			mine.begun = time.Now()
		}
		switch {
		case mine.over:
		case x.Closed:
			mine.over = true
			said = append(said, s.stamp(closedLine(x)))
		case x.Attempts == 0 && x.Done == 0:
			waiting++
		case len(open) == mostLines:
			more++
		default:
			open = append(open, stageLine(x, mine.base, time.Since(mine.begun), bar))
		}
	}
	if st.Chance != nil && *st.Chance < plan.AtRisk && !s.warned {
		s.warned = true
		said = append(said, s.stamp(deadlineLine(st)))
	}
	if s.width == nil {
		s.plain(st, said)
		return
	}
	if st.Chance != nil && len(open) > 0 {
		open = append(open, deadlineLine(st))
	}
	if more > 0 {
		open = append(open, fmt.Sprintf("and %s more", show.Count(more, "stage")))
	}
	if waiting > 0 && len(open) > 0 {
		open = append(open, fmt.Sprintf("%s to come", show.Count(waiting, "stage")))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = open
	s.draw(said, open)
}

// aside has something else written to the terminal, where nothing is drawn meanwhile. write tells whether it has ended
// in the middle of a line.
func (s *screen) aside(write func() (midline bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.width == nil {
		write()
		return
	}
	if s.drawn > 0 {
		fmt.Fprintf(s.w, "\x1b[%dA\r\x1b[J", s.drawn)
		s.drawn = 0
	}
	s.midline = write()
}

// deadlineLine tells the chance to meet the deadline, first for a narrow terminal, and how long it is to it.
func deadlineLine(st *Standing) string {
	left := time.Duration(*st.Left * float64(time.Second)).Round(100 * time.Millisecond)
	if left <= 0 {
		return fmt.Sprintf("deadline %v ago", -left)
	}
	line := fmt.Sprintf("deadline in %v", left)
	if *st.Chance < plan.AtRisk {
		line = "at risk, " + line
	}
	return fmt.Sprintf("%s on time, %s", show.Chance(*st.Chance), line)
}

// plain says what is said once, and every now and then how the open stages stand.
func (s *screen) plain(st *Standing, said []string) {
	if len(said) == 0 && time.Since(s.said) >= plainEvery {
		for i := range st.Stages {
			if x := &st.Stages[i]; x.Open && x.Attempts > 0 {
				said = append(said, s.stamp(fmt.Sprintf("%s: %d of %d done, %d running, %s", show.OneLine(x.Name), x.Done, x.Tasks, x.Running, show.Count(x.clones(), "clone"))))
			}
		}
		if st.Chance != nil && len(said) > 0 {
			said = append(said, s.stamp(deadlineLine(st)))
		}
	}
	if len(said) > 0 {
		s.said = time.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		fmt.Fprintln(s.w, strings.Join(said, "\n"))
	}
}

// draw writes lines that stay and below them lines that are drawn over the next time, in one piece so that nothing
// flickers.
func (s *screen) draw(stay, open []string) {
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn)
	}
	if s.midline && len(stay)+len(open) > 0 {
		b.WriteByte('\n')
		s.midline = false
	} else if !s.midline {
		b.WriteString("\r\x1b[J") // clear all below
	}
	for _, line := range stay {
		b.WriteString(line + "\n")
	}
	width := s.width()
	for _, line := range open { // a line that wraps could not be counted
		if r := []rune(line); len(r) >= width {
			line = string(r[:width-1])
		}
		b.WriteString(line + "\n")
	}
	s.drawn = len(open)
	_, _ = io.WriteString(s.w, b.String())
}

// stamp puts the time since the engine was started before a line.
func (s *screen) stamp(line string) string {
	return fmt.Sprintf("%6.1fs  %s", time.Since(s.begun).Seconds(), line)
}

// shortLine warns that the machine cannot do as much at once as it was to.
func shortLine(machines []trace.JournalMachine, why string) string {
	slots := 0
	for _, m := range machines {
		slots += m.Slots
	}
	return fmt.Sprintf("warning: the machine lacks processes, descriptors, memory or disk space for %s at once (%s); fewer run until it has them",
		show.Count(slots, "attempt"), why)
}

// say says a line once.
func (s *screen) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := s.stamp(show.OneLine(text))
	if s.width != nil {
		s.draw([]string{line}, s.open)
		return
	}
	fmt.Fprintln(s.w, line)
}

// close takes away what was drawn last: the summary says the same.
func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.width != nil {
		s.draw(nil, nil)
	}
	if s.midline { // the summary begins a line of its own
		fmt.Fprintln(s.w)
	}
}

// closedLine tells the end of a stage.
func closedLine(st *StageStanding) string {
	name := show.OneLine(st.Name)
	if st.GivenUp > 0 && st.Done < st.Need && st.Done == st.hopeful() {
		return fmt.Sprintf("%s: %d of %s done, the others failed or waited for failed ones", name, st.Done, show.Count(st.Tasks, "task"))
	}
	if st.Done < st.Need {
		return fmt.Sprintf("%s: given up with %d of %s done", name, st.Done, show.Count(st.Tasks, "task"))
	}
	return fmt.Sprintf("%s: %s done", name, show.Count(st.Done, "task"))
}

// stageLine shows an open stage with a bar of so many columns: base tasks of it were done before the time that has
// elapsed.
func stageLine(st *StageStanding, base int, elapsed time.Duration, bar int) string {
	name := show.OneLine(st.Name)
	if r := []rune(name); len(r) > nameWidth {
		name = string(r[:nameWidth-1]) + "~"
	}
	filled := bar
	if st.Tasks > 0 {
		filled = st.Done * bar / st.Tasks
	}
	drawn := ""
	if bar > 0 {
		drawn = fmt.Sprintf("[%s%s] ", strings.Repeat("#", filled), strings.Repeat(".", bar-filled))
	}
	line := fmt.Sprintf("%-8s %s%d/%d done, %d running, %s", name, drawn, st.Done, st.Tasks, st.Running, show.Count(st.clones(), "clone"))
	if st.GivenUp > 0 {
		line += fmt.Sprintf(", %d given up", st.GivenUp)
	}
	if st.Done > base && elapsed > 0 {
		perSecond := float64(st.Done-base) / elapsed.Seconds()
		left := time.Duration(float64(st.unfinished()) / perSecond * float64(time.Second))
		line += fmt.Sprintf(", %s, ETA %s", rate(perSecond), left.Round(time.Second))
	}
	return line
}

// rate prints tasks per second, or per minute or hour where that is more than a fraction.
func rate(perSecond float64) string {
	switch {
	case perSecond >= 1:
		return fmt.Sprintf("%.1f/s", perSecond)
	case perSecond >= 1.0/60:
		return fmt.Sprintf("%.1f/min", perSecond*60)
	default:
		return fmt.Sprintf("%.1f/h", perSecond*3600)
	}
}

// taskName names a task for people.
func taskName(stages []string, r *live.Record) string {
	return nameTask(stages[r.Stage], r.Index)
}

// nameTask names a task by its stage, unless that is only called what every task is.
func nameTask(stage string, index int) string {
	stage = show.OneLine(stage)
	if stage == jobfile.SoleStage {
		return fmt.Sprintf("task %d", index)
	}
	return fmt.Sprintf("%s task %d", stage, index)
}
