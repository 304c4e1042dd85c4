package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tailcut/tailcut/sched"
)

func TestFilter(t *testing.T) {
	const jobs = `{"name":"a","arrival_seconds":1,"stages":[{"durations_seconds":[1]}]}
{"name":"b","arrival_seconds":2,"stages":[{"durations_seconds":[1,1]},{"durations_seconds":[1]}]}
{"name":"c","arrival_seconds":4,"stages":[{"durations_seconds":[1,1]}]}
{"name":"d","arrival_seconds":8,"stages":[{"durations_seconds":[1]}]}
`
	byLine, byName := "end_event,line\nKILL,2\nFINISH,1\n,3\nFAIL,4\n", "job\nb\nnone\n"
	for _, c := range []struct {
		name string
		f    Filter
		drop string
		want string // job@arrival
	}{
		{"all", Filter{}, "", "a@1 b@2 c@4 d@8"},
		{"skip", Filter{Skip: 2}, "", "c@4 d@8"},
		{"tasks of all stages", Filter{MinTasks: 3}, "", "b@2"},
		{"half open", Filter{From: 2 * sched.Second, To: 8 * sched.Second}, "", "b@2 c@4"},
		{"line, counted from 1", Filter{}, byLine, "a@1 c@4"},
		{"name", Filter{}, byName, "a@1 c@4 d@8"},
		{"load", Filter{Load: 2}, "", "a@1 b@1.5 c@2.5 d@4.5"},
		{"load of what is left", Filter{Skip: 1, Load: 0.5}, "", "b@2 c@6 d@14"},
	} {
		if c.drop != "" {
			d, err := ReadDropList(strings.NewReader(c.drop), "drop")
			if err != nil {
				t.Fatal(err)
			}
			c.f.Drop = d
		}
		w := mustRead(t, jobs)
		before := w.Jobs[3].Arrival
		left, err := c.f.Apply(w)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []string
		for j := range left.Jobs {
			got = append(got, left.jobName(j)+"@"+seconds(left.Jobs[j].Arrival))
		}
		if d := cmp.Diff(c.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s:\n%s", c.name, d)
		}
		if noted := len(left.Notes) > 0; noted != (len(left.Jobs) < 4) {
			t.Errorf("%s: notes %q", c.name, left.Notes)
		}
		if w.Jobs[3].Arrival != before {
			t.Errorf("%s: the workload itself was changed", c.name)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	w := mustRead(t, "1 1 1 1\n9 1 1 1\n")
	for _, c := range []struct {
		f    Filter
		want string
	}{
		{Filter{Skip: -1}, "skip: expected between 0 and 1 of the 2 jobs, not -1"},
		{Filter{Skip: 2}, "skip: expected between 0 and 1 of the 2 jobs, not 2"},
		{Filter{MinTasks: 2}, "test: the filters remove all 2 jobs"},
		{Filter{MinTasks: -1}, "min-tasks: expected at least 0, not -1"},
		{Filter{From: 9, To: 9}, "to: expected an instant after --from, not 9ns"},
		{Filter{Load: -1}, "scale-load: expected a positive number, not -1"},
		{Filter{Load: 1e-12}, "scale-load: expected a larger number than 1e-12, job 1 would arrive after 2305843009 s"},
	} {
		if _, err := c.f.Apply(w); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v:\n got %v\nwant %s", c.f, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"":                "drop:1: expected a header with a column line or job",
		"x,y\n1,2\n":      "drop:1: expected a column line or job, there are x, y",
		"line\n1\n0\n":    `drop:3: field line: expected a whole number of at least 1, got "0"`,
		"line,job\n1\n":   "drop:2: wrong number of fields",
		"line\n\"x\"y\n1": "drop:2: extraneous or missing",
		"line,job\nx,1\n": `drop:2: field line: expected a whole number of at least 1, got "x"`,
	} {
		if _, err := ReadDropList(strings.NewReader(text), "drop"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q:\n got %v\nwant %s", text, err, want)
		}
	}
}

// TestScaledLoad: whatever the factor, the order of arrivals stays, and the span is divided by it.
func TestScaledLoad(t *testing.T) {
	w, err := Synthesize("synth:jobs=50;arrivals=exp:mean=3", 1)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		factor := rapid.Float64Range(0.01, 100).Draw(t, "factor")
		left, err := (&Filter{Load: factor}).Apply(w)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := left.Horizon().Seconds(), w.Horizon().Seconds()/factor; got < want-1e-6 || got > want+1e-6 {
			t.Fatalf("horizon %v s, want %v", got, want)
		}
		for j := range left.Jobs[1:] {
			if left.Jobs[j+1].Arrival < left.Jobs[j].Arrival {
				t.Fatalf("job %d arrives before job %d", j+1, j)
			}
		}
	})
}

func FuzzReadDropList(f *testing.F) {
	f.Add("line,arrival_s,tasks,job_id,scheduling_class,end_event,schedule_to_end_s\n3,1.0,1,6384304252,2,KILL,43975.1\n")
	f.Add("# c\njob\n\"a,b\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ReadDropList(strings.NewReader(text), "fuzz"); err != nil && !strings.HasPrefix(err.Error(), "fuzz:") {
			t.Fatalf("an error of another form: %v", err)
		}
	})
}

// TestGoogleDropped: of the 6,626 jobs whose end is known 1,888 were killed, as the traces' own page says; and all but the first 61 arrive within 25,190 s.
func TestGoogleDropped(t *testing.T) {
	path := google(t)
	w, err := Load(path, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	side := filepath.Join(filepath.Dir(path), "GOOG_subtrace.first7000.jobids.csv.gz")
	if _, err := os.Stat(side); err != nil {
		t.Skipf("no side file at %s", side)
	}
	d, err := LoadDropList(side)
	if err != nil {
		t.Fatal(err)
	}
	left, err := (&Filter{Drop: d}).Apply(w)
	if err != nil || len(left.Jobs) != 7000-1888 {
		t.Errorf("%d jobs left, want %d (%v)", len(left.Jobs), 7000-1888, err)
	}
	left, err = (&Filter{Skip: 61}).Apply(w)
	if err != nil || len(left.Jobs) != 6939 || left.Horizon() < 25_180*sched.Second || left.Horizon() > 25_200*sched.Second {
		t.Errorf("%d jobs in %v s, want 6939 in 25190 (%v)", len(left.Jobs), left.Horizon().Seconds(), err)
	}
}
