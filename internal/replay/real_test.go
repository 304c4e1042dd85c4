package replay

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tailcut/tailcut/internal/history"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/trace"
)

// real opens a log of the folder of real ones.
func real(t *testing.T, path string) ([]*history.StageRecord, *history.Course) {
	t.Helper()
	folder := os.Getenv("TAILCUT_TRACES")
	if folder == "" {
		folder = "../../../shared/traces"
	}
	path = filepath.Join(folder, path)
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	return open(t, path, nil)
}

// realLogs are those of docs/explain/replay.md.
var realLogs = []string{
	"dr-elephant/event_log_1",
	"mcp-apache-spark-history-server/events_1_spark-110be3a8424d4a2789cb88134418217b",
	"mcp-apache-spark-history-server/events_1_spark-cc4d115f011443d787f03a71a476a745",
	"spark-rapids-tools/eventlog_4nodes_8cores_dynamic_alloc",
	"spark-rapids-tools/nds_q72_dataproc_2_2",
	"spark-rapids-tools/tasks_executors_fail_compressed_eventlog",
	"sparklint/application_1472176676028_407508_1",
	"sparklint/event_log_1",
	"sparklint/spark_event_log_example",
}

// What happened, played again, takes as long as it took: the application nearly, and a stage of more than a second too,
// but for those of which docs/explain/replay.md says why not.
func TestRealLogs(t *testing.T) {
	var errs []float64
	for _, name := range realLogs {
		stages, course := real(t, "spark-eventlogs/"+name+".gz")
		r := New(name, stages, course, 0)
		rules := Rules{System: r.System(), Specs: []string{r.Rule}, Runs: 1, Seed: 1}
		whole, err := r.Whole(context.Background(), rules)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		apart, err := r.Apart(context.Background(), rules)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if off := whole[0].Mean/r.Wall() - 1; math.Abs(off) > 0.07 || r.Source != Told {
			t.Errorf("%s: the application is off by %.1f %%", name, 100*off)
		}
		t.Logf("%s: %d slots from the %s, wall %.2f, replay %.2f (%+.1f %%)", name, r.Slots, r.Source, r.Wall(), whole[0].Mean,
			100*(whole[0].Mean/r.Wall()-1))
		for _, p := range r.pieces {
			if wall := p.wall().Seconds(); wall > 1 {
				off := apart[p.record][0].Mean/wall - 1
				errs = append(errs, math.Abs(off))
				t.Logf("  stage %s: %d tasks, wall %.2f, replay %.2f (%+.1f %%)", p.record.Stage, len(p.tasks), wall, apart[p.record][0].Mean, 100*off)
			}
		}
	}
	slices.Sort(errs)
	beyond := 0
	for _, e := range errs {
		if e > 0.15 {
			beyond++
		}
	}
	median := errs[len(errs)/2]
	t.Logf("%d stages over 1 s: median error %.2f %%, %d beyond 15 %%", len(errs), 100*median, beyond)
	if median > 0.05 || beyond > 8 {
		t.Error("more errors than docs/explain/replay.md explains")
	}
}

// TestTermsOfLogs: the parts of the model that replays of logs need, and by how much an application is off without each. The table is in
// docs/explain/calibration.md.
func TestTermsOfLogs(t *testing.T) {
	for _, name := range realLogs {
		stages, course := real(t, "spark-eventlogs/"+name+".gz")
		r := New(name, stages, course, 0)
		off := func(r *Rerun, change func(w *trace.Workload)) float64 {
			w := r.whole()
			change(w)
			all, err := r.play(context.Background(), w, Rules{System: r.System(), Specs: []string{r.Rule}, Runs: 1, Seed: 1})
			if err != nil {
				t.Fatal(name, err)
			}
			return 100 * (all[0][0].Mean/r.Wall() - 1)
		}
		model := off(r, func(*trace.Workload) {})
		undriven := off(r, func(w *trace.Workload) {
			for i := range w.Stages {
				if st := &w.Stages[i]; st.Class == driver {
					w.Durations[st.FirstTask] = 1
				}
			}
		})
		even := off(r, func(w *trace.Workload) {
			for i := range w.Stages {
				all := w.DurationsOf(&w.Stages[i])
				sum := sched.Time(0)
				for _, d := range all {
					sum += d
				}
				for k := range all {
					all[k] = sum / sched.Time(len(all))
				}
			}
		})
		apart := off(r, func(w *trace.Workload) { w.Edges, w.Jobs[0].Edges = nil, 0 })
		t.Logf("| `%s` | %+.1f %% | %+.1f %% | %+.1f %% | %+.1f %% | %+.1f %% |", name, model, undriven, even, off(r.On(r.Slots), func(*trace.Workload) {}), apart)
		if math.Abs(model) > 7 {
			t.Errorf("%s: off by %.1f %%", name, model)
		}
	}
}
