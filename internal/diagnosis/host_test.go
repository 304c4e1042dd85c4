package diagnosis

import (
	"context"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/sched"
)

// onHosts is a stage of 40 tasks on 21 slots of three hosts, which last 1 s but for some.
func onHosts(slow map[int]float64, host func(task int) int32) Request {
	r := Defaults()
	r.Log, r.Application, r.Hosts = "log", "etl", []string{"h0", "h1", "h2"}
	st := &history.StageRecord{Job: "0", Stage: "0", Tasks: 40}
	free := make([]sched.Time, 21)
	for i := range 40 {
		seconds := 1 + 0.01*float64(i)
		if s := slow[i]; s > 0 {
			seconds = s
		}
		slot := 0
		for k := range free {
			if free[k] < free[slot] {
				slot = k
			}
		}
		d := sched.FromSeconds(seconds)
		st.Attempts = append(st.Attempts, history.TaskAttempt{Start: 1e12 + free[slot], Duration: d, Task: int32(i), Host: host(i), Executor: 1 + host(i)})
		st.Succeeded = append(st.Succeeded, history.Observation{Seconds: seconds, Host: host(i)})
		free[slot] += d
	}
	r.Stages = []*history.StageRecord{st}
	r.Again = replay.New(r.Log, r.Stages, &history.Course{System: Spark}, 21)
	return r
}

func byTurns(task int) int32 { return int32(task % 3) }

// Three slow tasks on one of three hosts are chance once in nine stages, so they do not accuse the host.
func TestThreeOnOneOfThreeHosts(t *testing.T) {
	d, err := Explain(context.Background(), onHosts(map[int]float64{3: 9, 9: 8, 15: 9}, byTurns))
	if err != nil {
		t.Fatal(err)
	}
	if s := d.Stages[0]; s.Verdict != Replicate || d.Settings == nil || s.Causes[0].Cause != Straggler {
		t.Errorf("%s, %+v, %+v", s.Verdict, s.Causes, d.Settings)
	}
}

// Seven do. Clones are the second choice, and Spark's run on the other hosts: they are sure to be quick.
func TestSlowHostOfSpark(t *testing.T) {
	slow := map[int]float64{}
	for i := 0; i < 21; i += 3 {
		slow[i] = 9
	}
	d, err := Explain(context.Background(), onHosts(slow, byTurns))
	if err != nil {
		t.Fatal(err)
	}
	s := d.Stages[0]
	if s.Causes[0].Cause != Host || !strings.HasPrefix(s.todo(), "avoid h0: 7 of 7 slow tasks ran there; or speculate") {
		t.Errorf("%+v, %s", s.Causes, s.todo())
	}
	if d.Settings == nil || d.Settings.High > 5 {
		t.Errorf("%+v, want settings with which every play ends within 5 s", d.Settings)
	}
}

// On one host Spark starts no clones at all.
func TestSparkOnOneHost(t *testing.T) {
	r := onHosts(map[int]float64{3: 9, 9: 8, 16: 9}, func(int) int32 { return 0 })
	d, err := Explain(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if d.Settings != nil || d.Engine == nil || !strings.Contains(d.headline(), "one host only") {
		t.Errorf("%+v, %+v, %s", d.Settings, d.Engine, d.headline())
	}
	told := &history.Course{System: Spark, Settings: map[string]string{"spark.speculation": "true"}}
	if again := replay.New(r.Log, r.Stages, told, 21); again.Rule != replay.Without {
		t.Errorf("the log is replayed under %s", again.Rule)
	}
}
