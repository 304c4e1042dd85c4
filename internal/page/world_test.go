package page

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
)

// day makes the timeline of jobs on slots: attempts one after the other, some of them stragglers with clones on the slot
// beside, some failed, resumed or waiting.
func day(jobs, slots, attempts int) *timeline.Timeline {
	r := rand.New(rand.NewPCG(1, uint64(attempts)))
	t := &timeline.Timeline{Schema: timeline.Schema, Name: "nightly", Policy: "spark", Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	for j := range jobs {
		t.Jobs = append(t.Jobs, timeline.JobRow{ID: sched.JobID(j), Name: fmt.Sprintf("job-%d", j%7), State: "succeeded", Ended: 1})
		t.Stages = append(t.Stages, timeline.StageRow{Job: j, Name: "map"}, timeline.StageRow{Job: j, Name: "reduce"})
	}
	for s := range slots {
		t.Slots = append(t.Slots, timeline.SlotRow{Machine: "local", Number: s})
	}
	free := make([]sched.Time, slots)
	var rows []timeline.Row
	for len(rows) < attempts {
		s := 0
		for k := range free {
			if free[k] < free[s] {
				s = k
			}
		}
		n := uint32(len(rows))
		job := n * uint32(jobs) / uint32(attempts)
		row := timeline.Row{
			Job: job, Stage: 2*job + uint32(r.IntN(2)), Task: n, Slot: uint32(s), Launched: free[s], Start: free[s], End: live.Won, Reason: sched.Original,
		}
		span := sched.Time((0.5 + r.Float64()) * 1e9)
		other := (s + 1) % slots
		switch k := r.IntN(40); {
		case k == 0 && slots > 1 && free[other] < row.Launched+4*span: // a straggler, whose clone wins
			span *= 6
			row.End, row.Why = live.Lost, sched.SiblingWon
			clone := row
			clone.Number, clone.Clone, clone.Slot, clone.Reason, clone.End, clone.Why = 1, true, uint32(other), sched.Straggling, live.Won, sched.Unexplained
			clone.Launched = max(free[other], row.Launched+span/2)
			clone.Start, clone.Stop = clone.Launched, row.Launched+span
			free[other] = clone.Stop
			rows = append(rows, clone)
		case k == 1:
			row.End = live.Failed
		case k == 2:
			row.From, row.Reason = 0.4, sched.Resume
		case k == 3:
			row.Start += span / 3
		}
		row.Stop = row.Launched + span
		free[s] = row.Stop
		rows = append(rows, row)
		t.Jobs[row.Job].Tasks++
		t.Jobs[row.Job].Done++
		t.Jobs[row.Job].Ended = max(t.Jobs[row.Job].Ended, timeline.Seconds(row.Stop))
		t.Until = max(t.Until, timeline.Seconds(row.Stop))
	}
	slices.SortStableFunc(rows, func(a, b timeline.Row) int { return int(a.Launched - b.Launched) })
	for i := range rows {
		t.Attempts.Add(&rows[i])
	}
	return t
}
