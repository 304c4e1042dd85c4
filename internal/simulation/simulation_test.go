package simulation

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/internal/grammar"
	"github.com/tailcut/tailcut/sched"
	"github.com/tailcut/tailcut/sim"
	"github.com/tailcut/tailcut/trace"
)

func synthetic(spec string) *trace.Workload {
	w, err := trace.Synthesize(spec, 1)
	if err != nil {
		panic(err)
	}
	return w
}

// Two jobs of a task each, of 4 s and 2 s, meet one machine: first come first served they end at 4 s and 6 s, the
// shortest first at 2 s and 6 s.
func TestRun(t *testing.T) {
	w, err := (&trace.Importer{}).Read(strings.NewReader("0 1 4 4\n0 1 2 2\n"), "two.tr")
	if err != nil {
		t.Fatal(err)
	}
	var jobs strings.Builder
	r, err := (&Request{
		Workload: w, Machines: 1, Service: "recorded", Policies: []string{"fifo", "srew:beta=0.7"}, Slot: "1s", Jobs: &jobs,
	}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first, second := r.Mean(0, sim.MeanFlow).Mean, r.Mean(1, sim.MeanFlow).Mean; first != 5 || second != 4 {
		t.Errorf("mean flow times %v and %v, want 5 and 4", first, second)
	}
	if v := r.Figures(1); *v.DifferenceSeconds != -1 || *v.DifferenceRatio != -0.2 || *v.DifferenceJobs != 2 || v.MeanFlowCI95 != nil {
		t.Errorf("%+v", v)
	}
	if r.LowerBound != 4 || r.Slots != 1 {
		t.Errorf("bound %v, %d slots", r.LowerBound, r.Slots)
	}
	rows, err := csv.NewReader(strings.NewReader(jobs.String())).ReadAll()
	if err != nil || len(rows) != 5 || rows[3][0] != "srew:beta=0.7" || rows[3][4] != "6" || rows[4][4] != "2" {
		t.Errorf("jobs: %v, %v", rows, err)
	}
}

// What drivers do has slots that nobody gives: two applications of 2 s of a driver and 4 s of a task meet one machine.
func TestDrivers(t *testing.T) {
	const lines = `{"name":"a","stages":[{"name":"d","class":"driver","durations_seconds":[2]},{"name":"x","durations_seconds":[4],"after":["d"]}]}
{"name":"b","stages":[{"name":"d","class":"driver","durations_seconds":[2]},{"name":"x","durations_seconds":[4],"after":["d"]}]}
`
	for slots, want := range map[string]float64{"": 8, "1": 8, "2": 6} {
		w, err := (&trace.Importer{}).Read(strings.NewReader(lines), "two")
		if err != nil {
			t.Fatal(err)
		}
		r, err := (&Request{Workload: w, Machines: 1, Slots: slots, Policies: []string{"srpt"}}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Mean(0, sim.MeanFlow).Mean; got != want || slots != "2" && r.Slots != 1 || slots == "2" && r.Slots != 2 {
			t.Errorf("%q slots: mean flow %v, expected %v; %d slots", slots, got, want, r.Slots)
		}
	}
}

// What is left out has its default: the same as said.
func TestDefaults(t *testing.T) {
	run := func(r Request) string {
		r.Workload, r.Machines = synthetic("synth:jobs=20;tasks=10"), 30
		res, err := r.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range res.Cells {
			res.Cells[i].Wall = 0
		}
		var b strings.Builder
		if err := res.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	said := Request{
		Policies: []string{"fifo"}, Runs: 1, Slots: "1", Speed: 1, Failures: "none", Limits: sched.DefaultLimits(), Service: "resample",
		LaunchDelay: "0s", Progress: Auto,
	}
	if diff := cmp.Diff(run(said), run(Request{})); diff != "" {
		t.Error(diff)
	}
}

// TestSilence: the output says which stages report nothing, unless the request says what all report.
func TestSilence(t *testing.T) {
	for _, c := range []struct {
		silent   int // stages
		progress string
		want     string
	}{{0, "", "every 400ms"}, {1, "", "every 400ms, none from 1 of 2 stages"}, {2, "", "none"}, {2, Auto, "none"}, {2, "1s", "every 1s"}, {1, "exact", "exact"}} {
		w := synthetic("synth:jobs=2;tasks=10;law=8")
		for i := range c.silent {
			w.Stages[i].Silent = true
		}
		res, err := (&Request{Workload: w, Machines: 10, Policies: []string{"auto"}, Progress: c.progress}).Run(t.Context())
		if err != nil || res.Told[0] != c.want {
			t.Errorf("%+v: %q, %v", c, res.Told, err)
		}
	}
}

// All forms of a result hold the same: a row for each run, a summary for each policy.
func TestReports(t *testing.T) {
	q := Request{
		Workload: synthetic("synth:jobs=20;tasks=10"), Machines: 20, Slots: "2", Policies: []string{"fifo", "late"}, Runs: 3, LaunchDelay: "exp:mean=2",
		DeadlineSlack: 3,
	}
	r, err := q.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text, js, table strings.Builder
	for _, err := range []error{r.WriteText(&text), r.WriteJSON(&js), r.WriteCSV(&table)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"20 jobs, 200 tasks", "40 slots", "vs first", "deadlines met", "Means of 3 repetitions", "to late.", "exp:mean=2 seconds before each attempt"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	rows, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil || len(rows) != 7 || rows[0][0] != "policy" || rows[0][21] != "durations" || rows[0][23] != "launch_delay" || rows[4][21] != "all" || rows[6][1] != "2" || rows[1][20] != "unused" {
		t.Errorf("%v, %v", rows, err)
	}
	var back resultJSON
	if err := json.Unmarshal([]byte(js.String()), &back); err != nil || len(back.Results) != 6 || len(back.Summary) != 2 || back.Cluster.Slots != 40 {
		t.Errorf("%s, %v", js.String(), err)
	}
}

func TestWrong(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(*Request)
		want   string
	}{
		{"machines", func(r *Request) { r.Machines = 0 }, "expected a number between 1 and 16777216, not 0"},
		{"runs", func(r *Request) { r.Runs = -1 }, "not -1"},
		{"progress-noise", func(r *Request) { r.Noise = math.NaN() }, "at least 0"},
		{"progress-error", func(r *Request) { r.NoiseKind = "often" }, `expected independent or persistent, not "often"`},
		{"speed-factor", func(r *Request) { r.Speed = -1 }, "positive"},
		{"slot", func(r *Request) { r.Slot = "5" }, `such as 5s, not "5"`},
		{"slots-per-machine", func(r *Request) { r.Slots = "map=1,map=2" }, `"map" is there twice`},
		{"slots-per-machine", func(r *Request) { r.Slots = "a=1,b=1,2" }, "NAME=NUMBER"},
		{"launch-delay", func(r *Request) { r.LaunchDelay = "-1s" }, "at least 0"},
		{"launch-delay", func(r *Request) { r.LaunchDelay = "soon" }, "a law of seconds"},
		{"failures", func(r *Request) { r.Failures = "often" }, "often"},
		{"service", func(r *Request) { r.Service = "slow" }, "slow"},
		{"progress", func(r *Request) { r.Progress = "perhaps" }, "perhaps"},
		{"policy", func(r *Request) { r.Policies = []string{"fifo", "spork"} }, "spork"},
		{"policy", func(r *Request) { r.Policies = []string{"fifo/fair"} }, "expected one policy"},
	} {
		r := Request{Machines: 2}
		c.change(&r)
		var wrong *grammar.FieldError
		if err := r.Check(); !errors.As(err, &wrong) || wrong.Field != c.field || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.field, err, c.want)
		}
	}
	r := Request{Workload: synthetic("synth:jobs=2"), Machines: 2, DeadlineSlack: -1}
	if _, err := r.Run(t.Context()); err == nil || !strings.HasPrefix(err.Error(), "deadline-slack: ") {
		t.Error(err)
	}
	if _, err := (&Request{Machines: 1}).Run(t.Context()); err == nil || err.Error() != "workload: expected one" {
		t.Error(err)
	}
}

// Who cannot write a job's line hears of it, and machines that fail all the time are warned of.
func TestJobsAndWarnings(t *testing.T) {
	full := errors.New("the disk is full")
	r := Request{Workload: synthetic("synth:jobs=300"), Machines: 5, Jobs: failing{full}}
	if _, err := r.Run(t.Context()); !errors.Is(err, full) {
		t.Errorf("%v, want %v", err, full)
	}
	warned := ""
	q := question{Request: &Request{Warn: func(field, text string) { warned = field + ": " + text }}}
	q.options.Faults.MTBF = 1e9
	if q.warn(5); warned != "" {
		t.Error(warned)
	}
	if q.warn(50); !strings.HasPrefix(warned, "failures: a machine fails 50 times") {
		t.Errorf("warned %q", warned)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }
