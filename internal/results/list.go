package results

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/tailcut/tailcut/internal/show"
)

// List says how tasks stand; Failures of it tells of failed ones only.
type List struct {
	run      *Run
	rows     []row
	failures bool
}

// row is a task for programs.
type row struct {
	Stage    string `json:"stage"`
	Task     int    `json:"task"`
	State    State  `json:"state"`
	Attempt  int    `json:"attempt"`  // that won, or failed last
	Failures int    `json:"failures"` // attempts that failed
	Bytes    int64  `json:"bytes"`
	Path     string `json:"path,omitempty"` // of the result; none for what only the journal has
	Exit     int    `json:"exit,omitempty"`
	Note     string `json:"note,omitempty"` // why the last attempt failed
	Command  string `json:"command,omitempty"`
	Stderr   string `json:"stderr,omitempty"` // file with the end of what the last failure wrote
}

// List lists tasks.
func (r *Run) List(tasks []*Result) *List { return &List{run: r, rows: r.rows(tasks)} }

// Failures lists those of some tasks that failed.
func (r *Run) Failures(tasks []*Result) *List {
	var failed []*Result
	for _, t := range tasks {
		if t.State == Failed {
			failed = append(failed, t)
		}
	}
	return &List{run: r, rows: r.rows(failed), failures: true}
}

// Len returns how many tasks are listed.
func (l *List) Len() int { return len(l.rows) }

func (r *Run) rows(tasks []*Result) []row {
	all := make([]row, len(tasks))
	for i, t := range tasks {
		x := row{Stage: r.Stages[t.Stage], Task: t.Index, State: t.State, Attempt: t.Attempt, Failures: t.Failures, Command: r.Command(t)}
		if t.State == Done {
			x.Bytes, _ = r.Size(t)
			if !t.InJournal() {
				x.Path, _ = r.Path(t)
			}
		} else if t.State == Failed {
			x.Stderr = r.Stderr(t)
			if t.Last != nil {
				x.Attempt, x.Exit, x.Note = t.Last.Attempt, t.Last.Exit, t.Last.Note
			}
		}
		all[i] = x
	}
	return all
}

// name names a row's task as Choose reads it.
func (l *List) name(x *row) string {
	if l.run.several() {
		return fmt.Sprintf("%s/%d", x.Stage, x.Task)
	}
	return fmt.Sprint(x.Task)
}

// commandWidth is how much of a command a table shows.
const commandWidth = 40

// WriteText writes a table. Of failures there are a few lines for each, which say all that is known.
func (l *List) WriteText(w io.Writer) error {
	if l.failures {
		return l.writeFailures(w)
	}
	t := show.NewTable("task", "state", "attempt", "failures", "bytes", "command")
	t.AlignRightEach(3, 4, 5)
	for i := range l.rows {
		x := &l.rows[i]
		attempt, size := "", ""
		if x.State == Done {
			attempt, size = fmt.Sprint(x.Attempt), fmt.Sprint(x.Bytes)
		}
		t.Row(l.name(x), string(x.State), attempt, x.Failures, size, show.Trim(x.Command, commandWidth))
	}
	_, err := fmt.Fprintln(w, t)
	return err
}

func (l *List) writeFailures(w io.Writer) error {
	var b strings.Builder
	for i := range l.rows {
		x := &l.rows[i]
		fmt.Fprintf(&b, "task %s failed (%s): %s\n", show.OneLine(l.name(x)), show.Count(x.Failures, "attempt"),
			show.OneLine(cmp.Or(x.Note, "the reason is not known any more")))
		if x.Command != "" {
			fmt.Fprintf(&b, "  command: %s\n", show.OneLine(x.Command))
		}
		if x.Stderr != "" {
			fmt.Fprintf(&b, "  standard error: %s\n", show.OneLine(x.Stderr))
		}
	}
	if len(l.rows) == 0 {
		b.WriteString("no task has failed\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteJSON writes a line for each task.
func (l *List) WriteJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false) // commands are for people too
	for i := range l.rows {
		if err := out.Encode(&l.rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// WriteCSV writes a row for each task.
func (l *List) WriteCSV(w io.Writer) error { return show.WriteRecords(w, l.rows) }
