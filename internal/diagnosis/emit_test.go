package diagnosis

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/internal/replay"
	"github.com/tailcut/tailcut/policy"
	"github.com/tailcut/tailcut/sched"
)

// tailed is a stage with a machine for each task, of which four take ten times as long by chance.
func tailed() *history.StageRecord {
	st := slowed(func(*history.TaskAttempt, int) {})
	for i := range st.Attempts {
		st.Attempts[i].Duration *= 10
		st.Attempts[i].Host, st.Succeeded[i].Host = int32(i/10), int32(i/10)
		st.Succeeded[i].Seconds *= 10
	}
	return st
}

// Each system gets lines of its own, below a comment in its language with what they give. What only Tailcut can do is
// another comment.
func TestEmit(t *testing.T) {
	for system, want := range map[string]string{
		Spark:      "spark.speculation=true\n",
		Flink:      "execution.batch.speculative.enabled: true\n",
		Hadoop:     "<property><name>mapreduce.map.speculative</name><value>true</value></property>\n",
		Tailcut:    "--policy fork:",
		Kubernetes: "tailcut.dev/policy: fork:",
	} {
		r := Defaults()
		r.Log, r.Hosts, r.Stages, r.System = "log", hosts, []*history.StageRecord{tailed()}, system
		r.Again = replay.New(r.Log, r.Stages, &history.Course{System: "spark"}, 50)
		d, err := Explain(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := d.Emit(&out, system); err != nil {
			t.Fatal(err)
		}
		if d.Settings == nil || d.Settings.System != system || d.Settings.High > *d.Replay || !strings.Contains(out.String(), "\n"+want) {
			t.Errorf("%s: %+v\n%s", system, d.Settings, &out)
		}
		if own := system == Tailcut || system == Kubernetes; own && d.Engine != nil || d.Engine != nil && d.Engine.Seconds >= d.Settings.Seconds {
			t.Errorf("%s: %+v beyond %+v", system, d.Engine, d.Settings)
		}
		for _, c := range d.candidates(system, &replay.Rerun{}) {
			if _, err := policy.New(c.spec, 1); err != nil {
				t.Errorf("%s: %v", c.spec, err)
			}
		}
	}
}

// Where no setting helps there is nothing to paste, and a comment says so.
func TestEmitNothing(t *testing.T) {
	st := slowed(func(a *history.TaskAttempt, i int) { a.GC = 9 * sched.Second })
	d, _ := explained(t, st, 40, 0)
	var out bytes.Buffer
	if err := d.Emit(&out, Hadoop); err != nil || out.String() != "<!-- no setting of clones would make log faster -->\n" {
		t.Errorf("%q, %v", &out, err)
	}
}
