package sched

import (
	"math"
	"strings"
	"testing"
)

// TestValidate names for each mistake what the message must say, so that a person finds the field.
func TestValidate(t *testing.T) {
	two := func(e ...Edge) JobSpec { return JobSpec{Stages: []StageSpec{{Tasks: 2}, {Tasks: 3}}, Edges: e} }
	for _, c := range []struct {
		name string
		spec JobSpec
		want string // "" for a good one
	}{
		{"the least job", JobSpec{Stages: []StageSpec{{}}}, ""},
		{"every field", JobSpec{Priority: -3, Weight: 2, MinShare: 1, Deadline: Second, Retries: 4, Stages: []StageSpec{
			{Tasks: 2, Need: 1, Mean: 1, SD: 1, Resumable: true}}}, ""},
		{"no stage", JobSpec{}, "stages: "},
		{"negative weight", JobSpec{Weight: -1, Stages: []StageSpec{{}}}, "weight: "},
		{"infinite weight", JobSpec{Weight: math.Inf(1), Stages: []StageSpec{{}}}, "weight: "},
		{"weight that is no number", JobSpec{Weight: math.NaN(), Stages: []StageSpec{{}}}, "weight: "},
		{"negative share", JobSpec{MinShare: -1, Stages: []StageSpec{{}}}, "min_share"},
		{"negative bound", JobSpec{MaxLive: -1, Stages: []StageSpec{{}}}, "max_live"},
		{"bound beyond the row", JobSpec{MaxLive: 1 << 31, Stages: []StageSpec{{}}}, "max_live"},
		{"negative attempts", JobSpec{MaxAttempts: -1, Stages: []StageSpec{{}}}, "max_attempts"},
		{"attempts beyond the row", JobSpec{MaxAttempts: maxLive + 1, Stages: []StageSpec{{}}}, "max_attempts"},
		{"share beyond the row", JobSpec{MinShare: 1 << 32, Stages: []StageSpec{{}}}, "min_share"},
		{"negative retries", JobSpec{Retries: -1, Stages: []StageSpec{{}}}, "retries"},
		{"retries beyond the row", JobSpec{Retries: math.MaxUint16, Stages: []StageSpec{{}}}, "retries"},
		{"negative retries of a stage", JobSpec{Stages: []StageSpec{{Retries: new(-1)}}}, "stages[0].retries: -1"},
		{"retries of a stage beyond the row", JobSpec{Stages: []StageSpec{{}, {Retries: new(math.MaxUint16)}}}, "stages[1].retries: 65535"},
		{"negative deadline", JobSpec{Deadline: -1, Stages: []StageSpec{{}}}, "deadline"},
		{"value and late", JobSpec{Deadline: 1, Value: 2, Late: Late{LateSoft, 0.1}, Stages: []StageSpec{{}}}, ""},
		{"negative value", JobSpec{Value: -1, Stages: []StageSpec{{}}}, "value: "},
		{"late is soft for nothing", JobSpec{Late: Late{Kind: LateSoft}, Stages: []StageSpec{{}}}, "late: "},
		{"late is hard at a price", JobSpec{Late: Late{LateHard, 1}, Stages: []StageSpec{{}}}, "late: "},
		{"late is unheard of", JobSpec{Late: Late{Kind: 9}, Stages: []StageSpec{{}}}, "late: "},
		{"more stages than the row counts", JobSpec{Stages: make([]StageSpec, maxStages+1)}, "stages: "},
		{"negative tasks", JobSpec{Stages: []StageSpec{{}, {Tasks: -1}}}, "stages[1].tasks: -1"},
		{"too many tasks in all", JobSpec{Stages: []StageSpec{{Tasks: maxTasks}, {Tasks: 1}}}, "stages[1].tasks: 1"},
		{"needs more than it has", JobSpec{Stages: []StageSpec{{Tasks: 2, Need: 3}}}, "stages[0].need: 3"},
		{"negative mean", JobSpec{Stages: []StageSpec{{Mean: -1}}}, "stages[0]: mean"},
		{"good edges", two(Edge{To: 1}, Edge{To: 1, Kind: PerTask, Pairs: [][2]uint32{{1, 2}}}), ""},
		{"edge to nowhere", two(Edge{To: 2}), "edges[0]: 0 -> 2"},
		{"edge from nowhere", two(Edge{To: 1}, Edge{From: -1}), "edges[1]: -1 -> 0"},
		{"pointwise of unequal size", two(Edge{To: 1, Kind: Pointwise}), "not 2 and 3 tasks"},
		{"pair outside", two(Edge{To: 1, Kind: PerTask, Pairs: [][2]uint32{{2, 0}}}), "pair [2 0]"},
		{"unknown kind", two(Edge{To: 1, Kind: 9}), "unknown kind 9"},
		{"edge to itself", two(Edge{From: 1, To: 1}), "stage 1 waits for itself"},
		{"cycle", two(Edge{From: 0, To: 1}, Edge{From: 1, To: 0}), "waits for itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.spec.Validate()
			switch {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want a message with %q", err, c.want)
			}
			if _, got := New(&world{t: t}, NoLimits()).Submit(&c.spec); (got == nil) != (err == nil) {
				t.Errorf("Submit says %v, Validate %v", got, err)
			}
		})
	}
}

func TestRefusedJobLeavesNoTrace(t *testing.T) {
	w := newWorld(t, NoLimits(), 1)
	if _, err := w.Submit(&JobSpec{Stages: []StageSpec{{Tasks: 4}, {Tasks: -1}}}); err == nil {
		t.Fatal("accepted")
	}
	if v := w.View(); v.Rows().Jobs()+v.Rows().Stages()+v.Rows().Tasks() != 0 {
		t.Errorf("%d jobs, %d stages, %d tasks", v.Rows().Jobs(), v.Rows().Stages(), v.Rows().Tasks())
	}
}

func TestZeroValuesAreDefaults(t *testing.T) {
	w := newWorld(t, NoLimits())
	j := w.arrive(JobSpec{Stages: []StageSpec{{Tasks: 3}}})
	if job := w.View().Job(j); job.Weight != 1 || job.Deadline != Never || w.View().Stage(0).Need != 3 {
		t.Errorf("job is %+v, stage %+v", job, w.View().Stage(0))
	}
}
