package trace

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tailcut/tailcut/sched"
)

// shared returns the path of a public trace, and skips the test where there is none.
func shared(t testing.TB, elements ...string) string {
	t.Helper()
	dir := os.Getenv("TAILCUT_TRACES")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "traces")
	}
	path := filepath.Join(append([]string{dir}, elements...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no trace at %s; set TAILCUT_TRACES", path)
	}
	return path
}

// google returns the path of the Google jobs.
func google(t testing.TB) string { return shared(t, "google-2011", "GOOG_subtrace.first7000.tr.gz") }

// TestPublicTraces compares with what is stated of the public files by the page that comes with them, to the digits stated there, or known from the
// tables themselves.
func TestPublicTraces(t *testing.T) {
	keep := Importer{Seed: 1, Incomplete: true, KeepWaits: true}
	for _, c := range []struct {
		path string
		set  Importer
		want string // field=value, value rounded as stated
	}{
		{"google-2011/GOOG_subtrace.first7000.tr.gz", keep, `jobs=7000 tasks=258010 work_h=107660 first=1406471 last=1495218
			tasks/job=36.9/1/1/22/965/4950 task=1502/11.5/307/2434/16019/326131 straggling=1306:2.02/1.16/2.76|2.77/13.3/134`},
		{"google-2011/GOOG_heavy_tail_jobs.tr.gz", keep, `jobs=77 tasks=59394 straggling=77:12.1/8.0/13.6|13.7/134/134`},
		// The stated median and p90 of 19 phases are interpolated.
		{"hadoop-rumen/19-jobs.trace.json.gz", keep, `jobs=18 tasks=8404 first=0 last=1676 straggling=19:4.04/2.0/4.6|5.3/32.4/32.4`},
		{"hadoop-rumen/trace_7m.json.gz", keep, `jobs=26 tasks=616 last=315 straggling=10:7.52/1.59|1.6/2.87/60.5/60.5`},
		{"hadoop-rumen/trace_12m.json.gz", keep, `jobs=46 tasks=447 last=322`},
		{"hadoop-rumen/2jobs2min-rumen-jh.json.gz", Importer{}, `jobs=2 tasks=192 last=105 task=20.8/11.1/19.7/23.6/46.4|46.3/47.0 straggling=2:2.04/1.7/2.4/2.4/2.4`},
		// Of the 11,644 jobs with a terminated task 19 have only such as began before the trace or have no time; the others differ likewise.
		{"alibaba-v2017/batch_task.csv.gz", keep, `jobs=11625 stages=66845`},
		{"alibaba-v2018/batch_task.sample6600.csv.gz", Importer{}, `jobs=6535 stages=24729 first=85660 last=691143 gap=92.7 stages/job=3.8/1/2/8/23/72`},
		// The gaps are those of the submit times.
		{"swim-facebook/FB-2009_samples_24_times_1hr_0.tsv.gz", Importer{}, `jobs=5894 first=49 last=86404 gap=14.7/0/7/34/101|99/3710`},
		{"swim-facebook/FB-2010_samples_24_times_1hr_0.tsv.gz", Importer{Split: 8 << 30, ReduceSplit: 8 << 30}, `jobs=24442 first=9 last=86408 gap=3.5/0/2/8/24/3607`},
		{"coflow-facebook/FB2010-1Hr-150-0.txt.gz", Importer{}, `jobs=526 first=0 last=3629 tasks/job=20.2/1/1/73/141/145 bytes=35.5e12`},
		{"tpch-spark/task_durations.ndjson.gz", Importer{}, `jobs=154 stages/job=9.2/2/8/16/18/18`},
		// Stated are 2,256 pairs; one of them ended with a KILL in between.
		{"google-2011/google-cluster-data.txt.gz", keep, `tasks=2255 task=204/15/211/266/387/530`},
	} {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			w, err := c.set.Load(shared(t, c.path), nil)
			if err != nil {
				t.Fatal(err)
			}
			s := Summarize(w)
			for _, field := range strings.Fields(c.want) {
				key, want, _ := strings.Cut(field, "=")
				if got, ok := agrees(&s, key, want); !ok {
					t.Errorf("%s: got %s, want %s", key, got, want)
				}
			}
		})
	}
}

