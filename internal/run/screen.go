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
	"github.com/tailcut/tailcut/internal/outlook"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/plan"
	"github.com/tailcut/tailcut/sched"
)

// screen shows a run while it goes. On a terminal it keeps one line per stage that is open, drawn over again ten times
// a second below what is said once: stages that are done, attempts that failed. Elsewhere all is said once. There is no
// colour in it.
type screen struct {
	w      io.Writer
	run    *live.Run
	names  []string   // of the stages, as they can be shown
	width  func() int // columns of the terminal; nil without one
	begun  time.Time
	said   time.Time // last plain line
	stages []stageScreen

	mu      sync.Mutex // of what follows, and of writing: tasks' output is printed beside the screen
	open    []string   // what was drawn last
	drawn   int        // lines of it, to be drawn over
	midline bool       // something else is on the last line of the terminal

	outlook *outlook.Outlook
	looked  time.Time            // when the chance to meet the deadline was last reckoned
	chance  float64              // of meeting the deadline
	first   *float64             // the chance when it was first known
	warned  bool                 // has been told that the deadline is at risk
	atRisk  func(chance float64) // is told then, too; nil for nobody
}

// stageScreen is what the screen remembers of a stage.
type stageScreen struct {
	begun time.Time // when it was first seen at work
	base  uint32    // tasks that were done when the engine was started
	over  bool      // has been told
}

const (
	plainEvery = 10 * time.Second // between two plain lines of a long stage
	lookEvery  = time.Second      // between two reckonings of the chance to meet the deadline
	mostLines  = 12               // of stages that are open
	nameWidth  = 20               // longer names of stages are cut

	mostBar, leastBar = 24, 5 // columns of a bar
	besideBar         = 76    // columns of a line without its bar, mostly
	narrow            = 60    // columns below which there is none
)

