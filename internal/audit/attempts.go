package audit

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

// Life is the life of one attempt.
type Life struct {
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
func attemptsOf(lives []live.Record, h *trace.JournalHeader, journal string) ([]Life, error) {
	folders := proc.Folders{Root: filepath.Dir(journal), Run: h.Folder()}
	account, err := mapreduce.ReadAccount(folders.Account())
	if err != nil {
		return nil, err
	}
	mapped := map[string]*int64{}
	for i := range account {
		mapped[account[i].Attempt] = &account[i].Bytes
	}
	all := make([]Life, len(lives))
	for i := range lives {
		r := &lives[i]
		all[i] = Life{
			Stage: h.Stages[r.Stage], Task: r.Index, Attempt: r.Number, Clone: r.Clone, From: r.From, Start: r.Start.Seconds(), Seconds: r.Seconds(),
			End: string(r.End), Mapped: mapped[proc.AttemptName(r.Attempt)],
		}
	}
	return all, nil
}

func writeAttempts(w io.Writer, all []Life) {
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
	fmt.Fprintf(w, "%s\n\n", t)
}