// agrees compares one figure, or N:mean/min... of a spread, with a list of alternatives for each number.
func agrees(s *Summary, key, want string) (got string, ok bool) {
	spreads := map[string]Spread{
		"tasks/job": s.TasksPerJob, "stages/job": s.StagesPerJob, "task": s.TaskSeconds, "gap": s.GapSeconds, "straggling": s.Straggling,
	}
	var values []float64
	if sp, isSpread := spreads[key]; isSpread {
		n, rest, counted := strings.Cut(want, ":")
		values = []float64{sp.Mean, sp.Min, sp.P50, sp.P90, sp.P99, sp.Max}
		if counted {
			if want = rest; n != fmt.Sprint(sp.N) {
				return fmt.Sprint(sp.N), false
			}
			values = []float64{sp.Mean, sp.P50, sp.P90, sp.P99, sp.Max}
		}
	} else {
		values = []float64{map[string]float64{
			"jobs": float64(s.Jobs), "stages": float64(s.Stages), "tasks": float64(s.Tasks), "work_h": s.WorkSeconds / 3600,
			"first": s.FirstArrivalSeconds, "last": s.LastArrivalSeconds, "bytes": float64(s.InputBytes),
		}[key]}
	}
	for i, alternatives := range strings.Split(want, "/") {
		found := false
		for _, text := range strings.Split(alternatives, "|") {
			found = found || rounded(values[i], text)
		}
		if !found {
			return fmt.Sprint(values), false
		}
	}
	return "", true
}

// rounded reports whether x, rounded to the last digit of text, is text.
func rounded(x float64, text string) bool {
	var want float64
	if _, err := fmt.Sscan(text, &want); err != nil {
		return false
	}
	mantissa, exponent, _ := strings.Cut(text, "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	unit := math.Pow(10, -float64(len(decimals)))
	if exponent != "" {
		e := 0.0
		_, _ = fmt.Sscan(exponent, &e)
		unit *= math.Pow(10, e)
	}
	return math.Abs(x-want) <= unit*0.5000001
}

// TestRumenAttempts: successful maps and reduces of the 19 jobs, as stated: maps min 2.8, p50 100, mean 304, p99 1,330, max 2,457 s; reduces min 32, p50 1,342,
// mean 1,252, p99 2,323, max 5,997 s.
func TestRumenAttempts(t *testing.T) {
	w, err := (&Importer{Incomplete: true, KeepWaits: true}).Load(shared(t, "hadoop-rumen", "19-jobs.trace.json.gz"), nil)
	if err != nil {
		t.Fatal(err)
	}
	of := map[string][]sched.Time{}
	for i := range w.Stages {
		name := w.Names[w.Stages[i].Name]
		of[name] = append(of[name], w.DurationsOf(&w.Stages[i])...)
	}
	for name, want := range map[string]string{"map": "304/2.8/100/1275/1330/2457", "reduce": "1252/32/1342/1391/2326|2323/5997"} {
		s := Summary{TaskSeconds: durationSpread(of[name], nil)}
		if got, ok := agrees(&s, "task", want); !ok {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

// TestAlibabaMapAndReduce: 3,947 of the sample's complete jobs have both kinds of stages; every job waits inside.
func TestAlibabaMapAndReduce(t *testing.T) {
	w, err := Load(shared(t, "alibaba-v2018", "batch_task.sample6600.csv.gz"), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	both, spans := 0, make([]float64, 0, len(w.Jobs))
	var path PathFinder
	for j := range w.Jobs {
		kinds := ""
		for _, st := range w.StagesOf(j) {
			kinds += w.Names[st.Name][:1]
		}
		if strings.Contains(kinds, "M") && strings.Contains(kinds, "R") {
			both++
		}
		spans = append(spans, path.Alone(w, j).Seconds())
	}
	if both != 3947 {
		t.Errorf("%d jobs of maps and reduces, want 3947", both)
	}
	// Stated are the spans in the cluster, where tasks also queued: p50 6, mean 95.6, p99 1,244 s. The longest chain is less.
	if s := spread(spans); s.P50 > 6 || s.Mean > 95.6 || s.P99 > 1245 || s.Mean < 80 {
		t.Errorf("the jobs' longest chains %+v, want a little below p50 6, mean 95.6, p99 1244", s)
	}
}
