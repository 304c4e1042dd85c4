package trace

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/tailcut/tailcut/laws"
	"github.com/tailcut/tailcut/sched"
)

const mapReduce = `{"name":"etl","arrival_seconds":5,"deadline_seconds":60,"value":2.5,"late":"soft:0.5","weight":2,"priority":1,"retries":3,"stages":[` +
	`{"name":"map","durations_seconds":[1,2.5,4],"mean_seconds":2.5,"sd_seconds":1,"resumable":true,"input_bytes":3000},` +
	`{"name":"copy","durations_seconds":[1,1,1],"after_each":["map"]},` +
	`{"name":"reduce","tasks":2,"need":1,"law":"det:value=3","after":["copy"],"after_tasks":[{"stage":"map","pairs":[[0,0],[2,1]]}]}]}
`

func mustRead(t testing.TB, text string) *Workload {
	t.Helper()
	w, err := Read(strings.NewReader(text), "test", 1)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func TestReadTR(t *testing.T) {
	w := mustRead(t, "# submit n mean d...\n0.5 2 3 2 4\r\n\n7\t1 0.000000001  .25e1 ")
	want := &Workload{
		Name:      "test",
		Jobs:      []JobRow{{Arrival: sched.Second / 2, Number: 1, Stages: 1}, {Arrival: 7 * sched.Second, Number: 3, FirstStage: 1, Stages: 1}},
		Stages:    []StageRow{{Tasks: 2, Law: -1, Mean: 3 * sched.Second, SD: sched.Second}, {FirstTask: 2, Tasks: 1, Law: -1, Mean: 1}},
		Durations: []sched.Time{2 * sched.Second, 4 * sched.Second, 2500 * sched.Millisecond},
		Names:     []string{""},
	}
	if d := cmp.Diff(want, w); d != "" {
		t.Error(d)
	}
}

func TestReadJSONLines(t *testing.T) {
	w := mustRead(t, mapReduce)
	want := sched.JobSpec{
		Priority: 1, Weight: 2, Retries: 3, Deadline: 65 * sched.Second,
		Value: 2.5, Late: sched.Late{Kind: sched.LateSoft, Cost: 0.5},
		Stages: []sched.StageSpec{
			{
				Tasks: 3, Mean: 2500 * sched.Millisecond, SD: sched.Second, Resumable: true,
				Sample: []sched.Time{sched.Second, 2500 * sched.Millisecond, 4 * sched.Second},
			},
			{Tasks: 3}, {Tasks: 2, Need: 1},
		},
		Edges: []sched.Edge{
			{From: 0, To: 1, Kind: sched.Pointwise}, {From: 1, To: 2}, {From: 0, To: 2, Kind: sched.PerTask, Pairs: [][2]uint32{{0, 0}, {2, 1}}},
		},
	}
	var spec sched.JobSpec
	w.Spec(0, &spec)
	if d := cmp.Diff(want, spec, cmpopts.EquateEmpty()); d != "" {
		t.Error(d)
	}
	if got := w.DurationsOf(&w.Stages[2]); got[0] != 3*sched.Second || got[1] != 3*sched.Second {
		t.Errorf("durations drawn from det:value=3 are %v", got)
	}
	if w.Names[w.Jobs[0].Name] != "etl" || w.Stages[0].InputBytes != 3000 {
		t.Errorf("name %q, input %d", w.Names[w.Jobs[0].Name], w.Stages[0].InputBytes)
	}
}

func TestWritersRoundTrip(t *testing.T) {
	single, err := Synthesize("synth:jobs=50;tasks=uniform:lo=1,hi=20;law=pareto:alpha=1.5,xm=10", 3)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		w     *Workload
		write func(*bytes.Buffer, *Workload) error
	}{
		"tr":    {single, func(b *bytes.Buffer, w *Workload) error { return WriteTR(b, w) }},
		"jsonl": {single, func(b *bytes.Buffer, w *Workload) error { return WriteJSONLines(b, w) }},
		"dag":   {mustRead(t, mapReduce), func(b *bytes.Buffer, w *Workload) error { return WriteJSONLines(b, w) }},
	} {
		var first, second bytes.Buffer
		if err := c.write(&first, c.w); err != nil {
			t.Fatal(err)
		}
		back := mustRead(t, first.String())
		if err := c.write(&second, back); err != nil {
			t.Fatal(err)
		}
		if first.String() != second.String() {
			t.Errorf("%s: written again it differs:\n%s", name, cmp.Diff(first.String(), second.String()))
		}
		if d := cmp.Diff(c.w.Durations, back.Durations); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if d := cmp.Diff(c.w.Jobs, back.Jobs, cmpopts.IgnoreFields(JobRow{}, "Name")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestCompressedByContent(t *testing.T) {
	plain := "0 1 2 2\n"
	var g, z bytes.Buffer
	gw := gzip.NewWriter(&g)
	zw, err := zstd.NewWriter(&z)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{gw, zw} {
		if _, err := w.Write([]byte(plain)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"plain": plain, "gzip": g.String(), "zstd": z.String()} {
		if w := mustRead(t, text); w.Tasks() != 1 || w.WorkSeconds() != 2 {
			t.Errorf("%s: %d tasks, %v s", name, w.Tasks(), w.WorkSeconds())
		}
	}
	for name, text := range map[string]string{"gzip": g.String(), "zstd": z.String()} {
		_, err := Read(strings.NewReader(text[:len(text)-5]), "cut", 1)
		if err == nil || !strings.Contains(err.Error(), "cut: ") || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%s, cut short: %v", name, err)
		}
	}
}

func TestSortedByArrival(t *testing.T) {
	w := mustRead(t, "5 1 1 1\n3 1 2 2\n5 1 3 3\n")
	var numbers []uint32
	for _, j := range w.Jobs {
		numbers = append(numbers, j.Number)
	}
	if d := cmp.Diff([]uint32{1, 0, 2}, numbers); d != "" || len(w.Notes) != 1 {
		t.Errorf("numbers %v, notes %q", numbers, w.Notes)
	}
	if h := w.Horizon(); h != 2*sched.Second {
		t.Errorf("horizon %v, want 2s", h)
	}
	rest, err := (&Filter{Skip: 1}).Apply(w)
	if err != nil || rest.Tasks() != 2 || rest.WorkSeconds() != 4 || rest.Jobs[0].Number != 0 {
		t.Errorf("without the first job: %+v (%v)", rest, err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "f: expected at least one job, found none"},
		{"0 1 1 1\nx 1 1 1", `f:2: field 1 (arrival): expected a number of seconds, got "x"`},
		{"0 0 1", `f:1: field 2 (tasks): expected a whole number of at least 1, got "0"`},
		{"0 2.5 1 1", `f:1: field 2 (tasks): expected a whole number of at least 1, got "2.5"`},
		{"0 2 1 1", `f:1: field 5: expected 2 durations as field 2 says, found 1`},
		{"0 1 1 1 9", `f:1: field 5: expected the end of the line after 1 durations, got "9"`},
		{"0 1 1 -1", `f:1: field 4 (duration): expected between 0 and 2305843009 seconds, got -1`},
		{"0 1 1 NaN", `f:1: field 4 (duration): expected between 0 and 2305843009 seconds, got NaN`},
		{"0 1 1e300 1", `f:1: field 3 (mean duration): expected between 0 and 2305843009 seconds, got 1e+300`},
		{"{", "f:1: expected a JSON object: the line ends too early"},
		{`{"stages":[]}`, "f:1: field stages: expected between 1 and 65535 stages, got 0"},
		{`{"stages":[{"durations_seconds":[1]}]} 1`, "f:1: expected one JSON object on the line, found more behind it"},
		{`{"stages":[{"durations_seconds":[1],"x":1}]}`, "f:1: field x: unknown field; docs/reference/workloads.md lists the valid ones"},
		{`{"stages":[{"taks":1}]}`, "f:1: field taks: unknown; did you mean tasks?"},
		{`{"stages":[{"tasks":"3"}]}`, "f:1: field stages.tasks: expected a whole number in range, got string"},
		{`{"stages":[{"tasks":3}]}`, "f:1: field stages[0].durations_seconds: expected a list of durations, or a law and a number of tasks"},
		{`{"stages":[{"durations_seconds":[1,null]}]}`, `f:1: field stages[0].durations_seconds: [1]: expected a number of seconds, got "null"`},
		{`{"stages":[{"durations_seconds":[1,2],"tasks":3}]}`, "f:1: field stages[0].tasks: expected 2, the number of durations, got 3"},
		{`{"stages":[{"durations_seconds":[1],"after":["a"]}]}`, `f:1: field stages[0].after: expected the name of a stage further left, got "a"`},
		{`{"stages":[{"name":"a","durations_seconds":[1]},{"name":"a","durations_seconds":[1]}]}`,
			`f:1: field stages[1].name: expected a name of its own, stage 0 has "a" too`},
		{`{"stages":[{"durations_seconds":[1]},{"durations_seconds":[1,2],"after_each":["0"]}]}`,
			"f:1: edges[0]: 0 -> 1: a pointwise edge joins stages of equal size, not 1 and 2 tasks"},
		{`{"weight":-1,"stages":[{"durations_seconds":[1]}]}`, "f:1: weight: -1 is not a finite number of at least 0"},
		{`{"stages":[{"law":"nope","tasks":1}]}`, `f:1: field stages[0].law: expected a law: unknown law "nope"`},
	} {
		_, err := Read(strings.NewReader(c.text), "f", 1)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
	for spec, want := range map[string]string{
		"synth:jobs=0":            "synth: field jobs: expected a whole number from 1 to 50000000, got \"0\"",
		"synth:googel;jobs=3":     `unknown generator "synth:googel"; did you mean synth:google?`,
		"synth:jobs=1;jobs=2":     "synth: field jobs is given twice",
		"synth:job=3":             "synth: field job: expected one of synth:jobs=100;",
		"synth:law=pareto":        "synth: field law: expected a number or a law: pareto wants",
		"synth:arrivals=poisson":  "synth: field arrivals: expected a number or a law",
		"synth:late=never":        "synth: field late: expected hard, drop or soft:COST",
		"synth:value=exp:mean=0":  "synth: field value: ",
		"synth:deadline=5":        "synth: field deadline: expected a duration such as 90s",
		"synth:tasks=3000000000":  "synth: field tasks: expected at most 50000000 tasks in all",
		"synth:arrivals=1e9":      "synth: job 3 would arrive after",
		"synth:law=1e10;jobs=1":   "synth: job 0: expected between 0 and 2305843009 seconds",
		"/no/such/file/here.tr":   "open /no/such/file/here.tr: no such file or directory",
		"synth:jobs=1;law=exp:mu": "synth: field law: expected a number or a law",
	} {
		if _, err := Load(spec, nil, 1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", spec, err, want)
		}
	}
}

func TestSynthesizeIsKeyed(t *testing.T) {
	const spec = "tasks=uniform:lo=1,hi=9;law=exp:mean=3;scale=lognormal:mean=1,sd=2;arrivals=poisson:rate=0.5"
	long, err := Synthesize("synth:jobs=40;"+spec, 7)
	if err != nil {
		t.Fatal(err)
	}
	short, err := Synthesize("synth:jobs=15;seed=7;"+spec, 99)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(short.Jobs, long.Jobs[:15]); d != "" {
		t.Errorf("the first jobs of a longer workload differ:\n%s", d)
	}
	if d := cmp.Diff(short.Durations, long.Durations[:len(short.Durations)]); d != "" {
		t.Error(d)
	}
}

// TestSynthesizeFollowsItsLaws compares means with their laws', within four standard errors.
func TestSynthesizeFollowsItsLaws(t *testing.T) {
	w, err := Synthesize("synth:jobs=2000;tasks=20;law=gamma:shape=2,scale=5;arrivals=poisson:rate=4", 1)
	if err != nil {
		t.Fatal(err)
	}
	n := float64(w.Tasks())
	law := laws.Gamma{Shape: 2, Scale: 5}
	if mean, se := w.WorkSeconds()/n, laws.StdDev(law)/200; mean < 10-4*se || mean > 10+4*se {
		t.Errorf("mean duration %v, want 10 within %v", mean, 4*se)
	}
	if rate := 1999 / w.Horizon().Seconds(); rate < 3.6 || rate > 4.4 {
		t.Errorf("%v jobs a second, want 4", rate)
	}
}

func TestAlone(t *testing.T) {
	var p PathFinder
	for _, c := range []struct {
		name, stages string
		seconds      float64
	}{
		{"one stage", `{"durations_seconds":[3,1,2]}`, 3},
		{"two of three suffice", `{"durations_seconds":[3,1,2],"need":2}`, 2},
		{"barrier", `{"durations_seconds":[3,1]},{"durations_seconds":[2,5],"after":["0"]}`, 8},
		{"side by side", `{"durations_seconds":[3,1]},{"durations_seconds":[2,5]}`, 5},
		{"pointwise", `{"durations_seconds":[3,1]},{"durations_seconds":[2,5],"after_each":["0"]}`, 6},
		{"per task", `{"durations_seconds":[3,1]},{"durations_seconds":[2,5],"after_tasks":[{"stage":"0","pairs":[[0,0],[0,1]]}]}`, 8},
		{"skipped input", `{"durations_seconds":[9,1],"need":1},{"durations_seconds":[2,5],"after_each":["0"]}`, 6},
		{"empty stage between", `{"durations_seconds":[3]},{"durations_seconds":[],"after":["0"]},{"durations_seconds":[2],"after":["1"]}`, 5},
	} {
		w := mustRead(t, `{"stages":[`+c.stages+`]}`)
		if got := p.Alone(w, 0).Seconds(); got != c.seconds {
			t.Errorf("%s: %v s, want %v", c.name, got, c.seconds)
		}
	}
}
