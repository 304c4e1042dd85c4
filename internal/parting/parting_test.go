package parting

import (
	"math"
	"testing"

	"github.com/tailcut/tailcut/internal/live"
	"github.com/tailcut/tailcut/internal/timeline"
	"github.com/tailcut/tailcut/sched"
)

// lived makes a timeline of jobs of one stage that were submitted at 0: job, task, number, launched, start, stop.
func lived(ended []int, clone int, rows ...[6]int) *timeline.Timeline {
	at := func(s int) sched.Time { return sched.Time(s) * sched.Second }
	t := &timeline.Timeline{Slots: []timeline.SlotRow{{}}}
	for i, end := range ended {
		t.Jobs = append(t.Jobs, timeline.JobRow{ID: sched.JobID(i), Name: string(rune('a' + i)), State: "succeeded", Ended: timeline.Seconds(at(end))})
		t.Stages = append(t.Stages, timeline.StageRow{Job: i, Name: "map"})
	}
	for i, r := range rows {
		end := live.Won
		if i+1 < len(rows) && rows[i+1][0] == r[0] && rows[i+1][1] == r[1] {
			end = live.Failed
			if i+1 == clone {
				end = live.Lost
			}
		}
		t.Attempts.Add(&timeline.Row{
			Job: uint32(r[0]), Stage: uint32(r[0]), Task: uint32(r[1]), Number: uint32(r[2]), Launched: at(r[3]), Start: at(r[4]), Stop: at(r[5]),
			End: end, Clone: i == clone,
		})
	}
	return t
}

// On one slot, the run begins with job a and the simulation with job b; there b's task waits a second to begin.
func TestOrder(t *testing.T) {
	run := lived([]int{4, 6}, -1, [6]int{0, 0, 0, 0, 0, 4}, [6]int{1, 0, 0, 4, 4, 6})
	sim := lived([]int{7, 3}, -1, [6]int{1, 0, 0, 0, 1, 3}, [6]int{0, 0, 0, 3, 3, 7})
	r, err := Compare(run, sim)
	if err != nil {
		t.Fatal(err)
	}
	if r.Run.MeanFlow != 5 || r.Sim.MeanFlow != 5 || r.Place != 1 || r.SameRank != 0 || r.RunStart.Job != "a" || r.SimStart.Job != "b" {
		t.Errorf("%+v", r)
	}
	if want := (Parts{Waiting: 3, Order: 3}); r.Jobs[0].Parts != want {
		t.Errorf("a: %+v", r.Jobs[0])
	}
	if want := (Parts{Waiting: -4, Order: -3, LaunchDelay: 1}); r.Jobs[1].Parts != want {
		t.Errorf("b: %+v", r.Jobs[1])
	}
}

// A simulation of what a server has done has none of its jobs that did not succeed: they are left out, not held against it.
func TestUnsuccessful(t *testing.T) {
	run := lived([]int{4, 5, 6}, -1, [6]int{0, 0, 0, 0, 0, 4}, [6]int{2, 0, 0, 4, 4, 6})
	run.Jobs[1].State = "failed"
	sim := lived([]int{4, 6}, -1, [6]int{0, 0, 0, 0, 0, 4}, [6]int{1, 0, 0, 4, 4, 6})
	sim.Jobs[1].Name = "c"
	r, err := Compare(run, sim)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Jobs) != 2 || r.Jobs[1].Name != "c" || r.Jobs[1].Difference != 0 || r.LeftOut != 1 {
		t.Errorf("%+v", r)
	}
	run.Jobs[1].State = "succeeded"
	if _, err := Compare(run, sim); err == nil || err.Error() != "the runs are of different jobs: 3 and 2; compare runs of the same jobs" {
		t.Errorf("the error is %v", err)
	}
}

// Where a clone won, and where a failure came before, the parts add up to the flow time.
func TestParts(t *testing.T) {
	run := lived([]int{12}, 1, [6]int{0, 0, 0, 1, 2, 11}, [6]int{0, 0, 1, 7, 8, 11})
	sim := lived([]int{9}, -1, [6]int{0, 0, 0, 1, 1, 3}, [6]int{0, 0, 1, 4, 5, 9})
	r, err := Compare(run, sim)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Parts{Waiting: 1, LaunchDelay: 1, Clones: 9, Finishing: 1}); r.Run.Parts != want || r.Run.ClonesWon != 1 {
		t.Errorf("%+v", r.Run)
	}
	if want := (Parts{Waiting: 1, LaunchDelay: 1, Durations: 4, Failures: 3}); r.Sim.Parts != want || r.Sim.Failed != 1 {
		t.Errorf("%+v", r.Sim)
	}
	p := r.Jobs[0].Parts
	if sum := p.Waiting + p.LaunchDelay + p.Durations + p.Clones + p.Failures + p.Finishing; math.Abs(sum-r.Jobs[0].Difference) > 1e-9 {
		t.Errorf("the parts add up to %v, not %v", sum, r.Jobs[0].Difference)
	}
	if _, err := Compare(run, lived([]int{1, 2}, -1)); err == nil {
		t.Error("runs of one and of two jobs are compared")
	}
}
