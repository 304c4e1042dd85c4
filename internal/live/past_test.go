package live

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

func TestPastKeepsTheLastRuns(t *testing.T) {
	past := &Past{}
	for run := range PastRuns + 3 {
		many := make([]sched.Time, 2*pastTasks+1)
		for i := range many {
			many[len(many)-1-i] = sched.Time(i) * sched.Second
		}
		for range 2 { // the second time changes nothing
			past.Add("job", fmt.Sprint(run), []string{"one", "many", "none"}, [][]sched.Time{{sched.Time(run) * sched.Second}, many, nil}, make([][]sched.Time, 3))
		}
	}
	text, err := json.Marshal(past)
	if err != nil {
		t.Fatal(err)
	}
	if past, err = ParsePast(text); err != nil {
		t.Fatal(err)
	}
	if len(past.Runs) != PastRuns || len(past.Runs[0].Stages[1].Durations) != pastTasks {
		t.Errorf("%d runs, %d durations", len(past.Runs), len(past.Runs[0].Stages[1].Durations))
	}
	for stage, want := range map[string]string{
		"one":  "7.5 3.02765035", // 3 to 12: variance 82.5/9
		"none": "0 0", "other": "0 0",
	} {
		mean, sd := past.Estimate(stage)
		if got := fmt.Sprintf("%.9g %.9g", mean.Seconds(), sd.Seconds()); got != want {
			t.Errorf("%s: %s, want %s", stage, got, want)
		}
	}
	if mean, _ := past.Estimate("many"); mean < 999*sched.Second || mean > 1001*sched.Second { // ranks are even: the mean of 0 to 2000 is 1000
		t.Errorf("many: mean %v", mean)
	}
}

// A job of four times the input has four times the maps of 100 bytes, twice the shuffle tasks, and as many reduces. Its
// maps take as long as before, its shuffle tasks twice as long, its reduces four times. A run that read three bytes of
// each map where the other read one counts by what its tasks read.
func TestPastCountsBytes(t *testing.T) {
	run := func(selectivity int64, seconds float64) PastRun {
		stage := func(name string, tasks int, bytes int64, seconds float64) PastStage {
			return PastStage{Name: name, Tasks: tasks, Bytes: bytes, Durations: slices.Repeat([]float64{seconds}, tasks)}
		}
		return PastRun{Stages: []PastStage{
			stage("map", 4, 400, 1), stage("shuffle", 2, 100*selectivity, seconds), stage("reduce", 3, 100*selectivity, seconds), {Name: "old", Durations: []float64{9}},
		}}
	}
	for _, c := range []struct {
		name  string
		runs  []PastRun
		stage string
		tasks int
		input int64
		want  string
	}{
		{"as before", []PastRun{run(1, 1)}, "shuffle", 2, 400, "1.00"},
		{"a map has no more to do", []PastRun{run(1, 1)}, "map", 16, 1600, "1.00"},
		{"a shuffle has twice as much", []PastRun{run(1, 1)}, "shuffle", 4, 1600, "2.00"},
		{"a reduce has four times as much", []PastRun{run(1, 1)}, "reduce", 3, 1600, "4.00"},
		{"two runs that agree", []PastRun{run(1, 1), run(3, 3)}, "shuffle", 2, 400, "2.00"}, // of twice the bytes of the first
		{"no bytes are known", []PastRun{run(1, 1)}, "old", 40, 1600, "9.00"},
		{"no input is known", []PastRun{run(1, 1)}, "shuffle", 4, 0, "1.00"},
		{"no tasks", []PastRun{run(1, 1)}, "shuffle", 0, 1600, "1.00"},
	} {
		past := &Past{Runs: c.runs}
		if mean, _ := past.EstimateFor(c.stage, c.tasks, c.input); fmt.Sprintf("%.2f", mean.Seconds()) != c.want {
			t.Errorf("%s: %v, expected %s s", c.name, mean, c.want)
		}
	}
	cut := &Past{Runs: []PastRun{run(1, 1)}}
	cut.Runs[0].Stages[1].Cut = []float64{3}
	was, _ := cut.Estimate("shuffle")
	if mean, _ := cut.EstimateFor("shuffle", 4, 1600); was < 5*sched.Second/4 || mean < 2*was-2 || mean > 2*was+2 {
		t.Errorf("with an attempt that was cut off: %v, expected twice %v", mean, was)
	}
	huge := &Past{Runs: []PastRun{{Stages: []PastStage{{Name: "map", Tasks: 1, Bytes: 1, Durations: []float64{1e9, 1}}}}}}
	if mean, sd := huge.EstimateFor("map", 1, 1<<62); mean <= 0 || sd <= 0 {
		t.Errorf("%v, %v", mean, sd)
	}
}

