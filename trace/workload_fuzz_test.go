package trace

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tailcut/tailcut/sched"
)

func FuzzReadTR(f *testing.F) {
	f.Add("0.5 2 3 2 4\n7 1 1 1e-3\n")
	f.Add("# c\n\n9 1 .5 1.\n3 1 0 0")
	f.Add("0. 2 0 0 1\n0 1 0 00000") // a mean that says nothing
	f.Fuzz(func(t *testing.T, text string) { roundTrip(t, text, WriteTR) })
}

func FuzzReadJSONLines(f *testing.F) {
	f.Add(mapReduce)
	f.Add(`{"stages":[{"tasks":5,"law":"exp:mu=1"},{"durations_seconds":[ 1 , 2e0],"need":1,"after":["0"]}]}`)
	f.Add(moved)
	f.Add(confined)
	f.Fuzz(func(t *testing.T, text string) { roundTrip(t, text, WriteJSONLines) })
}

// moved is a job with data at sites.
const moved = `{"stages":[{"durations_seconds":[1,2],"inputs":[[{"site":"b","bytes":3},{"bytes":4}]]},` +
	`{"durations_seconds":[1,2],"inputs":[[{"site":"a","bytes":1}],[]],"after_each":[{"stage":"0","bytes":[7]}]},` +
	`{"durations_seconds":[1],"after":["0",{"stage":"1","bytes":[1,2]}],"after_tasks":[{"stage":"0","pairs":[[1,0],[0,0]],"bytes":[5,6]}]}]}`

// confined is a job whose data may not be everywhere.
const confined = `{"datasets":[{"name":"p","allow":["a","b"],"deny":["b"]},{"name":"q","deny":["c"]}],"stages":[` +
	`{"durations_seconds":[1,2],"inputs":[[{"site":"a","bytes":3,"dataset":"p"},{"bytes":4}],[]],"releases":["p"]},` +
	`{"durations_seconds":[1],"inputs":[[{"site":"b","bytes":1,"dataset":"q"}]],"after":["0"]}]}`

func FuzzSynthesize(f *testing.F) {
	f.Add("synth:jobs=3;tasks=uniform:lo=1,hi=4;law=pareto:alpha=1.5,xm=10;scale=2;arrivals=poisson:rate=2;deadline=1m;known=false;seed=3")
	f.Fuzz(func(t *testing.T, spec string) {
		var g generator
		for _, pair := range strings.Split(spec, ";") {
			key, value, _ := strings.Cut(pair, "=")
			_ = g.set(key, value)
		}
	})
}

// roundTrip reads anything. What is accepted makes jobs that a core takes, and is the same after it was written and read again.
func roundTrip(t *testing.T, text string, write func(io.Writer, *Workload) error) {
	w, err := readSmall(text)
	if err != nil {
		if line := err.Error(); strings.Contains(line, "\n") || !strings.HasPrefix(line, "fuzz:") {
			t.Fatalf("an error that is not one line: %q", line)
		}
		return
	}
	var spec sched.JobSpec
	var p PathFinder
	for j := range w.Jobs {
		w.Spec(j, &spec)
		if err := spec.Validate(); err != nil {
			t.Fatalf("job %d: %v", j, err)
		}
		if p.Alone(w, j) < 0 {
			t.Fatalf("job %d takes less than no time", j)
		}
	}
	var out bytes.Buffer
	if err := write(&out, w); err != nil {
		if len(w.Jobs) > 0 && strings.Contains(err.Error(), "jobs without tasks") && !slices.ContainsFunc(w.Stages, func(s StageRow) bool { return s.Tasks > 0 }) {
			return
		}
		t.Fatal(err)
	}
	back, err := readSmall(out.String())
	if err != nil {
		t.Fatalf("read again: %v\n%s", err, out.String())
	}
	if d := cmp.Diff(inOrder(w), inOrder(back)); d != "" {
		t.Fatal(d)
	}
	if d := cmp.Diff(specs(w), specs(back)); d != "" {
		t.Fatal(d)
	}
}

// specs returns what tasks read in all jobs; sites, which the workloads may number differently, are put in order of name.
func specs(w *Workload) (all []sched.JobSpec) {
	for j := range w.Jobs {
		var spec sched.JobSpec
		w.Spec(j, &spec)
		at := func(site uint32) sched.SiteID {
			n := sched.SiteID(0)
			for _, name := range w.Sites {
				if name < w.Sites[site] {
					n++
				}
			}
			return n
		}
		w.Data(j, &spec, at)
		if err := spec.Validate(); err != nil {
			panic(err)
		}
		w.Confine(j, &spec, len(w.Sites), at)
		all = append(all, sched.JobSpec{Datasets: spec.Datasets, Stages: spec.Stages, Edges: spec.Edges})
	}
	return all
}

// readSmall reads with a bound on tasks that a fuzzer cannot fill the memory with.
func readSmall(text string) (*Workload, error) {
	in := newReader("fuzz", 10_000, (&Importer{Seed: 1}).withDefaults())
	in.lines = bufio.NewReaderSize(strings.NewReader(text), sampleSize)
	return in.w, in.read()
}

// inOrder returns all durations in the order of the jobs.
func inOrder(w *Workload) (all []sched.Time) {
	for j := range w.Jobs {
		for _, st := range w.StagesOf(j) {
			all = append(all, w.DurationsOf(&st)...)
		}
	}
	return all
}

// One target per format: what is accepted makes jobs that a core takes, and comes back from JSON lines as it was.

func FuzzReadRumen(f *testing.F)            { fuzzFormat(f, "rumen") }
func FuzzReadAlibaba2017(f *testing.F)      { fuzzFormat(f, "alibaba-v2017") }
func FuzzReadAlibaba2018(f *testing.F)      { fuzzFormat(f, "alibaba-v2018") }
func FuzzReadGoogleTaskEvents(f *testing.F) { fuzzFormat(f, "google-task-events") }
func FuzzReadGoogleJobEvents(f *testing.F)  { fuzzFormat(f, "google-job-events") }
func FuzzReadGoogleTextEvents(f *testing.F) { fuzzFormat(f, "google-text-events") }
func FuzzReadSWIM(f *testing.F)             { fuzzFormat(f, "swim") }
func FuzzReadCoflow(f *testing.F)           { fuzzFormat(f, "coflow") }
func FuzzReadTPCH(f *testing.F)             { fuzzFormat(f, "tpch") }
func FuzzReadWfCommons(f *testing.F)        { fuzzFormat(f, "wfcommons") }
func FuzzReadCSV(f *testing.F)              { fuzzFormat(f, "csv") }

// fuzzFormat begins with the small files of a format.
func fuzzFormat(f *testing.F, name string) {
	for _, c := range importCases {
		if c.name == name {
			f.Add(c.text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) { roundTrip(t, text, WriteJSONLines) })
}

func FuzzImporterSet(f *testing.F) {
	f.Add("incomplete=keep;instances=exp:mu=2;split=128MiB;reduce-rate=1kB;task-start=3s;executors=7")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "hist:") {
			return
		}
		var m Importer
		_ = m.Set(text)
	})
}
