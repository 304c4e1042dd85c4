package workload

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/tailcut/tailcut/internal/audit"
	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/internal/show"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// readServed reads the folder of a server as its jobs, or what a job of a server has left as that job. It returns nil
// for everything else. Jobs arrive as they did, those that waited for others when these had ended. They have what the
// server knew of them: stages and who waits for whom, priority, weight, deadline. A task lasts as long as
// [replay.Rerun.Holds] says.
func readServed(path string) (*trace.Workload, error) {
	j, err := audit.Open(path)
	if errors.Is(err, trace.ErrCorrupt) {
		return nil, err
	}
	if err != nil {
		return nil, nil // whoever reads workloads says why
	}
	s, err := j.Served()
	if s == nil || err != nil {
		return nil, err
	}
	w := &trace.Workload{Name: filepath.Base(path), Names: []string{""}}
	left := map[string]int{"whose output folder has no journal from it": s.Gone}
	for _, id := range slices.Sorted(maps.Keys(s.Jobs)) {
		k := s.Jobs[id]
		switch {
		case k.Row.State <= sched.JobActive:
			left["that is not over"]++
		case k.Row.State != sched.JobSucceeded:
			left["that did not succeed"]++
		default:
			durations, err := durationsOf(&k)
			if err != nil {
				return nil, err
			}
			w.AddJob(k.Name, k.Row.Arrived, &k.Spec, k.Stages, durations)
		}
	}
	if len(w.Jobs) == 0 {
		return nil, fmt.Errorf("%s: expected a job of the server that has succeeded", path)
	}
	slices.SortStableFunc(w.Jobs, func(a, b trace.JobRow) int { return cmp.Compare(a.Arrival, b.Arrival) })
	for i := len(w.Jobs) - 1; i >= 0; i-- {
		w.Jobs[i].Arrival -= w.Jobs[0].Arrival
	}
	for _, why := range slices.Sorted(maps.Keys(left)) {
		if n := left[why]; n > 0 {
			w.Notes = append(w.Notes, fmt.Sprintf("%s: left out %s %s", path, show.Count(n, "job"), why))
		}
	}
	w.Notes = append(w.Notes, slotsNote(path, s.Header))
	return w, nil
}

// slotsNote tells on how many slots the jobs ran.
func slotsNote(path string, h *trace.JournalHeader) string {
	slots := 0
	for _, m := range h.Machines {
		slots += m.Slots
	}
	note := fmt.Sprintf("%s: ran on %s under %s", path, show.Count(slots, "slot"), h.Policy)
	if len(h.ClassNames) > 1 {
		note += "; the classes of slots are left out"
	}
	return note
}

// durationsOf returns how long each task of a job lasts, by stage. One that was done before the job was submitted takes
// no time.
func durationsOf(k *live.Known) ([][]sched.Time, error) {
	all := make([][]sched.Time, len(k.Stages))
	for i := range all {
		all[i] = make([]sched.Time, k.Spec.Stages[i].Tasks)
	}
	records := k.Records()
	attempts := func(yield func(*history.Record, error) bool) {
		for i := range records {
			// a stage goes by its place: its name may be another's in the order of a log
			a, ok := history.RecordOf("", fmt.Sprint(records[i].Stage), sched.Second, &records[i])
			if ok && !yield(&a, nil) {
				return
			}
		}
	}
	stages, _, err := history.Stages(attempts, "", "")
	if err != nil {
		return nil, err
	}
	r := replay.New(k.Name, stages, &history.Course{System: "tailcut"}, 1)
	if r == nil { // no attempt was needed
		return all, nil
	}
	for _, st := range stages {
		var stage int
		if _, err := fmt.Sscan(st.Stage, &stage); err != nil {
			return nil, err
		}
		for _, h := range r.Holds(st) {
			all[stage][h.Last.Task] = h.Held
		}
	}
	return all, nil
}