// Four stragglers that were cut off count: as longer than that, and as many among those that are kept as there were among all.
func TestPastKeepsWhatWasCutOff(t *testing.T) {
	seconds := func(n int, x float64) []sched.Time { return slices.Repeat([]sched.Time{sched.FromSeconds(x)}, n) }
	past := &Past{}
	past.Add("job", "", []string{"few", "many"}, [][]sched.Time{seconds(20, 5), seconds(10*pastTasks, 5)}, [][]sched.Time{seconds(4, 12), seconds(2000, 12)})
	if few, many := past.Runs[0].Stages[0], past.Runs[0].Stages[1]; len(few.Cut) != 4 || len(many.Durations) != pastTasks || len(many.Cut) != 200 {
		t.Errorf("%d, %d and %d are kept", len(few.Cut), len(many.Durations), len(many.Cut))
	}
	if mean, sd := past.Estimate("few"); mean.Seconds() < 8 || mean.Seconds() > 8.2 || sd < 3*sched.Second { // 5*20/24 + 24*4/24
		t.Errorf("mean %v, sd %v", mean, sd)
	}
	bad := `{"schema":"tailcut.history/v1","runs":[{"stages":[{"name":"a","durations_seconds":[1],"cut_seconds":[1,-2]}]}]}`
	if _, err := ParsePast([]byte(bad)); err == nil || !strings.Contains(err.Error(), "runs[0].stages[0].cut_seconds[1]: expected seconds, not -2") {
		t.Error(err)
	}
}

func TestPastKey(t *testing.T) {
	for _, c := range []struct {
		of   Named
		want string
	}{
		{Named{Namespace: "ns", Name: "report"}, "history.ns.job.report"},
		{Named{Namespace: "ns", Name: "report-20260131"}, "history.ns.job.report"},
		{Named{Namespace: "ns", Name: "report-2026-01-31"}, "history.ns.job.report"},
		{Named{Namespace: "ns", Name: "report-v2"}, "history.ns.job.report-v2"},
		{Named{Namespace: "ns", Name: "report-x7k2p", GenerateName: "report-"}, "history.ns.job.report"},
		{Named{Namespace: "ns", Name: "nightly-29123456", OwnerKind: "CronJob", OwnerName: "nightly"}, "history.ns.cronjob.nightly"},
		{Named{Namespace: "ns", Name: "j", OwnerKind: "JobSet", OwnerName: strings.Repeat("a-", 130)}, "history.ns.jobset." + strings.Repeat("a-", 117) + "a"},
	} {
		if got := PastKey(c.of); got != c.want || len(got) > 253 {
			t.Errorf("%+v: %s, want %s", c.of, got, c.want)
		}
	}
}

func FuzzParsePast(f *testing.F) {
	f.Add([]byte(`{"schema":"tailcut.history/v1","runs":[{"stages":[{"name":"map","durations_seconds":[1,2.5]}]}]}`))
	f.Add([]byte(`{"schema":"tailcut.history/v2"}`))
	f.Add([]byte(`{"schema":"tailcut.history/v1","runs":[{"stages":[{"name":"map","durations_seconds":[1e300]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		past, err := ParsePast(data)
		if err != nil {
			return
		}
		for _, r := range past.Runs {
			for _, st := range r.Stages {
				if mean, sd := past.EstimateFor(st.Name, 3, 1<<40); mean < 0 || sd < 0 {
					t.Errorf("of more input: mean %v, standard deviation %v", mean, sd)
				}
				if mean, sd := past.Estimate(st.Name); mean < 0 || sd < 0 {
					t.Errorf("mean %v, standard deviation %v", mean, sd)
				}
			}
		}
	})
}
