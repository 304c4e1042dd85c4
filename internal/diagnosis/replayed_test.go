package diagnosis

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/sched"
)

// waves is a stage of 40 tasks of 10 s on four slots, of which one in the middle takes 40 s: with a machine for each, a
// clone would save half of the time; in ten waves there is nothing to save.
func waves() Request {
	r := Defaults()
	r.Log, r.Application, r.Hosts = "log", "etl", hosts
	st := &history.StageRecord{Job: "0", Stage: "0", Tasks: 40}
	free := make([]sched.Time, 4)
	for i := range 40 {
		d := 10 * sched.Second
		if i == 4 {
			d *= 4
		}
		slot := 0
		for k := range free {
			if free[k] < free[slot] {
				slot = k
			}
		}
		st.Attempts = append(st.Attempts, history.TaskAttempt{Start: 1e12 + free[slot], Duration: d, Task: int32(i)})
		st.Succeeded = append(st.Succeeded, history.Observation{Seconds: d.Seconds(), Host: int32(i % 5)})
		free[slot] += d
	}
	r.Stages = []*history.StageRecord{st}
	r.Again = replay.New(r.Log, r.Stages, &history.Course{System: "spark"}, 0)
	return r
}

func TestNothingToSaveInWaves(t *testing.T) {
	r := waves()
	d, err := Explain(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	s := d.Stages[0]
	if s.Verdict != LightTail || !strings.HasPrefix(s.Reason, "on its 4 slots, clones save only ") || *s.Wall != *s.Replay || d.Settings != nil {
		t.Errorf("%s (%s), took %v s, replay %v s, %+v", s.Verdict, s.Reason, *s.Wall, *s.Replay, d.Settings)
	}
	var text bytes.Buffer
	if err := d.WriteText(&text, 0); err != nil || !strings.HasPrefix(text.String(), "log took 1m50s; its replay on 4 slots (the most seen busy at once") {
		t.Errorf("%v, %s", err, &text)
	}
	r.Again = nil
	if d, err = Explain(context.Background(), r); err != nil || d.Stages[0].Verdict != Replicate {
		t.Errorf("%v, without a replay: %+v", err, d.Stages[0])
	}
}

// With a slot for each task clones help, but not where all tasks of a stage have more to read.
func TestContract(t *testing.T) {
	for _, skewed := range []bool{false, true} {
		r := waves()
		st := r.Stages[0]
		for i := range st.Attempts {
			st.Attempts[i].Start = 1e12
			if skewed {
				st.Succeeded[i].Bytes = int64(st.Succeeded[i].Seconds * 1e6)
			}
		}
		r.Again = replay.New(r.Log, r.Stages, &history.Course{System: "spark"}, 50)
		d, err := Explain(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := d.WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Schema, Application string
			Slots               int
			Wall                float64 `json:"wall_seconds"`
			Replay              float64 `json:"replay_seconds"`
			Settings            *struct {
				System  string
				Lines   []string
				Seconds float64
				Low     float64 `json:"low_seconds"`
				High    float64 `json:"high_seconds"`
			}
		}
		if err := json.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if got.Schema != "tailcut.plan.explain/v2" || got.Application != "etl" || got.Slots != 50 || got.Wall != 40 || got.Replay != 40 {
			t.Errorf("%s", &out)
		}
		if x := got.Settings; (x == nil) != skewed || x != nil && (x.System != "spark" || x.Lines[0] != "spark.speculation=true" || x.Low > x.Seconds || x.High < x.Seconds) {
			t.Errorf("skewed %v: %+v", skewed, x)
		}
	}
}

// Whoever watches sees each phase come to its end.
func TestWatch(t *testing.T) {
	for _, slots := range []int{0, 50} { // where clones do not help, and where they do
		r := waves()
		if slots > 0 {
			for i := range r.Stages[0].Attempts {
				r.Stages[0].Attempts[i].Start = 1e12
			}
			r.Again = replay.New(r.Log, r.Stages, &history.Course{System: "spark"}, slots)
		}
		var seen strings.Builder
		r.Watch = func(doing string, tasks int) (func(int), func()) {
			var done atomic.Int64
			return func(n int) { done.Add(int64(n)) }, func() {
				if n := int(done.Load()); n > tasks || 2*n < tasks && slots > 0 { // without candidates it is soon done
					t.Errorf("%d slots, %s: %d of %d tasks are done at the end", slots, doing, n, tasks)
				}
				seen.WriteString(doing + " ")
			}
		}
		if _, err := Explain(context.Background(), r); err != nil || seen.String() != "planning replaying " {
			t.Errorf("%v, %s", err, &seen)
		}
	}
}
