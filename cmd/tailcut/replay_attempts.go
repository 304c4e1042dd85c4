package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/live/proc"
	"github.com/tailcut/tailcut/internal/mapreduce"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/trace"
)

// replayAttempt is the life of one attempt, for programs.
type replayAttempt struct {
	Stage   string  `json:"stage"`
	Task    int     `json:"task"`
	Attempt int     `json:"attempt"`
	Clone   bool    `json:"clone"`
	From    float64 `json:"from"` // fraction of the task that others had saved, where it went on
	Start   float64 `json:"start_seconds"`
	Seconds float64 `json:"seconds"`
	End     string  `json:"end"`                    // "" if the journal ends before
	Mapped  *int64  `json:"mapped_bytes,omitempty"` // of the input, by a map attempt; see mapreduce.ReadAccount
}

// attemptsOf lists lives with what the account beside the journal, if there is one, says of each.
func attemptsOf(lives []live.Record, h *trace.JournalHeader, journal string) ([]replayAttempt, error) {
	folders := proc.Folders{Root: filepath.Dir(journal), Run: h.Folder()}
	account, err := mapreduce.ReadAccount(folders.Account())
	if err != nil {
		return nil, err
	}
	mapped := map[string]*int64{}
	for i := range account {
		mapped[account[i].Attempt] = &account[i].Bytes
	}
	all := make([]replayAttempt, len(lives))
	for i := range lives {
		r := &lives[i]
		all[i] = replayAttempt{
			Stage: h.Stages[r.Stage], Task: r.Index, Attempt: r.Number, Clone: r.Clone, From: r.From, Start: r.Start.Seconds(), Seconds: r.Seconds(),
			End: string(r.End), Mapped: mapped[proc.AttemptName(r.Attempt)],
		}
	}
	return all, nil
}

func printAttempts(w io.Writer, all []replayAttempt) {
	t := show.NewTable("stage", "task", "attempt", "", "from", "start", "seconds", "mapped bytes", "end")
	t.AlignRightEach(2, 3, 5, 6, 7, 8)
	for i := range all {
		a := &all[i]
		clone, mapped := "", ""
		if a.Clone {
			clone = "clone"
		}
		if a.Mapped != nil {
			mapped = strconv.FormatInt(*a.Mapped, 10)
		}
		t.Row(a.Stage, a.Task, a.Attempt, clone, show.Percent(a.From), fmt.Sprintf("%.2f", a.Start), fmt.Sprintf("%.2f", a.Seconds), mapped, a.End)
	}
	fmt.Fprintln(w, t)
}

func printAttemptsCSV(w io.Writer, all []replayAttempt) error {
	rows := [][]string{{"stage", "task", "attempt", "clone", "from", "start_seconds", "seconds", "end", "mapped_bytes"}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	for i := range all {
		a := &all[i]
		mapped := ""
		if a.Mapped != nil {
			mapped = strconv.FormatInt(*a.Mapped, 10)
		}
		rows = append(rows, []string{
			a.Stage, strconv.Itoa(a.Task), strconv.Itoa(a.Attempt), strconv.FormatBool(a.Clone), number(a.From), number(a.Start), number(a.Seconds), a.End, mapped,
		})
	}
	return show.NewCSV(w).WriteAll(rows)
}