func newScreen(w io.Writer, run *live.Run, out *outlook.Outlook) *screen {
	now := time.Now()
	s := &screen{w: w, run: run, names: shownNames(run.Header.Stages), begun: now, said: now, outlook: out, stages: make([]stageScreen, len(run.Header.Stages))}
	v := run.View()
	for i := range s.stages {
		st := v.Stage(sched.StageID(i))
		s.stages[i] = stageScreen{base: st.Done, over: st.State == sched.StageClosed && st.Done >= st.Need}
	}
	switch tasks := show.Count(int(v.Job(0).Tasks), "task"); {
	case run.Retried && run.State() == sched.JobActive:
		fmt.Fprintf(w, "resuming an earlier run: %d of %s are done; failed ones run again\n", run.Recovered, tasks)
	case run.Retried:
		fmt.Fprintf(w, "retrying a failed run: %d of %s are done; failure counts of the others start at 0\n", run.Recovered, tasks)
	case run.Recovered > 0:
		fmt.Fprintf(w, "resuming an earlier run: %d of %s are done\n", run.Recovered, tasks)
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

// tick brings the screen up to date.
func (s *screen) tick(v *sched.View) {
	var said, open []string
	waiting, more, bar := 0, 0, mostBar
	if s.width != nil {
		width := s.width()
		if bar = min(mostBar, max(leastBar, width-besideBar)); width < narrow {
			bar = 0
		}
	}
	for i, name := range s.names {
		st := v.Stage(sched.StageID(i))
		mine := &s.stages[i]
		if mine.begun.IsZero() && st.Live > 0 {
			mine.begun = time.Now()
		}
		switch {
		case mine.over:
		case st.State == sched.StageClosed:
			mine.over = true
			said = append(said, s.stamp(closedLine(name, &st)))
		case st.Live == 0 && st.Done == 0:
			waiting++
		case len(open) == mostLines:
			more++
		default:
			open = append(open, stageLine(name, &st, mine.base, time.Since(mine.begun), bar))
		}
	}
	if line := s.look(v); line != "" {
		said = append(said, s.stamp(line))
	}
	if s.width == nil {
		s.plain(v, said)
		return
	}
	if s.first != nil && len(open) > 0 {
		open = append(open, s.deadlineLine(v))
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

// look reckons the chance to meet the deadline every now and then. It returns what is said once: that the deadline is
// at risk, as soon as it is.
func (s *screen) look(v *sched.View) string {
	if v.Job(0).Deadline == sched.Never || time.Since(s.looked) < lookEvery || s.run.State() != sched.JobActive {
		return ""
	}
	s.looked = time.Now()
	p, ok := s.outlook.PoCD(v)
	if !ok {
		return ""
	}
	s.chance = p
	if s.first == nil {
		s.first = &p
	}
	if s.warned || p >= plan.AtRisk {
		return ""
	}
	s.warned = true
	if s.atRisk != nil {
		s.atRisk(p)
	}
	return s.deadlineLine(v)
}

// deadlineLine tells the chance to meet the deadline, first for a narrow terminal, and how long it is to it.
func (s *screen) deadlineLine(v *sched.View) string {
	left := time.Duration(v.Job(0).Deadline - v.Now()).Round(100 * time.Millisecond)
	if left <= 0 {
		return fmt.Sprintf("deadline %v ago", -left)
	}
	line := fmt.Sprintf("deadline in %v", left)
	if s.chance < plan.AtRisk {
		line = "at risk, " + line
	}
	return fmt.Sprintf("%s on time, %s", show.Chance(s.chance), line)
}

// plain says what is said once, and every now and then how the open stages stand.
func (s *screen) plain(v *sched.View, said []string) {
	if len(said) == 0 && time.Since(s.said) >= plainEvery {
		for i, name := range s.names {
			if st := v.Stage(sched.StageID(i)); st.State == sched.StageOpen && st.Live > 0 {
				said = append(said, s.stamp(fmt.Sprintf("%s: %d of %d done, %d running, %s", name, st.Done, st.Tasks, st.Running, show.Count(clonesOf(&st), "clone"))))
			}
		}
		if s.first != nil && len(said) > 0 {
			said = append(said, s.stamp(s.deadlineLine(v)))
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

// ended tells of attempts that failed.
func (s *screen) ended(r *live.Record, last live.Report) {
	if r.End != live.Failed {
		return
	}
	s.say(fmt.Sprintf("%s attempt %d failed: %s", taskName(s.run.Header.Stages, r), r.Number, last.Note))
}

// held tells what is done for the sake of those who share the machine.
func (s *screen) held(why string) { s.say(why) }

// short warns that the machine cannot do as much at once as it was to.
func (s *screen) short(why string) {
	s.say(fmt.Sprintf("warning: the machine lacks processes, descriptors, memory or disk space for %s at once (%s); fewer run until it has them",
		show.Count(s.slots(), "attempt"), why))
}

func (s *screen) slots() (n int) {
	for _, m := range s.run.Header.Machines {
		n += m.Slots
	}
	return n
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
func closedLine(name string, st *sched.Stage) string {
	if st.GivenUp > 0 && st.Done < st.Need && st.Done == st.Hopeful() {
		return fmt.Sprintf("%s: %d of %s done, the others failed or waited for failed ones", name, st.Done, show.Count(int(st.Tasks), "task"))
	}
	if st.Done < st.Need {
		return fmt.Sprintf("%s: given up with %d of %s done", name, st.Done, show.Count(int(st.Tasks), "task"))
	}
	return fmt.Sprintf("%s: %s done", name, show.Count(int(st.Done), "task"))
}

// stageLine shows an open stage with a bar of so many columns: base tasks of it were done before the time that has
// elapsed.
func stageLine(name string, st *sched.Stage, base uint32, elapsed time.Duration, bar int) string {
	if r := []rune(name); len(r) > nameWidth {
		name = string(r[:nameWidth-1]) + "~"
	}
	filled := bar
	if st.Tasks > 0 {
		filled = int(uint64(st.Done) * uint64(bar) / uint64(st.Tasks))
	}
	drawn := ""
	if bar > 0 {
		drawn = fmt.Sprintf("[%s%s] ", strings.Repeat("#", filled), strings.Repeat(".", bar-filled))
	}
	line := fmt.Sprintf("%-8s %s%d/%d done, %d running, %s", name, drawn,
		st.Done, st.Tasks, st.Running, show.Count(clonesOf(st), "clone"))
	if st.GivenUp > 0 {
		line += fmt.Sprintf(", %d given up", st.GivenUp)
	}
	if st.Done > base && elapsed > 0 {
		perSecond := float64(st.Done-base) / elapsed.Seconds()
		left := time.Duration(float64(st.Unfinished()) / perSecond * float64(time.Second))
		line += fmt.Sprintf(", %s, ETA %s", rate(perSecond), left.Round(time.Second))
	}
	return line
}

// clonesOf returns how many attempts run beside the first of their tasks.
func clonesOf(st *sched.Stage) int { return int(st.Live - min(st.Live, st.Running)) }

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

func shownNames(stages []string) (names []string) {
	for _, name := range stages {
		names = append(names, show.OneLine(name))
	}
	return names
}

// nameTask names a task by its stage, unless that is only called what every task is.
func nameTask(stage string, index int) string {
	stage = show.OneLine(stage)
	if stage == jobfile.SoleStage {
		return fmt.Sprintf("task %d", index)
	}
	return fmt.Sprintf("%s task %d", stage, index)
}
