package audit

import (
	"io"
	"strconv"

	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
)

// attemptColumns are those of WriteAttempts. Times are in seconds; submitted and ended are those of the job.
var attemptColumns = []string{
	"policy", "job_id", "job", "submitted_seconds", "ended_seconds", "state", "stage", "task", "attempt", "site", "class", "machine", "slot",
	"launched_seconds", "start_seconds", "stop_seconds", "end", "clone", "from", "reason", "why",
}

// WriteAttempts writes a CSV line for each attempt, in the order of their launches. Live and simulated runs have the
// same columns.
func WriteAttempts(w io.Writer, t *timeline.Timeline) error {
	out := show.NewCSV(w)
	_ = out.Write(attemptColumns) // the last Error tells
	seconds := func(at sched.Time) string { return timeline.Seconds(at).String() }
	number := func(n uint32) string { return strconv.FormatUint(uint64(n), 10) }
	for i := range t.Attempts.Len() {
		r := t.Attempts.Row(i)
		j, slot := &t.Jobs[r.Job], &t.Slots[r.Slot]
		ended := ""
		if j.Ended > 0 {
			ended = seconds(sched.Time(j.Ended))
		}
		err := out.Write([]string{
			t.Policy, strconv.FormatInt(int64(j.ID), 10), j.Name, seconds(sched.Time(j.Submitted)), ended, j.State,
			t.Stages[r.Stage].Name, number(r.Task), number(r.Number), slot.Site, slot.Class, slot.Machine, strconv.Itoa(slot.Number),
			seconds(r.Launched), seconds(r.Start), seconds(r.Stop), string(r.End), strconv.FormatBool(r.Clone), show.Plain(r.From), r.Reason.String(), r.Why.String(),
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
