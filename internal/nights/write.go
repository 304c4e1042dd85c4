package nights

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tailcut/tailcut/internal/diagnosis"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
)

// WriteJSON writes the answer for programs.
func (a *Answer) WriteJSON(out io.Writer) error { return json.NewEncoder(out).Encode(a) }

// WriteCSV writes a row for each stage.
func (a *Answer) WriteCSV(out io.Writer) error {
	return show.WriteRecords(out, a.rows(), "slow_tasks", "change")
}

func (a *Answer) rows() []Recognised {
	rows := make([]Recognised, len(a.Stages))
	for i, s := range a.Stages {
		rows[i] = *s
	}
	return rows
}

// WriteText writes the answer for people, of at most top stages, 0 for all; then the last run alone.
func (a *Answer) WriteText(out io.Writer, top int) error {
	var walls []float64
	for _, r := range a.Runs {
		walls = append(walls, r.Wall)
	}
	fmt.Fprintf(out, "%s from %s to %s took %s at the median (%s to %s).\n", a.title(),
		day(a.Runs[0].Began), day(a.Runs[len(a.Runs)-1].Began), show.Seconds(a.Median), show.Seconds(slices.Min(walls)), show.Seconds(slices.Max(walls)))
	fmt.Fprintf(out, "%s\n\n", a.saving())
	shown := a.Stages
	if top > 0 {
		shown = shown[:min(top, len(shown))]
	}
	t := show.NewTable("stage", "runs", "tasks", "took", "slow tasks", "slow in most other runs", "so they are", "recently", "interval")
	t.AlignRight(2, 5)
	for _, s := range shown {
		same := ""
		if s.Runs > 1 && s.Slow > 0 {
			same = fmt.Sprintf("%d (%.0f to %.0f %%)", s.Same, 100*s.Low, 100*s.High)
		}
		recently, between := s.Change.words()
		t.Row(show.Trim(strings.TrimPrefix(s.title(), "stage "), 32), s.Runs, s.Tasks, show.Seconds(s.Wall), s.Slow, same, s.Verdict, recently, between)
	}
	fmt.Fprintf(out, "%s\n\n", t)
	if more := len(a.Stages) - len(shown); more > 0 {
		fmt.Fprintf(out, "%s more; --top 0 shows all.\n", show.Count(more, "stage"))
	}
	a.writeAlways(out)
	a.writeChanges(out)
	fmt.Fprintf(out, "\nThe last run:\n\n")
	return a.Last.WriteText(out, top)
}

// title says of what the answer is.
func (a *Answer) title() string {
	if a.Application == "" {
		return show.Count(len(a.Runs), "run")
	}
	return show.Count(len(a.Runs), "run") + " of " + a.Application
}

func (s *Recognised) title() string {
	if s.Name == "" {
		return "all tasks"
	}
	if s.Name == s.Stage {
		return "stage " + s.Stage
	}
	return "stage " + s.Stage + " " + s.Name
}

func day(t sched.Time) string { return time.Unix(0, int64(t)).UTC().Format("2006-01-02") }

// saving says what the best settings would have given over all runs, and how sure that is.
func (a *Answer) saving() string {
	x := a.Settings
	switch {
	case x == nil:
		return "No setting of clones would have made them faster."
	case x.Low == nil:
		return fmt.Sprintf("The best settings would have saved %s; one run does not show how sure that is.", show.Percent(x.Saved))
	case !x.Sure:
		return fmt.Sprintf("Whether settings of clones help is undecided: the best save %s on average (%s to %s, 95 %% by %d runs).",
			show.Percent(x.Saved), show.Percent(*x.Low), show.Percent(*x.High), x.Nights)
	}
	return fmt.Sprintf("The best settings would have saved %s on average (%s to %s, 95 %% by %d runs):\n  %s",
		show.Percent(x.Saved), show.Percent(*x.Low), show.Percent(*x.High), x.Nights, strings.Join(x.Lines, "\n  "))
}

// mostNamed is how many tasks are named of a stage.
const mostNamed = 10

// writeAlways names the tasks that are slow in most runs.
func (a *Answer) writeAlways(out io.Writer) {
	for _, s := range a.Stages {
		if len(s.Always) == 0 {
			continue
		}
		var names []string
		for _, task := range s.Always[:min(len(s.Always), mostNamed)] {
			names = append(names, fmt.Sprint(task))
		}
		more := ""
		if n := len(s.Always) - len(names); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(out, "%s: tasks %s%s are slow in most runs. Clones repeat that: split their data.\n", s.title(), strings.Join(names, ", "), more)
	}
}

// writeChanges says which stages have changed for sure.
func (a *Answer) writeChanges(out io.Writer) {
	if len(a.Runs) < 3 {
		fmt.Fprintln(out, "What has changed shows from three runs on.")
		return
	}
	of := "the last run"
	if a.Recent > 1 {
		of = fmt.Sprintf("the %d runs of the last week", a.Recent)
	}
	n := 0
	for _, s := range a.Stages {
		if c := s.Change; c != nil && c.sure() {
			n++
			than := ""
			if c.Bytes != nil {
				than = fmt.Sprintf("; it reads %+.0f %% bytes", 100**c.Bytes)
			}
			fmt.Fprintf(out, "%s takes %s in %s (%+.0f to %+.0f %%)%s.\n", s.title(), moreOrLess(c.Ratio), of, 100*c.Low, 100*c.High, than)
		}
	}
	if n == 0 {
		fmt.Fprintf(out, "No stage takes longer or shorter in %s than before, as far as the runs show.\n", of)
	}
}

func moreOrLess(ratio float64) string {
	if ratio < 0 {
		return fmt.Sprintf("%.0f %% less", -100*ratio)
	}
	return fmt.Sprintf("%.0f %% more", 100*ratio)
}

// leastChange is the least change that is worth to be told.
const leastChange = 0.02

// sure tells whether the whole interval is on one side.
func (c *Change) sure() bool { return c.Low > leastChange || c.High < -leastChange }

// words are a change and its interval for a table.
func (c *Change) words() (change, between string) {
	if c == nil {
		return "", ""
	}
	return fmt.Sprintf("%+.0f %%", 100*c.Ratio), fmt.Sprintf("%+.0f to %+.0f %%", 100*c.Low, 100*c.High)
}

// Emit writes the best settings as lines to paste, below a comment that says what they give. Settings that may not help
// are not written.
func (a *Answer) Emit(out io.Writer, system string) error {
	text, _, _ := strings.Cut(a.saving(), "\n")
	var lines []string
	if a.Settings != nil && a.Settings.Sure {
		lines = a.Settings.Lines
	}
	return diagnosis.EmitLines(out, system, a.title()+": "+strings.TrimSuffix(text, ":"), lines)
}
